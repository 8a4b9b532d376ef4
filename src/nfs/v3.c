/* SPDX-License-Identifier: BSD-3-Clause */
/* This file translates the client's procedures (procedure.h) into those of version 3. */
#include "nfs/v3.h"

#include <string.h>

#include "vfs/fattr3.h"

/* Version 3 has no names of users and groups. */
static void
v3_attributes(const fattr3 *given, struct rr_nfs_attributes *attributes)
{
	*attributes = (struct rr_nfs_attributes){ 0 };
	rr_fattr3_take(given, &attributes->vfs);
}

/* ---- Results ---- */

/* Makes an entry of one of version 3, in memory of the reader's arena. Returns NULL, and the reader fails, if
 * that is used up. */
static struct rr_nfs_listed *
v3_entry(struct rpcrdma_xdr_reader *reader, const entryplus3 *from)
{
	struct rr_nfs_listed *entry = rpcrdma_get_array(reader, 1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->cookie = from->cookie;
	entry->number = from->fileid;
	entry->name = from->name;
	entry->known = from->name_attributes.attributes_follow;
	if (entry->known)
		v3_attributes(&from->name_attributes.u.attributes, &entry->attributes);
	if (from->name_handle.handle_follows)
		entry->handle = from->name_handle.u.handle.data;
	return entry;
}

static void
v3_get_list(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_nfs_list *list = value;
	struct rr_nfs_listed **next = &list->entries;
	READDIRPLUS3res result = { 0 };

	xdr_get_READDIRPLUS3res(reader, &result);
	*list = (struct rr_nfs_list){ .status = result.status };
	if (result.status != NFS3_OK)
		return;
	list->eof = result.u.resok.reply.eof;
	memcpy(list->verifier, result.u.resok.cookieverf, sizeof(list->verifier));
	for (const entryplus3 *entry = result.u.resok.reply.entries; entry && !reader->failed;
		entry = entry->nextentry) {
		*next = v3_entry(reader, entry);
		if (*next)
			next = &(*next)->next;
	}
}

/* ---- The programs ---- */

/* V3_PUT and V3_GET make the functions for arguments and results as version 3 has them. */
#define V3_PUT(name)                                                                                         \
	static void v3_put_##name(struct rpcrdma_xdr_writer *writer, const void *value)                      \
	{                                                                                                    \
		xdr_put_##name##3args(writer, value);                                                        \
	}
#define V3_GET(name)                                                                                         \
	static void v3_get_##name(struct rpcrdma_xdr_reader *reader, void *value)                            \
	{                                                                                                    \
		xdr_get_##name##3res(reader, value);                                                         \
	}

V3_PUT(READ)
V3_PUT(WRITE)
V3_PUT(READDIR)
V3_PUT(READDIRPLUS)
V3_PUT(FSINFO)

V3_GET(READ)
V3_GET(WRITE)
V3_GET(READDIR)
V3_GET(FSINFO)

/* A procedure, with its function for arguments and that for results. */
#define V3_ROW(name, put, get)                                                                               \
	[NFSPROC3_##name] = { "NFSPROC3_" #name, .args_max = XDR_MAX_##name##3args,                          \
		.result_min = XDR_MIN_##name##3res, .result_max = XDR_MAX_##name##3res, .put_args = put,     \
		.get_result = get }

static const struct rpcrdma_procedure v3_procedures[] = {
	[NFSPROC3_NULL] = { "NFSPROC3_NULL" },
	V3_ROW(READ, v3_put_READ, v3_get_READ),
	V3_ROW(WRITE, v3_put_WRITE, v3_get_WRITE),
	V3_ROW(READDIR, v3_put_READDIR, v3_get_READDIR),
	V3_ROW(READDIRPLUS, v3_put_READDIRPLUS, v3_get_list),
	V3_ROW(FSINFO, v3_put_FSINFO, v3_get_FSINFO),
};

const struct rpcrdma_program rr_nfs_v3_program = { "NFS_V3", NFS_PROGRAM, NFS_V3,
	sizeof(v3_procedures) / sizeof(*v3_procedures), v3_procedures, NULL };

V3_PUT(GETACL)
V3_PUT(SETACL)
V3_GET(GETACL)
V3_GET(SETACL)

#define V3_ACL_ROW(name)                                                                                     \
	[ACLPROC3_##name] = { "ACLPROC3_" #name, .args_max = XDR_MAX_##name##3args,                          \
		.result_min = XDR_MIN_##name##3res, .result_max = XDR_MAX_##name##3res,                      \
		.put_args = v3_put_##name, .get_result = v3_get_##name }

static const struct rpcrdma_procedure v3_acl_procedures[] = {
	[ACLPROC3_NULL] = { "ACLPROC3_NULL" },
	V3_ACL_ROW(GETACL),
	V3_ACL_ROW(SETACL),
};

const struct rpcrdma_program rr_nfs_v3_acl_program = { "NFS_ACL_V3", NFS_ACL_PROGRAM, NFS_ACL_V3,
	sizeof(v3_acl_procedures) / sizeof(*v3_acl_procedures), v3_acl_procedures, NULL };
