/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/error.h>
#include <string.h>

#include "../test.h"
#include "base/env.h"
#include "fabric/filter/script.h"

static struct rr_fault_script script;
static struct rr_text text;

static void
parses(const char *source)
{
	if (rr_fault_parse(source, &script, &text))
		fail_msg("%s: %s", source, text.text);
}

static void
refuses(const char *source, const char *why)
{
	if (!rr_fault_parse(source, &script, &text))
		fail_msg("%s is taken", source);
	if (!strstr(text.text, why))
		fail_msg("%s: %s", source, text.text);
}

static void
a_statement_names_action_operation_and_number(void **state)
{
	(void)state;
	parses("drop send 17; fail register 3+;delay complete 5 30ms ; cut write 2 100; flush complete 1;");
	assert_int_equal(script.rule_count, 5);
	assert_int_equal(script.rules[0].action, RR_FAULT_DROP);
	assert_int_equal(script.rules[0].operation, RR_FAULT_SEND);
	assert_int_equal(script.rules[0].number, 17);
	assert_false(script.rules[0].onward);
	assert_int_equal(script.rules[1].action, RR_FAULT_FAIL);
	assert_int_equal(script.rules[1].operation, RR_FAULT_REGISTER);
	assert_true(script.rules[1].onward);
	assert_int_equal(script.rules[2].argument, 30 * RR_MILLISECOND);
	assert_int_equal(script.rules[3].argument, 100);
	assert_int_equal(script.rules[4].action, RR_FAULT_FLUSH);
	assert_int_equal(script.rate, 0);
}

static void
random_faults_have_a_seed_a_rate_and_kinds(void **state)
{
	(void)state;
	parses("random seed=7 rate=0.25 kinds=drop,delay delay=3s");
	assert_int_equal(script.seed, 7);
	assert_int_equal(script.rate, UINT32_C(1) << 30);
	assert_int_equal(script.kinds, 1u << RR_FAULT_DROP | 1u << RR_FAULT_DELAY);
	assert_int_equal(script.delay_max, 3 * RR_SECOND);
	parses("random");
	assert_int_equal(script.kinds >> RR_FAULT_CORRUPT & 1, 0);
	assert_true(script.rate > 0 && script.delay_max > 0);
	parses("random rate=1 kinds=corrupt");
	assert_int_equal(script.rate, UINT32_MAX);
}

static void
nothing_is_a_script(void **state)
{
	(void)state;
	parses("");
	parses(" ; ;\n");
	assert_int_equal(script.rule_count, 0);
}

static void
what_is_wrong_is_shown(void **state)
{
	(void)state;
	refuses("explode send 1", "not 'explode'");
	refuses("drop", "not ''");
	refuses("drop recv 1", "not 'recv'");
	refuses("drop send", "not ''");
	refuses("drop send 0", "not '0'");
	refuses("drop send -1", "not '-1'");
	refuses("drop send 1x", "not '1x'");
	refuses("drop send 1++", "not '1++'");
	refuses("drop send 1 2", "not '2'");
	refuses("drop send 99999999999999999999", "number");
	refuses("flush send 1", "flush does not apply to send");
	refuses("delay register 1", "does not apply");
	refuses("delay send 1 20", "not '20'");
	refuses("delay send 1 20m", "not '20m'");
	refuses("delay send 1 99999999999s", "time");
	refuses("cut send 1 x", "not 'x'");
	refuses("delay send 1 20ms more", "not 'more'");
	refuses("random rate=0", "not 'rate=0'");
	refuses("random rate=1.5", "rate");
	refuses("random rate=1e-10", "not 'rate=1e-10'");
	refuses("random seed=", "seed=");
	refuses("random kinds=drop,", "kinds");
	refuses("random kinds=", "kinds");
	refuses("random speed=1", "speed");
	for (uint32_t i = 0; i < 2; i++) {
		char many[RR_FAULT_RULES * 20 + 40] = "";

		for (uint32_t n = 0; n < RR_FAULT_RULES + i; n++)
			strcat(many, "drop send 1;");
		if (i)
			refuses(many, "more than");
		else
			parses(many);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_statement_names_action_operation_and_number),
		cmocka_unit_test(random_faults_have_a_seed_a_rate_and_kinds),
		cmocka_unit_test(nothing_is_a_script),
		cmocka_unit_test(what_is_wrong_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
