/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of MOUNT version 3 (RFC 1813, appendix I), as ulb/mount3.x describes them. */
#include "codecs.h"
#include "ulb/mount3.h"

#define BYTES(text)                                                                                          \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}

static const struct rpcrdma_procedure *
procedure(uint32_t number)
{
	assert_true(number < MOUNT_V3_program.procedure_count);
	return &MOUNT_V3_program.procedures[number];
}

static void
the_program_has_6_procedures(void **state)
{
	(void)state;
	assert_int_equal(MOUNT_V3_program.prog, 100005);
	assert_int_equal(MOUNT_V3_program.vers, 3);
	assert_int_equal(MOUNT_V3_program.procedure_count, 6);
	for (uint32_t number = 0; number < 6; number++) {
		assert_non_null(procedure(number)->name);
		/* RFC 8267, section 5.1, names no item of MOUNT as DDP-eligible. */
		assert_int_equal(procedure(number)->args_items + procedure(number)->result_items, 0);
	}
	assert_int_equal(procedure(MOUNTPROC3_MNT)->args_max, 4 + 1024);
	assert_null(procedure(MOUNTPROC3_UMNT)->get_result);
}

static void
mount_results(void **state)
{
	const struct rr_codec codec = rr_result_codec(procedure(MOUNTPROC3_MNT));
	int32_t flavors[] = { 1, 0 };
	const mountres3 mounted = { MNT3_OK, { { BYTES("handle"), { 2, flavors } } } };
	const mountres3 denied = { .fhs_status = MNT3ERR_ACCES };

	(void)state;
	assert_int_equal(rr_round_trip(codec, &mounted), 4 + 12 + 12);
	assert_int_equal(rr_round_trip(codec, &denied), 4);
}

static void
a_path_of_1025_octets_is_refused(void **state)
{
	static uint8_t call[4 + 1028] = { 0, 0, 4, 1 };
	const struct rr_codec codec = rr_args_codec(procedure(MOUNTPROC3_MNT));

	(void)state;
	assert_null(rr_read_object(&codec, call, sizeof(call)));
	call[3] = 0;
	assert_non_null(rr_read_object(&codec, call, sizeof(call) - 4));
}

static void
lists_of_mounts_and_exports(void **state)
{
	mountbody second = { BYTES("b"), BYTES("/b"), NULL }, first = { BYTES("a"), BYTES("/a"), &second };
	groupnode everyone = { BYTES("*"), NULL }, host = { BYTES("host"), &everyone };
	exportnode open = { BYTES("/open"), NULL, NULL }, some = { BYTES("/some"), &host, &open };
	const mountlist mounts = &first, no_mounts = NULL;
	const exports all = &some;

	(void)state;
	assert_int_equal(
		rr_round_trip(rr_result_codec(procedure(MOUNTPROC3_DUMP)), &mounts), 2 * (4 + 8 + 8) + 4);
	assert_int_equal(rr_round_trip(rr_result_codec(procedure(MOUNTPROC3_DUMP)), &no_mounts), 4);
	assert_int_equal(rr_round_trip(rr_result_codec(procedure(MOUNTPROC3_EXPORT)), &all),
		4 + 12 + 2 * 12 + 4 + 4 + 12 + 4 + 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_has_6_procedures),
		cmocka_unit_test(mount_results),
		cmocka_unit_test(a_path_of_1025_octets_is_refused),
		cmocka_unit_test(lists_of_mounts_and_exports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
