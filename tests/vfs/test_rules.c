/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

#include "vfs/rules.h"
#include "vfs/vfs.h"

static struct rr_text why;

/* Returns the first rule that applies to a caller at this source, or may apply to it. */
static const struct rr_rule *
rules_first(const struct rr_rules *rules, uint32_t number, const struct rr_source *source)
{
	uint32_t at = 0;

	return rr_rules_next(rules, number, source, &at);
}

/* Adds a rule to an export, and finds the right that it gives to a caller. */
static int
add(const char *text, const char *from, struct rr_right *right)
{
	const struct rr_source source = rr_address_source_of(from);
	const struct rr_rule *rule;
	struct rr_rules *rules;
	int error;

	why.text[0] = '\0';
	assert_int_equal(rr_rules_new(&rr_env_system, 1, &rules), 0);
	error = rr_rules_add(rules, 0, text, &rr_right_default, &why);
	rule = rules_first(rules, 0, &source);
	assert_true(!error == !!rule);
	if (rule && right)
		*right = rule->right;
	rr_rules_release(rules);
	return error;
}

static void
takes(const char *text, struct rr_right *right)
{
	if (add(text, "192.0.2.1:1", right) < 0)
		fail_msg("%s: %s", text, why.text);
}

static void
refuses(const char *text, const char *part)
{
	assert_int_equal(add(text, "192.0.2.1:1", NULL), -RPCRDMA_ERR_INVAL);
	if (!strstr(why.text, part))
		fail_msg("'%s' is not in: %s", part, why.text);
}

/* exports(5): "ro", "root_squash", "secure", "sec=sys" are the defaults. */
static void
a_client_without_options_reads_squashed(void **state)
{
	struct rr_right right;

	(void)state;
	takes("192.0.2.1", &right);
	assert_true(right.read_only && right.secure);
	assert_int_equal(right.squash, RR_SQUASH_ROOT);
	assert_int_equal(right.anon_uid, RR_VFS_NOBODY);
	assert_int_equal(right.flavors, RR_RIGHT_SYS);
	takes("192.0.2.1()", &right);
	assert_true(right.read_only);
}

static void
options_say_what_they_say_in_exports(void **state)
{
	struct rr_right right;

	(void)state;
	takes("192.0.2.1(rw,sync,no_subtree_check,no_root_squash,insecure)", &right);
	assert_true(!right.read_only && !right.secure);
	assert_int_equal(right.squash, RR_SQUASH_NONE);
	takes("*(rw,all_squash,anonuid=4294967294,anongid=0,sec=none:sys,vers=3:4,ro)", &right);
	assert_true(right.read_only);
	assert_int_equal(right.squash, RR_SQUASH_ALL);
	assert_int_equal(right.anon_uid, 4294967294);
	assert_int_equal(right.anon_gid, 0);
	assert_int_equal(right.flavors, RR_RIGHT_SYS | RR_RIGHT_NONE);
	assert_int_equal(right.versions, RR_RIGHT_V3 | RR_RIGHT_V4);
	assert_int_equal(right.xprtsec, RR_RIGHT_SECURITIES);
	assert_false(right.refuse_unknown);
	takes("*(refuse_unknown,sec=krb5)", &right);
	assert_true(right.refuse_unknown);
	takes("*(xprtsec=mtls:none)", &right);
	assert_int_equal(right.xprtsec, RR_RIGHT_MTLS | RR_RIGHT_PLAIN);
	takes("*(xprtsec=tls)", &right);
	assert_int_equal(right.xprtsec, RR_RIGHT_TLS);
}

static void
access_lists_are_shown_or_not(void **state)
{
	struct rr_right right;

	(void)state;
	takes("*(rw)", &right);
	assert_false(right.no_acl);
	takes("*(rw,no_acl)", &right);
	assert_true(right.no_acl);
	takes("*(no_acl,acl)", &right);
	assert_false(right.no_acl);
	refuses("*(no_acl=1)", "no_acl");
}

