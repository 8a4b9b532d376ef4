/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <stdio.h>
#include <string.h>

/* This file finds out what a server of version 4 exports, for error messages. RFC 8881, 7.3: "NFSv4 servers
 * avoid this namespace inconsistency by presenting all the exports within the framework of a single-server
 * namespace." So the root lists the exports, unless the root is one of them. */

/* The most entries of the root that are looked at. */
enum { EXPORTS_LOOKED = 64 };

/* The root's entries, as far as they were read. */
struct exports_listing {
	struct rpcrdma_nfs *nfs;
	uint32_t count;
	bool foreign; /* one of them is on another file system than the root */
	bool other;   /* one of them is no directory */
};

/* Called for each entry of the root. An export is a directory on another file system than the root; a
 * directory on the file system of the root may have exports below it. */
static int
exports_each(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	struct exports_listing *listing = ctx;
	char path[RR_NFS_NAME + 2];

	listing->other = entry->object && entry->object->type != RPCRDMA_NFS_DIRECTORY;
	if (listing->other || listing->count++ == EXPORTS_LOOKED)
		return 1;
	listing->foreign |= entry->object && !rr_nfs_is_at_root(listing->nfs, entry->object);
	snprintf(path, sizeof(path), "/%s", entry->name);
	return !rr_text_list(listing->nfs->exports, sizeof(listing->nfs->exports), path);
}

bool
rr_nfs_is_at_root(const struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *object)
{
	return object->filesystem.major == nfs->root_fsid.major &&
	       object->filesystem.minor == nfs->root_fsid.minor;
}

const char *
rr_nfs_exports(struct rpcrdma_nfs *nfs)
{
	struct exports_listing listing = { .nfs = nfs };
	const struct rr_text before = nfs->text;

	if (nfs->exports_known || !nfs->v4)
		return nfs->exports;
	nfs->exports_known = true;
	if (rr_nfs_readdir(nfs, &nfs->root, exports_each, &listing) < 0 || !listing.foreign || listing.other)
		nfs->exports[0] = '\0';
	nfs->text = before;
	return nfs->exports;
}

int
rr_nfs_refused(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *here, const char *path, int status)
{
	if (!nfs->v4 || (status != NFS3ERR_NOENT && status != NFS3ERR_ACCES) || !rr_nfs_is_at_root(nfs, here))
		return status;
	nfs->refused = status;
	snprintf(nfs->refused_path, sizeof(nfs->refused_path), "%s", path + strspn(path, "/"));
	return status;
}

const char *
rr_nfs_explain(struct rpcrdma_nfs *nfs)
{
	const int status = nfs->refused;

	if (status == 0 || rr_loop_calls_back(nfs->engine->loop) || rr_nfs_exports(nfs)[0] == '\0')
		return nfs->text.text;
	if (status == NFS3ERR_ACCES)
		rr_nfs_fail(nfs, status,
			"permission denied: %.40s does not let this host use /%.40s; it exports %s",
			nfs->server, nfs->refused_path, nfs->exports);
	else
		rr_nfs_fail(nfs, status, "%.40s has no export of the path /%.40s; it exports %s", nfs->server,
			nfs->refused_path, nfs->exports);
	return nfs->text.text;
}

int
rr_nfs_explain_change(struct rpcrdma_nfs *nfs, int status)
{
	const struct rr_text before = nfs->text;
	struct rpcrdma_nfs_object last;

	if (!nfs->v4 || status != NFS3ERR_ROFS || rr_loop_calls_back(nfs->engine->loop) ||
		rr_nfs_exports(nfs)[0] == '\0')
		return status;
	if (rr_nfs_reach(nfs, nfs->path, &last) < 0 || !rr_nfs_is_at_root(nfs, &last)) {
		nfs->text = before;
		return status;
	}
	return rr_nfs_fail(nfs, status, "nothing can be changed above the exports of %.60s; it exports %s",
		nfs->server, nfs->exports);
}
