/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of operations, and the most octets that their results can have. */
#include "server/nfs4/ops.h"

#include "base/checked.h"
#include "vfs/fattr4/attr.h"

/*
 * All operations by number. The size is the most octets that a result can have, with its number and status.
 * The sizes serve two ends: an operation that changes something is refused before it does so if its result
 * may not fit, and rr_nfs4_reply_max() says how much memory the reply needs. An operation without a function
 * is OPTIONAL and not supported: NFS4ERR_NOTSUPP, which those of version 4.0 alone get in the later versions,
 * too (RFC 8881, 8.8; RFC 7862, 13).
 */

/* Octets of parts of results. OPS_STATUS: number and status of an operation; OPS_BITMAP: a bitmap4 of
 * attributes; OPS_DELEGATION: a read delegation. OPS_SECINFO: five flavors, three of them with a mechanism of
 * nine octets, a quality and a service. */
enum {
	OPS_STATUS = 8,
	OPS_STATEID = 16,
	OPS_CINFO = 20,
	OPS_BITMAP = 16,
	OPS_DELEGATION = 36,
	OPS_SECINFO = OPS_STATUS + 4 + 5 * 4 + 3 * (4 + 12 + 4 + 4)
};

/* The minor version of the call is not known here: minor version 2 has all attributes. */
static uint32_t
ops_getattr_estimate(const nfs_argop4 *op)
{
	struct rr_attr_mask mask = rr_attr_mask(&op->u.opgetattr.attr_request);

	return OPS_STATUS + rr_attr_size(&mask, 2);
}

/* Returns the octets of a READ's result without its data: number, status, eof, and the length of the data.
 * The data travels outside of the stream. Where it cannot, rr_nfs4_reply_max() adds its octets. */
static uint32_t
ops_read_estimate(const nfs_argop4 *op)
{
	(void)op;
	return OPS_STATUS + 8;
}

/* A peer may ask for any number of octets: no more than RR_VFS_LISTING_MAX of memory are taken for the list
 * of entries, which ends where that memory is full. */
static uint32_t
ops_readdir_estimate(const nfs_argop4 *op)
{
	return (uint32_t)rr_min(op->u.opreaddir.maxcount, RR_VFS_LISTING_MAX) + OPS_STATUS;
}

/* 64: more octets than the result has beside the data. READ_PLUS returns less than 64 KiB of data, whatever
 * the client asks for. */
static uint32_t
ops_read_plus_estimate(const nfs_argop4 *op)
{
	return (uint32_t)rr_min(op->u.opread_plus.rpa_count, 64 << 10) + 64;
}

/* The result has a status of four octets for each stateid of the arguments. */
static uint32_t
ops_test_stateid_estimate(const nfs_argop4 *op)
{
	return OPS_STATUS + 4 + 4 * op->u.optest_stateid.ts_stateids.count;
}

enum {
	FIRST = RR_NFS4_OP_FIRST,
	FH = RR_NFS4_OP_FH,
	SAVED = RR_NFS4_OP_SAVED,
	CHANGES = RR_NFS4_OP_CHANGES,
	RECALLS = RR_NFS4_OP_RECALLS,
	VFS = RR_NFS4_OP_VFS,
	FILLS = RR_NFS4_OP_FILLS,
	BRIEF = RR_NFS4_OP_BRIEF,
	PLAIN = RR_NFS4_OP_PLAIN
};

