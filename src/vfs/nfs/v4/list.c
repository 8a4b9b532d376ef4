/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listings. Cookies are those of the other server, which never are 1 or 2. RFC 8881, 18.23.3: "the values 1
 * and 2 should not be used": in version 2 and 3, they were those of "." and "..", which version 4 does not
 * list. So this file adds these two entries at the beginning, with these cookies.
 */
#include "vfs/nfs/v4/provider_private.h"

enum { LIST_SELF = 1, LIST_ABOVE = 2 }; /* the cookies of "." and ".." */

/* Octets of a reply, and of the names in it. The smallest entries take six times as much of the arena. */
enum { LIST_REPLY = 32 << 10, LIST_NAMES = LIST_REPLY / 4 };

/* Tells whether the entry ".." of this listing is that of another directory. */
static bool
list_wants_above(const struct rr_v4_job *job)
{
	return job->base.cookie < LIST_ABOVE && !rr_remote_is_root(job->base.vfs, &job->base.objects[0]);
}

static uint32_t list_number_words[] = { (1 << FATTR4_FILEID) | (1 << FATTR4_RDATTR_ERROR),
	UINT32_C(1) << (FATTR4_MOUNTED_ON_FILEID - 32) };

/* Returns the attributes of entries that this listing wants. */
static const bitmap4 *
list_asked(const struct rr_v4_job *job)
{
	static const bitmap4 numbers = { 2, list_number_words };

	return RR_V4_INPUT(job, readdir)->attributes ? &rr_v4_ask_entry : &numbers;
}

static void
list_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	uint64_t cookie = job->base.cookie <= LIST_ABOVE ? 0 : job->base.cookie;
	READDIR4args *args;

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
	args = &rr_v4_op(slot, OP_READDIR, LIST_REPLY)->u.opreaddir;
	*args = (READDIR4args){ .cookie = cookie,
		.dircount = LIST_NAMES,
		.maxcount = LIST_REPLY,
		.attr_request = *list_asked(job) };
	memcpy(args->cookieverf, rr_remote_verifier(job->base.vfs, &job->base.objects[0], cookie),
		sizeof(args->cookieverf));
	if (list_wants_above(job)) {
		rr_v4_op(slot, OP_LOOKUPP, 0);
		rr_v4_op(slot, OP_GETFH, 4 + NFS4_FHSIZE);
		job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
	}
	slot->call.arena = job->base.rpc.arena;
	/* A READDIR often has as many entries as are allowed, so that a Reply chunk is worth its cost. */
	slot->call.often_large = true;
}

/* Tells whether the entry makes sense. */
static bool
list_is_good(const entry4 *given)
{
	return given->name.length > 0 && given->name.length <= RR_VFS_NAME_MAX &&
	       given->cookie > LIST_ABOVE && given->cookie <= INT64_MAX &&
	       !memchr(given->name.data, '/', given->name.length) &&
	       !memchr(given->name.data, 0, given->name.length);
}

/* Hands an entry on. Returns false where the caller has no room for it. */
static bool
list_give(struct rr_v4_job *job, const struct rr_vfs_entry *entry)
{
	struct rr_vfs_readdir *readdir = RR_V4_INPUT(job, readdir);

	if (!rr_vfs_readdir_wants(&job->base.room, entry->name.length) || !readdir->take(readdir, entry))
		return false;
	readdir->count++;
	return true;
}

/* Hands "." or ".." on, whose attributes are known, if they are. */
static bool
list_give_dots(struct rr_v4_job *job, uint64_t cookie, const struct rr_vfs_known *known,
	const struct rr_vfs_handle *handle)
{
	bool wanted = RR_V4_INPUT(job, readdir)->attributes && known->valid && handle->length > 0;

	return list_give(job, &(struct rr_vfs_entry){ .name = { "..", (uint32_t)cookie },
				      .cookie = cookie,
				      .number = known->valid ? known->attributes.mounted_on : 1,
				      .status = RR_VFS_OK,
				      .attributes = wanted ? &known->attributes : NULL,
				      .handle = wanted ? handle : NULL });
}

