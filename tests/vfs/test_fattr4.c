/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vfs/fattr4/acl.h"

/* What a server puts is what a client takes, and what a client gives is what a server gets. */

static const struct rr_vfs_attributes attributes = {
	.type = RR_VFS_CHARACTER_DEVICE,
	.mode = 06751,
	.links = 3,
	.uid = 4294967294,
	.gid = 0,
	.device = { 0xfedcba98, 7 },
	.size = UINT64_MAX,
	.used = UINT64_C(1) << 40,
	.id = { .fsid = { UINT64_MAX, UINT64_C(0x123456789abcdef0) }, .number = UINT64_C(1) << 63 },
	.mounted_on = 77,
	.change = UINT64_MAX - 1,
	.access_time = { -2147483649, 999999999 },
	.modify_time = { INT64_MAX, 1 },
	.change_time = { INT64_MIN, 0 },
};
static const struct rr_vfs_statfs statfs = { .octets = 1000,
	.octets_free = 900,
	.octets_for_all = 800,
	.files = 700,
	.files_free = 600,
	.files_for_all = 500 };
static const struct rr_vfs_limits limits = { .file_max = INT64_MAX, .acls = true };
static const struct rr_vfs_handle handle = { 5, "hand!" };

static struct rr_vfs_ace entries[5] = { { RR_VFS_ACL_USER_OBJ, 7, 0 }, { RR_VFS_ACL_USER, 5, 7 },
	{ RR_VFS_ACL_GROUP_OBJ, 0, 0 }, { RR_VFS_ACL_MASK, 5, 0 }, { RR_VFS_ACL_OTHER, 1, 0 } };
static const struct rr_vfs_getacl acl = { .access = { 5, entries } };

/* The attributes that the client can ask for. */
static struct rr_attr_mask
known(void)
{
	struct rr_attr_mask mask = { { 0 } };

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++)
		if (rr_attr_is_known(i))
			rr_attr_add(&mask, i);
	return mask;
}

/* Writes all attributes of the mask that a server supports into memory, and returns them as a client decodes
 * them from a COMPOUND. words: memory for the bitmap. */
static fattr4
put(const struct rr_attr_mask *mask, uint8_t *memory, size_t size, struct rr_attr_mask *words)
{
	const struct rr_attr_source source = { .attributes = &attributes,
		.statfs = &statfs,
		.limits = &limits,
		.acl = &acl,
		.handle = &handle,
		.error = NFS4ERR_IO,
		.minor = 2,
		.lease = 90,
		.io_max = 1 << 20 };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_message message;
	fattr4 fattr = { { 0, words->words }, { NULL, 0 } };

	rpcrdma_xdr_writer_init(&writer, memory, size, NULL, 0);
	rr_attr_put(&writer, mask, &source);
	assert_false(writer.failed);
	assert_in_range(rpcrdma_xdr_length(&writer), 1, rr_attr_size(mask, 2));
	message = rpcrdma_xdr_written(&writer);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	fattr.attrmask.count = rpcrdma_get_count(&reader, RR_ATTR_WORDS, 4);
	for (uint32_t i = 0; i < fattr.attrmask.count; i++)
		words->words[i] = rpcrdma_get_u32(&reader);
	fattr.attr_vals = rpcrdma_get_bytes(&reader, RPCRDMA_XDR_UNBOUNDED);
	assert_true(rpcrdma_xdr_done(&reader));
	return fattr;
}

static void
same_time(struct rr_vfs_time a, struct rr_vfs_time b)
{
	assert_int_equal(a.seconds, b.seconds);
	assert_int_equal(a.nanoseconds, b.nanoseconds);
}

/* Reads the list that was taken. */
static void
check_list(struct rpcrdma_bytes taken)
{
	const struct rpcrdma_message message = { .stream = taken.data, .length = taken.length };
	const struct rr_idmap_asking numbers = { .idmap = NULL };
	struct rr_acl4_entry given[16];
	struct rr_attr_acl list = { .entries = given, .room = 16 };
	struct rr_acl4_right rights[16];
	struct rr_vfs_ace room[2][20];
	struct rr_vfs_acl access = { 0, room[0] }, inherited = { 0, room[1] };
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_int_equal(rr_attr_get_acl(&reader, &numbers, &list), NFS4_OK);
	assert_true(rpcrdma_xdr_done(&reader));
	assert_int_equal(rr_acl4_to_posix(given, list.count, false, rights, &access, &inherited), RR_VFS_OK);
	assert_int_equal(access.count, acl.access.count);
	for (uint32_t i = 0; i < access.count; i++) {
		assert_int_equal(room[0][i].tag, entries[i].tag);
		assert_int_equal(room[0][i].perm, entries[i].perm);
		assert_int_equal(room[0][i].id, entries[i].id);
	}
}