static void
options_of_other_servers_change_nothing(void **state)
{
	struct rr_right plain, right;

	(void)state;
	takes("*(rw)", &plain);
	takes("*(rw,async,fsid=1,auth_nlm,no_auth_nlm,secure_locks,insecure_locks,pnfs,no_pnfs)", &right);
	right.words = plain.words = 0;
	assert_memory_equal(&right, &plain, sizeof(right));
	takes("*(rw,wdelay,no_wdelay,nohide,crossmnt,fsid=6ba7b810-9dad-11d1-80b4-00c04fd430c8)", &right);
	right.words = 0;
	assert_memory_equal(&right, &plain, sizeof(right));
}

/* A word that keeps something from clients is not passed over. */
static void
options_that_are_not_kept_are_refused(void **state)
{
	(void)state;
	refuses("*(rw,squash_uids=0-99)", "'squash_uids' is no option");
	refuses("*(rw,refer=/a@b)", "'refer' is no option");
	refuses("*(rw,mp=/mnt)", "no value");
	refuses("*(rw,fsid=)", "a number");
	refuses("*(rw,fsid)", "a number");
}

static void
what_is_not_known_is_refused_with_what_is(void **state)
{
	(void)state;
	refuses("*(rw,asynk)", "'asynk'");
	refuses("*(rw,asynk)", "no_root_squash");
	refuses("*(RW)", "vers=");
	refuses("*(rw=1)", "no value");
	refuses("*(anonuid)", "a number");
	refuses("*(anonuid=)", "a number");
	refuses("*(anonuid=-2)", "a number");
	refuses("*(anonuid=4294967295)", "a number");
	refuses("*(anonuid=99999999999)", "a number");
	refuses("*(anongid=12x)", "a number");
	refuses("*(sec=krb4)", "sys, none, krb5");
	refuses("*(sec=sys:spkm3)", "sys, none, krb5");
	refuses("*(sec=sys:)", "sys, none");
	refuses("*(vers=2)", "3, 4");
	refuses("*(xprtsec=ssl)", "none:tls:mtls");
	refuses("*(xprtsec=tls:)", "none:tls:mtls");
}

/* An IPv4 address is kept as ::ffff:a.b.c.d, which lies in these networks by its bits alone. */
static void
a_network_of_ipv6_has_no_ipv4_addresses(void **state)
{
	static const char *const networks[] = { "::/0", "::/1", "::/80", "::/95", "::fffe:0:0/95" };
	(void)state;
	for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		struct rr_source ipv4 = rr_address_source_of("192.0.2.1:1");
		struct rr_rules *rules;

		assert_int_equal(rr_rules_new(&rr_env_system, 1, &rules), 0);
		assert_int_equal(rr_rules_add(rules, 0, networks[i], &rr_right_default, &why), 0);
		assert_null(rules_first(rules, 0, &ipv4));
		rr_rules_release(rules);
	}
	assert_int_equal(add("::/0", "[::1]:1", NULL), 0);
	/* Who writes the mapped form means it. */
	takes("::ffff:192.0.2.0/120", NULL);
	takes("0.0.0.0/0", NULL);
}

/* In exports(5), "host (rw)" lets the host read and every client write. */
static void
options_without_a_client_are_refused(void **state)
{
	(void)state;
	refuses("(rw)", "no space before");
	refuses("", "no client");
	refuses("*(rw", "'(' and ')'");
	refuses("*(rw)x", "'(' and ')'");
	refuses("*(rw)(ro)", "'(' and ')'");
}

static void
clients_that_are_none_are_refused(void **state)
{
	(void)state;
	refuses("@(rw)", "the name of a netgroup");
	refuses("host[a", "no ']'");
	refuses("192.0.2.0/33", "bits up to 32");
	refuses("2001:db8::/129", "bits up to 128");
	refuses("192.0.2.0/", "neither");
	refuses("192.0.2.0/-1", "neither");
	refuses("192.0.2.0/255.0.255.0", "neither");
	refuses("192.0.2.0/ffff::", "neither");
	refuses("host/24", "no address");
	refuses("/24", "no address");
}

static void
a_host_that_has_no_address_is_refused(void **state)
{
	(void)state;
	assert_int_equal(add("no.such.host.invalid(rw)", "192.0.2.1:1", NULL), -RPCRDMA_ERR_ADDRESS);
	assert_non_null(strstr(why.text, "no.such.host.invalid"));
}

