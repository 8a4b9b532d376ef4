/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/trail.h"

#include <stddef.h>
#include <sys/resource.h>

/* Octets of the stack for all levels of a trail. The system keeps 128 MiB of addresses free for a stack. */
enum { TRAIL_STACK = 64 << 20 };

void
rr_trail_prepare(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= TRAIL_STACK)
		return;
	limit.rlim_cur = limit.rlim_max < TRAIL_STACK ? limit.rlim_max : TRAIL_STACK;
	(void)setrlimit(RLIMIT_STACK, &limit);
}

bool
rr_trail_is_on(struct rpcrdma_nfs_filesystem a, struct rpcrdma_nfs_filesystem b)
{
	return a.major == b.major && a.minor == b.minor;
}

/* Tells whether the directory with this file system (fsid) and number (fileid) is one of those from the top
 * of the tree down to the current directory. RFC 1813, 2.6: "Fileid is a number which uniquely identifies the
 * file within its file system". */
static bool
trail_has(const struct rr_trail *trail, struct rpcrdma_nfs_filesystem fsid, uint64_t fileid)
{
	for (unsigned i = 0; i < trail->depth; i++) {
		if (trail->levels[i].fileid == fileid && rr_trail_is_on(trail->levels[i].fsid, fsid))
			return true;
	}
	return false;
}

const char *
rr_trail_enter(struct rr_trail *trail, struct rpcrdma_nfs_filesystem fsid, uint64_t fileid)
{
	if (trail_has(trail, fsid, fileid))
		return "a directory loop: it has the number of a directory that it lies in";
	if (trail->depth == RR_TRAIL_LEVELS)
		return "the directories are nested too deep";
	trail->levels[trail->depth].fsid = fsid;
	trail->levels[trail->depth].fileid = fileid;
	trail->depth++;
	return NULL;
}

void
rr_trail_leave(struct rr_trail *trail)
{
	trail->depth--;
}

const char *
rr_trail_count(struct rr_trail *trail, uint64_t entries)
{
	trail->endless |= entries > RR_TRAIL_ENTRIES_MAX - trail->entries;
	if (trail->endless)
		return "the tree has more than 100 million entries: it may have no end";
	trail->entries += entries;
	return NULL;
}