static void
a_client_takes_what_a_server_puts(void **state)
{
	struct rr_attr_mask mask = known(), words = { { 0 } };
	const bitmap4 asked = { RR_ATTR_WORDS, mask.words };
	struct rr_attr_values taken;
	uint8_t memory[1024];
	fattr4 fattr = put(&mask, memory, sizeof(memory), &words);

	(void)state;
	assert_true(rr_attr_take(&fattr, &asked, &taken));
	assert_memory_equal(&taken.have, &mask, sizeof(mask));
	assert_int_equal(taken.attributes.type, attributes.type);
	assert_int_equal(taken.attributes.mode, attributes.mode);
	assert_int_equal(taken.attributes.links, attributes.links);
	assert_int_equal(taken.attributes.uid, attributes.uid);
	assert_int_equal(taken.attributes.gid, attributes.gid);
	assert_memory_equal(taken.attributes.device, attributes.device, sizeof(attributes.device));
	assert_int_equal(taken.attributes.size, attributes.size);
	assert_int_equal(taken.attributes.used, attributes.used);
	assert_memory_equal(&taken.attributes.id, &attributes.id, sizeof(attributes.id));
	assert_int_equal(taken.attributes.mounted_on, attributes.mounted_on);
	assert_int_equal(taken.attributes.change, attributes.change);
	same_time(taken.attributes.access_time, attributes.access_time);
	same_time(taken.attributes.modify_time, attributes.modify_time);
	same_time(taken.attributes.change_time, attributes.change_time);
	assert_int_equal(taken.octets, 1000);
	assert_int_equal(taken.octets_free, 900);
	assert_int_equal(taken.octets_for_all, 800);
	assert_int_equal(taken.files, 700);
	assert_int_equal(taken.files_free, 600);
	assert_int_equal(taken.files_for_all, 500);
	assert_int_equal(taken.file_max, INT64_MAX);
	assert_int_equal(taken.read_max, 1 << 20);
	assert_int_equal(taken.write_max, 1 << 20);
	assert_int_equal(taken.lease, 90);
	assert_int_equal(taken.error, NFS4ERR_IO);
	assert_int_equal(taken.handle.length, handle.length);
	assert_memory_equal(taken.handle.data, handle.data, handle.length);
	assert_int_equal(taken.owner.length + taken.group.length, 0);
	assert_true(taken.acls);
	check_list(taken.acl);
}

/* Each truncation and each flip of a bit is either refused, or read as other values: nothing is read beyond.
 */
static void
what_a_server_sends_is_not_believed(void **state)
{
	struct rr_attr_mask mask = known(), words = { { 0 } };
	const bitmap4 asked = { RR_ATTR_WORDS, mask.words }, fewer = { 1, mask.words };
	struct rr_attr_values taken;
	uint8_t memory[1024], *copy;
	fattr4 fattr = put(&mask, memory, sizeof(memory), &words), broken = fattr;

	(void)state;
	for (uint32_t length = 0; length < fattr.attr_vals.length; length++) {
		copy = malloc(length + 1);
		assert_non_null(copy);
		memcpy(copy, fattr.attr_vals.data, length);
		broken.attr_vals = (struct rpcrdma_bytes){ copy, length };
		assert_false(rr_attr_take(&broken, &asked, &taken));
		free(copy);
	}
	copy = malloc(fattr.attr_vals.length);
	assert_non_null(copy);
	broken.attr_vals = (struct rpcrdma_bytes){ copy, fattr.attr_vals.length };
	for (uint32_t bit = 0; bit < 8 * fattr.attr_vals.length; bit++) {
		memcpy(copy, fattr.attr_vals.data, fattr.attr_vals.length);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		(void)rr_attr_take(&broken, &asked, &taken);
	}
	free(copy);
	assert_false(rr_attr_take(&fattr, &fewer, &taken));
	rr_attr_add(&words, FATTR4_HOMOGENEOUS);
	assert_false(rr_attr_take(&fattr, &asked, &taken));
}

