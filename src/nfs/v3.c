/* SPDX-License-Identifier: BSD-3-Clause */
/* This file translates the client's procedures (procedure.h) into those of version 3: the functions
 * v3_put_... encode arguments, and the functions v3_get_... decode results. */
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

/* ---- Arguments ---- */

/* Encodes arguments of version 3. */
static void
v3_put(struct rpcrdma_xdr_writer *writer, uint32_t proc, const void *args)
{
	NFS_V3_program.procedures[proc].put_args(writer, args);
}

static void
v3_put_setattr(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_nfs_setattr_args *given = value;
	const SETATTR3args args = { .object = given->object, .new_attributes = rr_fattr3_give(&given->set) };

	v3_put(writer, NFSPROC3_SETATTR, &args);
}

static void
v3_put_create(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_nfs_make_args *given = value;
	CREATE3args args = { .where = given->where, .how.mode = GUARDED };

	args.how.u.obj_attributes = rr_fattr3_give(&given->set);
	v3_put(writer, NFSPROC3_CREATE, &args);
}

static void
v3_put_mkdir(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_nfs_make_args *given = value;
	const MKDIR3args args = { .where = given->where, .attributes = rr_fattr3_give(&given->set) };

	v3_put(writer, NFSPROC3_MKDIR, &args);
}

static void
v3_put_symlink(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_nfs_make_args *given = value;
	const SYMLINK3args args = { .where = given->where,
		.symlink = {
			.symlink_attributes = rr_fattr3_give(&given->set), .symlink_data = given->target } };

	v3_put(writer, NFSPROC3_SYMLINK, &args);
}

static void
v3_put_mknod(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_nfs_make_args *given = value;
	MKNOD3args args = { .where = given->where, .what.type = (ftype3)given->type };

	if (given->type == RR_VFS_CHARACTER_DEVICE || given->type == RR_VFS_BLOCK_DEVICE)
		args.what.u.device =
			(devicedata3){ rr_fattr3_give(&given->set), { given->device[0], given->device[1] } };
	else
		args.what.u.pipe_attributes = rr_fattr3_give(&given->set);
	v3_put(writer, NFSPROC3_MKNOD, &args);
}

/* ---- Results ---- */

/* Decodes a result of version 3. */
static void
v3_get(struct rpcrdma_xdr_reader *reader, uint32_t proc, void *result)
{
	NFS_V3_program.procedures[proc].get_result(reader, result);
}

/* Takes the attributes of an object, if the server sent them. */
static void
v3_know(struct rr_nfs_found *found, const post_op_attr *attributes)
{
	found->known = attributes->attributes_follow;
	if (found->known)
		v3_attributes(&attributes->u.attributes, &found->attributes);
}

static void
v3_get_getattr(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_nfs_found *found = value;
	GETATTR3res result = { 0 };

	v3_get(reader, NFSPROC3_GETATTR, &result);
	*found = (struct rr_nfs_found){ .status = result.status, .known = result.status == NFS3_OK };
	if (found->known)
		v3_attributes(&result.u.resok.obj_attributes, &found->attributes);
}

static void
v3_get_lookup(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_nfs_found *found = value;
	LOOKUP3res result = { 0 };

	v3_get(reader, NFSPROC3_LOOKUP, &result);
	*found = (struct rr_nfs_found){ .status = result.status };
	if (result.status != NFS3_OK)
		return;
	found->handle = result.u.resok.object.data;
	v3_know(found, &result.u.resok.obj_attributes);
}

/* Decodes the result of a procedure that makes an object. The results of the four procedures are of one
 * shape. */
static void
v3_get_made(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_nfs_found *found = value;
	CREATE3res result = { 0 };

	_Static_assert(sizeof(CREATE3res) == sizeof(MKDIR3res) && sizeof(CREATE3res) == sizeof(SYMLINK3res) &&
			       sizeof(CREATE3res) == sizeof(MKNOD3res),
		"RFC 1813, 3.3.8 to 3.3.11: a handle, attributes, and those of the directory");
	v3_get(reader, NFSPROC3_CREATE, &result);
	*found = (struct rr_nfs_found){ .status = result.status };
	if (result.status != NFS3_OK)
		return;
	if (result.u.resok.obj.handle_follows)
		found->handle = result.u.resok.obj.u.handle.data;
	v3_know(found, &result.u.resok.obj_attributes);
}

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

	v3_get(reader, NFSPROC3_READDIRPLUS, &result);
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

/* ---- The program ---- */

/* The procedures that have arguments or results of their own; NULL, or a size of 0: those of version 3. */
static const struct rpcrdma_procedure v3_own[RR_V3_PROCEDURES] = {
	[NFSPROC3_GETATTR] = { .result_size = sizeof(struct rr_nfs_found), .get_result = v3_get_getattr },
	[NFSPROC3_SETATTR] = { .args_size = sizeof(struct rr_nfs_setattr_args), .put_args = v3_put_setattr },
	[NFSPROC3_LOOKUP] = { .result_size = sizeof(struct rr_nfs_found), .get_result = v3_get_lookup },
	[NFSPROC3_CREATE] = { .args_size = sizeof(struct rr_nfs_make_args),
		.put_args = v3_put_create,
		.result_size = sizeof(struct rr_nfs_found),
		.get_result = v3_get_made },
	[NFSPROC3_MKDIR] = { .args_size = sizeof(struct rr_nfs_make_args),
		.put_args = v3_put_mkdir,
		.result_size = sizeof(struct rr_nfs_found),
		.get_result = v3_get_made },
	[NFSPROC3_SYMLINK] = { .args_size = sizeof(struct rr_nfs_make_args),
		.put_args = v3_put_symlink,
		.result_size = sizeof(struct rr_nfs_found),
		.get_result = v3_get_made },
	[NFSPROC3_MKNOD] = { .args_size = sizeof(struct rr_nfs_make_args),
		.put_args = v3_put_mknod,
		.result_size = sizeof(struct rr_nfs_found),
		.get_result = v3_get_made },
	[NFSPROC3_READDIRPLUS] = { .result_size = sizeof(struct rr_nfs_list), .get_result = v3_get_list },
};

void
rr_v3_init(struct rr_v3 *v3)
{
	memcpy(v3->procedures, NFS_V3_program.procedures, sizeof(v3->procedures));
	for (uint32_t i = 0; i < RR_V3_PROCEDURES; i++) {
		struct rpcrdma_procedure *procedure = &v3->procedures[i];
		const struct rpcrdma_procedure *own = &v3_own[i];

		/* The client never decodes arguments, and never encodes results. */
		if (own->put_args) {
			procedure->args_size = own->args_size;
			procedure->put_args = own->put_args;
			procedure->get_args = NULL;
		}
		if (own->get_result) {
			procedure->result_size = own->result_size;
			procedure->get_result = own->get_result;
			procedure->put_result = NULL;
		}
	}
	v3->program = NFS_V3_program;
	v3->program.procedures = v3->procedures;
}
