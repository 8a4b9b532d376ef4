/* SPDX-License-Identifier: BSD-3-Clause */
/* A handle is: salt 1 | export 4 | number 8 | birth 8 | check 16 octets. The salt makes handles of one object
 * differ; the check is a keyed hash of all octets before it. */
#include <string.h>

#include "base/endian.h"
#include "base/siphash.h"
#include "node.h"
#include "run.h"

enum { HANDLE_CHECKED = 21, HANDLE_LENGTH = HANDLE_CHECKED + RR_SIPHASH_TAG };

_Static_assert(RR_SIPHASH_KEY == sizeof(((struct rr_memory *)0)->key), "the key");

/* Returns the next pseudo-random number of the storage (splitmix64). A storage with the same seed returns the
 * same numbers again. */
uint64_t
rr_memory_random(struct rr_memory *memory)
{
	uint64_t word = memory->dice += UINT64_C(0x9e3779b97f4a7c15);

	word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
	return word ^ (word >> 31);
}

void
rr_memory_handle(struct rr_memory *memory, const struct rr_memory_node *node, struct rr_vfs_handle *handle)
{
	uint8_t *data = handle->data;

	data[0] = (uint8_t)rr_memory_random(memory);
	rr_put_be32(data + 1, node->export);
	rr_put_be64(data + 5, node->attributes.id.number);
	rr_put_be64(data + 13, node->attributes.id.birth);
	rr_siphash(memory->key, data, HANDLE_CHECKED, data + HANDLE_CHECKED);
	handle->length = HANDLE_LENGTH;
}

/* Returns the node that has this number and this birth time and still has a name, or NULL if there is
 * none. */
static struct rr_memory_node *
handle_find(const struct rr_memory *memory, uint64_t number, uint64_t birth)
{
	struct rr_map_link *link = rr_map_find(&memory->numbers, number);

	for (; link; link = rr_map_next(link)) {
		struct rr_memory_node *node = rr_container(link, struct rr_memory_node, by_number);

		if (node->attributes.id.birth == birth && node->attributes.links > 0)
			return node;
	}
	return NULL;
}

uint32_t
rr_memory_export_of(const struct rr_memory *memory, struct rpcrdma_bytes handle)
{
	uint32_t count = memory->config.export_count;
	uint32_t number =
		handle.length == HANDLE_LENGTH ? rr_get_be32((const uint8_t *)handle.data + 1) : count;

	return number < count ? number : count;
}

enum rr_vfs_status
rr_memory_resolve(struct rr_memory *memory, const struct rr_vfs_object *object, struct rr_memory_node **node)
{
	const uint8_t *data = object->handle.data;
	uint8_t check[RR_SIPHASH_TAG];

	*node = object->open ? object->open->node : NULL;
	if (*node)
		return RR_VFS_OK;
	if (object->handle.length != HANDLE_LENGTH)
		return RR_VFS_BAD_HANDLE;
	rr_siphash(memory->key, data, HANDLE_CHECKED, check);
	if (!rr_siphash_same(check, data + HANDLE_CHECKED))
		return RR_VFS_BAD_HANDLE;
	*node = handle_find(memory, rr_get_be64(data + 5), rr_get_be64(data + 13));
	return *node ? RR_VFS_OK : RR_VFS_STALE;
}
