/* SPDX-License-Identifier: BSD-3-Clause */
/* The codecs that the compiler writes for sample.x, which has every construct of the language. Each value
 * is written, compared with octets that were put together by hand from RFC 4506, read again and written
 * again. */
#include "../test.h"

#include <string.h>

#include "../mutate.h"
#include "../padding.h"
#include "sample.h"

enum { STREAM = 4096, ARENA = 65536, SCRATCH = 256 };

struct codec {
	size_t size;
	void (*get)(struct rpcrdma_xdr_reader *reader, void *value);
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value);
};

#define CODEC(type)                                                                                          \
	static void get_##type(struct rpcrdma_xdr_reader *in, void *object)                                  \
	{                                                                                                    \
		xdr_get_##type(in, object);                                                                  \
	}                                                                                                    \
	static void put_##type(struct rpcrdma_xdr_writer *out, const void *object)                           \
	{                                                                                                    \
		xdr_put_##type(out, object);                                                                 \
	}                                                                                                    \
	static const struct codec codec_##type = { sizeof(type), get_##type, put_##type }

CODEC(scalars);
CODEC(octets);
CODEC(arrays);
CODEC(maybe_scalars);
CODEC(maybe);
CODEC(only_yes);
CODEC(either);
CODEC(painted);
CODEC(by_number);
CODEC(strict);
CODEC(by_size);
CODEC(nothing);
CODEC(nested);
CODEC(item);
CODEC(chain);
CODEC(tree);
CODEC(node);
CODEC(value);
CODEC(i);
CODEC(depth);

/* The codec of an array, as the table of procedures has it. */
static void
get_line(struct rpcrdma_xdr_reader *in, void *object)
{
	SAMPLE_V2_program.procedures[SAMPLE_HASH].get_args(in, object);
}

static void
put_line(struct rpcrdma_xdr_writer *out, const void *object)
{
	SAMPLE_V2_program.procedures[SAMPLE_HASH].put_args(out, object);
}

static const struct codec codec_line = { sizeof(line), get_line, put_line };

#define OCTETS(text) text, sizeof(text) - 1
#define BYTES(text)                                                                                          \
	(struct rpcrdma_bytes)                                                                               \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}

static _Alignas(max_align_t) uint8_t arena_memory[ARENA], scratch[SCRATCH];

/* Decodes these octets into the object. Returns whether they are exactly one valid object. */
static bool
decode(const struct codec *codec, const void *stream, size_t length, void *object)
{
	const struct rpcrdma_message message = { .stream = stream, .length = (uint32_t)length };
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_xdr_reader in;

	rpcrdma_xdr_reader_init(&in, &message, &arena);
	codec->get(&in, object);
	return rpcrdma_xdr_done(&in);
}

/* Checks that a value that can be read is written as the same octets: in XDR a value has one encoding,
 * except for its padding. Returns NULL or the fault. */
static const char *
comes_back(const uint8_t *data, size_t size, void *context)
{
	const struct codec *codec = context;
	uint8_t again[STREAM];
	struct rpcrdma_xdr_writer out;

	assert_true(codec->size <= sizeof(scratch));
	if (!decode(codec, data, size, scratch))
		return NULL;
	rpcrdma_xdr_writer_init(&out, again, sizeof(again), NULL, 0);
	codec->put(&out, scratch);
	if (out.failed)
		return "what was read cannot be written";
	return rpcrdma_xdr_length(&out) == size && rr_same_but_for_padding(again, data, size)
		       ? NULL
		       : "it reads and writes differently";
}

/* Checks that the object has this encoding, and that no mutation of it does harm. */
static void
encodes(const struct codec *codec, const void *object, const char *expected, size_t length)
{
	uint8_t stream[STREAM];
	struct rpcrdma_xdr_writer out;

	rpcrdma_xdr_writer_init(&out, stream, sizeof(stream), NULL, 0);
	codec->put(&out, object);
	assert_false(out.failed);
	assert_int_equal(rpcrdma_xdr_length(&out), length);
	assert_memory_equal(stream, expected, length);
	assert_true(decode(codec, stream, length, scratch));
	rr_mutate(stream, length, comes_back, (void *)(uintptr_t)codec);

	/* Without room for the last word, writing fails, and the writer shows that. */
	rpcrdma_xdr_writer_init(&out, stream, length - 1, NULL, 0);
	codec->put(&out, object);
	assert_true(out.failed);
}

