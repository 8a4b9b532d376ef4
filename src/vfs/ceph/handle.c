/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handle: version 1 | export 4 | inode 8 | snapshot 8 | check 8. The check is a keyed hash of all that
 * precedes it. The cluster gives no inode number twice.
 */
#include <rpcrdma/error.h>
#include <sodium.h>
#include <string.h>

#include "base/endian.h"
#include "vfs/ceph/ceph_private.h"

enum { HANDLE_VERSION = 3, HANDLE_CHECKED = 21, HANDLE_LENGTH = HANDLE_CHECKED + crypto_shorthash_BYTES };

_Static_assert(crypto_kdf_KEYBYTES == RR_CEPH_KEY, "the key is a master key");
_Static_assert(crypto_shorthash_KEYBYTES == sizeof(((struct rr_ceph *)0)->check), "the key of the check");

static uint64_t
handle_hash(const uint8_t key[crypto_shorthash_KEYBYTES], const char *text)
{
	uint8_t hash[crypto_shorthash_BYTES];

	crypto_shorthash(hash, (const uint8_t *)text, strlen(text), key);
	return rr_get_be64(hash);
}

/* The file system's number: the same at all servers, from the cluster's identity and the name. */
static void
handle_file_system(struct rr_ceph *ceph)
{
	static const uint8_t key[crypto_shorthash_KEYBYTES];
	char cluster[64] = "";

	if (ceph->lib.conf_get(ceph->mount, "fsid", cluster, sizeof(cluster)) < 0)
		cluster[0] = 0;
	ceph->fsid[0] = handle_hash(key, cluster);
	ceph->fsid[1] = handle_hash(key, ceph->config.file_system ? ceph->config.file_system : "");
}

int
rr_ceph_keys(struct rr_ceph *ceph)
{
	uint8_t names[crypto_shorthash_KEYBYTES];

	crypto_kdf_derive_from_key(ceph->check, sizeof(ceph->check), 1, "cephhndl", ceph->config.key);
	crypto_kdf_derive_from_key(names, sizeof(names), 2, "cephhndl", ceph->config.key);
	for (uint32_t i = 0; i < ceph->config.export_count; i++) {
		ceph->roots[i].hash = (uint32_t)handle_hash(names, ceph->config.exports[i].name);
		for (uint32_t j = 0; j < i; j++)
			if (ceph->roots[j].hash == ceph->roots[i].hash)
				return -RPCRDMA_ERR_INVAL;
	}
	handle_file_system(ceph);
	return 0;
}

void
rr_ceph_handle(const struct rr_ceph *ceph, uint32_t export, const struct ceph_statx *st, uint64_t snapshot,
	struct rr_vfs_handle *handle)
{
	uint8_t *data = handle->data;

	data[0] = HANDLE_VERSION;
	rr_put_be32(data + 1, export);
	rr_put_be64(data + 5, st->stx_ino);
	rr_put_be64(data + 13, snapshot);
	crypto_shorthash(data + HANDLE_CHECKED, data, HANDLE_CHECKED, ceph->check);
	handle->length = HANDLE_LENGTH;
}

bool
rr_ceph_decode(const struct rr_ceph *ceph, struct rpcrdma_bytes handle, struct rr_ceph_object *object)
{
	const uint8_t *data = handle.data;
	uint8_t check[crypto_shorthash_BYTES];

	if (handle.length != HANDLE_LENGTH || data[0] != HANDLE_VERSION)
		return false;
	crypto_shorthash(check, data, HANDLE_CHECKED, ceph->check);
	if (sodium_memcmp(check, data + HANDLE_CHECKED, sizeof(check)) != 0)
		return false;
	object->export = rr_get_be32(data + 1);
	object->number = rr_get_be64(data + 5);
	object->snapshot = rr_get_be64(data + 13);
	return true;
}
