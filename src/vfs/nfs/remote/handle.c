/* SPDX-License-Identifier: BSD-3-Clause */
/* A handle that clients see: a version (1 octet), a hash of the export's name (4), a check (16), and the
 * handle of the other server. The check is a keyed hash of all else (SipHash-2-4, 128 bits). A handle that
 * has no room for the other server's has 16 octets in its place, a keyed hash by which the table knows it. */
#include <rpcrdma/error.h>
#include <string.h>

#include "base/endian.h"
#include "vfs/nfs/remote/remote.h"

enum {
	HANDLE_SHORT = 7, /* versions: with the other server's handle, and with its name */
	HANDLE_LONG = 8,
	HANDLE_CHECK = 5,
	HANDLE_TAG = 8,
	HANDLE_GIVEN = HANDLE_CHECK + HANDLE_TAG
};

_Static_assert(HANDLE_GIVEN + RR_REMOTE_HANDLE_MAX == RR_VFS_HANDLE_MAX,
	"what is left for the other server's handle");
_Static_assert((int)RR_REMOTE_KEY == 2 * RR_SIPHASH_KEY, "the key is a secret that keys are derived from");

struct rr_remote_long {
	struct rr_map_link by_name;
	struct rr_list of_used;
	uint8_t name[RR_SIPHASH_TAG];
	uint32_t length;
	uint8_t data[RR_REMOTE_HANDLE];
};

int
rr_remote_handles_init(
	struct rr_remote_handles *handles, const struct rr_env *env, const struct rr_remote_config *config)
{
	uint8_t names[RR_SIPHASH_KEY];

	handles->env = env;
	handles->export_count = config->export_count;
	rr_list_init(&handles->used);
	rr_siphash_derive(config->key, "check of a handle of NFS", handles->check);
	rr_siphash_derive(config->key, "names of exports of NFS", names);
	for (uint32_t i = 0; i < config->export_count; i++) {
		const char *name = config->exports[i].name;

		handles->hashes[i] = (uint32_t)rr_siphash_64(names, name, strlen(name));
		for (uint32_t j = 0; j < i; j++)
			if (handles->hashes[j] == handles->hashes[i])
				return -RPCRDMA_ERR_INVAL;
	}
	pthread_mutex_init(&handles->lock, NULL);
	return rr_map_init(&handles->longs, env, 1024);
}

/* Forgets a long handle. */
static void
handle_forget(struct rr_remote_handles *handles, struct rr_remote_long *known)
{
	rr_map_remove(&handles->longs, &known->by_name);
	rr_list_remove(&known->of_used);
	rr_free(handles->env, known);
}

void
rr_remote_handles_end(struct rr_remote_handles *handles)
{
	while (!rr_list_empty(&handles->used))
		handle_forget(handles, rr_container(handles->used.next, struct rr_remote_long, of_used));
	rr_map_free(&handles->longs, handles->env);
	pthread_mutex_destroy(&handles->lock);
}

/* Returns the long handle of this name, which becomes the one that was used last; NULL: it is not in the
 * table. */
static struct rr_remote_long *
handle_find(struct rr_remote_handles *handles, const uint8_t name[RR_SIPHASH_TAG])
{
	struct rr_map_link *link = rr_map_find(&handles->longs, rr_get_be64(name));

	for (; link; link = rr_map_next(link)) {
		struct rr_remote_long *known = rr_container(link, struct rr_remote_long, by_name);

		if (!rr_siphash_same(known->name, name))
			continue;
		rr_list_remove(&known->of_used);
		rr_list_prepend(&handles->used, &known->of_used);
		return known;
	}
	return NULL;
}

/* Adds a long handle to the table, unless it is there. Returns false if there is no memory. The caller holds
 * the lock. */
static bool
handle_add(struct rr_remote_handles *handles, struct rpcrdma_bytes given, const uint8_t name[RR_SIPHASH_TAG])
{
	struct rr_remote_long *known;

	if (handle_find(handles, name))
		return true;
	if (handles->longs.count >= RR_REMOTE_LONG_HANDLES)
		handle_forget(handles, rr_container(handles->used.prev, struct rr_remote_long, of_used));
	known = rr_alloc(handles->env, sizeof(*known));
	if (!known)
		return false;
	memcpy(known->name, name, sizeof(known->name));
	known->length = given.length;
	memcpy(known->data, given.data, given.length);
	rr_map_add(&handles->longs, &known->by_name, rr_get_be64(name));
	rr_list_prepend(&handles->used, &known->of_used);
	return true;
}

