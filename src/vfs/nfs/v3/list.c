/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listings. Cookies are those of the other server. It may want with them the verifier that came with the
 * listing: the provider remembers those of the directories that were listed last (rr_remote_verifier()), and
 * clients need not know of them.
 */
#include <string.h>

#include "vfs/nfs/v3/v3_private.h"

#define INPUT(job) rr_container((job)->base.call, struct rr_vfs_readdir, call)

/* Octets of a reply, and of the names in it. The smallest entries take six times as much of the arena. */
enum { LIST_REPLY = 32 << 10, LIST_NAMES = LIST_REPLY / 4 };

static void list_more(struct rr_v3_job *job, enum rr_vfs_status status);

/* Begins the READDIR or READDIRPLUS of the next entries, behind the cookie. */
static enum rr_vfs_status
list_next(struct rr_v3_job *job, uint64_t cookie)
{
	const uint8_t *verifier = rr_remote_verifier(job->base.vfs, &job->base.objects[0], cookie);

	job->base.cookie = cookie;
	if (!job->plain) {
		READDIRPLUS3args *args = &job->args.readdirplus;

		*args = (READDIRPLUS3args){ rr_v3_fh(&job->base.objects[0]), cookie, { 0 }, LIST_NAMES,
			LIST_REPLY };
		memcpy(args->cookieverf, verifier, sizeof(args->cookieverf));
		return rr_v3_call(job, NFSPROC3_READDIRPLUS, list_more);
	}
	job->args.readdir = (READDIR3args){ rr_v3_fh(&job->base.objects[0]), cookie, { 0 }, LIST_REPLY };
	memcpy(job->args.readdir.cookieverf, verifier, sizeof(job->args.readdir.cookieverf));
	return rr_v3_call(job, NFSPROC3_READDIR, list_more);
}

/* Tells whether the entry makes sense. */
static bool
list_is_good(const entry3 *given)
{
	return given->name.length > 0 && given->name.length <= RR_VFS_NAME_MAX && given->cookie > 0 &&
	       given->cookie <= INT64_MAX && !memchr(given->name.data, '/', given->name.length) &&
	       !memchr(given->name.data, 0, given->name.length);
}

/* Stores the attributes and the handle of an entry. The directory above the root of an export is the root.
 * Returns false where the other server did not give them. */
static bool
list_object(struct rr_v3_job *job, const entryplus3 *given, struct rr_vfs_known *known,
	struct rr_vfs_handle *handle)
{
	nfs_fh3 fh = given->name_handle.u.handle;
	bool follows = given->name_handle.handle_follows;

	rr_v3_known(&given->name_attributes, known);
	if (given->name.length == 2 && memcmp(given->name.data, "..", 2) == 0 &&
		rr_remote_is_root(job->base.vfs, &job->base.objects[0])) {
		fh = rr_v3_fh(&job->base.objects[0]);
		follows = true;
		*known = INPUT(job)->directory_after;
	}
	return known->valid && follows &&
	       rr_remote_encode(&job->base.vfs->shared->handles, job->base.objects[0].export, fh.data,
		       handle) == RR_VFS_OK;
}

/* Hands an entry on; plus: the same with its object, or NULL. Returns false where the caller has no room for
 * it; sets *status where the entry makes no sense. */
static bool
list_take(struct rr_v3_job *job, const entry3 *given, const entryplus3 *plus, enum rr_vfs_status *status)
{
	struct rr_vfs_readdir *readdir = INPUT(job);
	struct rr_vfs_entry entry = { given->name, given->cookie, given->fileid, RR_VFS_OK, NULL, NULL };
	struct rr_vfs_handle handle;
	struct rr_vfs_known known;

	if (!list_is_good(given)) {
		*status = RR_VFS_IO;
		return false;
	}
	if (plus && list_object(job, plus, &known, &handle)) {
		entry.attributes = &known.attributes;
		entry.handle = &handle;
		entry.number = known.attributes.mounted_on;
	} else if (readdir->attributes) {
		entry.status = RR_VFS_XDEV;
	}
	if (!rr_vfs_readdir_wants(&job->base.room, given->name.length) || !readdir->take(readdir, &entry))
		return false;
	readdir->count++;
	return true;
}

/* Hands the entries of a part on, and stores the cookie of the last one in *cookie. Returns whether all of
 * them were taken. */
static bool
list_entries(struct rr_v3_job *job, uint64_t *cookie, enum rr_vfs_status *status)
{
	const entryplus3 *plus = job->plain ? NULL : job->result.readdirplus.u.resok.reply.entries;
	const entry3 *plain = job->plain ? job->result.readdir.u.resok.reply.entries : NULL;

	for (; plus; plus = plus->nextentry) {
		const entry3 entry = { plus->fileid, plus->name, plus->cookie, NULL };

		if (!list_take(job, &entry, plus, status))
			return false;
		*cookie = entry.cookie;
	}
	for (; plain; plain = plain->nextentry) {
		if (!list_take(job, plain, NULL, status))
			return false;
		*cookie = plain->cookie;
	}
	return true;
}

/* Each part is a call of the other server. A server that has no READDIRPLUS is asked by READDIR. */
static void
list_more(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_readdir *readdir = INPUT(job);
	const READDIRPLUS3resok *plus = &job->result.readdirplus.u.resok;
	const READDIR3resok *plain = &job->result.readdir.u.resok;
	bool eof, all;
	uint64_t cookie = 0;

	if (status == RR_VFS_NOTSUPP && !job->plain) {
		job->plain = true;
		list_next(job, job->base.cookie);
		return;
	}
	rr_v3_known(job->plain ? &plain->dir_attributes : &plus->dir_attributes, &readdir->directory_after);
	if (status != RR_VFS_OK) {
		rr_remote_end(&job->base, status);
		return;
	}
	eof = job->plain ? plain->reply.eof : plus->reply.eof;
	rr_remote_note_verifier(
		job->base.vfs, &job->base.objects[0], job->plain ? plain->cookieverf : plus->cookieverf);
	all = list_entries(job, &cookie, &status);
	if (all && !eof && cookie != 0) {
		list_next(job, cookie);
		return;
	}
	/* A part without entries is the end. */
	if (all && !eof)
		status = RR_VFS_IO;
	readdir->eof = all && eof;
	rr_remote_end(&job->base, status);
}

enum rr_vfs_status
rr_v3_readdir(struct rr_v3_job *job)
{
	struct rr_vfs_readdir *readdir = INPUT(job);

	job->base.arena = rr_alloc(job->base.vfs->env, RR_REMOTE_ARENA);
	job->plain = !readdir->attributes;
	job->base.room = readdir->room;
	return job->base.arena ? list_next(job, readdir->cookie) : RR_VFS_BUSY;
}
