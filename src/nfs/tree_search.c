/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/tree_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfs/tree_inner.h"

enum { ENTRIES_SIZE = 32768, PENDING_MAX = 32 << 20 };

/* A directory that is still to be read. */
struct place {
	struct rr_list link;
	uint32_t depth;
	char path[];
};

struct search {
	struct rr_tree *tree;
	const struct rr_tree_root *root;
	const struct rr_handle_id *id;
	const struct rr_handle_place *hints; /* NULL: everywhere */
	struct rr_list places;               /* the next first */
	size_t pending;                      /* octets in places */
	uint32_t left;                       /* entries that may still be looked at */
	char *found;
};

static void
bits_of(uint64_t inode, uint32_t bits[2])
{
	uint64_t hash = inode * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	bits[0] = (uint32_t)(hash >> 32) % RR_SEARCH_BITS;
	bits[1] = (uint32_t)hash % RR_SEARCH_BITS;
}

static void
note_seen(struct search *search, uint64_t inode)
{
	uint64_t *seen = search->tree->searched.seen;
	uint32_t bits[2];

	if (search->hints || !seen)
		return;
	bits_of(inode, bits);
	for (int i = 0; i < 2; i++)
		seen[bits[i] / 64] |= UINT64_C(1) << bits[i] % 64;
}

/* True where a recent vain walk did not meet the object, either. */
static bool
known_missing(const struct rr_tree *tree, const struct rr_tree_root *root, uint64_t inode)
{
	const struct rr_search_memory *searched = &tree->searched;
	uint32_t bits[2];

	if (searched->root != root || rr_now(tree->env) >= searched->until)
		return false;
	bits_of(inode, bits);
	return !(searched->seen[bits[0] / 64] >> bits[0] % 64 & searched->seen[bits[1] / 64] >> bits[1] % 64 &
		 1);
}

/* NULL: no memory. */
static struct place *
new_place(struct search *search, const struct place *above, const char *name)
{
	size_t upper = strlen(above->path), size = upper + 1 + strlen(name) + 1;
	struct place *place = rr_alloc(search->tree->env, sizeof(*place) + size);

	if (!place)
		return NULL;
	rr_list_init(&place->link);
	place->depth = above->depth + 1;
	snprintf(place->path, size, "%s%s%s", above->path, upper > 0 ? "/" : "", name);
	return place;
}

static void
found(struct search *search, const struct place *above, const char *name)
{
	struct place *place = new_place(search, above, name);

	if (!place)
		return;
	search->found = rr_strdup(search->tree->env, place->path);
	rr_free(search->tree->env, place);
}

static void
read_later(struct search *search, const struct place *above, const char *name)
{
	struct place *place;

	if (search->pending > PENDING_MAX)
		return;
	place = new_place(search, above, name);
	if (!place)
		return;
	rr_list_append(search->places.next, &place->link);
	search->pending += sizeof(*place) + strlen(place->path);
}

/* Whether the object may be below this entry. */
static bool
leads_on(const struct search *search, uint32_t depth, const struct dirent64 *entry)
{
	const struct rr_handle_place *hints = search->hints;
	uint64_t hash;

	if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
		return false;
	if (!hints)
		return true;
	/* The last component itself is opened only where it may be a mounted file system's root: the
	 * directory then has the inode number of what is below the mount. */
	if (depth + (search->id->device == 0) >= hints->depth && hints->depth < RR_HANDLE_DEPTH_MAX)
		return false;
	hash = rr_handle_hash(&search->tree->keys, entry->d_name, strlen(entry->d_name));
	return depth >= RR_HANDLE_HINTS || hints->hints[depth] == (uint8_t)hash;
}

static bool
is_wanted(const struct search *search, int fd)
{
	struct rr_handle_id id;
	struct statx st;

	if (rr_tree_stat(fd, &st) != 0)
		return false;
	id = rr_tree_id(search->tree, search->root, &st);
	return rr_handle_same(&id, search->id);
}

static void
look_at(struct search *search, const struct place *place, int directory, const struct dirent64 *entry)
{
	const char *name = entry->d_name;
	bool wanted = false;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	search->left--;
	note_seen(search, entry->d_ino);
	if (entry->d_ino == search->id->inode) {
		int fd = rr_tree_beneath(search->tree, directory, name, O_PATH);

		wanted = fd >= 0 && is_wanted(search, fd);
		if (fd >= 0)
			close(fd);
	}
	if (wanted)
		found(search, place, name);
	else if (leads_on(search, place->depth, entry))
		read_later(search, place, name);
}

static void
read_place(struct search *search, const struct place *place, int fd)
{
	_Alignas(struct dirent64) char entries[ENTRIES_SIZE];
	ssize_t size;

	while ((size = getdents64(fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < size && !search->found && search->left > 0;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);

			look_at(search, place, fd, entry);
			at += entry->d_reclen;
		}
		if (search->found || search->left == 0)
			return;
	}
}

/* A directory that cannot be opened is passed over: what is below it cannot be reached, either. */
static void
visit(struct search *search, const struct place *place)
{
	int fd = rr_tree_beneath(
		search->tree, search->root->node->path_fd, place->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);

	if (fd < 0)
		return;
	if (is_wanted(search, fd))
		search->found = rr_strdup(search->tree->env, place->path);
	else
		read_place(search, place, fd);
	close(fd);
}

static char *
run(struct search *search)
{
	const struct rr_env *env = search->tree->env;
	struct place *first = rr_alloc(env, sizeof(*first) + 1);

	rr_list_init(&search->places);
	if (first)
		rr_list_append(&search->places, &first->link);
	for (struct rr_list *link; (link = rr_list_pop(&search->places));) {
		struct place *place = rr_container(link, struct place, link);

		search->pending -= place->depth > 0 ? sizeof(*place) + strlen(place->path) : 0;
		if (!search->found && search->left > 0)
			visit(search, place);
		rr_free(env, place);
	}
	return search->found;
}

static char *
search_everywhere(struct search *search)
{
	struct rr_tree *tree = search->tree;
	struct rr_search_memory *searched = &tree->searched;
	uint64_t start = rr_now(tree->env), took;

	search->hints = NULL;
	searched->root = NULL;
	if (!searched->seen)
		searched->seen = rr_alloc(tree->env, RR_SEARCH_BITS / 8);
	else
		memset(searched->seen, 0, RR_SEARCH_BITS / 8);
	if (run(search))
		return search->found;
	if (search->left == 0)
		rr_log(tree->env, RR_LOG_WARNING, "%s: gave up looking for a renamed object after %u entries",
			search->root->export->path, tree->search_max);
	took = rr_now(tree->env) - start;
	searched->root = searched->seen ? search->root : NULL;
	searched->until = start + took + (took * 10 > RR_SECOND ? took * 10 : RR_SECOND);
	return NULL;
}

char *
rr_tree_search(struct rr_tree *tree, const struct rr_tree_root *root, const struct rr_handle_id *id,
	const struct rr_handle_place *place)
{
	struct search search = {
		.tree = tree, .root = root, .id = id, .hints = place, .left = tree->search_max
	};

	if (run(&search) || known_missing(tree, root, id->inode))
		return search.found;
	return search_everywhere(&search);
}

void
rr_tree_search_free(struct rr_tree *tree)
{
	rr_free(tree->env, tree->searched.seen);
}
