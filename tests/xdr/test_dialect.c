/* SPDX-License-Identifier: BSD-3-Clause */
/* Schemas that rpcgen takes beyond the RFCs: in the stream their values are as Sun's library has them. */
#include "../test.h"

#include <string.h>

#include "dialect.h"

/* Checks the octets of a value that is written and read again without an arena. */
#define WRITTEN(type, value, stream)                                                                         \
	do {                                                                                                 \
		struct rpcrdma_xdr_writer writer;                                                            \
		uint8_t memory[256];                                                                         \
		type object = value;                                                                         \
                                                                                                             \
		rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), NULL, 0);                           \
		xdr_put_##type(&writer, &object);                                                            \
		assert_false(writer.failed);                                                                 \
		assert_int_equal(rpcrdma_xdr_length(&writer), sizeof(stream));                               \
		assert_memory_equal(memory, stream, sizeof(stream));                                         \
	} while (0)

static void
constants_are_texts_letters_and_other_names(void **state)
{
	(void)state;
	assert_string_equal(TEXT, "a text");
	assert_int_equal(LETTER, 'c');
	assert_int_equal(SAME, 'c');
	assert_int_equal(LAST_PROCEDURE, 'c');
	assert_int_equal(DIALECT_KEY, 2);
	assert_int_equal(DIALECT_PASSED, 5);
}

static void
enumerators_without_numbers_count_on(void **state)
{
	(void)state;
	assert_int_equal(ZERO, 0);
	assert_int_equal(ONE, 1);
	assert_int_equal(EIGHT, 8);
	assert_int_equal(BELOW, -2);
	assert_int_equal(ABOVE, -1);
}

/* RFC 4506, section 3: "The representation of all items requires a multiple of four bytes" */
static void
small_numbers_take_four_octets(void **state)
{
	const uint8_t stream[] = { 255, 255, 255, 255, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0,
		0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 12, 0, 0, 0, 0, 0,
		0, 0, 13 };
	const numbers value = { -1, 2, 3, 4, 5, 6, 7, { 8, 9 }, 10, true, 12, 13 };

	(void)state;
	WRITTEN(numbers, value, stream);
	assert_int_equal(XDR_MAX_numbers, sizeof(stream));
}

static void
reserved_names_have_an_underscore(void **state)
{
	const uint8_t stream[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4 };
	class_ value = { .new_ = 1, .SAME_ = 2, .register_ = 3, .unix_ = 4 };

	(void)state;
	WRITTEN(class_, value, stream);
}

/* RFC 5531, section 9: `opaque results[0]` stands in the place of results whose type is not known. */
static void
arrays_of_nothing_are_not_there(void **state)
{
	const uint8_t in_struct[] = { 0, 0, 0, 1 }, in_union[] = { 0, 0, 0, 'c' };
	const empty_inside inside = { 1 };
	const results of_union = { .u_ = 'c' };

	(void)state;
	WRITTEN(empty_inside, inside, in_struct);
	WRITTEN(results, of_union, in_union);
}

static void
cases_can_be_what_a_header_defines(void **state)
{
	const uint8_t stream[] = { 0, 0, 0, 3, 0, 0, 0, 9 };
	const results value = { .u_ = DIALECT_FAR, .u.far = 9 };

	(void)state;
	WRITTEN(results, value, stream);
}

static void
types_of_suns_library_are_known(void **state)
{
	const uint8_t stream[] = { 0, 0, 0, 1, 'o', 0, 0, 0, 'd', 'e', 's', 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0,
		0, 1, 'b', 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0 };
	const known value = { .object = { "o", 1 },
		.block = { 'd', 'e', 's' },
		.buffer = { 7, { "b", 1 } },
		.sized = { 1, 2, 3, 4, 5, 6, 7 } };

	(void)state;
	WRITTEN(known, value, stream);
}

static void
a_bound_that_a_header_defines_is_kept(void **state)
{
	int32_t values[DIALECT_PASSED + 1] = { 0 };
	const known value = { .counted = { DIALECT_PASSED + 1, values } };
	struct rpcrdma_xdr_writer writer;
	uint8_t memory[256];

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), NULL, 0);
	xdr_put_known(&writer, &value);
	assert_true(writer.failed);
}

static void
arguments_may_be_strings_and_optional(void **state)
{
	const uint8_t stream[] = { 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 'a', 'b', 0, 0 };
	const DIALECT_KEY_args value = { .maybe = NULL, .plain = 5, .text = { "ab", 2 } };

	(void)state;
	WRITTEN(DIALECT_KEY_args, value, stream);
	assert_int_equal(DIALECT_V1_program.procedures[DIALECT_NAME].args_max, RPCRDMA_XDR_UNBOUNDED);
	assert_int_equal(DIALECT_V2_program.procedures[DIALECT_NAME].args_max, 4 + 8);
	assert_int_equal(DIALECT_V1_program.procedures[DIALECT_KEY].result_max, 8);
	assert_int_equal(DIALECT_V2_program.vers, 7);
	assert_int_equal(DIALECT_V2_program.procedure_count, 'c' + 1);
	assert_null(DIALECT_V2_program.procedures[DIALECT_NULL].name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_texts_letters_and_other_names),
		cmocka_unit_test(enumerators_without_numbers_count_on),
		cmocka_unit_test(small_numbers_take_four_octets),
		cmocka_unit_test(reserved_names_have_an_underscore),
		cmocka_unit_test(arrays_of_nothing_are_not_there),
		cmocka_unit_test(cases_can_be_what_a_header_defines),
		cmocka_unit_test(types_of_suns_library_are_known),
		cmocka_unit_test(a_bound_that_a_header_defines_is_kept),
		cmocka_unit_test(arguments_may_be_strings_and_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
