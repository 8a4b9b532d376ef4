/* SPDX-License-Identifier: BSD-3-Clause */
/* What the compiler computes of sample.x beside its codecs: sizes, marked items, and tables of programs. */
#include "../test.h"

#include "sample.h"

#define BYTES(text)                                                                                          \
	(struct rpcrdma_bytes)                                                                               \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}

static void
sizes_are_known(void **state)
{
	(void)state;
	assert_int_equal(XDR_MIN_scalars, 44 + 4);
	assert_int_equal(XDR_MAX_scalars, 44 + 4);
	assert_int_equal(XDR_MIN_octets, 8 + 4 + 4 + 4);
	assert_int_equal(XDR_MAX_octets, RPCRDMA_XDR_UNBOUNDED);
	assert_int_equal(XDR_MIN_arrays, 12 + 4 + 4 + 4 + 4 + 8 + 4 + 4);
	assert_int_equal(XDR_MAX_name, 12);
	assert_int_equal(XDR_MAX_hash, 4);
	assert_int_equal(XDR_MIN_hash, 4);
	assert_int_equal(XDR_MAX_maybe_scalars, 52);
	assert_int_equal(XDR_MIN_maybe_scalars, 4);
	assert_int_equal(XDR_MIN_maybe, 4);
	assert_int_equal(XDR_MAX_maybe, 12);
	assert_int_equal(XDR_MIN_only_yes, 8);
	assert_int_equal(XDR_MIN_either, 8);
	assert_int_equal(XDR_MAX_either, 4 + 20);
	assert_int_equal(XDR_MAX_by_number, 4 + 4 + 12);
	assert_int_equal(XDR_MIN_nested, 12 + 4 + 8 + 4 + 4);
	assert_int_equal(XDR_MAX_nested, 12 + 4 + 8 + 8 + 4 + 3 * (4 + 2 * 4));
	assert_int_equal(XDR_MIN_item, 8);
	assert_int_equal(XDR_MAX_item, RPCRDMA_XDR_UNBOUNDED);
	assert_int_equal(XDR_MIN_tree, 12);
	assert_int_equal(XDR_MAX_node, RPCRDMA_XDR_UNBOUNDED);
	/* A marked item counts only its length word. */
	assert_int_equal(XDR_MAX_write_args, 16);
	assert_int_equal(XDR_MAX_read_result, 8);
	assert_int_equal(XDR_MAX_batch, 4 + 3 * 16);
}

static void
marked_items_are_never_copied(void **state)
{
	const char data[] = "the data", path[] = "path";
	const write_args args = { 1, { data, 8 }, { path, 4 }, 2 };
	uint8_t stream[64];
	struct rpcrdma_item items[2];
	struct rpcrdma_xdr_writer out;
	struct rpcrdma_xdr_reader in;
	struct rpcrdma_message message;
	write_args copy;

	(void)state;
	rpcrdma_xdr_writer_init(&out, stream, sizeof(stream), items, 2);
	xdr_put_write_args(&out, &args);
	assert_false(out.failed);
	message = rpcrdma_xdr_written(&out);
	assert_int_equal(message.length, XDR_MAX_write_args);
	assert_int_equal(message.item_count, 2);
	assert_ptr_equal(items[0].data, data);
	assert_int_equal(items[0].offset, 8);
	assert_ptr_equal(items[1].data, path);

	rpcrdma_xdr_reader_init(&in, &message, NULL);
	xdr_get_write_args(&in, &copy);
	assert_true(rpcrdma_xdr_done(&in));
	assert_ptr_equal(copy.data.data, data);
	assert_int_equal(copy.data.length, 8);
	assert_ptr_equal(copy.path.data, path);
	assert_int_equal(copy.after, 2);
}

/* RFC 8166, 3.4.2: of data that is not marked, "All other XDR data items MUST NOT be reduced." */
static void
what_is_not_marked_stays_in_the_stream(void **state)
{
	const octets object = {
		.bounded = BYTES("123456789012"), .unbounded = BYTES("a"), .text = BYTES("text")
	};
	uint8_t stream[64];
	struct rpcrdma_item items[4];
	struct rpcrdma_xdr_writer out;

	(void)state;
	rpcrdma_xdr_writer_init(&out, stream, sizeof(stream), items, 4);
	xdr_put_octets(&out, &object);
	assert_false(out.failed);
	assert_int_equal(rpcrdma_xdr_written(&out).item_count, 0);
	assert_int_equal(rpcrdma_xdr_length(&out), 8 + 16 + 8 + 8);
}

