/* SPDX-License-Identifier: BSD-3-Clause */
/* This file writes and reads file handles. handle.h describes their fields. */
#include "vfs/posix/handle.h"

#include <string.h>

#include "base/endian.h"
#include "base/siphash.h"

_Static_assert(RR_VFS_KEY == 2 * RR_SIPHASH_KEY, "the tree's key is a secret that keys are derived from");

void
rr_handle_keys(const uint8_t key[RR_VFS_KEY], struct rr_handle_keys *keys)
{
	rr_siphash_derive(key, "check of a handle", keys->check);
	rr_siphash_derive(key, "hints of names", keys->names);
}

uint64_t
rr_handle_hash(const struct rr_handle_keys *keys, const void *name, size_t length)
{
	return rr_siphash_64(keys->names, name, length);
}

/* Writes the kernel's handle of an object to data, with its type and its length in front. Returns how many
 * octets were written: 0 where the kernel's handle is not known. */
static uint32_t
handle_put_kernel(const struct rr_handle_kernel *kernel, uint8_t *data)
{
	if (kernel->length == 0)
		return 0;
	data[0] = kernel->type;
	data[1] = kernel->length;
	memcpy(data + 2, kernel->octets, kernel->length);
	return 2u + kernel->length;
}

void
rr_handle_encode(const struct rr_handle_keys *keys, const struct rr_handle_id *id,
	const struct rr_handle_place *place, struct rr_vfs_handle *handle)
{
	uint32_t hints = rr_handle_hints(place), length = RR_HANDLE_FIXED;
	uint8_t *data = handle->data;

	data[0] = place->kernel.length > 0 ? RR_HANDLE_WITH_KERNEL : RR_HANDLE_PLAIN;
	data[1] = place->depth;
	rr_put_be32(data + 2, id->export);
	rr_put_be32(data + 6, id->device);
	rr_put_be64(data + 10, id->inode);
	rr_put_be64(data + 18, id->birth);
	length += handle_put_kernel(&place->kernel, data + length);
	memcpy(data + length, place->hints, hints);
	length += hints;
	rr_siphash(keys->check, data, length, data + length);
	handle->length = length + RR_HANDLE_CHECK;
}

/* Reads the place of an object (the kernel's handle where with_kernel is true, then the hints) from the size
 * octets between the fixed part of a handle and its check. place->depth is set already. Returns false where
 * the place needs more or fewer octets, or the kernel's handle is invalid. */
static bool
handle_get_place(const uint8_t *data, uint32_t size, bool with_kernel, struct rr_handle_place *place)
{
	struct rr_handle_kernel *kernel = &place->kernel;

	if (with_kernel) {
		if (size < 2 || data[1] == 0 || data[1] > RR_HANDLE_KERNEL || size - 2 < data[1])
			return false;
		kernel->type = data[0];
		kernel->length = data[1];
		memcpy(kernel->octets, data + 2, kernel->length);
		data += 2 + kernel->length;
		size -= 2u + kernel->length;
	}
	if (size != rr_handle_hints(place))
		return false;
	memcpy(place->hints, data, size);
	return true;
}

bool
rr_handle_decode(const struct rr_handle_keys *keys, struct rpcrdma_bytes handle, struct rr_handle_id *id,
	struct rr_handle_place *place)
{
	const uint8_t *data = handle.data;
	uint8_t check[RR_HANDLE_CHECK];
	uint32_t length = handle.length - RR_HANDLE_CHECK;

	if (handle.length < RR_HANDLE_FIXED + RR_HANDLE_CHECK || handle.length > RR_VFS_HANDLE_MAX)
		return false;
	if (data[0] != RR_HANDLE_PLAIN && data[0] != RR_HANDLE_WITH_KERNEL)
		return false;
	rr_siphash(keys->check, data, length, check);
	if (!rr_siphash_same(check, data + length))
		return false;
	*place = (struct rr_handle_place){ .depth = data[1] };
	id->export = rr_get_be32(data + 2);
	id->device = rr_get_be32(data + 6);
	id->inode = rr_get_be64(data + 10);
	id->birth = rr_get_be64(data + 18);
	return handle_get_place(
		data + RR_HANDLE_FIXED, length - RR_HANDLE_FIXED, data[0] == RR_HANDLE_WITH_KERNEL, place);
}