static void
a_server_gets_what_a_client_gives(void **state)
{
	static const uint32_t times[] = { RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_NOW,
		RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME,
		RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME, 0 };
	const struct rr_vfs_set given = { .mode = 07777,
		.uid = 4294967294,
		.gid = 10,
		.size = INT64_MAX,
		.access_time = { INT64_MIN, 999999999 },
		.modify_time = { -1, 1 } };

	(void)state;
	for (uint32_t i = 0; i < 16 * 4; i++) {
		struct rr_vfs_set set = given, got;
		struct rr_attr_mask mask;
		uint8_t memory[128];
		const struct rr_attr_getting getting = { { NULL }, NULL };
		fattr4 fattr;

		set.mask = i % 16 | times[i / 16];
		fattr = rr_attr_give(&set, &mask, memory, sizeof(memory));
		assert_int_equal(rr_attr_get(&fattr, 1, &getting, &got), NFS4_OK);
		assert_int_equal(got.mask, set.mask);
		assert_true(!(set.mask & RR_VFS_SET_MODE) || got.mode == given.mode);
		assert_true(!(set.mask & RR_VFS_SET_UID) || got.uid == given.uid);
		assert_true(!(set.mask & RR_VFS_SET_GID) || got.gid == given.gid);
		assert_true(!(set.mask & RR_VFS_SET_SIZE) || got.size == given.size);
		if (set.mask & RR_VFS_SET_ACCESS_TIME)
			same_time(got.access_time, given.access_time);
		if (set.mask & RR_VFS_SET_MODIFY_TIME)
			same_time(got.modify_time, given.modify_time);
	}
}

static enum rr_idmap_status
number_of(void *ctx, struct rpcrdma_bytes owner, bool is_group, uint32_t *number)
{
	*number = 7;
	assert_false(is_group);
	return owner.length == 5 && memcmp(owner.data, (const char *)ctx, 5) == 0 ? RR_IDMAP_FOUND
										  : RR_IDMAP_NONE;
}

/* RFC 8881, 5.9: who of an entry is a name in a domain. An entry for nobody is not left out, as that might
 * give others more; nor is one that POSIX does not have. */
static void
a_list_that_posix_cannot_say_is_none(void **state)
{
	static const uint8_t given[] = { 0, 0, 0, 1, 0, 0, 0, ACE4_ACCESS_DENIED_ACE_TYPE, 0, 0, 0, 0, 0, 0,
		0, ACE4_READ_DATA, 0, 0, 0, 5, 'b', 'o', 'b', '@', 'x', 0, 0, 0 };
	static const char bob[] = "bob@x", eve[] = "eve@x";
	struct rr_idmap_asking asking = { .number = number_of, .ctx = (void *)(uintptr_t)bob };
	struct rr_attr_lists *lists = calloc(1, sizeof(*lists));
	uint8_t copy[sizeof(given)];

	(void)state;
	assert_non_null(lists);
	memcpy(copy, given, sizeof(copy));
	assert_true(rr_attr_lists_keep(lists, (struct rpcrdma_bytes){ copy, sizeof(copy) }));
	assert_int_equal(rr_attr_lists_read(lists, false, &asking), RR_VFS_OK);
	assert_int_equal(lists->access.entries[1].tag, RR_VFS_ACL_USER);
	assert_int_equal(lists->access.entries[1].id, 7);
	asking.ctx = (void *)(uintptr_t)eve;
	assert_int_equal(rr_attr_lists_read(lists, false, &asking), RR_VFS_NOTSUPP);
	asking.number = NULL;
	assert_int_equal(rr_attr_lists_read(lists, false, &asking), RR_VFS_NOTSUPP);
	copy[7] = ACE4_SYSTEM_AUDIT_ACE_TYPE;
	assert_true(rr_attr_lists_keep(lists, (struct rpcrdma_bytes){ copy, sizeof(copy) }));
	asking = (struct rr_idmap_asking){ .number = number_of, .ctx = (void *)(uintptr_t)bob };
	assert_int_equal(rr_attr_lists_read(lists, false, &asking), RR_VFS_NOTSUPP);
	assert_true(rr_attr_lists_keep(lists, (struct rpcrdma_bytes){ copy, sizeof(copy) - 4 }));
	assert_int_equal(rr_attr_lists_read(lists, false, &asking), RR_VFS_IO);
	assert_false(rr_attr_lists_keep(lists, (struct rpcrdma_bytes){ copy, RR_ATTR_LIST + 1 }));
	free(lists);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_takes_what_a_server_puts),
		cmocka_unit_test(what_a_server_sends_is_not_believed),
		cmocka_unit_test(a_list_that_posix_cannot_say_is_none),
		cmocka_unit_test(a_server_gets_what_a_client_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
