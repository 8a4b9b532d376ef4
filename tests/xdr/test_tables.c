/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that are made when a schema is loaded are the same as those that were compiled from the schema. */
#include "../test.h"

#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scarce.h"
#include "ulb/binding.h"
#include "xdr/tables.h"

extern const struct rpcrdma_program nfs2_NFS_VERSION_program, NFS_V3_program, nfs40_NFS_V4_program,
	nfs40_NFS_CB_program, nfs41_NFS_V4_program, nfs41_NFS_CB_program, nfs42_NFS_V4_program,
	nfs42_NFS_CB_program, NFS_ACL_V3_program, nlm3_NLM_VERSX_program, nlm4_NLM4_VERS_program,
	nsm1_SM_VERS_program, MOUNT_V1_program, MOUNT_V2_program, MOUNT_V3_program;

/* ---- Loaded and compiled ---- */

/* Checks that both procedures are the same. */
static void
same_procedure(const struct rpcrdma_procedure *a, const struct rpcrdma_procedure *b)
{
	assert_int_equal(!a->name, !b->name);
	if (!a->name)
		return;
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->args_min, b->args_min);
	assert_int_equal(a->args_max, b->args_max);
	assert_int_equal(a->args_items, b->args_items);
	assert_int_equal(a->args_item_max, b->args_item_max);
	assert_int_equal(a->args_walk, b->args_walk);
	assert_int_equal(a->result_min, b->result_min);
	assert_int_equal(a->result_max, b->result_max);
	assert_int_equal(a->result_items, b->result_items);
	assert_int_equal(a->result_item_max, b->result_item_max);
	assert_int_equal(a->result_walk, b->result_walk);
}

/* Checks that both programs have the same numbers and procedures. */
static void
same_program(const struct rpcrdma_program *loaded, const struct rpcrdma_program *compiled)
{
	assert_string_equal(loaded->name, compiled->name);
	assert_int_equal(loaded->prog, compiled->prog);
	assert_int_equal(loaded->vers, compiled->vers);
	assert_int_equal(loaded->procedure_count, compiled->procedure_count);
	for (uint32_t i = 0; i < loaded->procedure_count; i++)
		same_procedure(&loaded->procedures[i], &compiled->procedures[i]);
}

/* Checks that the schema loads as the same programs that the compiler made of it. */
static void
load_as_compiled(const char *path, const struct rpcrdma_program *const *compiled, uint32_t count)
{
	struct rr_xdr_tables tables;

	assert_int_equal(rr_xdr_load(&tables, &rr_env_system, path, stderr), 0);
	assert_int_equal(tables.count, count);
	for (uint32_t i = 0; i < tables.count; i++) {
		same_program(&tables.programs[i], compiled[i]);
		assert_int_equal(tables.walk_length == 0, compiled[i]->walk == NULL);
		for (uint32_t word = 0; word < tables.walk_length; word++)
			assert_int_equal(tables.programs[i].walk[word], compiled[i]->walk[word]);
	}
	rr_xdr_unload(&tables);
}

static void
loads_as_compiled(const char *path, const struct rpcrdma_program *first, const struct rpcrdma_program *second)
{
	const struct rpcrdma_program *compiled[] = { first, second };

	load_as_compiled(path, compiled, second ? 2 : 1);
}

static void
schemas_of_nfs_load_as_compiled(void **state)
{
	const struct rpcrdma_program *mount[] = { &MOUNT_V1_program, &MOUNT_V2_program, &MOUNT_V3_program };

	(void)state;
	loads_as_compiled(SCHEMAS "/nfs2.x", &nfs2_NFS_VERSION_program, NULL);
	loads_as_compiled(SCHEMAS "/nfs3.x", &NFS_V3_program, &NFS_ACL_V3_program);
	loads_as_compiled(SCHEMAS "/nfs40.x", &nfs40_NFS_V4_program, &nfs40_NFS_CB_program);
	loads_as_compiled(SCHEMAS "/nfs41.x", &nfs41_NFS_V4_program, &nfs41_NFS_CB_program);
	loads_as_compiled(SCHEMAS "/nfs42.x", &nfs42_NFS_V4_program, &nfs42_NFS_CB_program);
	loads_as_compiled(SCHEMAS "/nlm3.x", &nlm3_NLM_VERSX_program, NULL);
	loads_as_compiled(SCHEMAS "/nlm4.x", &nlm4_NLM4_VERS_program, NULL);
	loads_as_compiled(SCHEMAS "/nsm1.x", &nsm1_SM_VERS_program, NULL);
	load_as_compiled(SCHEMAS "/mount3.x", mount, 3);
}

/* ---- Failures ---- */

static char path[] = "/tmp/rpcrdma-XXXXXX";

