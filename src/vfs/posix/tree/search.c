/* SPDX-License-Identifier: BSD-3-Clause */
/* This file begins, continues and ends searches, and remembers searches in vain. walk.c has the walks of
 * a search through directories. */
#include "vfs/posix/tree/search.h"

#include <errno.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <time.h>

#include "vfs/posix/tree/tree_private.h"
#include "vfs/posix/tree/walk.h"

int
rr_search_init(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;

	search->entries_max = RR_SEARCH_MAX;
	search->steps_max = UINT32_MAX;
	rr_list_init(&search->frames);
	search->fd = -1;
	search->memories =
		rr_alloc_array(tree->env, tree->core->config.export_count, sizeof(*search->memories));
	search->vain = rr_alloc_array(tree->env, RR_SEARCH_VAIN, sizeof(*search->vain));
	return search->memories && search->vain ? 0 : -RPCRDMA_ERR_NOMEM;
}

void
rr_search_end(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;

	if (search->root)
		rr_tree_walk_end(tree);
	for (uint32_t i = 0; search->memories && i < tree->core->config.export_count; i++)
		rr_free(tree->env, search->memories[i].seen);
	rr_free(tree->env, search->memories);
	rr_free(tree->env, search->vain);
}

/* Returns the record of the last walk in vain through the export of this root. */
static struct rr_search_memory *
search_memory(const struct rr_tree *tree, const struct rr_tree_root *root)
{
	return &tree->core->search.memories[root - tree->core->roots];
}

/* Stores in bits the numbers of the two bits that stand for this inode number in a Bloom filter
 * (rr_search_memory.seen). */
static void
search_bits(uint64_t inode, uint32_t bits[2])
{
	uint64_t hash = inode * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	bits[0] = (uint32_t)(hash >> 32) % RR_SEARCH_BITS;
	bits[1] = (uint32_t)hash % RR_SEARCH_BITS;
}

void
rr_search_note(struct rr_tree *tree, const struct rr_tree_root *root, uint64_t inode)
{
	uint64_t *seen = search_memory(tree, root)->seen;
	uint32_t bits[2];

	if (!seen)
		return;
	search_bits(inode, bits);
	for (int i = 0; i < 2; i++)
		seen[bits[i] / 64] |= UINT64_C(1) << bits[i] % 64;
}

/* Tells whether a search for the object would be in vain: a recent walk through the whole export did not see
 * its inode number, and the object was made before that walk began. False where any of this is not known. */
static bool
search_missed(const struct rr_tree *tree, const struct rr_tree_root *root, const struct rr_handle_id *id)
{
	const struct rr_search_memory *memory = search_memory(tree, root);
	uint32_t bits[2];

	if (!memory->seen || rr_now(tree->env) >= memory->until || id->birth == 0 ||
		id->birth >= memory->birth)
		return false;
	search_bits(id->inode, bits);
	return !(memory->seen[bits[0] / 64] >> bits[0] % 64 & memory->seen[bits[1] / 64] >> bits[1] % 64 & 1);
}

/* Returns the entry for this object in the table of objects that were searched for in vain, and stores the
 * object's hash, which chooses the entry, in *hash. The entry may be in use for another object. */
static struct rr_search_vain *
search_vain(const struct rr_tree *tree, const struct rr_handle_id *id, uint64_t *hash)
{
	*hash = rr_handle_hash(&tree->core->keys, id, sizeof(*id));
	return &tree->core->search.vain[*hash % RR_SEARCH_VAIN];
}

/* Tells whether a search for this object was in vain lately, so that the object is taken for gone. */
static bool
search_was_vain(const struct rr_tree *tree, const struct rr_handle_id *id)
{
	uint64_t hash;
	const struct rr_search_vain *vain = search_vain(tree, id, &hash);

	return vain->hash == hash && rr_now(tree->env) < vain->until;
}

/* Returns the time until which it is believed that the search was in vain: from now on ten times as long as
 * the search took, and at least a second. */
static uint64_t
search_believed(const struct rr_tree *tree)
{
	uint64_t took = tree->core->search.took * 10;

	return rr_now(tree->env) + (took > RR_SECOND ? took : RR_SECOND);
}

/* Remembers for a time that the search found nothing: for its object, and, after a complete walk through the
 * whole export, for all objects whose inode numbers the walk did not see. Logs a warning where the walk
 * through the whole export reached the bound of entries. A walk that was hindered may have missed the object,
 * so nothing is remembered of it. */
static void
search_remember_vain(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;
	struct rr_search_memory *memory = search_memory(tree, search->root);
	uint64_t hash;
	struct rr_search_vain *vain = search_vain(tree, &search->id, &hash);

	if (search->hindered)
		return;
	*vain = (struct rr_search_vain){ hash, search_believed(tree) };
	if (search->hinted)
		return;
	if (search->left == 0)
		rr_log_limited(&tree->core->search_log, tree->env,
			"%s: gave up looking for a renamed object after %u entries",
			search->root->export->path, search->entries_max);
	if (!search->complete)
		return;
	memory->until = search_believed(tree);
	memory->birth = search->began;
}

