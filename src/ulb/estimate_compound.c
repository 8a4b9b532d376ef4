/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "base/endian.h"
#include "ulb/compound.h"
#include "ulb/estimate_private.h"
#include "ulb/nfs42.h"

#define UNKNOWN RPCRDMA_XDR_UNBOUNDED

enum {
	STATUS = 4,
	BITMAP = 4 + 4 * 4, /* with four words: see rr_ulb_reply_size() */
	NAME = 4 + NFS4_OPAQUE_LIMIT,
	CHANGE_INFO = XDR_MAX_change_info4,
	STATEID = XDR_MAX_stateid4,
	ACE = 12 + NAME,
	DELEGATION = 4 + STATEID + 4 + 12 + ACE, /* of the largest kind, which is for writing */
	/* The server's identity: its owner, its scope, and its implementation. state_protect4_r has no
	 * SSV. */
	EXCHANGE_ID = STATUS + 8 + 4 + 4 + (4 + 2 * BITMAP) + (8 + NAME) + NAME + (4 + 2 * NAME + 12),
	HEADER = 4 + 4 + 4 /* status, length of the tag, count of operations */
};

/* How many octets the result of an operation takes at most, with its status: max + each * N, where N is the
 * unsigned int at the offset count_at in its arguments. Operations whose results have no limit by RFC
 * 8267, 6.2, are not in this table. */
struct estimate_operation {
	uint32_t max, each;
	uint8_t count_at;
};

