/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of attributes, and the encoding and decoding of a fattr4 by the tables rr_attr_rows and rr_attr_sets,
 * as a server does that. */
#include "vfs/fattr4/attr.h"

#include <string.h>

bool
rr_attr_in(const struct rr_attr_mask *mask, uint32_t number)
{
	return mask->words[number / 32] >> number % 32 & 1;
}

void
rr_attr_add(struct rr_attr_mask *mask, uint32_t number)
{
	mask->words[number / 32] |= UINT32_C(1) << number % 32;
}

struct rr_attr_mask
rr_attr_mask(const bitmap4 *bitmap)
{
	struct rr_attr_mask mask = { { 0 } };

	for (uint32_t i = 0; i < bitmap->count && i < RR_ATTR_WORDS; i++)
		mask.words[i] = bitmap->values[i];
	return mask;
}

/* Tells whether the server supports the attribute with this number in this minor version: clients can read
 * it, set it, or both. */
static bool
attr_is_supported(uint32_t number, uint32_t minor)
{
	const struct rr_attr_row *row = &rr_attr_rows[number];

	return (row->put || rr_attr_sets[number].get) && row->minor <= minor;
}

bool
rr_attr_beyond(const bitmap4 *bitmap)
{
	for (uint32_t i = 0; i < bitmap->count; i++) {
		for (uint32_t bit = 0; bit < 32; bit++) {
			if (bitmap->values[i] >> bit & 1 && (uint64_t)i * 32 + bit >= RR_ATTR_COUNT)
				return true;
		}
	}
	return false;
}

struct rr_attr_mask
rr_attr_supported(uint32_t minor)
{
	struct rr_attr_mask mask = { { 0 } };

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (attr_is_supported(i, minor))
			rr_attr_add(&mask, i);
	}
	return mask;
}

struct rr_attr_mask
rr_attr_exclusive(uint32_t minor)
{
	struct rr_attr_mask mask = { { 0 } };

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (attr_is_supported(i, minor) && rr_attr_rows[i].exclusive)
			rr_attr_add(&mask, i);
	}
	return mask;
}

bool
rr_attr_has_write_only(const struct rr_attr_mask *mask, uint32_t minor)
{
	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (rr_attr_in(mask, i) && attr_is_supported(i, minor) && !rr_attr_rows[i].put)
			return true;
	}
	return false;
}

uint32_t
rr_attr_needs(const struct rr_attr_mask *mask, uint32_t minor)
{
	uint32_t needs = 0;

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (rr_attr_in(mask, i) && attr_is_supported(i, minor))
			needs |= rr_attr_rows[i].needs;
	}
	return needs;
}

uint32_t
rr_attr_size(const struct rr_attr_mask *mask, uint32_t minor)
{
	uint32_t size = 4 + 4 * RR_ATTR_WORDS + 4;

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (rr_attr_in(mask, i) && attr_is_supported(i, minor))
			size += rr_attr_rows[i].size;
	}
	return size;
}

void
rr_attr_put_mask(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *mask)
{
	uint32_t count = RR_ATTR_WORDS;

	while (count > 0 && mask->words[count - 1] == 0)
		count--;
	rpcrdma_put_u32(writer, count);
	for (uint32_t i = 0; i < count; i++)
		rpcrdma_put_u32(writer, mask->words[i]);
}

/* Returns those of the attributes asked for that the minor version supports and that have a value to read:
 * access lists have none where the storage keeps no lists, and in READDIR. */
static struct rr_attr_mask
attr_readable(const struct rr_attr_mask *asked, const struct rr_attr_source *source)
{
	struct rr_attr_mask mask = { { 0 } };

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (!rr_attr_in(asked, i) || !rr_attr_rows[i].put || !attr_is_supported(i, source->minor))
			continue;
		if (!(rr_attr_rows[i].needs & RR_ATTR_ACL) || source->acl)
			rr_attr_add(&mask, i);
	}
	return mask;
}

/* Writes the values of the attributes in mask, in the order of their numbers. */
static void
attr_put_values(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *mask,
	const struct rr_attr_source *source)
{
	for (uint32_t word = 0; word < RR_ATTR_WORDS; word++) {
		for (uint32_t left = mask->words[word]; left != 0; left &= left - 1)
			rr_attr_rows[word * 32 + (uint32_t)__builtin_ctz(left)].put(writer, source);
	}
}