/* Stores in name the name of a long handle, which is in the table then. Returns false if there is no memory.
 */
static bool
handle_name(struct rr_remote_handles *handles, struct rpcrdma_bytes given, uint8_t name[RR_SIPHASH_TAG])
{
	bool added;

	rr_siphash(handles->check, given.data, given.length, name);
	pthread_mutex_lock(&handles->lock);
	added = handle_add(handles, given, name);
	pthread_mutex_unlock(&handles->lock);
	return added;
}

/* Writes the check of a handle's octets to tag, with zeros behind it. */
static void
handle_check(const struct rr_remote_handles *handles, const uint8_t *data, uint32_t length,
	uint8_t tag[RR_SIPHASH_TAG])
{
	struct rr_siphash hash;

	rr_siphash_init(&hash, handles->check);
	rr_siphash_add(&hash, data, HANDLE_CHECK);
	rr_siphash_add(&hash, data + HANDLE_GIVEN, length - HANDLE_GIVEN);
	rr_siphash_end(&hash, tag);
	memset(tag + HANDLE_TAG, 0, RR_SIPHASH_TAG - HANDLE_TAG);
}

enum rr_vfs_status
rr_remote_encode(struct rr_remote_handles *handles, uint32_t export, struct rpcrdma_bytes given,
	struct rr_vfs_handle *handle)
{
	uint8_t *data = handle->data, tag[RR_SIPHASH_TAG];
	bool fits = given.length <= RR_REMOTE_HANDLE_MAX;

	if (given.length == 0 || given.length > RR_REMOTE_HANDLE)
		return RR_VFS_FAULT;
	data[0] = fits ? HANDLE_SHORT : HANDLE_LONG;
	rr_put_be32(data + 1, handles->hashes[export]);
	if (fits)
		memcpy(data + HANDLE_GIVEN, given.data, given.length);
	else if (!handle_name(handles, given, data + HANDLE_GIVEN))
		return RR_VFS_BUSY;
	handle->length = HANDLE_GIVEN + (fits ? given.length : RR_SIPHASH_TAG);
	handle_check(handles, data, handle->length, tag);
	memcpy(data + HANDLE_CHECK, tag, HANDLE_TAG);
	return RR_VFS_OK;
}

uint32_t
rr_remote_export_of(const struct rr_remote_handles *handles, struct rpcrdma_bytes handle)
{
	const uint8_t *data = handle.data;
	uint32_t number = 0;

	if (handle.length <= HANDLE_GIVEN)
		return handles->export_count;
	while (number < handles->export_count && handles->hashes[number] != rr_get_be32(data + 1))
		number++;
	return number;
}

enum rr_vfs_status
rr_remote_decode(
	struct rr_remote_handles *handles, struct rpcrdma_bytes handle, struct rr_remote_handle *found)
{
	const uint8_t *data = handle.data;
	const struct rr_remote_long *known;
	uint8_t tag[RR_SIPHASH_TAG], given[RR_SIPHASH_TAG] = { 0 };

	found->export = rr_remote_export_of(handles, handle);
	if (found->export == handles->export_count || handle.length > RR_VFS_HANDLE_MAX)
		return RR_VFS_BAD_HANDLE;
	handle_check(handles, data, handle.length, tag);
	memcpy(given, data + HANDLE_CHECK, HANDLE_TAG);
	if (!rr_siphash_same(tag, given))
		return RR_VFS_BAD_HANDLE;
	if (data[0] == HANDLE_SHORT) {
		found->length = handle.length - HANDLE_GIVEN;
		memcpy(found->data, data + HANDLE_GIVEN, found->length);
		return RR_VFS_OK;
	}
	if (handle.length != HANDLE_GIVEN + RR_SIPHASH_TAG)
		return RR_VFS_BAD_HANDLE;
	pthread_mutex_lock(&handles->lock);
	known = handle_find(handles, data + HANDLE_GIVEN);
	if (known) {
		found->length = known->length;
		memcpy(found->data, known->data, known->length);
	}
	pthread_mutex_unlock(&handles->lock);
	return known ? RR_VFS_OK : RR_VFS_STALE;
}