/* Hands on those of "." and ".." that lie behind the cookie. */
static bool
list_dots(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_known *self = &RR_V4_INPUT(job, readdir)->directory_after;
	struct rr_remote_handles *handles = &job->base.vfs->shared->handles;
	uint32_t export = job->base.objects[0].export;
	struct rr_vfs_handle handle = { 0 };

	rr_remote_encode(handles, export, rr_remote_fh(&job->base.objects[0]), &handle);
	if (job->base.cookie < LIST_SELF && !list_give_dots(job, LIST_SELF, self, &handle))
		return false;
	if (job->base.cookie >= LIST_ABOVE)
		return true;
	if (!list_wants_above(job))
		return list_give_dots(job, LIST_ABOVE, self, &handle);
	handle.length = 0;
	rr_v4_take_known(slot, job->at.object, &job->above);
	if (job->above.valid)
		rr_remote_encode(
			handles, export, rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object, &handle);
	return list_give_dots(job, LIST_ABOVE, &job->above, &handle);
}

/* Hands an entry of the other server on. Returns false where the caller has no room for it, or where it makes
 * no sense. */
static bool
list_entry(struct rr_v4_job *job, const entry4 *given)
{
	const struct rr_vfs_readdir *readdir = RR_V4_INPUT(job, readdir);
	struct rr_vfs_entry entry = { .name = given->name, .cookie = given->cookie };
	struct rr_attr_values values;
	struct rr_vfs_attributes attributes;
	struct rr_vfs_handle handle;

	if (!list_is_good(given) || !rr_attr_take(&given->attrs, list_asked(job), &values)) {
		job->verdict = RR_VFS_IO;
		return false;
	}
	entry.number = rr_attr_in(&values.have, FATTR4_MOUNTED_ON_FILEID) ? values.attributes.mounted_on
									  : values.attributes.id.number;
	if (readdir->attributes) {
		if (rr_v4_complete(&values, &attributes) &&
			rr_remote_encode(&job->base.vfs->shared->handles, job->base.objects[0].export,
				values.handle, &handle) == RR_VFS_OK) {
			entry.attributes = &attributes;
			entry.handle = &handle;
		} else {
			entry.status = values.error ? rr_v4_status((nfsstat4)values.error) : RR_VFS_XDEV;
		}
	}
	return list_give(job, &entry);
}

/* Hands the entries of a part on. job->base.created: the listing ends here. */
static int
list_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_readdir *readdir = RR_V4_INPUT(job, readdir);
	const READDIR4resok *ok = &rr_v4_res(slot, OP_READDIR)->u.opreaddir.u.resok4;
	bool all;

	rr_v4_take_known(slot, job->at.before[0], &readdir->directory_after);
	rr_remote_note_verifier(job->base.vfs, &job->base.objects[0], ok->cookieverf);
	all = list_dots(slot);
	for (const entry4 *entry = ok->reply.entries; all && entry; entry = entry->nextentry) {
		all = list_entry(job, entry);
		job->base.cookie = entry->cookie;
	}
	readdir->eof = all && ok->reply.eof;
	job->base.created = !all || ok->reply.eof;
	/* A part without entries is the end. */
	if (all && !ok->reply.eof && !ok->reply.entries)
		job->verdict = RR_VFS_IO;
	return 0;
}

/* Where the directory above cannot be seen, the entries of this one can. */
static void
list_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	/* READDIR is the operation behind the GETATTR: one behind it has failed. */
	if (slot->result.resarray.count > job->at.before[0] + 2u) {
		list_take(slot);
		job->listed = true;
	} else {
		rr_v4_take_known(slot, job->at.before[0], &RR_V4_INPUT(job, readdir)->directory_after);
	}
}

static const struct rr_v4_work list_work = {
	.build = list_build, .take = list_take, .fail = list_fail, .result = sizeof(nfsstat4)
};

/* Each part is a COMPOUND. */
static void
list_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	if (job->listed)
		status = job->verdict;
	job->listed = false;
	if (status == RR_VFS_OK && !job->base.created)
		rr_v4_ask(job, &list_work, list_then);
	else
		rr_v4_end(job, status == RR_VFS_SYMLINK ? RR_VFS_NOTDIR : status);
}

enum rr_vfs_status
rr_v4_do_readdir(struct rr_v4_job *job)
{
	const struct rr_vfs_readdir *readdir = RR_V4_INPUT(job, readdir);

	job->base.arena = rr_alloc(job->base.vfs->env, RR_REMOTE_ARENA);
	job->base.room = readdir->room;
	job->base.cookie = readdir->cookie;
	return job->base.arena ? rr_v4_ask(job, &list_work, list_then) : RR_VFS_BUSY;
}
