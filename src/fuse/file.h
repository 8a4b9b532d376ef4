/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_FILE_H
#define RR_FUSE_FILE_H

#include "base/list.h"
#include "base/map.h"
#include "vfs/vfs.h"

/*
 * The open files and directories of the kernel, each known to it by a number (fh). A file has an open of the
 * storage (vfs.h); a directory keeps entries that the server has sent and the kernel has not taken yet. A
 * file goes when the kernel has released it, nothing that it has written is behind, and no request uses it.
 */
struct rr_fuse;
struct rr_fuse_node;

/* An entry that the kernel has not taken yet. */
struct rr_fuse_listed {
	uint64_t cookie, number;
	bool known; /* the handle and the attributes are known */
	struct rr_vfs_handle handle;
	struct rr_vfs_attributes attributes;
	uint32_t length;
	char name[RR_VFS_NAME_MAX];
};

enum { RR_FUSE_LISTED = 128 };

struct rr_fuse_listing {
	uint64_t from; /* the cookie in front of the first entry */
	uint32_t count;
	bool eof;
	bool fills; /* a request is filling it */
	struct rr_fuse_listed entries[RR_FUSE_LISTED];
};

struct rr_fuse_file {
	struct rr_map_link link;
	struct rr_list of_node;
	struct rr_fuse *fuse;
	struct rr_fuse_node *node; /* held */
	uint64_t number;
	uint32_t holders;
	uint32_t access; /* RR_VFS_SHARE_*; 0: a directory */
	bool closed;     /* the kernel has released it */
	struct rr_vfs_open *open;
	struct rr_fuse_listing *listing;
};

struct rr_fuse_files {
	struct rr_map map;
	uint64_t last, count;
};

/* Makes a file of the node, held once: by the kernel. NULL: there is no memory. */
struct rr_fuse_file *rr_fuse_file_new(struct rr_fuse *fuse, struct rr_fuse_node *node, uint32_t access);
/* Finds the file of the number, if it is of the node; NULL: there is none. */
struct rr_fuse_file *rr_fuse_file_find(
	const struct rr_fuse *fuse, uint64_t number, const struct rr_fuse_node *node);
/* Finds a file of the node that was opened with this access; NULL: there is none. */
struct rr_fuse_file *rr_fuse_file_with(const struct rr_fuse_node *node, uint32_t access);
/* Tells whether the kernel has a file of the node. */
bool rr_fuse_file_is_open(const struct rr_fuse_node *node);
/* The kernel has released the file. */
void rr_fuse_file_close(struct rr_fuse_file *file);
struct rr_fuse_file *rr_fuse_file_hold(struct rr_fuse_file *file);
/* With the last holder, the open of the storage is closed. file may be NULL. */
void rr_fuse_file_release(struct rr_fuse_file *file);

#endif