void
rr_attr_put(struct rpcrdma_xdr_writer *writer, const struct rr_attr_mask *asked,
	const struct rr_attr_source *source)
{
	struct rr_attr_mask mask = attr_readable(asked, source);
	struct rpcrdma_xdr_writer length;

	rr_attr_put_mask(writer, &mask);
	length = *writer;
	rpcrdma_put_u32(writer, 0);
	attr_put_values(writer, &mask, source);
	/* The length of the values is known now: it takes the place of the 0. */
	if (!writer->failed)
		rpcrdma_put_u32(&length, (uint32_t)(writer->next - length.next) - 4);
}

nfsstat4
rr_attr_get(
	const fattr4 *fattr, uint32_t minor, const struct rr_attr_getting *getting, struct rr_vfs_set *set)
{
	const struct rpcrdma_message values = { .stream = fattr->attr_vals.data,
		.length = fattr->attr_vals.length };
	struct rr_attr_mask mask = rr_attr_mask(&fattr->attrmask);
	struct rpcrdma_xdr_reader reader;
	nfsstat4 status;

	memset(set, 0, sizeof(*set));
	if (rr_attr_beyond(&fattr->attrmask))
		return NFS4ERR_ATTRNOTSUPP;
	rpcrdma_xdr_reader_init(&reader, &values, NULL);
	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		const struct rr_attr_set *row = &rr_attr_sets[i];

		if (!rr_attr_in(&mask, i))
			continue;
		if (!attr_is_supported(i, minor))
			return NFS4ERR_ATTRNOTSUPP;
		if (!row->get)
			return NFS4ERR_INVAL;
		/* RFC 8275, 4.2: "it is an error to set both mode and mode_umask" */
		if (row->sets & RR_VFS_SET_MODE & set->mask)
			return NFS4ERR_INVAL;
		status = row->get(&reader, getting, set);
		if (reader.failed)
			return NFS4ERR_BADXDR;
		if (status != NFS4_OK)
			return status;
		/* A time has two bits: one for the time of the server, one for a given time. get() has
		 * already added the one that the client has chosen. */
		if (!(row->sets & (RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_NOW)))
			set->mask |= row->sets;
	}
	return rpcrdma_xdr_done(&reader) ? NFS4_OK : NFS4ERR_BADXDR;
}

struct rr_attr_mask
rr_attr_applied(const bitmap4 *bitmap, uint32_t applied)
{
	struct rr_attr_mask asked = rr_attr_mask(bitmap), mask = { { 0 } };

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (rr_attr_in(&asked, i) && rr_attr_sets[i].sets & applied)
			rr_attr_add(&mask, i);
	}
	return mask;
}

nfsstat4
rr_attr_comparable(const fattr4 *fattr, uint32_t minor)
{
	struct rr_attr_mask mask = rr_attr_mask(&fattr->attrmask);

	if (rr_attr_beyond(&fattr->attrmask))
		return NFS4ERR_ATTRNOTSUPP;
	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (!rr_attr_in(&mask, i))
			continue;
		/* One list may be written in many ways: none is the same as another. */
		if (!attr_is_supported(i, minor) || rr_attr_rows[i].needs & RR_ATTR_ACL)
			return NFS4ERR_ATTRNOTSUPP;
		/* RFC 8881, 18.31.4: "When the attribute rdattr_error or any set-only attribute (e.g.,
		 * time_modify_set) is specified, the error NFS4ERR_INVAL is returned to the client." */
		if (!rr_attr_rows[i].put || i == FATTR4_RDATTR_ERROR)
			return NFS4ERR_INVAL;
	}
	return NFS4_OK;
}

nfsstat4
rr_attr_compare(const fattr4 *fattr, const struct rr_attr_source *source, void *memory, uint32_t size)
{
	struct rr_attr_mask mask = rr_attr_mask(&fattr->attrmask);
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, memory, size, NULL, 0);
	attr_put_values(&writer, &mask, source);
	if (writer.failed)
		return NFS4ERR_SERVERFAULT;
	if (rpcrdma_xdr_length(&writer) != fattr->attr_vals.length)
		return NFS4ERR_NOT_SAME;
	return memcmp(memory, fattr->attr_vals.data, fattr->attr_vals.length) == 0 ? NFS4ERR_SAME
										   : NFS4ERR_NOT_SAME;
}
