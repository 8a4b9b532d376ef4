/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_ATTR_H
#define RR_SERVER_NFS4_ATTR_H

#include "ulb/nfs42.h"
#include "vfs/vfs.h"

/* Attributes of files: RFC 8881, section 5, RFC 7862, section 12, RFC 8275 and RFC 8276. Each attribute has
 * an entry in the table of attr_table.c, which says how its value is written and read, and who may set it. No
 * function here calls the system. */

/* RR_ATTR_MODE_UMASK is FATTR4_MODE_UMASK of RFC 8275, section 4. */
enum { RR_ATTR_MODE_UMASK = 81, RR_ATTR_COUNT = 83, RR_ATTR_WORDS = 3 };

/* A set of attributes: a bitmap4 with as many words as the known attributes need. */
struct rr_attr_mask {
	uint32_t words[RR_ATTR_WORDS];
};

/* Flags: the storage must be asked for a struct rr_vfs_statfs, or for a struct rr_vfs_limits, before the
 * attributes are written. */
enum { RR_ATTR_STATFS = 1, RR_ATTR_LIMITS = 2 };

/* The values that attributes are written from. */
struct rr_attr_source {
	const struct rr_vfs_attributes *attributes;
	const struct rr_vfs_statfs *statfs; /* NULL unless rr_attr_needs() asks for it */
	const struct rr_vfs_limits *limits; /* likewise */
	const struct rr_vfs_handle *handle;
	nfsstat4 error; /* for rdattr_error */
	uint32_t minor; /* version, which decides what is supported */
	uint32_t lease; /* seconds */
	uint32_t io_max;
};

/* An entry of the table of attributes, rr_attr_rows: it says how the server treats an attribute. */
struct rr_attr_row {
	/* Writes the value; NULL: the attribute is not supported, or can only be set. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rr_attr_source *source);
	/* Reads the value that the peer sets; NULL: the attribute can only be read. */
	nfsstat4 (*get)(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set);
	uint32_t sets;  /* RR_VFS_SET_* that the attribute sets */
	uint32_t needs; /* RR_ATTR_STATFS, RR_ATTR_LIMITS: the storage is asked for them before put() */
	uint32_t size;  /* the most octets that put() writes; 0: the attribute can only be set */
	uint32_t minor; /* the first minor version that has the attribute; 0: all have it */
	bool exclusive; /* an exclusive create may set the attribute */
};

extern const struct rr_attr_row rr_attr_rows[RR_ATTR_COUNT];

bool rr_attr_in(const struct rr_attr_mask *mask, uint32_t number);
void rr_attr_add(struct rr_attr_mask *mask, uint32_t number);

/* Returns the attributes that the peer's bitmap names. Words of the bitmap that no known attribute needs are
 * left out; a bit of the last word may stay that no known attribute has (see rr_attr_beyond()). */
struct rr_attr_mask rr_attr_mask(const bitmap4 *bitmap);
/* Tells whether the bitmap names a number that no known attribute has. */
bool rr_attr_beyond(const bitmap4 *bitmap);

/* Return the attributes that a minor version supports, and those of them that an exclusive create can set. */
struct rr_attr_mask rr_attr_supported(uint32_t minor);
struct rr_attr_mask rr_attr_exclusive(uint32_t minor);

/* Tells whether an attribute in the mask that the minor version supports can only be set: GETATTR and READDIR
 * refuse such a mask. */
bool rr_attr_has_write_only(const struct rr_attr_mask *mask, uint32_t minor);
/* Returns what the storage must be asked for before these attributes are written: RR_ATTR_STATFS,
 * RR_ATTR_LIMITS, both, or 0. */
uint32_t rr_attr_needs(const struct rr_attr_mask *mask, uint32_t minor);
/* Returns the most octets that a fattr4 with these attributes has. */
uint32_t rr_attr_size(const struct rr_attr_mask *mask, uint32_t minor);

/* Writes a bitmap4. */
void rr_attr_put_mask(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *mask);
/* Writes a fattr4 with those of the attributes asked for that are supported and have a value to read. */
void rr_attr_put(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *asked,
	const struct rr_attr_source *source);

/* Reads the attributes that a fattr4 sets, with their values, into `set`. Returns NFS4ERR_ATTRNOTSUPP if an
 * attribute is not supported, NFS4ERR_INVAL if an attribute can only be read or its value makes no sense, or
 * NFS4ERR_BADXDR, NFS4ERR_BADOWNER or NFS4ERR_FBIG. */
nfsstat4 rr_attr_get(const fattr4 *fattr, uint32_t minor, struct rr_vfs_set *set);
/* Returns those attributes of the bitmap that were set. applied: the RR_VFS_SET_* bits of what the storage
 * has set. */
struct rr_attr_mask rr_attr_applied(const bitmap4 *bitmap, uint32_t applied);

/* Compares the attributes in fattr with those of the object, for VERIFY and NVERIFY, after
 * rr_attr_comparable() has accepted them. Returns NFS4ERR_SAME, NFS4ERR_NOT_SAME, or another error. memory:
 * `size` octets (rr_attr_size() is enough) that the function may use for the encoded values. */
nfsstat4 rr_attr_compare(
	const fattr4 *fattr, const struct rr_attr_source *source, void *memory, uint32_t size);
/* Returns NFS4_OK if VERIFY and NVERIFY can compare these attributes, else NFS4ERR_ATTRNOTSUPP or
 * NFS4ERR_INVAL. */
nfsstat4 rr_attr_comparable(const fattr4 *fattr, uint32_t minor);

#endif