static void
a_host_is_all_of_its_addresses(void **state)
{
	(void)state;
	assert_int_equal(add("localhost", "127.0.0.1:1", NULL), 0);
}

static void
there_are_not_more_rules_than_are_allowed(void **state)
{
	struct rr_rules *rules;
	int error = 0;
	uint32_t count = 0;

	(void)state;
	assert_int_equal(rr_rules_new(&rr_env_system, 1, &rules), 0);
	while (!error && count <= RR_RULES_MAX)
		error = rr_rules_add(rules, 0, count++ % 2 ? "192.0.2.1" : "*", &rr_right_default, &why);
	assert_int_equal(error, -RPCRDMA_ERR_LIMIT);
	assert_int_equal(count, RR_RULES_MAX + 1);
	rr_rules_release(rules);
}

static void
addresses_are_taken_out_of_names_of_peers(void **state)
{
	struct rr_source source = rr_address_source_of("192.0.2.1:65535");
	static const uint8_t mapped[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1 };

	(void)state;
	assert_true(source.known);
	assert_int_equal(source.port, 65535);
	assert_memory_equal(source.address, mapped, sizeof(mapped));
	source = rr_address_source_of("[2001:db8::1]:80");
	assert_true(source.known);
	assert_int_equal(source.port, 80);
	assert_int_equal(source.address[0], 0x20);
	assert_false(rr_address_source_of("address family 1").known);
	assert_false(rr_address_source_of("").known);
	assert_false(rr_address_source_of("[").known);
	assert_false(rr_address_source_of("[]:1").known);
}

/* Octets of good rules are changed, left out and repeated: each text is taken or refused, and nothing else
 * happens. */
static void
no_text_is_too_strange(void **state)
{
	static const char *const seeds[] = { "192.0.2.0/255.255.255.0(rw,anonuid=12,sec=sys:none)",
		"2001:db8::/32(ro,all_squash,anongid=4294967294)", "*(rw,sync,no_subtree_check,vers=3:4)" };
	uint64_t dice = 1;

	(void)state;
	for (unsigned round = 0; round < 60000; round++) {
		char text[128];
		size_t length = (size_t)snprintf(text, sizeof(text), "%s", seeds[round % 3]);
		struct rr_rules *rules;

		for (unsigned i = 0; i <= round % 4; i++) {
			size_t at = (size_t)(dice >> 33) % length;

			dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
			if (dice >> 62 == 0)
				memmove(text + at, text + at + 1, length - at);
			else if (dice >> 62 == 1 && length + 9 < sizeof(text))
				memmove(text + at + 8, text + at, length - at + 1);
			else
				text[at] = (char)(dice >> 40 ? dice >> 40 : 1);
			length = strlen(text);
			if (length == 0)
				break;
		}
		/* This test looks up no names. */
		if (text[0] != '*' && !strchr(text, '/'))
			continue;
		assert_int_equal(rr_rules_new(&rr_env_system, 1, &rules), 0);
		why.text[0] = '\0';
		if (rr_rules_add(rules, 0, text, &rr_right_default, &why) < 0)
			assert_true(why.text[0] != '\0');
		rr_rules_release(rules);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_without_options_reads_squashed),
		cmocka_unit_test(options_say_what_they_say_in_exports),
		cmocka_unit_test(access_lists_are_shown_or_not),
		cmocka_unit_test(options_of_other_servers_change_nothing),
		cmocka_unit_test(options_that_are_not_kept_are_refused),
		cmocka_unit_test(what_is_not_known_is_refused_with_what_is),
		cmocka_unit_test(a_network_of_ipv6_has_no_ipv4_addresses),
		cmocka_unit_test(options_without_a_client_are_refused),
		cmocka_unit_test(clients_that_are_none_are_refused),
		cmocka_unit_test(a_host_that_has_no_address_is_refused),
		cmocka_unit_test(a_host_is_all_of_its_addresses),
		cmocka_unit_test(there_are_not_more_rules_than_are_allowed),
		cmocka_unit_test(addresses_are_taken_out_of_names_of_peers),
		cmocka_unit_test(no_text_is_too_strange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