static const struct estimate_operation operations[] = {
	[OP_ACCESS] = { .max = XDR_MAX_ACCESS4res },
	[OP_CLOSE] = { .max = XDR_MAX_CLOSE4res },
	[OP_COMMIT] = { .max = XDR_MAX_COMMIT4res },
	[OP_DELEGPURGE] = { .max = XDR_MAX_DELEGPURGE4res },
	[OP_DELEGRETURN] = { .max = XDR_MAX_DELEGRETURN4res },
	[OP_GETFH] = { .max = XDR_MAX_GETFH4res },
	[OP_LINK] = { .max = XDR_MAX_LINK4res },
	[OP_LOCK] = { .max = XDR_MAX_LOCK4res },
	[OP_LOCKT] = { .max = XDR_MAX_LOCKT4res },
	[OP_LOCKU] = { .max = XDR_MAX_LOCKU4res },
	[OP_LOOKUP] = { .max = XDR_MAX_LOOKUP4res },
	[OP_LOOKUPP] = { .max = XDR_MAX_LOOKUPP4res },
	[OP_NVERIFY] = { .max = XDR_MAX_NVERIFY4res },
	[OP_OPENATTR] = { .max = XDR_MAX_OPENATTR4res },
	[OP_OPEN_CONFIRM] = { .max = XDR_MAX_OPEN_CONFIRM4res },
	[OP_OPEN_DOWNGRADE] = { .max = XDR_MAX_OPEN_DOWNGRADE4res },
	[OP_PUTFH] = { .max = XDR_MAX_PUTFH4res },
	[OP_PUTPUBFH] = { .max = XDR_MAX_PUTPUBFH4res },
	[OP_PUTROOTFH] = { .max = XDR_MAX_PUTROOTFH4res },
	[OP_READ] = { .max = XDR_MAX_READ4res },
	[OP_READLINK] = { .max = XDR_MAX_READLINK4res },
	[OP_REMOVE] = { .max = XDR_MAX_REMOVE4res },
	[OP_RENAME] = { .max = XDR_MAX_RENAME4res },
	[OP_RENEW] = { .max = XDR_MAX_RENEW4res },
	[OP_RESTOREFH] = { .max = XDR_MAX_RESTOREFH4res },
	[OP_SAVEFH] = { .max = XDR_MAX_SAVEFH4res },
	[OP_SETCLIENTID_CONFIRM] = { .max = XDR_MAX_SETCLIENTID_CONFIRM4res },
	[OP_VERIFY] = { .max = XDR_MAX_VERIFY4res },
	[OP_WRITE] = { .max = XDR_MAX_WRITE4res },
	[OP_RELEASE_LOCKOWNER] = { .max = XDR_MAX_RELEASE_LOCKOWNER4res },
	[OP_BACKCHANNEL_CTL] = { .max = XDR_MAX_BACKCHANNEL_CTL4res },
	[OP_BIND_CONN_TO_SESSION] = { .max = XDR_MAX_BIND_CONN_TO_SESSION4res },
	[OP_CREATE_SESSION] = { .max = XDR_MAX_CREATE_SESSION4res },
	[OP_DESTROY_SESSION] = { .max = XDR_MAX_DESTROY_SESSION4res },
	[OP_FREE_STATEID] = { .max = XDR_MAX_FREE_STATEID4res },
	[OP_LAYOUTCOMMIT] = { .max = XDR_MAX_LAYOUTCOMMIT4res },
	[OP_LAYOUTRETURN] = { .max = XDR_MAX_LAYOUTRETURN4res },
	[OP_SEQUENCE] = { .max = XDR_MAX_SEQUENCE4res },
	[OP_DESTROY_CLIENTID] = { .max = XDR_MAX_DESTROY_CLIENTID4res },
	[OP_RECLAIM_COMPLETE] = { .max = XDR_MAX_RECLAIM_COMPLETE4res },
	[OP_ALLOCATE] = { .max = XDR_MAX_ALLOCATE4res },
	[OP_COPY] = { .max = XDR_MAX_COPY4res },
	[OP_DEALLOCATE] = { .max = XDR_MAX_DEALLOCATE4res },
	[OP_LAYOUTERROR] = { .max = XDR_MAX_LAYOUTERROR4res },
	[OP_LAYOUTSTATS] = { .max = XDR_MAX_LAYOUTSTATS4res },
	[OP_OFFLOAD_CANCEL] = { .max = XDR_MAX_OFFLOAD_CANCEL4res },
	[OP_OFFLOAD_STATUS] = { .max = XDR_MAX_OFFLOAD_STATUS4res },
	[OP_SEEK] = { .max = XDR_MAX_SEEK4res },
	[OP_WRITE_SAME] = { .max = XDR_MAX_WRITE_SAME4res },
	[OP_CLONE] = { .max = XDR_MAX_CLONE4res },
	[OP_SETXATTR] = { .max = XDR_MAX_SETXATTR4res },
	[OP_REMOVEXATTR] = { .max = XDR_MAX_REMOVEXATTR4res },
	[OP_CREATE] = { .max = STATUS + CHANGE_INFO + BITMAP },
	[OP_OPEN] = { .max = STATUS + STATEID + CHANGE_INFO + 4 + BITMAP + DELEGATION },
	[OP_SETATTR] = { .max = STATUS + BITMAP },
	[OP_SETCLIENTID] = { .max = STATUS + 2 * NAME },
	[OP_GET_DIR_DELEGATION] = { .max = STATUS + 4 + 8 + STATEID + 3 * BITMAP },
	[OP_WANT_DELEGATION] = { .max = STATUS + DELEGATION },
	[OP_IO_ADVISE] = { .max = STATUS + BITMAP },
	/* RFC 7530, 16.24.4: maxcount "represents all of the data being returned within the READDIR4resok
	 * structure" */
	[OP_READDIR] = { .max = STATUS, .each = 1, .count_at = 20 },
	/* RFC 8276, 8.4.3.2, says the same of LISTXATTRS4resok. */
	[OP_LISTXATTRS] = { .max = STATUS, .each = 1, .count_at = 8 },
	/* RFC 8881, 18.40.3: "gdia_maxcount to limit the number of bytes for the result"; 0 leaves the
	 * bitmap. */
	[OP_GETDEVICEINFO] = { .max = STATUS + 8 + BITMAP, .each = 1, .count_at = 20 },
	[OP_GETDEVICELIST] = { .max = STATUS + 24, .each = NFS4_DEVICEID4_SIZE, .count_at = 4 },
	[OP_TEST_STATEID] = { .max = STATUS + 4, .each = 4, .count_at = 0 },
};

