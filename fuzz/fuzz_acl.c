/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: what reads access lists: those that Linux stores, those of NFSACL at both ends, and those
 * of NFS version 4, and what makes one kind of the other. The first octet chooses the form, and whether the
 * object is a directory.
 *
 * Properties: a list that is taken is valid; a list of POSIX becomes one of version 4 that is taken, too, and
 * comes back without a right that it did not have; what decodes encodes again to the same octets. */
#include "../tests/padding.h"
#include "fuzz.h"
#include "ulb/nfs3.h"
#include "vfs/acl/nfsacl.h"
#include "vfs/fattr4/acl.h"

enum { OUT = 1 << 18 };

static struct rr_acl4_entry entries4[RR_ACL4_MAX];
static struct rr_acl4_right rights[RR_ACL4_MAX];
static struct rr_vfs_ace places[4][RR_VFS_ACL_MAX + 4];
static uint8_t out[OUT];
static _Alignas(16) uint8_t arena_memory[1 << 16];
static const struct rr_idmap_asking nobody;

/* No entry of the second list says more than that of the same user or group in the first. */
static void
require_no_more(const struct rr_vfs_acl *first, const struct rr_vfs_acl *second)
{
	uint32_t mask = 7;

	for (uint32_t i = 0; i < first->count; i++)
		if (first->entries[i].tag == RR_VFS_ACL_MASK)
			mask = first->entries[i].perm;
	for (uint32_t i = 0; i < second->count; i++) {
		const struct rr_vfs_ace *ace = &second->entries[i];

		for (uint32_t j = 0; j < first->count; j++) {
			const struct rr_vfs_ace *old = &first->entries[j];
			bool masked = old->tag != RR_VFS_ACL_USER_OBJ && old->tag != RR_VFS_ACL_OTHER;

			if (old->tag == ace->tag && old->id == ace->id && ace->tag != RR_VFS_ACL_MASK)
				rr_require(!(ace->perm & ~old->perm & 7) &&
					   !(ace->perm & ~(masked ? mask : 7u)));
		}
	}
}

/* Writes the lists as one of version 4, and reads that. */
static void
there_and_back(const struct rr_vfs_acl *access, const struct rr_vfs_acl *inherited, bool is_directory)
{
	struct rr_vfs_getacl getacl = { .access = *access, .inherited = *inherited };
	struct rr_vfs_acl back[2] = { { 0, places[2] }, { 0, places[3] } };
	struct rr_attr_acl acl = { entries4, RR_ACL4_MAX, 0, false };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_message message;

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_attr_put_acl(&writer, &getacl, is_directory, NULL);
	rr_require(!writer.failed);
	message = rpcrdma_xdr_written(&writer);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (rr_attr_get_acl(&reader, &nobody, &acl) == NFS4ERR_FBIG)
		return;
	rr_require(rpcrdma_xdr_done(&reader));
	rr_require(rr_acl4_to_posix(acl.entries, acl.count, is_directory, rights, &back[0], &back[1]) ==
		   RR_VFS_OK);
	require_no_more(access, &back[0]);
}

static void
read_stored(const uint8_t *data, size_t size, bool is_directory)
{
	struct rr_vfs_acl access = { 0, places[0] }, inherited = { 0, places[1] };
	uint32_t length;

	if (rr_acl_get_stored(data, size, &access) != RR_VFS_OK || access.count == 0)
		return;
	rr_require(rr_acl_check(&access, false) == RR_VFS_OK);
	length = rr_acl_put_stored(&access, out);
	rr_require(length == size && rr_acl_get_stored(out, length, &inherited) == RR_VFS_OK);
	there_and_back(&access, &inherited, is_directory);
}

static void
read_version4(const uint8_t *data, size_t size, bool is_directory)
{
	const struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rr_vfs_acl access = { 0, places[0] }, inherited = { 0, places[1] };
	struct rr_attr_acl acl = { entries4, RR_ACL4_MAX, 0, false };
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (rr_attr_get_acl(&reader, &nobody, &acl) != NFS4_OK)
		return;
	rr_require(acl.count <= RR_ACL4_MAX && acl.count <= size / 16);
	if (rr_acl4_to_posix(acl.entries, acl.count, is_directory, rights, &access, &inherited) != RR_VFS_OK)
		return;
	rr_require(rr_acl_check(&access, false) == RR_VFS_OK && rr_acl_check(&inherited, true) == RR_VFS_OK);
	there_and_back(&access, &inherited, is_directory);
}

/* A list that is taken is valid, and the same when it was written and taken again. */
static void
take_nfsacl(const aclent *from, uint32_t count, bool is_default)
{
	static aclent written[NFS_ACL_MAX_ENTRIES];
	struct rr_vfs_acl acl = { 0, places[0] }, again = { 0, places[1] };

	rr_require(count <= NFS_ACL_MAX_ENTRIES);
	if (rr_nfsacl_take(from, count, is_default, &acl) != RR_VFS_OK)
		return;
	rr_require(rr_acl_check(&acl, is_default) == RR_VFS_OK && acl.count <= count);
	rr_nfsacl_put(&acl, 1, 2, is_default ? RR_NFSACL_DEFAULT : 0, written);
	rr_require(rr_nfsacl_take(written, rr_nfsacl_count(&acl), is_default, &again) == RR_VFS_OK);
	rr_require(again.count == acl.count);
	for (uint32_t i = 0; i < acl.count; i++)
		rr_require(acl.entries[i].tag == again.entries[i].tag &&
			   acl.entries[i].id == again.entries[i].id &&
			   acl.entries[i].perm == again.entries[i].perm);
}

static void
take_both(const secattr *acl)
{
	take_nfsacl(acl->aclent_list.values, acl->aclent_list.count, false);
	take_nfsacl(acl->aclent_list.values, acl->aclent_list.count, true);
	take_nfsacl(acl->dfaclent_list.values, acl->dfaclent_list.count, true);
}

/* The result of GETACL, which a client reads. */
static void
read_nfsacl_result(const uint8_t *data, size_t size)
{
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	const struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	GETACL3res result = { .status = NFS3_OK };

	rpcrdma_xdr_reader_init(&reader, &message, &arena);
	NFS_ACL_V3_program.procedures[ACLPROC3_GETACL].get_result(&reader, &result);
	if (rpcrdma_xdr_done(&reader) && result.status == NFS3_OK)
		take_both(&result.u.resok.acl);
}

static void
read_nfsacl(const uint8_t *data, size_t size)
{
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	const struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	SETACL3args args = { .acl.mask = 0 };

	rpcrdma_xdr_reader_init(&reader, &message, &arena);
	NFS_ACL_V3_program.procedures[ACLPROC3_SETACL].get_args(&reader, &args);
	if (!rpcrdma_xdr_done(&reader))
		return;
	take_both(&args.acl);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	NFS_ACL_V3_program.procedures[ACLPROC3_SETACL].put_args(&writer, &args);
	rr_require(!writer.failed && rpcrdma_xdr_length(&writer) == size &&
		   rr_same_but_for_padding(out, data, size));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > OUT)
		return 0;
	switch (data[0] & 3) {
	case 0: read_stored(data + 1, size - 1, data[0] & 4); break;
	case 1: read_version4(data + 1, size - 1, data[0] & 4); break;
	case 2: read_nfsacl(data + 1, size - 1); break;
	default: read_nfsacl_result(data + 1, size - 1); break;
	}
	return 0;
}
