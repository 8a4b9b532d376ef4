/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_HANDLE_H
#define RR_VFS_POSIX_HANDLE_H

#include <rpcrdma/xdr.h>

#include "base/endian.h"
#include "base/siphash.h"
#include "vfs/posix/tree/tree.h"

/*
 * The fields of a file handle, each with its number of octets; numbers have the most significant octet first:
 *
 *   version (4) 1 | depth 1 | export 4 | device 4 | inode 8 | birth 8 | hints 0..22 | check 16
 *
 * The depth is the number of components in the object's path below the export's root. A hint is one octet of
 * a keyed hash of a component's name: a search for the object goes along it first (tree/search.h). There is
 * one hint for each component, up to 22, so the depth says how many there are. The check is a keyed hash
 * (SipHash-2-4, 128 bits) of all octets before it: a client without the key forges a handle with one chance
 * in 2^128 for each call.
 *
 * Where the kernel's own handle of the object is known (open_by_handle_at(2)), it stands before the hints,
 * and there is room for fewer of them:
 *
 *   version (5) 1 | depth 1 | ... | birth 8 | type 1 | length 1 | octets 1..20 | hints | check 16
 */

enum {
	RR_HANDLE_PLAIN = 4,
	RR_HANDLE_WITH_KERNEL = 5
}; /* versions of the format; 1 and 2 had a check of 8 octets */
enum { RR_HANDLE_CHECK = RR_SIPHASH_TAG, RR_HANDLE_FIXED = 26, RR_HANDLE_EXPORT_AT = 2 };
enum { RR_HANDLE_HINTS = RR_VFS_HANDLE_MAX - RR_HANDLE_FIXED - RR_HANDLE_CHECK };
enum { RR_HANDLE_KERNEL = RR_HANDLE_HINTS - 2 }; /* octets of a kernel handle */
enum { RR_HANDLE_DEPTH_MAX = 255 };              /* also stands for any greater depth */

/* The identity of an object, which no other object has, now or later. */
struct rr_handle_id {
	uint32_t export; /* a hash of the export's name, because the numbers of exports may change at a
			    restart */
	uint32_t device; /* 0: the object is in the file system of the export's root; else a hash of the
			    device number of its file system, never 0 */
	uint64_t inode;
	uint64_t birth; /* ns since 1970; 0 where the file system does not say */
};

/* A kernel handle, as open_by_handle_at(2) takes it. */
struct rr_handle_kernel {
	uint8_t length; /* 0: there is no kernel handle */
	uint8_t type;
	uint8_t octets[RR_HANDLE_KERNEL];
};

/* The place of an object when the handle was made, and the kernel's handle of it. */
struct rr_handle_place {
	struct rr_handle_kernel kernel;
	uint8_t depth; /* components below the export's root */
	uint8_t hints[RR_HANDLE_HINTS];
};

/* The keys that are derived from the tree's key: one for the checks of handles, one for hashes of names. */
struct rr_handle_keys {
	uint8_t check[RR_SIPHASH_KEY], names[RR_SIPHASH_KEY];
};

/* Derives from the tree's key the keys for the checks of handles and for the hints in them. */
void rr_handle_keys(const uint8_t key[RR_VFS_KEY], struct rr_handle_keys *keys);

/* Returns a keyed hash of a name (or of other octets). The lowest octet of a name's hash is its hint. */
uint64_t rr_handle_hash(const struct rr_handle_keys *keys, const void *name, size_t length);

static inline bool
rr_handle_same(const struct rr_handle_id *a, const struct rr_handle_id *b)
{
	return a->inode == b->inode && a->birth == b->birth && a->export == b->export &&
	       a->device == b->device;
}

/* Returns how many hints a handle of this place has: one octet for each component of the object's path, as
 * far as the handle has room. */
static inline uint32_t
rr_handle_hints(const struct rr_handle_place *place)
{
	uint32_t room = RR_HANDLE_HINTS - (place->kernel.length > 0 ? 2u + place->kernel.length : 0);

	return place->depth < room ? place->depth : room;
}

/* Makes the handle of the object with this identity and place, with its check. */
void rr_handle_encode(const struct rr_handle_keys *keys, const struct rr_handle_id *id,
	const struct rr_handle_place *place, struct rr_vfs_handle *handle);

/* Tells whether the handle says that its object lies in this export. The check of the handle is not
 * verified. */
static inline bool
rr_handle_is_of(struct rpcrdma_bytes handle, uint32_t export)
{
	return handle.length >= RR_HANDLE_FIXED &&
	       rr_get_be32((const uint8_t *)handle.data + RR_HANDLE_EXPORT_AT) == export;
}

/* Reads the identity and the place of an object from a handle. Returns false where the handle was not made
 * with these keys: its length, its version or its place is not valid, or the check does not fit. */
bool rr_handle_decode(const struct rr_handle_keys *keys, struct rpcrdma_bytes handle, struct rr_handle_id *id,
	struct rr_handle_place *place);

#endif
