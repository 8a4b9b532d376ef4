/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <inttypes.h>
#include <string.h>

/* This file reads directories. A reading owns its memory, so that the function that gets the entries may call
 * the client again. */

/* Octets of memory for the decoded entries of one reply, and of a reply besides its entries. */
enum { ENTRIES_ARENA = 512 << 10, KEEP_SLACK = 1024 };

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
	uint32_t keep_size;
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
		.keep_size = reading->keep_size,
		.arena = rpcrdma_arena(reading->arena, ENTRIES_ARENA),
	};
}

/* Reads the next part of the directory by one READDIRPLUS, and passes its entries to the caller's function.
 * dircount limits the octets of names and cookies alone, which are about a quarter of an entry. */
static int
dir_read_plus(struct dir_reading *reading)
{
	READDIRPLUS3args args = {
		.dir = rr_nfs_fh(reading->directory),
		.cookie = reading->cookie,
		.dircount = reading->nfs->readdir_max / 4,
		.maxcount = reading->nfs->readdir_max,
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
		.count = reading->nfs->readdir_max,
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

/* Reads the rest of the directory by READDIRPLUS. If the server does not support READDIRPLUS, this client
 * does not call READDIRPLUS again, and reads the directory by READDIR. */
static int
dir_read_all(struct dir_reading *reading)
{
	struct rpcrdma_nfs *nfs = reading->nfs;
	int error = 0;

	while (!error && !reading->eof) {
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

	reading.keep_size = nfs->readdir_max + KEEP_SLACK;
	reading.keep = rr_alloc(nfs->env, reading.keep_size);
	reading.arena = rr_alloc(nfs->env, ENTRIES_ARENA);
	if (reading.keep && reading.arena)
		error = dir_read_all(&reading);
	else
		rr_nfs_fail(nfs, error, "%s", rpcrdma_strerror(error));
	rr_free(nfs->env, reading.keep);
	rr_free(nfs->env, reading.arena);
	return error;
}
