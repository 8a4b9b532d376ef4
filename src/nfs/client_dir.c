/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "nfs/client_private.h"

#include <inttypes.h>
#include <string.h>

/* This file reads directories. A reading owns its memory, so that the function that gets the entries may call
 * the client again. */

/* Octets that the first reply may have, which is enough for most directories: further ones are as large as
 * both ends allow. And octets of memory of the decoded entries for each one of a reply, and of a reply
 * besides its entries. */
enum { DIR_FIRST = 32 << 10, DIR_DECODED = 8, KEEP_SLACK = 1024 };

/* The state of a listing. */
struct dir_reading {
	struct rpcrdma_nfs *nfs;
	const struct rpcrdma_nfs_handle *directory;
	int (*each)(void *ctx, const struct rpcrdma_nfs_entry *entry);
	void *ctx;
	uint64_t cookie;
	/* The number of entries so far; and the cookie of one of them, kept for a while. */
	uint64_t entries, remarked;
	uint8_t verifier[NFS3_COOKIEVERFSIZE];
	bool eof;
	uint8_t *keep, *arena;
	uint32_t max; /* octets of a reply */
};

/* Checks the cookie of an entry, and counts the entries. RFC 1813, 3.3.16: a cookie is the place where the
 * next READDIR goes on, so a cookie that comes a second time leads through the same entries for ever. The
 * cookies of the entries 1, 2, 4, 8 and so on are noted in reading->remarked, one after the other, and each
 * entry is compared with the latest of them, so that a circle of any length is detected. */
static int
dir_note_cookie(struct dir_reading *reading, uint64_t cookie)
{
	reading->entries++;
	if (reading->entries > reading->nfs->entries_max)
		return rr_nfs_fail(reading->nfs, -RPCRDMA_ERR_LIMIT,
			"the directory has more than %" PRIu64 " entries, or no end",
			reading->nfs->entries_max);
	if (cookie == reading->cookie || (reading->entries > 1 && cookie == reading->remarked))
		return rr_nfs_fail(reading->nfs, -RPCRDMA_ERR_PEER,
			"the server lists the directory in a circle: a cookie came twice");
	if ((reading->entries & (reading->entries - 1)) == 0)
		reading->remarked = cookie;
	reading->cookie = cookie;
	return 0;
}

/* Passes one entry to the caller's function each(), unless it is "." or "..", and returns the result of
 * each(). Fails if the name is too long or empty, or has a '/' or a zero in it: in the local file system,
 * such a name could lead anywhere. */
static int
dir_hand_on(struct dir_reading *reading, struct rpcrdma_bytes name, uint64_t number,
	const struct rpcrdma_nfs_object *object)
{
	struct rpcrdma_nfs_entry entry = { .size = sizeof(entry), .number = number, .object = object };
	char text[RR_NFS_NAME + 1];
	int error;

	if (name.length > RR_NFS_NAME)
		return rr_nfs_fail(reading->nfs, -RPCRDMA_ERR_PEER,
			"the directory has a name of %u octets, more than this side takes", name.length);
	if (name.length == 0 || memchr(name.data, '/', name.length) || memchr(name.data, 0, name.length))
		return rr_nfs_fail(reading->nfs, -RPCRDMA_ERR_PEER,
			"the server lists a name that no file can have; nothing of this directory is "
			"believed");
	memcpy(text, name.data, name.length);
	text[name.length] = '\0';
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return 0;
	entry.name = text;
	error = reading->each(reading->ctx, &entry);
	return error < 0 ? rr_nfs_fail(reading->nfs, error, "the entries of the directory: %s",
				   rpcrdma_strerror(error))
			 : error;
}

/* Passes one entry of READDIRPLUS to the caller's function each(), with the attributes and the handle of the
 * object if the server sent both. */
static int
dir_hand_on_plus(struct dir_reading *reading, const struct rr_nfs_listed *entry)
{
	struct rpcrdma_nfs_object object;
	bool known = entry->known && rr_nfs_handle_set(&object.handle, entry->handle);

	if (known)
		rr_nfs_object_describe(&object, &entry->attributes);
	return dir_hand_on(reading, entry->name, entry->number, known ? &object : NULL);
}

/* Checks that a reply had at least one entry (any is true) or the end of the directory. Fails otherwise, so
 * that the server is not asked again for ever. */
static int
dir_check_progress(struct dir_reading *reading, bool any)
{
	if (!any && !reading->eof)
		return rr_nfs_fail(reading->nfs, -RPCRDMA_ERR_PEER,
			"the server does not come to the end of the directory");
	return 0;
}

/* Returns a prepared call of the procedure proc. The results will be stored in the memory that reading has
 * for them (keep and arena). */
static struct rr_call
dir_prepare(struct dir_reading *reading, uint32_t proc, const void *args, void *result)
{
	return (struct rr_call){
		.proc = proc,
		.args = args,
		.result = result,
		.keep = reading->keep,
		.keep_size = reading->max + KEEP_SLACK,
		.arena = rpcrdma_arena(reading->arena, (size_t)reading->max * DIR_DECODED),
	};
}

