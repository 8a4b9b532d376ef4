/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include <string.h>

#include "vfs/posix/handle.h"

static const uint8_t key[RR_VFS_KEY] = { 1, 2, 3 };
static const struct rr_handle_id sample = { 0x01020304, 5, UINT64_C(0x1122334455667788), 9 };

static struct rr_vfs_handle
make(const struct rr_handle_keys *keys, uint32_t depth)
{
	struct rr_handle_place place = { .depth = (uint8_t)depth };
	struct rr_vfs_handle handle;

	for (uint32_t i = 0; i < rr_handle_hints(&place); i++)
		place.hints[i] = (uint8_t)(i + 1);
	rr_handle_encode(keys, &sample, &place, &handle);
	return handle;
}

static bool
accepts(const struct rr_handle_keys *keys, const struct rr_vfs_handle *handle, uint32_t length)
{
	struct rr_handle_place place;
	struct rr_handle_id id;

	return rr_handle_decode(keys, (struct rpcrdma_bytes){ handle->data, length }, &id, &place);
}

static void
comes_back_as_it_was_made_at_every_depth(void **state)
{
	struct rr_handle_keys keys;

	(void)state;
	rr_handle_keys(key, &keys);
	for (uint32_t depth = 0; depth <= RR_HANDLE_DEPTH_MAX; depth++) {
		struct rr_vfs_handle handle = make(&keys, depth);
		struct rr_handle_place place;
		struct rr_handle_id id;

		assert_in_range(handle.length, 1, RR_VFS_HANDLE_MAX);
		assert_true(rr_handle_decode(
			&keys, (struct rpcrdma_bytes){ handle.data, handle.length }, &id, &place));
		assert_true(rr_handle_same(&id, &sample));
		assert_int_equal(place.depth, depth);
		for (uint32_t i = 0; i < RR_HANDLE_HINTS; i++)
			assert_int_equal(place.hints[i], i < depth ? i + 1 : 0);
	}
}

static void
each_flipped_bit_and_each_other_length_is_noticed(void **state)
{
	struct rr_handle_keys keys;

	(void)state;
	rr_handle_keys(key, &keys);
	for (uint32_t depth = 0; depth <= RR_HANDLE_HINTS + 1; depth++) {
		struct rr_vfs_handle handle = make(&keys, depth);

		assert_true(accepts(&keys, &handle, handle.length));
		for (uint32_t length = 0; length <= RR_VFS_HANDLE_MAX; length++)
			assert_int_equal(accepts(&keys, &handle, length), length == handle.length);
		for (uint32_t bit = 0; bit < handle.length * 8; bit++) {
			handle.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(accepts(&keys, &handle, handle.length));
			handle.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

/* The kernel's handle and the hints share the room in a handle. */
static void
comes_back_with_a_kernel_handle_of_every_length(void **state)
{
	struct rr_handle_keys keys;

	(void)state;
	rr_handle_keys(key, &keys);
	for (uint8_t length = 1; length <= RR_HANDLE_KERNEL; length++) {
		struct rr_handle_place place = { .kernel = { .length = length, .type = 0x81 }, .depth = 7 },
				       back;
		struct rr_handle_id id;
		struct rr_vfs_handle handle;

		memset(place.kernel.octets, length, length);
		memset(place.hints, 3, rr_handle_hints(&place));
		rr_handle_encode(&keys, &sample, &place, &handle);
		assert_in_range(handle.length, 1, RR_VFS_HANDLE_MAX);
		assert_true(rr_handle_decode(
			&keys, (struct rpcrdma_bytes){ handle.data, handle.length }, &id, &back));
		assert_true(rr_handle_same(&id, &sample));
		assert_memory_equal(&back, &place, sizeof(place));
		for (uint32_t other = 0; other <= RR_VFS_HANDLE_MAX; other++)
			assert_int_equal(accepts(&keys, &handle, other), other == handle.length);
	}
}

static void
each_bit_of_the_key_counts(void **state)
{
	struct rr_handle_keys keys, others;
	struct rr_vfs_handle handle;
	uint8_t other[RR_VFS_KEY];

	(void)state;
	rr_handle_keys(key, &keys);
	handle = make(&keys, 3);
	memcpy(other, key, sizeof(other));
	for (uint32_t bit = 0; bit < sizeof(other) * 8; bit++) {
		other[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rr_handle_keys(other, &others);
		assert_false(accepts(&others, &handle, handle.length));
		assert_true(rr_handle_hash(&keys, "name", 4) != rr_handle_hash(&others, "name", 4));
		other[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* Clients keep handles as long as they have a tree mounted, so the layout must not change without its
 * version. */
static void
the_layout_is_as_it_was(void **state)
{
	static const uint8_t expected[] = {
		4, 2, 1, 2, 3, 4, 0, 0, 0, 5, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
		0x88,                         /* version to inode */
		0, 0, 0, 0, 0, 0, 0, 9, 1, 2, /* birth, hints */
		0x0c, 0x2a, 0x3a, 0x36, 0x78, 0x14, 0xf3, 0x65, 0xa1, 0x0a, 0x24, 0xfa, 0xa3, 0xbe, 0xb0,
		0x53 /* check */
	};
	struct rr_handle_keys keys;
	struct rr_vfs_handle handle;

	(void)state;
	rr_handle_keys(key, &keys);
	handle = make(&keys, 2);
	assert_int_equal(handle.length, sizeof(expected));
	assert_memory_equal(handle.data, expected, sizeof(expected));
	handle.data[0] = RR_HANDLE_WITH_KERNEL + 1;
	rr_siphash(keys.check, handle.data, handle.length - RR_HANDLE_CHECK,
		handle.data + handle.length - RR_HANDLE_CHECK);
	assert_false(accepts(&keys, &handle, handle.length));
}

static void
objects_that_differ_in_anything_are_not_the_same(void **state)
{
	struct rr_handle_id other = sample;

	(void)state;
	assert_true(rr_handle_same(&sample, &other));
	other.export ++;
	assert_false(rr_handle_same(&sample, &other));
	other = sample;
	other.device++;
	assert_false(rr_handle_same(&sample, &other));
	other = sample;
	other.inode++;
	assert_false(rr_handle_same(&sample, &other));
	other = sample;
	other.birth++;
	assert_false(rr_handle_same(&sample, &other));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_it_was_made_at_every_depth),
		cmocka_unit_test(each_flipped_bit_and_each_other_length_is_noticed),
		cmocka_unit_test(comes_back_with_a_kernel_handle_of_every_length),
		cmocka_unit_test(each_bit_of_the_key_counts),
		cmocka_unit_test(the_layout_is_as_it_was),
		cmocka_unit_test(objects_that_differ_in_anything_are_not_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