/* The octets of each attribute, by its number; 0: the attribute has no limit, or does not exist. */
static const uint32_t attributes[] = {
	[FATTR4_SUPPORTED_ATTRS] = BITMAP,
	[FATTR4_TYPE] = XDR_MAX_fattr4_type,
	[FATTR4_FH_EXPIRE_TYPE] = XDR_MAX_fattr4_fh_expire_type,
	[FATTR4_CHANGE] = XDR_MAX_fattr4_change,
	[FATTR4_SIZE] = XDR_MAX_fattr4_size,
	[FATTR4_LINK_SUPPORT] = XDR_MAX_fattr4_link_support,
	[FATTR4_SYMLINK_SUPPORT] = XDR_MAX_fattr4_symlink_support,
	[FATTR4_NAMED_ATTR] = XDR_MAX_fattr4_named_attr,
	[FATTR4_FSID] = XDR_MAX_fattr4_fsid,
	[FATTR4_UNIQUE_HANDLES] = XDR_MAX_fattr4_unique_handles,
	[FATTR4_LEASE_TIME] = XDR_MAX_fattr4_lease_time,
	[FATTR4_RDATTR_ERROR] = XDR_MAX_fattr4_rdattr_error,
	[FATTR4_ACLSUPPORT] = XDR_MAX_fattr4_aclsupport,
	[FATTR4_ARCHIVE] = XDR_MAX_fattr4_archive,
	[FATTR4_CANSETTIME] = XDR_MAX_fattr4_cansettime,
	[FATTR4_CASE_INSENSITIVE] = XDR_MAX_fattr4_case_insensitive,
	[FATTR4_CASE_PRESERVING] = XDR_MAX_fattr4_case_preserving,
	[FATTR4_CHOWN_RESTRICTED] = XDR_MAX_fattr4_chown_restricted,
	[FATTR4_FILEHANDLE] = XDR_MAX_fattr4_filehandle,
	[FATTR4_FILEID] = XDR_MAX_fattr4_fileid,
	[FATTR4_FILES_AVAIL] = XDR_MAX_fattr4_files_avail,
	[FATTR4_FILES_FREE] = XDR_MAX_fattr4_files_free,
	[FATTR4_FILES_TOTAL] = XDR_MAX_fattr4_files_total,
	[FATTR4_HIDDEN] = XDR_MAX_fattr4_hidden,
	[FATTR4_HOMOGENEOUS] = XDR_MAX_fattr4_homogeneous,
	[FATTR4_MAXFILESIZE] = XDR_MAX_fattr4_maxfilesize,
	[FATTR4_MAXLINK] = XDR_MAX_fattr4_maxlink,
	[FATTR4_MAXNAME] = XDR_MAX_fattr4_maxname,
	[FATTR4_MAXREAD] = XDR_MAX_fattr4_maxread,
	[FATTR4_MAXWRITE] = XDR_MAX_fattr4_maxwrite,
	[FATTR4_MODE] = XDR_MAX_fattr4_mode,
	[FATTR4_NO_TRUNC] = XDR_MAX_fattr4_no_trunc,
	[FATTR4_NUMLINKS] = XDR_MAX_fattr4_numlinks,
	[FATTR4_OWNER] = NAME,
	[FATTR4_OWNER_GROUP] = NAME,
	[FATTR4_QUOTA_AVAIL_HARD] = XDR_MAX_fattr4_quota_avail_hard,
	[FATTR4_QUOTA_AVAIL_SOFT] = XDR_MAX_fattr4_quota_avail_soft,
	[FATTR4_QUOTA_USED] = XDR_MAX_fattr4_quota_used,
	[FATTR4_RAWDEV] = XDR_MAX_fattr4_rawdev,
	[FATTR4_SPACE_AVAIL] = XDR_MAX_fattr4_space_avail,
	[FATTR4_SPACE_FREE] = XDR_MAX_fattr4_space_free,
	[FATTR4_SPACE_TOTAL] = XDR_MAX_fattr4_space_total,
	[FATTR4_SPACE_USED] = XDR_MAX_fattr4_space_used,
	[FATTR4_SYSTEM] = XDR_MAX_fattr4_system,
	[FATTR4_TIME_ACCESS] = XDR_MAX_fattr4_time_access,
	[FATTR4_TIME_ACCESS_SET] = XDR_MAX_fattr4_time_access_set,
	[FATTR4_TIME_BACKUP] = XDR_MAX_fattr4_time_backup,
	[FATTR4_TIME_CREATE] = XDR_MAX_fattr4_time_create,
	[FATTR4_TIME_DELTA] = XDR_MAX_fattr4_time_delta,
	[FATTR4_TIME_METADATA] = XDR_MAX_fattr4_time_metadata,
	[FATTR4_TIME_MODIFY] = XDR_MAX_fattr4_time_modify,
	[FATTR4_TIME_MODIFY_SET] = XDR_MAX_fattr4_time_modify_set,
	[FATTR4_MOUNTED_ON_FILEID] = XDR_MAX_fattr4_mounted_on_fileid,
	[FATTR4_DIR_NOTIF_DELAY] = XDR_MAX_fattr4_dir_notif_delay,
	[FATTR4_DIRENT_NOTIF_DELAY] = XDR_MAX_fattr4_dirent_notif_delay,
	[FATTR4_CHANGE_POLICY] = XDR_MAX_fattr4_change_policy,
	[FATTR4_LAYOUT_BLKSIZE] = XDR_MAX_fattr4_layout_blksize,
	[FATTR4_LAYOUT_ALIGNMENT] = XDR_MAX_fattr4_layout_alignment,
	[FATTR4_RETENTION_GET] = XDR_MAX_fattr4_retention_get,
	[FATTR4_RETENTION_SET] = XDR_MAX_fattr4_retention_set,
	[FATTR4_RETENTEVT_GET] = XDR_MAX_fattr4_retentevt_get,
	[FATTR4_RETENTEVT_SET] = XDR_MAX_fattr4_retentevt_set,
	[FATTR4_RETENTION_HOLD] = XDR_MAX_fattr4_retention_hold,
	[FATTR4_MODE_SET_MASKED] = XDR_MAX_fattr4_mode_set_masked,
	[FATTR4_SUPPATTR_EXCLCREAT] = BITMAP,
	[FATTR4_FS_CHARSET_CAP] = XDR_MAX_fattr4_fs_charset_cap,
	[FATTR4_CLONE_BLKSIZE] = XDR_MAX_fattr4_clone_blksize,
	[FATTR4_SPACE_FREED] = XDR_MAX_fattr4_space_freed,
	[FATTR4_CHANGE_ATTR_TYPE] = XDR_MAX_fattr4_change_attr_type,
	[FATTR4_XATTR_SUPPORT] = XDR_MAX_fattr4_xattr_support,
};