static void
a_marked_item_keeps_its_bound(void **state)
{
	const struct rpcrdma_item nine = { "123456789", 9, 16 };
	struct rpcrdma_message message = { "\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 16, 0, NULL };
	struct rpcrdma_xdr_reader in;
	write_args args;

	(void)state;
	rpcrdma_xdr_reader_init(&in, &message, NULL);
	xdr_get_write_args(&in, &args);
	assert_true(rpcrdma_xdr_done(&in));
	message = (struct rpcrdma_message){ "\0\0\0\1\0\0\0\0\0\0\0\11\0\0\0\0", 16, 1, &nine };
	rpcrdma_xdr_reader_init(&in, &message, NULL);
	xdr_get_write_args(&in, &args);
	assert_true(in.failed); /* the type of path is an alias of string name<8> */
}

static void
programs_are_tables_by_number(void **state)
{
	const struct rpcrdma_procedure *p = SAMPLE_V1_program.procedures;

	(void)state;
	assert_string_equal(SAMPLE_V1_program.name, "SAMPLE_V1");
	assert_int_equal(SAMPLE_V1_program.prog, 0x20000099);
	assert_int_equal(SAMPLE_V1_program.vers, 1);
	assert_int_equal(SAMPLE_V1_program.procedure_count, 6);
	assert_string_equal(p[SAMPLE_NULL].name, "SAMPLE_NULL");
	assert_int_equal(
		p[SAMPLE_NULL].args_size + p[SAMPLE_NULL].result_size + p[SAMPLE_NULL].result_max, 0);
	assert_null(p[SAMPLE_NULL].get_args);
	assert_null(p[SAMPLE_NULL].put_result);
	assert_null(p[1].name);
	assert_int_equal(p[SAMPLE_ADD].args_size, sizeof(SAMPLE_ADD_args));
	assert_int_equal(p[SAMPLE_ADD].args_max, 8);
	assert_int_equal(p[SAMPLE_ADD].result_size, sizeof(int32_t));
	assert_int_equal(p[SAMPLE_IS].args_max, 12);

	p = SAMPLE_V2_program.procedures;
	assert_int_equal(SAMPLE_V2_program.vers, 2);
	assert_int_equal(SAMPLE_V2_program.procedure_count, 7);
	assert_int_equal(p[SAMPLE_SUM].args_max, RPCRDMA_XDR_UNBOUNDED);
	assert_int_equal(p[SAMPLE_SUM].result_max, 8);
	assert_int_equal(p[SAMPLE_READ].args_items, 0);
	assert_int_equal(p[SAMPLE_READ].result_items, 1);
	assert_int_equal(p[SAMPLE_READ].result_item_max, 16);
	assert_int_equal(p[SAMPLE_WRITE].args_items, 6);
	assert_int_equal(p[SAMPLE_WRITE].args_item_max, 100);
	assert_int_equal(p[SAMPLE_WRITE].result_item_max, 0);
	assert_int_equal(p[SAMPLE_LIST].result_item_max, RPCRDMA_XDR_UNBOUNDED);
	assert_int_equal(p[SAMPLE_LIST].result_items, RPCRDMA_XDR_UNBOUNDED);
	assert_int_equal(p[SAMPLE_LIST].result_max, RPCRDMA_XDR_UNBOUNDED);
}

static void
the_codecs_of_a_table_are_those_of_the_types(void **state)
{
	const struct rpcrdma_procedure *p = &SAMPLE_V1_program.procedures[SAMPLE_ADD];
	const SAMPLE_ADD_args args = { .arg1 = -1, .arg2 = 2 };
	const int32_t sum = 1;
	SAMPLE_ADD_args args_copy;
	int32_t sum_copy;
	uint8_t stream[12];
	struct rpcrdma_xdr_writer out;
	struct rpcrdma_xdr_reader in;
	struct rpcrdma_message message;

	(void)state;
	rpcrdma_xdr_writer_init(&out, stream, sizeof(stream), NULL, 0);
	p->put_args(&out, &args);
	p->put_result(&out, &sum);
	assert_memory_equal(stream, "\xff\xff\xff\xff\0\0\0\2\0\0\0\1", 12);
	message = rpcrdma_xdr_written(&out);
	rpcrdma_xdr_reader_init(&in, &message, NULL);
	p->get_args(&in, &args_copy);
	p->get_result(&in, &sum_copy);
	assert_true(rpcrdma_xdr_done(&in));
	assert_int_equal(args_copy.arg1, -1);
	assert_int_equal(args_copy.arg2, 2);
	assert_int_equal(sum_copy, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_known),
		cmocka_unit_test(marked_items_are_never_copied),
		cmocka_unit_test(what_is_not_marked_stays_in_the_stream),
		cmocka_unit_test(a_marked_item_keeps_its_bound),
		cmocka_unit_test(programs_are_tables_by_number),
		cmocka_unit_test(the_codecs_of_a_table_are_those_of_the_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