const struct rr_nfs4_operation rr_nfs4_operations[OP_REMOVEXATTR + 1] = {
	[OP_ACCESS] = { rr_op_access, FH, OPS_STATUS + 8 },
	[OP_CLOSE] = { rr_op_close, FH | VFS | CHANGES, OPS_STATUS + OPS_STATEID,
		.pseudo = NFS4ERR_BAD_STATEID },
	[OP_COMMIT] = { rr_op_commit, FH | VFS, OPS_STATUS + 8, .pseudo = NFS4ERR_ISDIR },
	[OP_CREATE] = { rr_op_create, FH | VFS | CHANGES, OPS_STATUS + OPS_CINFO + OPS_BITMAP,
		.pseudo = NFS4ERR_ROFS },
	[OP_DELEGRETURN] = { rr_op_delegreturn, FH | VFS | CHANGES, OPS_STATUS,
		.pseudo = NFS4ERR_BAD_STATEID },
	[OP_GETATTR] = { rr_op_getattr, FH, 0, ops_getattr_estimate },
	[OP_GETFH] = { rr_op_getfh, FH | BRIEF, OPS_STATUS + 4 + RR_VFS_HANDLE_MAX },
	[OP_LINK] = { rr_op_link, FH | SAVED | VFS | CHANGES | RECALLS, OPS_STATUS + OPS_CINFO,
		.pseudo = NFS4ERR_ROFS },
	[OP_LOCK] = { rr_op_lock, FH | VFS | CHANGES, OPS_STATUS + 32 + NFS4_OPAQUE_LIMIT,
		.pseudo = NFS4ERR_ISDIR },
	[OP_LOCKT] = { rr_op_lockt, FH | VFS, OPS_STATUS + 32 + NFS4_OPAQUE_LIMIT, .pseudo = NFS4ERR_ISDIR },
	[OP_LOCKU] = { rr_op_locku, FH | VFS | CHANGES, OPS_STATUS + OPS_STATEID,
		.pseudo = NFS4ERR_BAD_STATEID },
	[OP_LOOKUP] = { rr_op_lookup, FH, OPS_STATUS },
	[OP_LOOKUPP] = { rr_op_lookupp, FH, OPS_STATUS },
	[OP_NVERIFY] = { rr_op_nverify, FH, OPS_STATUS },
	[OP_OPEN] = { rr_op_open, FH | CHANGES,
		OPS_STATUS + OPS_STATEID + OPS_CINFO + 4 + OPS_BITMAP + 4 + OPS_DELEGATION },
	[OP_OPEN_DOWNGRADE] = { rr_op_open_downgrade, FH | VFS | CHANGES, OPS_STATUS + OPS_STATEID,
		.pseudo = NFS4ERR_BAD_STATEID },
	[OP_PUTFH] = { rr_op_putfh, FILLS | BRIEF, OPS_STATUS },
	[OP_PUTPUBFH] = { rr_op_putrootfh, BRIEF, OPS_STATUS },
	[OP_PUTROOTFH] = { rr_op_putrootfh, BRIEF, OPS_STATUS },
	[OP_READ] = { rr_op_read, FH | VFS | FILLS, 0, ops_read_estimate, .pseudo = NFS4ERR_ISDIR },
	[OP_READDIR] = { rr_op_readdir, FH, 0, ops_readdir_estimate },
	[OP_READLINK] = { rr_op_readlink, FH | VFS, OPS_STATUS + 4, .pseudo = NFS4ERR_WRONG_TYPE },
	[OP_REMOVE] = { rr_op_remove, FH | VFS | CHANGES | RECALLS, OPS_STATUS + OPS_CINFO,
		.pseudo = NFS4ERR_ROFS },
	[OP_RENAME] = { rr_op_rename, FH | SAVED | VFS | CHANGES | RECALLS, OPS_STATUS + 2 * OPS_CINFO,
		.pseudo = NFS4ERR_ROFS },
	[OP_RESTOREFH] = { rr_op_restorefh, SAVED | BRIEF, OPS_STATUS },
	[OP_SAVEFH] = { rr_op_savefh, FH | BRIEF, OPS_STATUS },
	[OP_SECINFO] = { rr_op_secinfo, FH, OPS_SECINFO },
	[OP_SETATTR] = { rr_op_setattr, FH | VFS | CHANGES | RECALLS, OPS_STATUS + OPS_BITMAP,
		.pseudo = NFS4ERR_ROFS },
	[OP_VERIFY] = { rr_op_verify, FH, OPS_STATUS },
	[OP_WRITE] = { rr_op_write, FH | VFS | CHANGES | FILLS, OPS_STATUS + 16, .pseudo = NFS4ERR_ISDIR },
	[OP_OPEN_CONFIRM] = { rr_op_open_confirm, FH | VFS | CHANGES | PLAIN, OPS_STATUS + OPS_STATEID,
		.pseudo = NFS4ERR_BAD_STATEID },
	[OP_RENEW] = { rr_op_renew, PLAIN, OPS_STATUS },
	[OP_SETCLIENTID] = { rr_op_setclientid, CHANGES | PLAIN,
		OPS_STATUS + 16 + 8 + RR_NFS4_NETID + RR_NFS4_UADDR },
	[OP_SETCLIENTID_CONFIRM] = { rr_op_setclientid_confirm, CHANGES | PLAIN, OPS_STATUS },
	[OP_RELEASE_LOCKOWNER] = { rr_op_release_lockowner, CHANGES | PLAIN, OPS_STATUS },
	[OP_BACKCHANNEL_CTL] = { rr_op_backchannel_ctl, CHANGES, OPS_STATUS },
	[OP_BIND_CONN_TO_SESSION] = { rr_op_bind_conn_to_session, FIRST, OPS_STATUS + 24 },
	[OP_EXCHANGE_ID] = { rr_op_exchange_id, FIRST, OPS_STATUS + 128 + 2 * OPS_BITMAP },
	[OP_CREATE_SESSION] = { rr_op_create_session, FIRST, OPS_STATUS + 92 },
	[OP_DESTROY_SESSION] = { rr_op_destroy_session, FIRST, OPS_STATUS },
	[OP_FREE_STATEID] = { rr_op_free_stateid, CHANGES, OPS_STATUS },
	[OP_SECINFO_NO_NAME] = { rr_op_secinfo_no_name, FH, OPS_SECINFO },
	[OP_SEQUENCE] = { rr_op_sequence, FIRST | FILLS | BRIEF, OPS_STATUS + 36 },
	[OP_TEST_STATEID] = { rr_op_test_stateid, 0, 0, ops_test_stateid_estimate },
	[OP_DESTROY_CLIENTID] = { rr_op_destroy_clientid, FIRST, OPS_STATUS },
	[OP_RECLAIM_COMPLETE] = { rr_op_reclaim_complete, CHANGES, OPS_STATUS },
	[OP_SET_SSV] = { rr_op_set_ssv, CHANGES, OPS_STATUS },
	[OP_ALLOCATE] = { rr_op_allocate, FH | VFS | CHANGES, OPS_STATUS, .pseudo = NFS4ERR_WRONG_TYPE },
	[OP_COPY] = { rr_op_copy, FH | SAVED | VFS | CHANGES, OPS_STATUS + 4 + OPS_STATEID + 20 + 8,
		.pseudo = NFS4ERR_WRONG_TYPE },
	[OP_DEALLOCATE] = { rr_op_deallocate, FH | VFS | CHANGES, OPS_STATUS, .pseudo = NFS4ERR_WRONG_TYPE },
	[OP_IO_ADVISE] = { rr_op_io_advise, FH | VFS, OPS_STATUS + OPS_BITMAP, .pseudo = NFS4ERR_ISDIR },
	/* The stateid alone decides; RFC 7862, 11.2 has no NFS4ERR_NOFILEHANDLE for these operations. */
	[OP_OFFLOAD_CANCEL] = { rr_op_offload, 0, OPS_STATUS },
	[OP_OFFLOAD_STATUS] = { rr_op_offload, 0, OPS_STATUS },
	[OP_READ_PLUS] = { rr_op_read_plus, FH | VFS, 0, ops_read_plus_estimate, .pseudo = NFS4ERR_ISDIR },
	[OP_SEEK] = { rr_op_seek, FH | VFS, OPS_STATUS + 12, .pseudo = NFS4ERR_ISDIR },
	[OP_CLONE] = { rr_op_clone, FH | SAVED | VFS | CHANGES, OPS_STATUS, .pseudo = NFS4ERR_WRONG_TYPE },
	[OP_GETXATTR] = { rr_op_getxattr, FH | VFS, OPS_STATUS + 4 + (28 << 10), .pseudo = NFS4ERR_NOTSUPP },
	[OP_SETXATTR] = { rr_op_setxattr, FH | VFS | CHANGES | RECALLS, OPS_STATUS + OPS_CINFO,
		.pseudo = NFS4ERR_ROFS },
	[OP_LISTXATTRS] = { rr_op_listxattrs, FH | VFS, OPS_STATUS + 16 + (28 << 10),
		.pseudo = NFS4ERR_NOTSUPP },
	[OP_REMOVEXATTR] = { rr_op_removexattr, FH | VFS | CHANGES | RECALLS, OPS_STATUS + OPS_CINFO,
		.pseudo = NFS4ERR_ROFS },
};