/* Returns the unsigned int at this offset of the arguments. The walk has already moved over the arguments, so
 * it is within the message. */
static uint32_t
compound_word_at(const uint8_t *args, uint32_t offset)
{
	return rr_get_be32(args + offset);
}

/* Returns how many octets the attributes in one word of an attribute bitmap take at most. first is the number
 * of the attribute that bit 0 of the word stands for. The result is UNKNOWN if an attribute has no known
 * limit. */
static uint32_t
compound_word_max(uint32_t word, uint64_t first)
{
	uint32_t max = 0;

	for (; word != 0; word >>= 1, first++) {
		if (!(word & 1))
			continue;
		if (first >= sizeof(attributes) / sizeof(*attributes) || attributes[first] == 0)
			return UNKNOWN;
		max = rr_estimate_add(max, attributes[first]);
	}
	return max;
}

/* Returns how many octets the result of GETATTR takes at most. At args is the bitmap of the attributes that
 * the call asks for: the result has these attributes at most, and a bitmap that is no longer. */
static uint32_t
compound_attributes_max(const uint8_t *args)
{
	/* In front of the words of the bitmap and the values stand a status and two lengths. */
	uint32_t words = compound_word_at(args, 0), max = STATUS + 4 + 4;

	for (uint32_t i = 0; i < words; i++) {
		max = rr_estimate_add(max, 4);
		max = rr_estimate_add(
			max, compound_word_max(compound_word_at(args, 4 + 4 * i), 32 * (uint64_t)i));
	}
	return max;
}

