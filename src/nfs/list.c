/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"

enum { BUFFER_SIZE = 8192 }; /* of directory entries in one system call */

bool
rr_nfs_list_take(uint32_t *left, uint64_t size)
{
	if (size > *left)
		return false;
	*left -= (uint32_t)size;
	return true;
}

bool
rr_nfs_list_name(struct rr_nfs_listing *listing, const char *text, filename3 *name)
{
	size_t length = strlen(text);
	char *copy = rr_nfs_alloc(listing->request, length);

	if (!copy)
		return false;
	memcpy(copy, text, length);
	*name = (struct rpcrdma_bytes){ copy, (uint32_t)length };
	return true;
}

/* One buffer full of entries; false where no more is to be read. */
static bool
add_entries(struct rr_nfs_listing *listing, const char *buffer, size_t size)
{
	for (size_t at = 0; at < size;) {
		const struct dirent64 *entry = (const void *)(buffer + at);

		if (!listing->add(listing, entry))
			return false;
		listing->any = true;
		at += entry->d_reclen;
	}
	return true;
}

static nfsstat3
read_entries(struct rr_nfs_listing *listing, int fd, uint64_t cookie)
{
	_Alignas(struct dirent64) char buffer[BUFFER_SIZE];
	ssize_t size;

	if (lseek(fd, (off_t)cookie, SEEK_SET) < 0)
		return NFS3ERR_BAD_COOKIE;
	do {
		size = getdents64(fd, buffer, sizeof buffer);
		if (size < 0)
			return errno == ENOENT ? NFS3ERR_STALE : rr_nfs_status(errno);
		listing->eof = size == 0;
	} while (size > 0 && add_entries(listing, buffer, (size_t)size));
	return listing->any || listing->eof ? NFS3_OK : NFS3ERR_TOOSMALL;
}

static nfsstat3
list(struct rr_nfs_listing *listing, uint64_t cookie, const cookieverf3 verifier, uint32_t max)
{
	static const cookieverf3 zero;
	struct rr_request *request = listing->request;
	nfsstat3 status;
	int fd;

	if (!S_ISDIR(listing->directory.st.stx_mode))
		return NFS3ERR_NOTDIR;
	if (cookie != 0 && memcmp(verifier, zero, sizeof zero) != 0)
		return NFS3ERR_BAD_COOKIE;
	listing->room = (uint32_t)rr_min(max,
		request->stream_room - rr_min(request->stream_room, request->header + RR_NFS_STATUS_SIZE));
	if (!rr_nfs_list_take(&listing->room, RR_NFS_LIST_SIZE))
		return NFS3ERR_TOOSMALL;
	status = rr_tree_open(listing->server->tree, &listing->directory, O_RDONLY, &fd);
	if (status != NFS3_OK)
		return status;
	/* A descriptor of our own: the tree may close its one when it is asked for the entries. */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return rr_nfs_status(errno);
	status = read_entries(listing, fd, cookie);
	close(fd);
	return status;
}

nfsstat3
rr_nfs_list(struct rr_nfs_listing *listing, nfs_fh3 directory, uint64_t cookie, const cookieverf3 verifier,
	uint32_t max, post_op_attr *attributes)
{
	struct rr_tree *tree = listing->server->tree;
	nfsstat3 status = rr_tree_resolve(tree, directory.data, &listing->directory);

	if (status != NFS3_OK)
		return status;
	status = list(listing, cookie, verifier, max);
	rr_nfs_post_op(&listing->directory, attributes);
	rr_object_put(tree, &listing->directory);
	return status;
}