/* RFC 7530, 16.33.5: "Since SETCLIENTID is a non-idempotent operation, let us assume that the server is
 * implementing the duplicate request cache". */
bool
rr_nfs4_is_once(const void *arguments)
{
	const struct rr_nfs4_args *args = arguments;

	if (!args->minor || args->minor->sessions)
		return false;
	for (uint32_t i = 0; i < args->decoded; i++) {
		const nfs_argop4 *op = &args->ops[i];

		/* A WRITE writes the same again. */
		if (op->argop != OP_WRITE && rr_nfs4_operations[op->argop].flags & RR_NFS4_OP_CHANGES)
			return true;
	}
	return false;
}

/*
 * Returns the most octets that the results can have in the stream of the reply, which is the reply without
 * the data that travels outside of it: so much memory is taken for the stream. The data of the first READs
 * and READLINKs is an item outside of the stream each: rr_request_item_max(). The data of further ones is
 * counted.
 */
uint32_t
rr_nfs4_reply_max(const struct rpcrdma_request *request, const void *arguments)
{
	const struct rr_nfs4_args *args = arguments;
	uint32_t by_reference = rr_request_item_max(request), reads = 0;
	/* Status, length of the tag and number of results; the tag with its padding; and the error of an
	 * operation that was not decoded. */
	uint64_t size = 12 + args->tag.length + 3 + OPS_STATUS;

	for (uint32_t i = 0; i < args->decoded; i++) {
		const nfs_argop4 *op = &args->ops[i];
		const struct rr_nfs4_operation *operation = &rr_nfs4_operations[op->argop];

		size += operation->estimate ? operation->estimate(op) : operation->size;
		if (op->argop == OP_GETATTR && request->caller.principal)
			size += RR_ATTR_NAMES;
		if (op->argop == OP_READLINK && ++reads > by_reference)
			size += RR_VFS_TARGET_MAX + 1;
		if (op->argop == OP_READ && ++reads > by_reference)
			size += (uint64_t)op->u.opread.count + 3;
		/* A retry gets the cached reply, whatever it asks for now: 4096 octets are the most that a
		 * slot keeps if sa_cachethis is set, and 512 are room to spare. */
		if (op->argop == OP_SEQUENCE)
			size = size < 4096 + 512 && op->u.opsequence.sa_cachethis ? 4096 + 512 : size;
	}
	return (uint32_t)rr_min(size, UINT32_MAX);
}

uint32_t
rr_nfs4_arena_max(const struct rpcrdma_request *request, const void *arguments)
{
	enum { BESIDE = 64 << 10 }; /* for the results and the memory of other operations */
	const struct rr_nfs4_args *args = arguments;
	uint64_t size = 0;

	(void)request;
	for (uint32_t i = 0; i < args->decoded; i++)
		if (args->ops[i].argop == OP_READDIR)
			size += ops_readdir_estimate(&args->ops[i]);
	return size > BESIDE / 2 ? (uint32_t)rr_min(size + BESIDE, UINT32_MAX) : 0;
}
