/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes acl and dacl: RFC 8881, 6.2.1 and 6.2.2. */
#include "vfs/fattr4/acl.h"

#include <string.h>

static const char *const acl_special[] = {
	[RR_ACL4_OWNER] = "OWNER@", [RR_ACL4_GROUP] = "GROUP@", [RR_ACL4_EVERYONE] = "EVERYONE@"
};

/* ---- What a server writes ---- */

struct acl_putting {
	struct rpcrdma_xdr_writer *writer;
	const struct rr_idmap_asking *names;
	uint32_t count;
};

/* Writes who an entry is about. A name that is not known any more, though it was asked for just now, is
 * written as a number. */
static void
acl_put_who(const struct acl_putting *putting, const struct rr_acl4_entry *entry)
{
	bool group = entry->flag & ACE4_IDENTIFIER_GROUP;
	char name[RR_IDMAP_OWNER + 1];
	const char *text = entry->who == RR_ACL4_NAMED ? name : acl_special[entry->who];

	if (entry->who == RR_ACL4_NAMED && (!putting->names || rr_idmap_owner(putting->names, entry->id,
								       group, name) != RR_IDMAP_FOUND)) {
		rr_attr_put_number(putting->writer, entry->id);
		return;
	}
	rpcrdma_put_bytes(putting->writer, (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) },
		RPCRDMA_XDR_UNBOUNDED);
}

static void
acl_put_entry(void *ctx, const struct rr_acl4_entry *entry)
{
	struct acl_putting *putting = ctx;

	rpcrdma_put_u32(putting->writer, entry->type);
	rpcrdma_put_u32(putting->writer, entry->flag);
	rpcrdma_put_u32(putting->writer, entry->mask);
	acl_put_who(putting, entry);
	putting->count++;
}

void
rr_attr_put_acl(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_getacl *acl, bool is_directory,
	const struct rr_idmap_asking *names)
{
	struct acl_putting putting = { writer, names, 0 };
	struct rpcrdma_xdr_writer count = *writer;

	rpcrdma_put_u32(writer, 0);
	rr_acl4_from_posix(&acl->access, &acl->inherited, is_directory, acl_put_entry, &putting);
	/* The number of entries is known now: it takes the place of the 0. */
	if (!writer->failed)
		rpcrdma_put_u32(&count, putting.count);
}

/* ---- What a client sets ---- */

/* Finds out who an entry is about. RFC 8881, 6.2.1.5: of the special identifiers, POSIX has three. */
static nfsstat4
acl_get_who(
	struct rpcrdma_xdr_reader *reader, const struct rr_idmap_asking *asking, struct rr_acl4_entry *entry)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, RPCRDMA_XDR_UNBOUNDED);

	if (reader->failed)
		return NFS4ERR_BADXDR;
	for (uint32_t who = RR_ACL4_OWNER; who <= RR_ACL4_EVERYONE; who++) {
		if (text.length == strlen(acl_special[who]) &&
			memcmp(text.data, acl_special[who], text.length) == 0) {
			entry->who = (enum rr_acl4_who)who;
			return NFS4_OK;
		}
	}
	entry->who = RR_ACL4_NAMED;
	switch (rr_idmap_number(asking, text, entry->flag & ACE4_IDENTIFIER_GROUP, &entry->id)) {
	case RR_IDMAP_FOUND: return NFS4_OK;
	case RR_IDMAP_NONE: return NFS4ERR_BADOWNER;
	default: return NFS4ERR_DELAY;
	}
}

nfsstat4
rr_attr_get_acl(
	struct rpcrdma_xdr_reader *reader, const struct rr_idmap_asking *asking, struct rr_attr_acl *acl)
{
	uint32_t count = rpcrdma_get_u32(reader);

	/* A list twice: as acl, and as dacl. */
	if (acl->is_given)
		return NFS4ERR_INVAL;
	/* Each entry has 16 octets at least: a count that lies is not believed. */
	if (count > rpcrdma_xdr_left(reader) / 16)
		return NFS4ERR_BADXDR;
	if (count > acl->room)
		return NFS4ERR_FBIG;
	acl->is_given = true;
	for (acl->count = 0; acl->count < count; acl->count++) {
		struct rr_acl4_entry *entry = &acl->entries[acl->count];
		nfsstat4 status;

		entry->type = rpcrdma_get_u32(reader);
		entry->flag = rpcrdma_get_u32(reader);
		entry->mask = rpcrdma_get_u32(reader);
		status = acl_get_who(reader, asking, entry);
		if (status != NFS4_OK)
			return status;
	}
	return NFS4_OK;
}