/* Reads the next part of the directory by one READDIRPLUS, and passes its entries to the caller's function.
 * dircount limits the octets of names and cookies alone: those of maxcount do so, too. */
static int
dir_read_plus(struct dir_reading *reading)
{
	READDIRPLUS3args args = {
		.dir = rr_nfs_fh(reading->directory),
		.cookie = reading->cookie,
		.dircount = reading->max,
		.maxcount = reading->max,
	};
	struct rr_nfs_list result;
	struct rr_call call = dir_prepare(reading, NFSPROC3_READDIRPLUS, &args, &result);
	int error;

	memcpy(args.cookieverf, reading->verifier, sizeof(args.cookieverf));
	error = rr_nfs_call_with(reading->nfs, &call);
	if (error)
		return error;
	memcpy(reading->verifier, result.verifier, sizeof(reading->verifier));
	reading->eof = result.eof;
	error = dir_check_progress(reading, result.entries != NULL);
	for (const struct rr_nfs_listed *entry = result.entries; entry && !error; entry = entry->next) {
		error = dir_note_cookie(reading, entry->cookie);
		if (!error)
			error = dir_hand_on_plus(reading, entry);
	}
	return error;
}

/* Reads the next part of the directory by one READDIR, and passes its entries to the caller's function. */
static int
dir_read_plain(struct dir_reading *reading)
{
	READDIR3args args = {
		.dir = rr_nfs_fh(reading->directory),
		.cookie = reading->cookie,
		.count = reading->max,
	};
	READDIR3res result;
	struct rr_call call = dir_prepare(reading, NFSPROC3_READDIR, &args, &result);
	int error;

	memcpy(args.cookieverf, reading->verifier, sizeof(args.cookieverf));
	error = rr_nfs_call_with(reading->nfs, &call);
	if (error)
		return error;
	memcpy(reading->verifier, result.u.resok.cookieverf, sizeof(reading->verifier));
	reading->eof = result.u.resok.reply.eof;
	error = dir_check_progress(reading, result.u.resok.reply.entries != NULL);
	for (const entry3 *entry = result.u.resok.reply.entries; entry && !error; entry = entry->nextentry) {
		error = dir_note_cookie(reading, entry->cookie);
		if (!error)
			error = dir_hand_on(reading, entry->name, entry->fileid, NULL);
	}
	return error;
}

/* Takes memory for replies of max octets. Returns false, and keeps what there was, where there is no memory.
 */
static bool
dir_equip(struct dir_reading *reading, uint32_t max)
{
	const struct rr_env *env = reading->nfs->env;
	/* No zeros are written into it: most of what is large is not used. */
	uint8_t *keep = env->realloc(env->ctx, NULL, (size_t)max + KEEP_SLACK);
	uint8_t *arena = env->realloc(env->ctx, NULL, (size_t)max * DIR_DECODED);

	if (!keep || !arena) {
		rr_free(env, keep);
		rr_free(env, arena);
		return false;
	}
	rr_free(env, reading->keep);
	rr_free(env, reading->arena);
	reading->keep = keep;
	reading->arena = arena;
	reading->max = max;
	return true;
}

/* The directory is longer than one reply: has further ones be as large as both ends allow, if there is memory
 * for that. */
static void
dir_grow(struct dir_reading *reading)
{
	if (reading->max < reading->nfs->readdir_max)
		dir_equip(reading, reading->nfs->readdir_max);
}

/* Reads the rest of the directory by READDIRPLUS. If the server does not support READDIRPLUS, this client
 * does not call READDIRPLUS again, and reads the directory by READDIR. */
static int
dir_read_all(struct dir_reading *reading)
{
	struct rpcrdma_nfs *nfs = reading->nfs;
	int error = 0;

	while (!error && !reading->eof) {
		if (reading->entries > 0)
			dir_grow(reading);
		if (!nfs->no_readdirplus) {
			error = dir_read_plus(reading);
			nfs->no_readdirplus = error == NFS3ERR_NOTSUPP || error == -RPCRDMA_ERR_PROC_UNAVAIL;
			if (!nfs->no_readdirplus)
				continue;
		}
		error = dir_read_plain(reading);
	}
	return error;
}

int
rr_nfs_readdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	int (*each)(void *ctx, const struct rpcrdma_nfs_entry *entry), void *ctx)
{
	struct dir_reading reading = { .nfs = nfs, .directory = directory, .each = each, .ctx = ctx };
	int error = -RPCRDMA_ERR_NOMEM;

	if (dir_equip(&reading, (uint32_t)rr_min(nfs->readdir_max, DIR_FIRST)))
		error = dir_read_all(&reading);
	else
		rr_nfs_fail(nfs, error, "%s", rpcrdma_strerror(error));
	rr_free(nfs->env, reading.keep);
	rr_free(nfs->env, reading.arena);
	return error;
}
