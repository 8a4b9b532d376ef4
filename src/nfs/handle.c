/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/handle.h"

#include <sodium.h>
#include <string.h>

#include "base/endian.h"

_Static_assert(crypto_kdf_KEYBYTES == RR_TREE_KEY, "the tree's key is a master key");
_Static_assert(crypto_shorthash_KEYBYTES == 16, "as in struct rr_handle_keys");
_Static_assert(crypto_shorthash_BYTES == RR_HANDLE_CHECK, "as in the layout");

void
rr_handle_keys(const uint8_t key[RR_TREE_KEY], struct rr_handle_keys *keys)
{
	crypto_kdf_derive_from_key(keys->check, sizeof(keys->check), 1, "nfshndle", key);
	crypto_kdf_derive_from_key(keys->names, sizeof(keys->names), 2, "nfshndle", key);
}

uint64_t
rr_handle_hash(const struct rr_handle_keys *keys, const void *name, size_t length)
{
	uint8_t hash[crypto_shorthash_BYTES];

	crypto_shorthash(hash, name, length, keys->names);
	return rr_get_be64(hash);
}

void
rr_handle_encode(const struct rr_handle_keys *keys, const struct rr_handle_id *id,
	const struct rr_handle_place *place, struct rr_handle *handle)
{
	uint32_t hints = rr_handle_hints(place->depth);
	uint8_t *data = handle->data;

	data[0] = RR_HANDLE_VERSION;
	data[1] = place->depth;
	rr_put_be32(data + 2, id->export);
	rr_put_be32(data + 6, id->device);
	rr_put_be64(data + 10, id->inode);
	rr_put_be64(data + 18, id->birth);
	memcpy(data + RR_HANDLE_FIXED, place->hints, hints);
	crypto_shorthash(data + RR_HANDLE_FIXED + hints, data, RR_HANDLE_FIXED + hints, keys->check);
	handle->length = RR_HANDLE_FIXED + hints + RR_HANDLE_CHECK;
}

bool
rr_handle_decode(const struct rr_handle_keys *keys, struct rpcrdma_bytes handle, struct rr_handle_id *id,
	struct rr_handle_place *place)
{
	const uint8_t *data = handle.data;
	uint8_t check[crypto_shorthash_BYTES];
	uint32_t hints;

	if (handle.length < RR_HANDLE_FIXED + RR_HANDLE_CHECK || data[0] != RR_HANDLE_VERSION)
		return false;
	hints = rr_handle_hints(data[1]);
	if (handle.length != RR_HANDLE_FIXED + hints + RR_HANDLE_CHECK)
		return false;
	crypto_shorthash(check, data, RR_HANDLE_FIXED + hints, keys->check);
	if (sodium_memcmp(check, data + RR_HANDLE_FIXED + hints, sizeof(check)) != 0)
		return false;
	place->depth = data[1];
	id->export = rr_get_be32(data + 2);
	id->device = rr_get_be32(data + 6);
	id->inode = rr_get_be64(data + 10);
	id->birth = rr_get_be64(data + 18);
	memset(place->hints, 0, sizeof(place->hints));
	memcpy(place->hints, data + RR_HANDLE_FIXED, hints);
	return true;
}
