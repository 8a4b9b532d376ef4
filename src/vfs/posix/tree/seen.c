/* SPDX-License-Identifier: BSD-3-Clause */
/* This file remembers where objects were seen (seen.h). */
#include "vfs/posix/tree/seen.h"

#include <string.h>

enum { BUCKETS = 1 << 16 };

/* A sighting is the place in which an object was seen. */
struct seen_sighting {
	struct rr_map_link link; /* by the object's key */
	struct rr_list age;      /* in rr_seen.ages */
	uint64_t parent;         /* the directory's key */
	char name[];
};

int
rr_seen_init(struct rr_seen *seen, const struct rr_env *env)
{
	*seen = (struct rr_seen){ .env = env, .octets_max = RR_SEEN_OCTETS };
	rr_list_init(&seen->ages);
	return rr_map_init(&seen->map, env, BUCKETS);
}

static size_t
seen_sighting_size(const char *name)
{
	return sizeof(struct seen_sighting) + strlen(name) + 1;
}

/* Removes a sighting from the table and from the list of ages, and frees it. */
static void
seen_sighting_free(struct rr_seen *seen, struct seen_sighting *sighting)
{
	seen->octets -= seen_sighting_size(sighting->name);
	rr_map_remove(&seen->map, &sighting->link);
	rr_list_remove(&sighting->age);
	rr_free(seen->env, sighting);
}

static struct seen_sighting *
seen_sighting_find(const struct rr_seen *seen, uint64_t key)
{
	struct rr_map_link *link = rr_map_find(&seen->map, key);

	return link ? rr_container(link, struct seen_sighting, link) : NULL;
}

void
rr_seen_free(struct rr_seen *seen)
{
	/* A tree that could not be made in full may not have prepared the sightings. */
	if (!seen->map.buckets)
		return;
	rr_list_for_each (link, &seen->ages)
		seen_sighting_free(seen, rr_container(link, struct seen_sighting, age));
	rr_map_free(&seen->map, seen->env);
}

uint64_t
rr_seen_key(const struct rr_handle_id *id)
{
	uint64_t key = id->inode * UINT64_C(0x9e3779b97f4a7c15);

	key ^= key >> 32;
	return key ^ ((uint64_t)id->export << 32 | id->device) * UINT64_C(0xd6e8feb86659fd93);
}

void
rr_seen_note(struct rr_seen *seen, uint64_t key, uint64_t parent, const char *name)
{
	struct seen_sighting *sighting = seen_sighting_find(seen, key);
	size_t size = seen_sighting_size(name);

	if (sighting && sighting->parent == parent && strcmp(sighting->name, name) == 0) {
		rr_list_remove(&sighting->age);
		rr_list_append(&seen->ages, &sighting->age);
		return;
	}
	if (sighting)
		seen_sighting_free(seen, sighting);
	rr_list_for_each (link, &seen->ages) {
		if (seen->octets + size <= seen->octets_max)
			break;
		seen_sighting_free(seen, rr_container(link, struct seen_sighting, age));
	}
	sighting = rr_alloc(seen->env, size);
	if (!sighting)
		return;
	sighting->parent = parent;
	memcpy(sighting->name, name, strlen(name) + 1);
	rr_map_add(&seen->map, &sighting->link, key);
	rr_list_append(&seen->ages, &sighting->age);
	seen->octets += size;
}

/* Returns the size, with the final zero, of the path from the directory whose key is root down to the object
 * whose key is key. Returns 0 where the path is not known, or has more than RR_HANDLE_DEPTH_MAX components.
 * This bound also ends the loop where outdated sightings make a circle of parents. */
static size_t
seen_path_size(const struct rr_seen *seen, uint64_t key, uint64_t root)
{
	size_t size = 0;

	for (uint32_t depth = 0; key != root; depth++) {
		const struct seen_sighting *sighting = seen_sighting_find(seen, key);

		if (!sighting || depth == RR_HANDLE_DEPTH_MAX)
			return 0;
		size += strlen(sighting->name) + 1;
		key = sighting->parent;
	}
	return size;
}

char *
rr_seen_path(const struct rr_seen *seen, uint64_t key, uint64_t root)
{
	size_t size = seen_path_size(seen, key, root);
	char *path = size > 0 ? rr_alloc(seen->env, size) : NULL, *at;

	if (!path)
		return NULL;
	/* The path is written from its end: from the object's own name up to the root. */
	for (at = path + size; key != root;) {
		const struct seen_sighting *sighting = seen_sighting_find(seen, key);
		size_t length = strlen(sighting->name);

		at--;
		*at = at + 1 == path + size ? '\0' : '/';
		at -= length;
		memcpy(at, sighting->name, length);
		key = sighting->parent;
	}
	return path;
}