static void
refuses(const struct codec *codec, const char *expected, size_t length)
{
	assert_false(decode(codec, expected, length, scratch));
}

/* Checks that the object is refused when it is written. */
static void
cannot_be_written(const struct codec *codec, const void *object)
{
	uint8_t stream[STREAM];
	struct rpcrdma_xdr_writer out;

	rpcrdma_xdr_writer_init(&out, stream, sizeof(stream), NULL, 0);
	codec->put(&out, object);
	assert_true(out.failed);
}

static void
constants_have_their_values(void **state)
{
	(void)state;
	assert_int_equal(ZERO, 0);
	assert_int_equal(DECIMAL, 12);
	assert_int_equal(NEGATIVE, -5);
	assert_int_equal(HEXADECIMAL, 31);
	assert_int_equal(OCTAL, 493);
	assert_true(SMALLEST == INT64_MIN);
	assert_true(LARGEST == UINT64_MAX);
	assert_int_equal(RED, 2);
	assert_int_equal(YELLOW, 31);
	assert_int_equal(BLUE, -3);
	assert_int_equal(CERULEAN, -3);
	assert_int_equal(PASSED_THROUGH, 7);
}

static const scalars some_scalars = { .i = -1,
	.u = 0xfffffffe,
	.h = -2,
	.uh = UINT64_C(0x0102030405060708),
	.f = 1.0f,
	.d = -2.0,
	.b = true,
	.c = BLUE,
	.c_name = 5 };

#define SOME_SCALARS                                                                                         \
	"\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff\xff\xff\xff\xff\xfe\1\2\3\4\5\6\7\10"                  \
	"\x3f\x80\0\0\xc0\0\0\0\0\0\0\0\0\0\0\1\xff\xff\xff\xfd\0\0\0\5"

static void
scalars_are_big_endian(void **state)
{
	(void)state;
	encodes(&codec_scalars, &some_scalars, OCTETS(SOME_SCALARS));
}

static void
octets_are_padded(void **state)
{
	const octets object = { .fixed = { 1, 2, 3, 4, 5 },
		.bounded = BYTES("123456789012"),
		.unbounded = BYTES("a"),
		.text = BYTES("") };

	(void)state;
	encodes(&codec_octets, &object,
		OCTETS("\1\2\3\4\5\0\0\0\0\0\0\014123456789012\0\0\0\1a\0\0\0\0\0\0\0"));
}

static void
octets_are_bounded(void **state)
{
	const octets bounded = { .bounded = BYTES("1234567890123") }, text = { .text = BYTES("1234567") };

	(void)state;
	cannot_be_written(&codec_octets, &bounded);
	cannot_be_written(&codec_octets, &text);
	refuses(&codec_octets, OCTETS("\1\2\3\4\5\0\0\0\0\0\0\0151234567890123\0\0\0\0\0\0\0\0\0\0\0"));
	refuses(&codec_octets, OCTETS("\1\2\3\4\5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0071234567\0"));
}

