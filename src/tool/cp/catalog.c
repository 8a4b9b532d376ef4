/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/catalog.h"

#include <stdlib.h>
#include <string.h>

static bool
catalog_grow(struct rr_catalog *catalog)
{
	size_t room = catalog->room ? 2 * catalog->room : 64;
	struct rr_catalog_entry *entries = reallocarray(catalog->entries, room, sizeof(*entries));

	if (!entries)
		return false;
	catalog->entries = entries;
	catalog->room = room;
	return true;
}

int
rr_catalog_add(struct rr_catalog *catalog, const char *name, const struct rpcrdma_nfs_object *object)
{
	struct rr_catalog_entry *entry;

	catalog->octets += sizeof(*entry) + strlen(name) + 1;
	if (catalog->octets > RR_CATALOG_MAX || (catalog->most > 0 && catalog->count == catalog->most))
		return -RPCRDMA_ERR_LIMIT;
	if (catalog->count == catalog->room && !catalog_grow(catalog))
		return -RPCRDMA_ERR_NOMEM;
	entry = &catalog->entries[catalog->count];
	*entry = (struct rr_catalog_entry){ .name = strdup(name) };
	if (!entry->name)
		return -RPCRDMA_ERR_NOMEM;
	catalog->count++;
	return rr_catalog_know(catalog, entry, object);
}

int
rr_catalog_know(
	struct rr_catalog *catalog, struct rr_catalog_entry *entry, const struct rpcrdma_nfs_object *object)
{
	size_t size = object && (object->owner[0] || object->group[0]) ? sizeof(*object) : RR_CATALOG_OBJECT;

	free(entry->object);
	entry->object = NULL;
	if (!object)
		return 0;
	catalog->octets += size;
	if (catalog->octets > RR_CATALOG_MAX)
		return -RPCRDMA_ERR_LIMIT;
	entry->object = malloc(size);
	if (!entry->object)
		return -RPCRDMA_ERR_NOMEM;
	memcpy(entry->object, object, size);
	entry->object->size = size;
	return 0;
}

struct rpcrdma_nfs_object
rr_catalog_object(const struct rr_catalog_entry *entry)
{
	struct rpcrdma_nfs_object object = { 0 };

	memcpy(&object, entry->object, entry->object->size);
	object.size = sizeof(object);
	return object;
}

/* Compares two entries by their names, for qsort(3). */
static int
catalog_compare(const void *a, const void *b)
{
	return strcmp(((const struct rr_catalog_entry *)a)->name, ((const struct rr_catalog_entry *)b)->name);
}

void
rr_catalog_sort(struct rr_catalog *catalog)
{
	if (catalog->count > 1)
		qsort(catalog->entries, catalog->count, sizeof(catalog->entries[0]), catalog_compare);
}

/* Compares a name with an entry's name, for bsearch(3). */
static int
catalog_compare_name(const void *name, const void *entry)
{
	return strcmp(name, ((const struct rr_catalog_entry *)entry)->name);
}

struct rr_catalog_entry *
rr_catalog_find(const struct rr_catalog *catalog, const char *name)
{
	return catalog->count > 0 ? bsearch(name, catalog->entries, catalog->count,
					    sizeof(catalog->entries[0]), catalog_compare_name)
				  : NULL;
}

void
rr_catalog_free(struct rr_catalog *catalog)
{
	for (size_t i = 0; i < catalog->count; i++) {
		free(catalog->entries[i].name);
		free(catalog->entries[i].object);
	}
	free(catalog->entries);
	*catalog = (struct rr_catalog){ 0 };
}

int
rr_catalog_take(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	return rr_catalog_add(ctx, entry->name, entry->object);
}