/* Returns how many octets the result of EXCHANGE_ID takes at most. The result is UNKNOWN if the client
 * protects its state by SSV, as the server then returns any number of handles. In the arguments, a verifier,
 * the owner and flags stand before the kind of protection. */
static uint32_t
compound_exchange_id_max(const uint8_t *args)
{
	uint32_t owner = compound_word_at(args, 8);

	return compound_word_at(args, 8 + 4 + owner + rr_pad(owner) + 4) == SP4_SSV ? UNKNOWN : EXCHANGE_ID;
}

/* Returns how many octets the result of operation `number`, with its status, takes at most with the arguments
 * at args; UNKNOWN if the arguments set no limit. */
static uint32_t
compound_operation_max(uint32_t number, const uint8_t *args)
{
	const struct estimate_operation *operation;
	uint64_t counted;

	if (number == OP_ILLEGAL)
		return STATUS;
	if (number == OP_GETATTR)
		return compound_attributes_max(args);
	if (number == OP_EXCHANGE_ID)
		return compound_exchange_id_max(args);
	if (number >= sizeof(operations) / sizeof(*operations))
		return UNKNOWN;
	operation = &operations[number];
	if (operation->max == 0)
		return UNKNOWN;
	if (operation->each == 0)
		return operation->max;
	/* The argument at count_at says how many elements the result has at most. */
	counted = (uint64_t)operation->each * compound_word_at(args, operation->count_at);
	return rr_estimate_add(operation->max, (uint32_t)rr_min(counted, UINT32_MAX));
}

/* Returns how many octets of data, which may travel in a chunk, READ or READLINK return at most. For READ it
 * is the count in the arguments, behind stateid and offset. For READLINK it is UNKNOWN, as the arguments do
 * not limit the length. */
static uint32_t
compound_item_max(uint32_t number, const uint8_t *args)
{
	return number == OP_READLINK ? UNKNOWN : compound_word_at(args, STATEID + 8);
}

void
rr_estimate_compound(struct rr_walk *walk, struct rr_reply_size *size)
{
	uint32_t tag = rr_walk_peek(walk);
	uint32_t count = rr_compound_begin_call(walk);

	/* RFC 7530, 15.2.4: the reply has the tag of the call. If the walk has moved over the tag, its length
	 * is within the call, and the sum cannot overflow. */
	*size = (struct rr_reply_size){ .min = HEADER };
	size->max = walk->answer == RR_WALKED ? HEADER + tag + rr_pad(tag) : HEADER;
	for (; count > 0 && walk->answer == RR_WALKED; count--) {
		const uint8_t *args = walk->reader.next + 4;
		uint32_t number = rr_compound_next_call(walk);

		if (walk->answer != RR_WALKED)
			return;
		size->max =
			rr_estimate_add(size->max, rr_estimate_add(4, compound_operation_max(number, args)));
		size->often_large |= number == OP_READDIR;
		if (rr_compound_is_read(number))
			rr_estimate_result(size, compound_item_max(number, args));
	}
	/* If the call has more octets than operations, walk->answer says so to the caller. */
	rr_walk_end(walk);
}
