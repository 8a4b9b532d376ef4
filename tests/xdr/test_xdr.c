/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that the compiler writes: after any failure there are both files or neither. */
#include "../test.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scarce.h"
#include "xdr/xdr.h"

static char folder[] = "/tmp/rpcrdma-XXXXXX";
static const char schema[] =
	"const A = 1;\nenum e { E = 1 };\ntypedef e es<3>;\nstruct s { es a; s *b; opaque c<>; };\n"
	"union u switch (e d) { case E: s f; };\n"
	"#pragma rpcrdma place s.c\n"
	"program P { version V { u Q(int, s) = 1; } = 2; } = 3;\n";

static void
write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Returns whether the text is in the file. */
static bool
file_has(const char *name, const char *text)
{
	char *content = calloc(1, 65536);
	FILE *file = fopen(name, "r");
	bool has;

	assert_non_null(file);
	has = fread(content, 1, 65535, file) > 0 && strstr(content, text);
	fclose(file);
	free(content);
	return has;
}

static int
set_up(void **state)
{
	(void)state;
	if (!mkdtemp(strcpy(folder, "/tmp/rpcrdma-XXXXXX")) || chdir(folder) < 0)
		return -1;
	write_file("good.x", schema);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	unlink("good.x");
	unlink("good.h");
	unlink("good.c");
	/* rmdir() fails if a temporary file is left. */
	return rmdir(folder);
}

/* Compiles, and returns the messages, which the caller frees. */
static char *
compile(const char *input, const char *base, int error)
{
	char *said = NULL;
	size_t size;
	FILE *errors = open_memstream(&said, &size);

	assert_int_equal(rr_xdr_compile(input, base, errors), error);
	fclose(errors);
	return said;
}

static void
both_files_are_written_for_all_to_read(void **state)
{
	char *said = compile("good.x", "good", 0);
	struct stat status;
	mode_t mask = umask(0);

	(void)state;
	umask(mask);
	assert_string_equal(said, "");
	free(said);
	assert_true(file_has("good.h", "#ifndef XDR_GOOD_H\n"));
	assert_true(file_has("good.c", "#include \"good.h\"\n"));
	assert_int_equal(stat("good.h", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
}

static void
a_base_in_another_folder_is_included_by_its_name(void **state)
{
	char base[64];
	char *said;

	(void)state;
	snprintf(base, sizeof(base), "%s/good", folder);
	said = compile("good.x", base, 0);
	free(said);
	assert_true(file_has("good.c", "#include \"good.h\"\n"));
}

static void
files_that_cannot_be_read_or_written_are_named(void **state)
{
	char *said = compile("absent.x", "good", -RPCRDMA_ERR_SYSTEM);

	(void)state;
	assert_string_equal(said, "absent.x: cannot open it: No such file or directory\n");
	free(said);
	said = compile(".", "good", -RPCRDMA_ERR_SYSTEM);
	assert_string_equal(said, ".: cannot read it: Is a directory\n");
	free(said);
	said = compile("good.x", "absent/good", -RPCRDMA_ERR_SYSTEM);
	assert_string_equal(said, "good.x: cannot write absent/good.h: No such file or directory\n");
	free(said);
	assert_int_equal(access("good.h", F_OK), -1);
}

static void
old_outputs_stay_where_the_new_ones_fail(void **state)
{
	char *said;

	(void)state;
	write_file("good.h", "old");
	write_file("good.c", "old");
	write_file("good.x", "const A = ;");
	said = compile("good.x", "good", -RPCRDMA_ERR_XDR);
	free(said);
	assert_true(file_has("good.h", "old"));
	assert_true(file_has("good.c", "old"));
}

static void
every_allocation_may_fail(void **state)
{
	unsigned calls = 0, left = 0;
	const struct rr_env env = { .realloc = scarce, .ctx = &left };
	const struct rr_xdr_preprocess preprocess = { 0 };
	char *said = NULL;
	size_t size;
	int error = -1;

	(void)state;
	for (; error; calls++) {
		FILE *errors = open_memstream(&said, &size);

		left = calls;
		error = rr_xdr_compile_with(&env, &preprocess, "good.x", "good", errors);
		fclose(errors);
		if (error) {
			assert_int_equal(error, -RPCRDMA_ERR_NOMEM);
			assert_string_equal(said, "good.x: no memory\n");
			assert_int_equal(access("good.h", F_OK), -1);
			assert_int_equal(access("good.c", F_OK), -1);
		}
		free(said);
	}
	assert_true(calls > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_files_are_written_for_all_to_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_base_in_another_folder_is_included_by_its_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			files_that_cannot_be_read_or_written_are_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_outputs_stay_where_the_new_ones_fail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
