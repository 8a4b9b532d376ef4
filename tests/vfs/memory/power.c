/* SPDX-License-Identifier: BSD-3-Clause */
/* This file simulates stable storage. After unstable writes, a file's pages have both the present data and
 * the stable data, which comes back when the storage loses its power. */
#include <string.h>

#include "node.h"
#include "pages.h"
#include "run.h"

enum rr_vfs_status
rr_memory_keep_stable(struct rr_memory *memory, struct rr_memory_page *page)
{
	if (page->state != RR_MEMORY_SETTLED)
		return RR_VFS_OK;
	if (page->data) {
		page->stable = rr_alloc(memory->env, RR_MEMORY_PAGE);
		if (!page->stable)
			return RR_VFS_BUSY;
		memcpy(page->stable, page->data, RR_MEMORY_PAGE);
	}
	page->state = RR_MEMORY_CHANGED;
	return RR_VFS_OK;
}

void
rr_memory_settle(struct rr_memory *memory, struct rr_memory_node *node)
{
	if (!node->unstable)
		return;
	for (uint32_t i = 0; i < node->page_count; i++) {
		rr_free(memory->env, node->pages[i].stable);
		node->pages[i].stable = NULL;
		node->pages[i].state = RR_MEMORY_SETTLED;
	}
	node->unstable = false;
}

/* Sets one file back to the data and the size that it has on stable storage, as a loss of power does. Pages
 * that have never been on stable storage are freed. */
static void
power_lose(struct rr_memory *memory, struct rr_memory_node *node)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < node->page_count; i++) {
		struct rr_memory_page *page = &node->pages[i];
		bool fresh = page->state == RR_MEMORY_FRESH;

		if (page->state != RR_MEMORY_SETTLED) {
			rr_free(memory->env, page->data);
			page->data = page->stable;
			page->stable = NULL;
			page->state = RR_MEMORY_SETTLED;
		}
		if (fresh) {
			rr_memory_discharge(memory, node->attributes.uid, RR_MEMORY_PAGE, 0);
			node->attributes.used -= RR_MEMORY_PAGE;
		} else {
			node->pages[kept++] = *page;
		}
	}
	node->page_count = kept;
	node->attributes.size = node->stable_size;
	node->unstable = false;
	rr_memory_touch(memory, node, true);
}

void
rr_memory_lose_power(struct rr_memory *memory)
{
	rr_list_for_each (link, &memory->nodes) {
		struct rr_memory_node *node = rr_container(link, struct rr_memory_node, all);

		if (node->unstable)
			power_lose(memory, node);
	}
	memory->verifier = rr_memory_random(memory);
}
