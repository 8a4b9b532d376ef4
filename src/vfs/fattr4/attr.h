/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_FATTR4_ATTR_H
#define RR_VFS_FATTR4_ATTR_H

#include "ulb/nfs42.h"
#include "vfs/acl/nfs4.h"
#include "vfs/idmap/names.h"
#include "vfs/vfs.h"

/*
 * Attributes of NFS version 4 in the words of vfs.h: RFC 8881, section 5, RFC 7862, section 12, RFC 8275 and
 * RFC 8276. Servers and the client share this codec. A server writes values (put) and reads those that a
 * client sets (get); a client reads values (take) and writes those that it sets (give). Tables say how: for
 * servers, rr_attr_rows for values and rr_attr_sets for what can be set; for clients, those of attr_client.c,
 * apart from them, as a client needs none of what a server does. No function here calls the system.
 */

/* RR_ATTR_MODE_UMASK is FATTR4_MODE_UMASK of RFC 8275, section 4. */
enum { RR_ATTR_MODE_UMASK = 81, RR_ATTR_COUNT = 83, RR_ATTR_WORDS = 3 };

/* A set of attributes: a bitmap4 with as many words as the known attributes need. */
struct rr_attr_mask {
	uint32_t words[RR_ATTR_WORDS];
};

/* Flags: the storage must be asked for a struct rr_vfs_statfs, for a struct rr_vfs_limits, or for a struct
 * rr_vfs_getacl, before the attributes are written. */
enum { RR_ATTR_STATFS = 1, RR_ATTR_LIMITS = 2, RR_ATTR_ACL = 4 };

/* The values that attributes are written from. */
struct rr_attr_source {
	const struct rr_vfs_attributes *attributes;
	const struct rr_vfs_statfs *statfs;  /* NULL unless rr_attr_needs() asks for it */
	const struct rr_vfs_limits *limits;  /* likewise */
	const struct rr_vfs_getacl *acl;     /* NULL: the storage was not asked, or keeps no lists */
	const struct rr_idmap_asking *names; /* of users and groups in lists; NULL: numbers */
	const struct rr_vfs_handle *handle;
	const char *owner, *group; /* names, instead of the numbers in attributes; NULL or "": the numbers */
	nfsstat4 error;            /* for rdattr_error */
	uint32_t minor;            /* version, which decides what is supported */
	uint32_t lease;            /* seconds */
	uint32_t io_max;
};

/* The values that a server sent. What it did not send is 0. */
struct rr_attr_values {
	struct rr_attr_mask have; /* the attributes that the server sent */
	struct rr_vfs_attributes attributes;
	/* The names of the user and the group, if the server sent names that are no numbers; else no octets.
	 * attributes.uid or attributes.gid is RR_VFS_NOBODY then. These and the handle refer to the message.
	 */
	struct rpcrdma_bytes owner, group;
	struct rpcrdma_bytes handle;
	struct rpcrdma_bytes acl; /* as encoded, for rr_attr_get_acl(); refers to the message, too */
	uint32_t error;           /* rdattr_error */
	uint32_t lease;           /* seconds */
	uint64_t file_max, read_max, write_max;
	uint64_t octets, octets_free, octets_for_all; /* as in struct rr_vfs_statfs, and the next */
	uint64_t files, files_free, files_for_all;
	uint32_t link_max, name_max, clone_block; /* as in struct rr_vfs_limits, and the rest */
	struct rr_vfs_time time_delta;
	bool xattrs, acls, case_insensitive, case_preserving;
};

/* An entry of the table of attributes, rr_attr_rows. */
struct rr_attr_row {
	/* Writes the value; NULL: servers do not support the attribute, or it can only be set. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rr_attr_source *source);
	uint32_t needs; /* RR_ATTR_STATFS, ...: the storage is asked for them before put() */
	uint32_t size;  /* the most octets that put() writes; 0: the attribute can only be set */
	uint32_t minor; /* the first minor version that has the attribute; 0: all have it */
	bool exclusive; /* an exclusive create may set the attribute */
};

