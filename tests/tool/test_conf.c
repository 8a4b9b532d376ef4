/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

#include "tool/conf.h"

static struct rr_text why;

static struct rr_conf
conf_of(const char *text)
{
	struct rr_conf conf;

	assert_int_equal(rr_conf_take(text, strlen(text), &conf, &why), 0);
	return conf;
}

/* Checks the words of a text. `all` has the words of each line after the number of the line: "1:a|b 3:c". An
 * error in line 2 is "2:!". */
static void
expect(const char *text, const char *all)
{
	struct rr_conf conf = conf_of(text);
	char got[512] = "";
	const char *word;

	while ((word = rr_conf_first(&conf))) {
		size_t at = strlen(got);

		snprintf(got + at, sizeof(got) - at, "%s%u:%s", at ? " " : "", conf.line, word);
		while ((word = rr_conf_word(&conf))) {
			at = strlen(got);
			snprintf(got + at, sizeof(got) - at, "|%s", word);
		}
		if (conf.bad)
			strcat(got, "!");
	}
	rr_conf_free(&conf);
	assert_string_equal(got, all);
}

static void
a_line_is_words_with_blanks_between_them(void **state)
{
	(void)state;
	expect("a b\tc\n\n  d  \r\n e", "1:a|b|c 3:d 4:e");
	expect("", "");
	expect("\n \n\t", "");
}

static void
comments_reach_to_the_end_of_the_line(void **state)
{
	(void)state;
	expect("# one\na # two\n#\nb#c d\n", "2:a 4:b#c|d");
	expect("a # \\\nb", "1:a 2:b");
}

static void
a_backslash_joins_lines(void **state)
{
	(void)state;
	expect("a \\\n  b\\\nc\nd\n", "1:a|b|c 4:d");
	expect("\\\na", "2:a");
	expect("a \\\n", "1:a");
}

static void
blanks_are_kept_in_quotation_marks_and_by_octal_numbers(void **state)
{
	(void)state;
	expect("\"a b\" c\"d e\"f \"\"", "1:a b|cd ef|");
	expect("/srv/a\\040b\\011 \"\\042\"", "1:/srv/a b\t|\"");
	expect("a \"#\" # b", "1:a|#");
}

static void
a_line_that_makes_no_sense_says_so_and_the_next_one_counts(void **state)
{
	(void)state;
	expect("\"a\nb", "1:! 2:b");
	expect("a \"b\nc", "1:a! 2:c");
	expect("a\\x\nb", "1:! 2:b");
	expect("a\\000\nb", "1:! 2:b");
	expect("a\\400\nb", "1:! 2:b");
	expect("a\\", "1:!");
	expect("a\\04", "1:!");
}

static void
a_line_that_is_skipped_goes_as_far_as_backslashes_join_it(void **state)
{
	struct rr_conf conf = conf_of("a b \\\n c \"d # e\" \\\n f # g \\\nh i # j \\\nk");

	(void)state;
	expect("a\\x b \\\n c \\\n d\ne", "1:! 4:e");
	expect("\"a \\\n c\nd", "1:! 3:d");
	expect("a\\x # b \\\nc", "1:! 2:c");
	expect("a\\x b\\", "1:!");
	assert_string_equal(rr_conf_first(&conf), "a");
	assert_string_equal(rr_conf_first(&conf), "h");
	assert_int_equal(conf.line, 4);
	assert_string_equal(rr_conf_first(&conf), "k");
	assert_null(rr_conf_first(&conf));
	rr_conf_free(&conf);
}

static void
what_is_no_text_is_refused(void **state)
{
	struct rr_conf conf;

	(void)state;
	assert_int_equal(rr_conf_take("a\0b", 3, &conf, &why), -RPCRDMA_ERR_INVAL);
	rr_conf_free(&conf);
	assert_int_equal(rr_conf_read("/no/such/file", &conf, &why), -RPCRDMA_ERR_SYSTEM);
	assert_int_equal(rr_conf_read("/dev/zero", &conf, &why), -RPCRDMA_ERR_LIMIT);
	assert_int_equal(rr_conf_read("/", &conf, &why), -RPCRDMA_ERR_SYSTEM);
}

/* Reads a good file in which octets were changed, left out and repeated. Checks that the words come to an
 * end, and that each lies in the text. */
static void
no_file_is_too_strange(void **state)
{
	static const char seed[] =
		"listen 192.0.2.1 # here\n/srv/a\\040b \"-ro\" \\\n  192.0.2.0/24(rw) *\n\n"
		"threads 4\n\"/srv/c d\" host(ro)\n";
	uint64_t dice = 1;

	(void)state;
	for (unsigned round = 0; round < 100000; round++) {
		char text[256];
		size_t length = sizeof(seed) - 1, words = 0;
		struct rr_conf conf;

		memcpy(text, seed, length);
		for (unsigned i = 0; i <= round % 8 && length > 16; i++) {
			size_t at;

			dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			at = (size_t)(dice >> 33) % length;
			if (dice >> 62 == 0)
				length = at + 1;
			else if (dice >> 62 == 1)
				memmove(text + at, text + length / 2,
					length - (at > length / 2 ? at : length / 2));
			else
				text[at] = "\"\\\n #\t0a"[dice >> 40 & 7];
		}
		assert_int_equal(rr_conf_take(text, length, &conf, &why), 0);
		for (const char *word = rr_conf_first(&conf); word; word = rr_conf_first(&conf))
			do {
				assert_true(strlen(word) <= length);
				assert_true(++words <= 2 * length);
			} while ((word = rr_conf_word(&conf)));
		rr_conf_free(&conf);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_words_with_blanks_between_them),
		cmocka_unit_test(comments_reach_to_the_end_of_the_line),
		cmocka_unit_test(a_backslash_joins_lines),
		cmocka_unit_test(blanks_are_kept_in_quotation_marks_and_by_octal_numbers),
		cmocka_unit_test(a_line_that_makes_no_sense_says_so_and_the_next_one_counts),
		cmocka_unit_test(a_line_that_is_skipped_goes_as_far_as_backslashes_join_it),
		cmocka_unit_test(what_is_no_text_is_refused),
		cmocka_unit_test(no_file_is_too_strange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