static int
set_up(void **state)
{
	int fd = mkstemp(strcpy(path, "/tmp/rpcrdma-XXXXXX"));

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int
tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

/* Returns the message about a schema with this text, which cannot be loaded; the caller frees it. */
static char *
refusal(const struct rr_env *env, const void *text, size_t length, int error)
{
	struct rr_xdr_tables tables;
	char *said = NULL;
	size_t size;
	FILE *errors = open_memstream(&said, &size), *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	fclose(file);
	assert_int_equal(rr_xdr_load(&tables, env, path, errors), error);
	assert_int_equal(tables.count, 0);
	fclose(errors);
	return said;
}

static void
a_schema_that_is_wrong_is_refused_by_its_position(void **state)
{
	static const char text[] = "const A = 1;\nstruct s { int a; int A; };\nprogram P { };";
	char expected[64], *said = refusal(&rr_env_system, text, strlen(text), -RPCRDMA_ERR_XDR);

	(void)state;
	snprintf(expected, sizeof(expected), "%s:3:13: expected version before }\n", path);
	assert_string_equal(said, expected);
	free(said);
}

static void
a_schema_without_a_program_is_of_no_use(void **state)
{
	char expected[64], *said = refusal(&rr_env_system, "const A = 1;", 12, -RPCRDMA_ERR_XDR);

	(void)state;
	snprintf(expected, sizeof(expected), "%s: there is no program in it\n", path);
	assert_string_equal(said, expected);
	free(said);
}

/* At most this much is read of any file. */
static void
a_schema_is_at_most_a_mebioctet_large(void **state)
{
	enum { LARGE = (1 << 20) + 1 };
	char *text = malloc(LARGE), expected[64], *said;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', LARGE);
	said = refusal(&rr_env_system, text, LARGE, -RPCRDMA_ERR_XDR);
	snprintf(expected, sizeof(expected), "%s: is larger than 1048576 octets\n", path);
	assert_string_equal(said, expected);
	free(said);
	said = refusal(&rr_env_system, text, LARGE - 1, -RPCRDMA_ERR_XDR);
	snprintf(expected, sizeof(expected), "%s: there is no program in it\n", path);
	assert_string_equal(said, expected);
	free(said);
	free(text);
}

static void
every_allocation_may_fail(void **state)
{
	struct rr_xdr_tables tables;
	unsigned calls = 0, left = 0;
	const struct rr_env env = { .realloc = scarce, .ctx = &left };
	FILE *errors = fopen("/dev/null", "w");
	int error = -1;

	(void)state;
	assert_non_null(errors);
	for (; error; calls++) {
		left = calls;
		error = rr_xdr_load(&tables, &env, SAMPLE, errors);
		assert_true(error == 0 || error == -RPCRDMA_ERR_NOMEM);
	}
	fclose(errors);
	assert_true(calls > 100);
	assert_int_equal(tables.count, 2);
	rr_xdr_unload(&tables);
}

/* ---- Walks ---- */

/* Returns how many items a walk finds in a call of procedure 1 of the schema. */
static uint32_t
items_in(const char *text, const void *stream, uint32_t length)
{
	const struct rpcrdma_message message = { stream, length, 0, NULL };
	struct rr_ulb_items found = { .max = 0 };
	struct rpcrdma_xdr_reader reader;
	struct rr_xdr_tables tables;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
	assert_int_equal(rr_xdr_load(&tables, &rr_env_system, path, stderr), 0);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_int_equal(rr_ulb_walk_call(&tables.programs[0], 1, &reader, &found), RR_WALKED);
	rr_xdr_unload(&tables);
	return found.count;
}

/* RR_WALK_SKIP is followed by 12 here, which is also the number of RR_WALK_TABLE. */
static void
a_union_of_far_labels_is_walked_behind_twelve_octets(void **state)
{
	static const char text[] = "union u switch (int kind) {\n"
				   "case 0: case 1000000: opaque data<>;\n"
				   "default: int number;\n"
				   "};\n"
				   "struct s { int a; int b; int c; u rest; };\n"
				   "#pragma rpcrdma place u.data\n"
				   "program P { version V { void Q(s) = 1; } = 2; } = 3;\n";
	static const uint8_t first[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3,
		4 };
	static const uint8_t other[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 4 };

	(void)state;
	assert_int_equal(RR_WALK_TABLE, 12);
	assert_int_equal(items_in(text, first, sizeof(first)), 1);
	assert_int_equal(items_in(text, other, sizeof(other)), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schemas_of_nfs_load_as_compiled),
		cmocka_unit_test_setup_teardown(
			a_schema_that_is_wrong_is_refused_by_its_position, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_schema_without_a_program_is_of_no_use, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_schema_is_at_most_a_mebioctet_large, set_up, tear_down),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test_setup_teardown(
			a_union_of_far_labels_is_walked_behind_twelve_octets, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
