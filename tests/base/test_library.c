/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "../test.h"
#include "base/library.h"

struct table {
	double (*floor)(double x);
	double (*ceil)(double x);
};

static const struct rr_library_symbol symbols[] = {
	{ "floor", offsetof(struct table, floor) },
	{ "ceil", offsetof(struct table, ceil) },
	{ "ceiling", offsetof(struct table, ceil) },
};

/* A library of the file, of which `count` of the symbols are wanted. */
static struct rr_library
library_of(const char *file, size_t count)
{
	return (struct rr_library){ .file = file,
		.needed = "the test needs it",
		.package = "a package",
		.symbols = symbols,
		.count = count };
}

static void
functions_are_found_by_their_names(void **state)
{
	const struct rr_library library = library_of("libm.so.6", 2);
	struct table table = { 0 };
	struct rr_text text;

	(void)state;
	assert_non_null(rr_library_load(&library, &table, &text));
	assert_true(table.floor(1.5) == 1.0);
	assert_true(table.ceil(1.5) == 2.0);
}

static void
what_lacks_a_function_is_too_old(void **state)
{
	const struct rr_library library = library_of("libm.so.6", 3);
	struct table table = { 0 };
	struct rr_text text;

	(void)state;
	assert_null(rr_library_load(&library, &table, &text));
	assert_string_equal(text.text, "libm.so.6 has no ceiling: it is too old");
}

static void
what_is_missing_is_to_be_installed(void **state)
{
	const struct rr_library library = library_of("libnobody-has-it.so.9", 0);
	struct table table = { 0 };
	struct rr_text text;

	(void)state;
	assert_null(rr_library_load(&library, &table, &text));
	assert_int_equal(
		strncmp(text.text, "the test needs it, which cannot be loaded (libnobody-has-it", 59), 0);
	assert_non_null(strstr(text.text, "): install a package"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_their_names),
		cmocka_unit_test(what_lacks_a_function_is_too_old),
		cmocka_unit_test(what_is_missing_is_to_be_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