/* Continues a search whose walk along the hints found nothing: clears the record of the inode numbers seen in
 * the export (struct rr_search_memory), and begins a walk through the whole export. The record is not used
 * before that walk has ended (until is 0). Where its Bloom filter cannot be allocated, the walk is done all
 * the same, but leaves no record. */
static void
search_everywhere(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;
	struct rr_search_memory *memory = search_memory(tree, search->root);

	memory->until = 0;
	if (!memory->seen)
		memory->seen = rr_alloc(tree->env, RR_SEARCH_BITS / 8);
	else
		memset(memory->seen, 0, RR_SEARCH_BITS / 8);
	search->hinted = false;
	rr_tree_walk_begin(tree);
}

/* Is called when a walk has no step left to do. Where the walk went along the hints in vain, and the object
 * may be elsewhere, the search continues by a walk through the whole export. Otherwise the search ends, and a
 * search in vain is remembered. */
static void
search_walked(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;

	if (!search->found && search->hinted && search->left > 0 &&
		!search_missed(tree, search->root, &search->id)) {
		search_everywhere(tree);
		return;
	}
	if (!search->found)
		search_remember_vain(tree);
	rr_tree_walk_end(tree);
}

/* Does one slice of the search under way, until "time" (in ns) has passed. Where called is true, a call waits
 * for the object, and the slice ends as soon as the object is found; the rest of its directory is left to the
 * timer. Does nothing while another thread does a slice. May release the lock for a time. */
static void
search_run(struct rr_tree *tree, uint64_t time, bool called)
{
	struct rr_search *search = &tree->core->search;
	uint64_t start = rr_now(tree->env), spent = 0;

	if (search->running)
		return;
	search->running = true;
	for (uint32_t steps = 0; search->root && steps < search->steps_max && spent < time; steps++) {
		if (!rr_tree_walk_step(tree))
			search_walked(tree);
		spent = rr_now(tree->env) - start;
		if (called && search->found)
			break;
	}
	search->took += spent;
	search->running = false;
	atomic_store_explicit(&search->due, search->root != NULL, memory_order_relaxed);
}

bool
rr_tree_work(struct rr_tree *tree)
{
	bool more;

	rr_tree_enter(tree);
	search_run(tree, RR_SEARCH_TIMER, false);
	more = tree->core->search.root;
	rr_tree_leave(tree);
	return more;
}

bool
rr_tree_has_work(const struct rr_tree *tree)
{
	return atomic_load_explicit(&tree->core->search.due, memory_order_relaxed);
}

/* Begins a search for the object of node, with the walk along the hints in place. */
static void
search_begin(struct rr_tree *tree, const struct rr_node *node, const struct rr_handle_place *place)
{
	struct rr_search *search = &tree->core->search;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	search->began = (uint64_t)now.tv_sec * RR_SECOND + (uint64_t)now.tv_nsec;
	search->root = node->root;
	search->id = node->id;
	search->hints = *place;
	search->hinted = true;
	search->found = false;
	search->left = search->entries_max;
	search->took = 0;
	rr_tree_walk_begin(tree);
}

/* Looks for the object of node at the place where it was last seen. Returns 0 if it is there; ENOENT if no
 * such place is known, or the object is not there any more; EAGAIN if that cannot be seen now; ESTALE if
 * another object there has its inode number, so that the object is gone from this file system. */
static int
search_seen_again(struct rr_tree *tree, struct rr_node *node, struct statx *st)
{
	uint64_t root = rr_seen_key(&node->root->node->id);
	char *path = rr_seen_path(&tree->core->seen, rr_seen_key(&node->id), root);
	struct rr_handle_id id;
	int error;

	if (!path)
		return ENOENT;
	error = rr_tree_follow(tree, node, path, st);
	rr_free(tree->env, path);
	if (error != ENOENT)
		return error;
	id = rr_tree_id(tree, node->root, st);
	return id.inode == node->id.inode && id.device == node->id.device ? ESTALE : ENOENT;
}

int
rr_tree_search(
	struct rr_tree *tree, struct rr_node *node, const struct rr_handle_place *place, struct statx *st)
{
	int error = search_seen_again(tree, node, st);
	bool again;

	if (error != ENOENT)
		return error;
	if (search_was_vain(tree, &node->id) || search_missed(tree, node->root, &node->id))
		return ESTALE;
	if (tree->core->search.running)
		return EAGAIN;
	/* The search under way may be for another object. It is continued first, as there is one search at a
	 * time, and it may see this object. */
	if (tree->core->search.root) {
		search_run(tree, RR_SEARCH_CALL, false);
		error = search_seen_again(tree, node, st);
		if (error != ENOENT)
			return error;
		if (search_was_vain(tree, &node->id))
			return ESTALE;
		if (tree->core->search.root)
			return EAGAIN;
	}
	search_begin(tree, node, place);
	search_run(tree, RR_SEARCH_CALL, true);
	again = tree->core->search.root || tree->core->search.hindered;
	error = search_seen_again(tree, node, st);
	if (error != ENOENT)
		return error;
	return again ? EAGAIN : ESTALE;
}