extern const struct rr_attr_row rr_attr_rows[RR_ATTR_COUNT];

/* A list that is to be set: memory for `room` entries, and the entries that were given. */
struct rr_attr_acl {
	struct rr_acl4_entry *entries;
	uint32_t room, count;
	bool is_given;
};

/* What the values that a client sets are read with. */
struct rr_attr_getting {
	struct rr_idmap_asking asking; /* for the numbers of owners that are names */
	struct rr_attr_acl *acl;       /* NULL: no list can be set here */
};

/* A bit of rr_vfs_set.mask, beside those of vfs.h: a list is to be set. */
#define RR_ATTR_SET_ACL (UINT32_C(1) << 31)

/* An entry of the table of attributes that can be set, rr_attr_sets. */
struct rr_attr_set {
	/* Reads the value that the peer sets; NULL: the attribute cannot be set. */
	nfsstat4 (*get)(struct rpcrdma_xdr_reader *reader, const struct rr_attr_getting *getting,
		struct rr_vfs_set *set);
	uint32_t sets; /* RR_VFS_SET_* that the attribute sets, or RR_ATTR_SET_ACL */
};

extern const struct rr_attr_set rr_attr_sets[RR_ATTR_COUNT];

/* ---- Texts and times ---- */

/* Writes the number of a user or group as text, in decimal digits. */
void rr_attr_put_number(struct rpcrdma_xdr_writer *writer, uint32_t number);

void rr_attr_put_time(struct rpcrdma_xdr_writer *writer, struct rr_vfs_time time);
/* Reads a time. Returns false if its nanoseconds are a second or more. */
bool rr_attr_get_time(struct rpcrdma_xdr_reader *reader, struct rr_vfs_time *time);

/* ---- Sets of attributes ---- */

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
/* The most octets of a fattr4 that an owner and a group have as names, beside those that rr_attr_size()
 * counts. */
enum { RR_ATTR_NAMES = 2 * RR_IDMAP_OWNER };
/* Returns the most octets that a fattr4 with these attributes has, with owners that are numbers. */
uint32_t rr_attr_size(const struct rr_attr_mask *mask, uint32_t minor);

/* ---- What a server does ---- */

/* Writes a bitmap4. */
void rr_attr_put_mask(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *mask);
/* Writes a fattr4 with those of the attributes asked for that are supported and have a value to read. */
void rr_attr_put(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *asked,
	const struct rr_attr_source *source);

/* Reads the attributes that a fattr4 sets, with their values, into `set`. Returns NFS4ERR_ATTRNOTSUPP if an
 * attribute is not supported, NFS4ERR_INVAL if an attribute can only be read or its value makes no sense, or
 * NFS4ERR_BADXDR, NFS4ERR_BADOWNER or NFS4ERR_FBIG. getting->asking: for the numbers of owners that are
 * names; NFS4ERR_DELAY: the answer is not there yet. The waiter of asking waits for it where its link is in a
 * list.
 */
nfsstat4 rr_attr_get(
	const fattr4 *fattr, uint32_t minor, const struct rr_attr_getting *getting, struct rr_vfs_set *set);
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

/* ---- What a client does ---- */

/* Reads the values of a fattr4. Returns false if they are malformed, or if attributes are among them that are
 * not in asked. Every attribute in asked must be one that the client knows. */
bool rr_attr_take(const fattr4 *fattr, const bitmap4 *asked, struct rr_attr_values *values);
/* Tells whether the client knows the attribute, of a number below RR_ATTR_COUNT. */
bool rr_attr_is_known(uint32_t number);

/* Writes the attributes that are to be set into the `size` octets at memory; 128 are enough. Returns a fattr4
 * that refers to *mask and memory. */
fattr4 rr_attr_give(const struct rr_vfs_set *set, struct rr_attr_mask *mask, void *memory, uint32_t size);
/* Returns the RR_VFS_SET_* bits for which rr_attr_give() writes the attribute, of a number below
 * RR_ATTR_COUNT. */
uint32_t rr_attr_gives(uint32_t number);

#endif
