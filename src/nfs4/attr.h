/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_ATTR_H
#define RR_NFS4_ATTR_H

#include "ulb/nfs42.h"
#include "vfs/vfs.h"

/*
 * Attributes of files: RFC 8881, section 5, RFC 7862, section 12, RFC 8275 and RFC 8276. One row each in
 * attr_table.c: how it is written, and what may be done with it. Pure.
 */

/* FATTR4_MODE_UMASK of RFC 8275, section 4. */
enum { RR_ATTR_MODE_UMASK = 81, RR_ATTR_COUNT = 83, RR_ATTR_WORDS = 3 };

/* A bitmap4 with as many words as there are attributes for. */
struct rr_attr_mask {
	uint32_t words[RR_ATTR_WORDS];
};

/* What comes from where. */
enum { RR_ATTR_STATFS = 1, RR_ATTR_LIMITS = 2 };

struct rr_attr_source {
	const struct rr_vfs_attributes *attributes;
	const struct rr_vfs_statfs *statfs; /* NULL unless rr_attr_needs() says so, as the next one */
	const struct rr_vfs_limits *limits;
	const struct rr_vfs_handle *handle;
	nfsstat4 error; /* for rdattr_error */
	uint32_t minor; /* version, which decides what is supported */
	uint32_t lease; /* seconds */
	uint32_t io_max;
};

struct rr_attr_row {
	/* Writes the value; NULL: it is not supported, or it can only be set. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rr_attr_source *source);
	/* Reads the value; NULL: it can only be got. */
	nfsstat4 (*get)(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set);
	uint32_t sets; /* RR_VFS_SET_*: what it sets, for the bitmaps of results */
	uint32_t needs;
	uint32_t size;  /* the most octets that the value has */
	uint32_t minor; /* the first version that has it; 0: all */
	bool exclusive; /* may be set by an exclusive create */
};

extern const struct rr_attr_row rr_attr_rows[RR_ATTR_COUNT];

bool rr_attr_in(const struct rr_attr_mask *mask, uint32_t number);
void rr_attr_add(struct rr_attr_mask *mask, uint32_t number);

/* Words beyond those that there are attributes for are left out. */
struct rr_attr_mask rr_attr_mask(const bitmap4 *bitmap);
/* Whether the bitmap has anything beyond them. */
bool rr_attr_beyond(const bitmap4 *bitmap);

/* The attributes that a minor version supports, and those that an exclusive create can set. */
struct rr_attr_mask rr_attr_supported(uint32_t minor);
struct rr_attr_mask rr_attr_exclusive(uint32_t minor);

/* Whether an attribute is asked for that can only be set: GETATTR and READDIR refuse that. */
bool rr_attr_has_write_only(const struct rr_attr_mask *mask);
/* RR_ATTR_STATFS, RR_ATTR_LIMITS: where the attributes come from. */
uint32_t rr_attr_needs(const struct rr_attr_mask *mask, uint32_t minor);
/* The most octets of a fattr4 with these attributes. */
uint32_t rr_attr_size(const struct rr_attr_mask *mask, uint32_t minor);

/* Writes a bitmap4. */
void rr_attr_put_mask(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *mask);
/* Writes a fattr4 of those asked for that are supported. */
void rr_attr_put(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *asked,
	const struct rr_attr_source *source);

/*
 * What a fattr4 sets. NFS4ERR_ATTRNOTSUPP, NFS4ERR_INVAL (it can only be got, or the value makes no sense),
 * NFS4ERR_BADXDR, NFS4ERR_BADOWNER.
 */
nfsstat4 rr_attr_get(const fattr4 *fattr, uint32_t minor, struct rr_vfs_set *set);
/* The attributes of mask that have been set, where those of RR_VFS_SET_* in applied are. */
struct rr_attr_mask rr_attr_applied(const bitmap4 *bitmap, uint32_t applied);

/* VERIFY and NVERIFY: NFS4ERR_SAME, NFS4ERR_NOT_SAME, or an error. */
nfsstat4 rr_attr_compare(
	const fattr4 *fattr, const struct rr_attr_source *source, void *memory, uint32_t size);
/* Whether it can be compared at all: NFS4ERR_ATTRNOTSUPP, NFS4ERR_INVAL. */
nfsstat4 rr_attr_comparable(const fattr4 *fattr, uint32_t minor);

#endif
