/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a handle, with their sizes in octets: the version (1), a hash of the export's name (4), the
 * inode number (8), the snapshot number (8), and the check (16). The check is a keyed hash of all octets
 * before it (SipHash-2-4, 128 bits). No birth time is needed, because the cluster never uses an inode number
 * twice. */
#include <rpcrdma/error.h>
#include <string.h>

#include "base/endian.h"
#include "base/siphash.h"
#include "vfs/ceph/ceph_private.h"

enum { HANDLE_VERSION = 6, HANDLE_CHECKED = 21, HANDLE_LENGTH = HANDLE_CHECKED + RR_SIPHASH_TAG };

_Static_assert(RR_CEPH_KEY == 2 * RR_SIPHASH_KEY, "the key is a secret that keys are derived from");
_Static_assert(RR_SIPHASH_KEY == sizeof(((struct rr_ceph *)0)->check), "the key of the check");

static uint64_t
handle_hash(const uint8_t key[RR_SIPHASH_KEY], const char *text)
{
	return rr_siphash_64(key, text, strlen(text));
}

/* Derives ceph->fsid, the file system's identity for clients, from the identity of the cluster and the name
 * of the file system, so that all servers of the file system give it the same identity. */
static void
handle_file_system(struct rr_ceph *ceph)
{
	static const uint8_t key[RR_SIPHASH_KEY]; /* zeros: the hash need not be secret */
	char cluster[64] = "";

	if (ceph->lib.conf_get(ceph->mount, "fsid", cluster, sizeof(cluster)) < 0)
		cluster[0] = 0;
	ceph->fsid[0] = handle_hash(key, cluster);
	ceph->fsid[1] = handle_hash(key, ceph->config.file_system ? ceph->config.file_system : "");
}

int
rr_ceph_keys(struct rr_ceph *ceph)
{
	uint8_t names[RR_SIPHASH_KEY];

	rr_siphash_derive(ceph->config.key, "check of a handle of CephFS", ceph->check);
	rr_siphash_derive(ceph->config.key, "names of exports of CephFS", names);
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
	rr_siphash(ceph->check, data, HANDLE_CHECKED, data + HANDLE_CHECKED);
	handle->length = HANDLE_LENGTH;
}

uint32_t
rr_ceph_export_of(const struct rr_ceph *ceph, struct rpcrdma_bytes handle)
{
	const uint8_t *data = handle.data;
	uint32_t number = 0;

	if (handle.length != HANDLE_LENGTH)
		return ceph->config.export_count;
	while (number < ceph->config.export_count && ceph->roots[number].hash != rr_get_be32(data + 1))
		number++;
	return number;
}

bool
rr_ceph_decode(const struct rr_ceph *ceph, struct rpcrdma_bytes handle, struct rr_ceph_object *object)
{
	const uint8_t *data = handle.data;
	uint8_t check[RR_SIPHASH_TAG];

	if (handle.length != HANDLE_LENGTH || data[0] != HANDLE_VERSION)
		return false;
	rr_siphash(ceph->check, data, HANDLE_CHECKED, check);
	if (!rr_siphash_same(check, data + HANDLE_CHECKED))
		return false;
	object->export = rr_get_be32(data + 1);
	object->number = rr_get_be64(data + 5);
	object->snapshot = rr_get_be64(data + 13);
	return true;
}