static void
arrays_of_each_shape(void **state)
{
	name names[] = { BYTES("ab"), BYTES("") };
	pair pairs_[] = { { 1, 2 } };
	hash hashes[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	scalars optional = some_scalars;
	const arrays object = {
		.fixed = { 7, 8, 9 },
		.names = { 2, names },
		.pairs = { 1, pairs_ },
		.hashes = { 2, hashes },
		.colors = { RED, CERULEAN },
		.optional = &optional,
	};

	(void)state;
	encodes(&codec_arrays, &object,
		OCTETS("\0\0\0\7\0\0\0\10\0\0\0\11"
		       "\0\0\0\0"
		       "\0\0\0\2\0\0\0\2ab\0\0\0\0\0\0"
		       "\0\0\0\1\0\0\0\1\0\0\0\2"
		       "\0\0\0\2\1\2\3\0\4\5\6\0"
		       "\0\0\0\2\xff\xff\xff\xfd"
		       "\0\0\0\1" SOME_SCALARS "\0\0\0\0"));
}

static void
an_array_above_its_maximum_is_refused_both_ways(void **state)
{
	int32_t values[] = { 1, 2, 3 };
	const arrays object = { .bounded = { 3, values }, .colors = { RED, RED } };

	(void)state;
	cannot_be_written(&codec_arrays, &object);
	refuses(&codec_arrays,
		OCTETS("\0\0\0\7\0\0\0\10\0\0\0\11\0\0\0\3\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0"
		       "\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\0"));
}

/* A caller's mistake is an error of its call, and must not crash. */
static void
a_count_without_values_cannot_be_written(void **state)
{
	const arrays bounded = { .bounded = { 2, NULL }, .colors = { RED, RED } };
	const arrays names = { .names = { 1, NULL }, .colors = { RED, RED } };
	const arrays pairs_ = { .pairs = { 4, NULL }, .colors = { RED, RED } };
	const arrays hashes = { .hashes = { 1, NULL }, .colors = { RED, RED } };
	name missing = { .length = 3 };
	const arrays inner = { .names = { 1, &missing }, .colors = { RED, RED } };
	const octets unbounded = { .unbounded = { .length = 5 } }, text = { .text = { .length = 2 } };

	(void)state;
	cannot_be_written(&codec_arrays, &bounded);
	cannot_be_written(&codec_arrays, &names);
	cannot_be_written(&codec_arrays, &pairs_);
	cannot_be_written(&codec_arrays, &hashes);
	cannot_be_written(&codec_arrays, &inner);
	cannot_be_written(&codec_octets, &unbounded);
	cannot_be_written(&codec_octets, &text);
}

static void
a_count_that_the_stream_cannot_hold_takes_no_memory(void **state)
{
	const char octets_[] = "\0\0\0\7\0\0\0\10\0\0\0\11\0\0\0\0\x0f\xff\xff\xff\0\0\0\0";
	const struct rpcrdma_message message = { .stream = octets_, .length = sizeof(octets_) - 1 };
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_xdr_reader in;
	arrays object;

	(void)state;
	rpcrdma_xdr_reader_init(&in, &message, &arena);
	xdr_get_arrays(&in, &object);
	assert_true(in.failed);
	assert_ptr_equal(arena.next, arena_memory);
	assert_null(object.names.values);
	assert_int_equal(object.names.count, 0);
}

static void
what_the_arena_cannot_hold_is_refused(void **state)
{
	const struct rpcrdma_message message = { .stream = "\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0\0", .length = 16 };
	struct rpcrdma_arena arena;
	struct rpcrdma_xdr_reader in;
	item object;

	(void)state;
	for (size_t size = 0; size < 64; size++) {
		arena = rpcrdma_arena(arena_memory, size);
		rpcrdma_xdr_reader_init(&in, &message, &arena);
		xdr_get_item(&in, &object);
		assert_int_equal(
			rpcrdma_xdr_done(&in), arena_memory + size >= (uint8_t *)arena.next && object.next);
		if (object.next)
			break;
	}
	assert_non_null(object.next);
	rpcrdma_xdr_reader_init(&in, &message, NULL);
	xdr_get_item(&in, &object);
	assert_true(in.failed);
}

static void
optional_data_and_arrays_by_name(void **state)
{
	scalars there = some_scalars;
	const maybe_scalars yes = &there, no = NULL;
	const line points = { { 1, 2 }, { 3, 4 } };

	(void)state;
	encodes(&codec_maybe_scalars, &yes, OCTETS("\0\0\0\1" SOME_SCALARS));
	encodes(&codec_maybe_scalars, &no, OCTETS("\0\0\0\0"));
	encodes(&codec_line, points, OCTETS("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4"));
}

static void
unions_over_bool(void **state)
{
	const maybe yes = { true, { -1 } }, no = { .there = false };
	const only_yes always = { true, { 3 } }, never = { .yes = false };
	const either first = { true, { .yes = BYTES("x") } }, second = { false, { .no = 9 } };

	(void)state;
	encodes(&codec_maybe, &yes, OCTETS("\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff"));
	encodes(&codec_maybe, &no, OCTETS("\0\0\0\0"));
	encodes(&codec_only_yes, &always, OCTETS("\0\0\0\1\0\0\0\3"));
	cannot_be_written(&codec_only_yes, &never);
	refuses(&codec_only_yes, OCTETS("\0\0\0\0"));
	encodes(&codec_either, &first, OCTETS("\0\0\0\1\0\0\0\1x\0\0\0"));
	encodes(&codec_either, &second, OCTETS("\0\0\0\0\0\0\0\11"));
}

static void
unions_over_an_enum_and_numbers(void **state)
{
	int32_t numbers[] = { 5, 6 };
	const painted warm = { YELLOW, { 4 } }, cold = { .with = BLUE }, wrong = { .with = (color)1 };
	const by_number data = { -1, { .data = BYTES("abc") } },
			values = { -5, { .values = { 2, numbers } } }, other = { .number = 100 };
	const strict one = { .number = 1 }, three = { .number = 3 };
	const by_size large = { UINT32_MAX, { .large = { 1, 2, 3 } } }, small = { 4, { .small = true } };
	const nothing on = { ON };

	(void)state;
	encodes(&codec_painted, &warm, OCTETS("\0\0\0\x1f\0\0\0\4"));
	encodes(&codec_painted, &cold, OCTETS("\xff\xff\xff\xfd"));
	cannot_be_written(&codec_painted, &wrong);
	refuses(&codec_painted, OCTETS("\0\0\0\1\0\0\0\4"));
	encodes(&codec_by_number, &data, OCTETS("\xff\xff\xff\xff\0\0\0\3abc\0"));
	encodes(&codec_by_number, &values, OCTETS("\xff\xff\xff\xfb\0\0\0\2\0\0\0\5\0\0\0\6"));
	encodes(&codec_by_number, &other, OCTETS("\0\0\0\x64"));
	encodes(&codec_strict, &one, OCTETS("\0\0\0\1"));
	cannot_be_written(&codec_strict, &three);
	refuses(&codec_strict, OCTETS("\0\0\0\3"));
	encodes(&codec_by_size, &large, OCTETS("\xff\xff\xff\xff\1\2\3\0"));
	encodes(&codec_by_size, &small, OCTETS("\0\0\0\4\0\0\0\1"));
	encodes(&codec_nothing, &on, OCTETS("\0\0\0\1"));
	refuses(&codec_nothing, OCTETS("\0\0\0\2"));
}

static void
bodies_inside_declarations(void **state)
{
	static const uint8_t full[] = { 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0,
		7, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 42 };
	const nested object = {
		.inner = { 1, { { 2 }, { 3 } } }, .where = OUTSIDE, .choice = { RIGHT, { .right = { true } } }
	};
	nested copy;

	(void)state;
	encodes(&codec_nested, &object,
		OCTETS("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0"));
	assert_true(decode(&codec_nested, full, sizeof(full), &copy));
	assert_int_equal(copy.choice.u.left, 7);
	assert_int_equal(copy.pointer->x, 6);
	assert_int_equal(copy.many.count, 2);
	assert_int_equal(copy.many.values[1].more.values[0].y, 42);
	rr_mutate(full, sizeof(full), comes_back, (void *)(uintptr_t)&codec_nested);
}

static void
lists_and_trees(void **state)
{
	item second = { 2, NULL }, first = { 1, &second };
	link only = { BYTES("abcd"), NULL };
	const chain list = &only, empty = NULL;
	tree leaf = { 3, NULL, NULL }, right = { 2, &leaf, NULL }, root = { 1, NULL, &right };
	node child = { BYTES("b"), { 0, NULL } }, parent = { BYTES("a"), { 1, &child } };

	(void)state;
	encodes(&codec_item, &first, OCTETS("\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0\0"));
	encodes(&codec_chain, &list, OCTETS("\0\0\0\1\0\0\0\4abcd\0\0\0\0"));
	encodes(&codec_chain, &empty, OCTETS("\0\0\0\0"));
	encodes(&codec_tree, &root,
		OCTETS("\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0"));
	encodes(&codec_node, &parent, OCTETS("\0\0\0\1a\0\0\0\0\0\0\1\0\0\0\1b\0\0\0\0\0\0\0"));
}

static void
a_list_of_a_hundred_thousand_needs_no_stack(void **state)
{
	enum { COUNT = 100000 };
	uint8_t *stream = calloc(COUNT, 8), *memory = malloc(COUNT * 32);
	struct rpcrdma_arena arena = rpcrdma_arena(memory, COUNT * 32);
	struct rpcrdma_message message = { .stream = stream, .length = COUNT * 8 };
	struct rpcrdma_xdr_reader in;
	struct rpcrdma_xdr_writer out;
	item first;
	uint32_t count = 1;

	(void)state;
	for (uint32_t entry = 0; entry < COUNT - 1; entry++)
		stream[entry * 8 + 7] = 1;
	rpcrdma_xdr_reader_init(&in, &message, &arena);
	xdr_get_item(&in, &first);
	assert_true(rpcrdma_xdr_done(&in));
	for (const item *entry = &first; entry->next; entry = entry->next)
		count++;
	assert_int_equal(count, COUNT);

	rpcrdma_xdr_writer_init(&out, stream, COUNT * 8, NULL, 0);
	xdr_put_item(&out, &first);
	assert_false(out.failed);
	free(stream);
	free(memory);
}

static void
a_list_that_is_a_ring_ends_with_the_room_for_it(void **state)
{
	item ring = { 1, &ring };

	(void)state;
	cannot_be_written(&codec_item, &ring);
}

/* Makes a tree that goes count levels to the left. */
static void
grow(tree *trees, unsigned count)
{
	for (unsigned level = 0; level < count; level++)
		trees[level] = (tree){ (int32_t)level, level + 1 < count ? &trees[level + 1] : NULL, NULL };
}

static void
recursion_has_an_end(void **state)
{
	uint8_t stream[STREAM] = { 0 };
	tree trees[33], copy;
	struct rpcrdma_xdr_writer out;

	(void)state;
	grow(trees, 32);
	rpcrdma_xdr_writer_init(&out, stream, sizeof(stream), NULL, 0);
	xdr_put_tree(&out, trees);
	assert_false(out.failed);
	assert_true(decode(&codec_tree, stream, rpcrdma_xdr_length(&out), &copy));

	grow(trees, 33);
	cannot_be_written(&codec_tree, trees);
	for (size_t level = 0; level < 33; level++)
		memcpy(stream + level * 8, "\0\0\0\0\0\0\0\1", 8);
	memset(stream + 32 * 8, 0, sizeof(stream) - 32 * 8);
	refuses(&codec_tree, (const char *)stream, 33 * 8 + 33 * 4);
}

static void
names_of_the_generated_code_are_free_for_schemas(void **state)
{
	value values[] = { { 1 }, { 2 } };
	const i object = { .writer = { 2, values } };
	tree alone = { 1, NULL, NULL };
	const depth pointer = &alone;

	(void)state;
	encodes(&codec_value, values, OCTETS("\0\0\0\1"));
	encodes(&codec_i, &object, OCTETS("\0\0\0\2\0\0\0\1\0\0\0\2"));
	encodes(&codec_depth, &pointer, OCTETS("\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_have_their_values),
		cmocka_unit_test(scalars_are_big_endian),
		cmocka_unit_test(octets_are_padded),
		cmocka_unit_test(octets_are_bounded),
		cmocka_unit_test(arrays_of_each_shape),
		cmocka_unit_test(an_array_above_its_maximum_is_refused_both_ways),
		cmocka_unit_test(a_count_without_values_cannot_be_written),
		cmocka_unit_test(a_count_that_the_stream_cannot_hold_takes_no_memory),
		cmocka_unit_test(what_the_arena_cannot_hold_is_refused),
		cmocka_unit_test(optional_data_and_arrays_by_name),
		cmocka_unit_test(unions_over_bool),
		cmocka_unit_test(unions_over_an_enum_and_numbers),
		cmocka_unit_test(bodies_inside_declarations),
		cmocka_unit_test(lists_and_trees),
		cmocka_unit_test(a_list_of_a_hundred_thousand_needs_no_stack),
		cmocka_unit_test(a_list_that_is_a_ring_ends_with_the_room_for_it),
		cmocka_unit_test(recursion_has_an_end),
		cmocka_unit_test(names_of_the_generated_code_are_free_for_schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
