/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a file is kept in pages, in the order of their index. A part of the file without a page is a
 * hole. */
#include <string.h>

#include "base/checked.h"
#include "node.h"
#include "pages.h"
#include "run.h"

enum { PAGES_FIRST = 4 };

uint32_t
rr_memory_pages_find(const struct rr_memory_node *node, uint64_t index)
{
	uint32_t low = 0, high = node->page_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (node->pages[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the file's page of this index (its offset divided by RR_MEMORY_PAGE), or NULL if the file has a
 * hole there. */
static struct rr_memory_page *
pages_at(const struct rr_memory_node *node, uint64_t index)
{
	uint32_t position = rr_memory_pages_find(node, index);

	return position < node->page_count && node->pages[position].index == index ? &node->pages[position]
										   : NULL;
}

void
rr_memory_pages_read(const struct rr_memory_node *node, uint64_t offset, uint8_t *data, uint32_t length)
{
	while (length > 0) {
		uint32_t within = (uint32_t)(offset % RR_MEMORY_PAGE);
		uint32_t part = (uint32_t)rr_min(length, RR_MEMORY_PAGE - within);
		const struct rr_memory_page *page = pages_at(node, offset / RR_MEMORY_PAGE);

		if (page && page->data)
			memcpy(data, page->data + within, part);
		else
			memset(data, 0, part);
		data += part;
		offset += part;
		length -= part;
	}
}

/* Makes room for one more page in the file's array of pages. Returns false if there is no memory. */
static bool
pages_grow(struct rr_memory *memory, struct rr_memory_node *node)
{
	uint32_t room = node->page_room ? node->page_room * 2 : PAGES_FIRST;
	struct rr_memory_page *pages;

	if (node->page_count < node->page_room)
		return true;
	pages = memory->env->realloc(memory->env->ctx, node->pages, room * sizeof(*pages));
	if (!pages)
		return false;
	node->pages = pages;
	node->page_room = room;
	return true;
}

/* Inserts a page without data into the file's array at this position, and counts the page's space as used by
 * the file's owner. Returns an error if there is no space or no memory. */
static enum rr_vfs_status
pages_insert(struct rr_memory *memory, struct rr_memory_node *node, uint32_t position, uint64_t index)
{
	enum rr_vfs_status status = rr_memory_charge(memory, node->attributes.uid, RR_MEMORY_PAGE, 0);

	if (status != RR_VFS_OK)
		return status;
	if (!pages_grow(memory, node)) {
		rr_memory_discharge(memory, node->attributes.uid, RR_MEMORY_PAGE, 0);
		return RR_VFS_BUSY;
	}
	for (uint32_t i = node->page_count; i > position; i--)
		node->pages[i] = node->pages[i - 1];
	node->pages[position] = (struct rr_memory_page){ .index = index,
		.state = node->unstable ? RR_MEMORY_FRESH : RR_MEMORY_SETTLED };
	node->page_count++;
	node->attributes.used += RR_MEMORY_PAGE;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_pages_make(struct rr_memory *memory, struct rr_memory_node *node, uint64_t index, bool data)
{
	uint32_t position = rr_memory_pages_find(node, index);
	enum rr_vfs_status status = RR_VFS_OK;
	struct rr_memory_page *page;

	if (position == node->page_count || node->pages[position].index != index)
		status = pages_insert(memory, node, position, index);
	if (status != RR_VFS_OK)
		return status;
	page = &node->pages[position];
	if (node->unstable && data)
		status = rr_memory_keep_stable(memory, page);
	if (status != RR_VFS_OK || page->data || !data)
		return status;
	page->data = rr_alloc(memory->env, RR_MEMORY_PAGE);
	return page->data ? RR_VFS_OK : RR_VFS_BUSY;
}

enum rr_vfs_status
rr_memory_pages_write(struct rr_memory *memory, struct rr_memory_node *node, uint64_t offset,
	struct rpcrdma_bytes data, uint32_t *written)
{
	const uint8_t *octets = data.data;
	enum rr_vfs_status status = RR_VFS_OK;

	*written = 0;
	while (*written < data.length) {
		uint64_t at = offset + *written;
		uint32_t within = (uint32_t)(at % RR_MEMORY_PAGE);
		uint32_t part = (uint32_t)rr_min(data.length - *written, RR_MEMORY_PAGE - within);

		status = rr_memory_pages_make(memory, node, at / RR_MEMORY_PAGE, true);
		if (status != RR_VFS_OK)
			break;
		memcpy(pages_at(node, at / RR_MEMORY_PAGE)->data + within, octets + *written, part);
		*written += part;
	}
	if (*written > 0 && offset + *written > node->attributes.size)
		node->attributes.size = offset + *written;
	return *written > 0 ? RR_VFS_OK : status;
}

/* Sets the octets from "first" up to (not including) "end", which lie in one page, to zero. Does nothing
 * where the file has a hole there. */
static void
pages_zero(struct rr_memory_node *node, uint64_t first, uint64_t end)
{
	struct rr_memory_page *page = pages_at(node, first / RR_MEMORY_PAGE);

	if (first < end && page && page->data)
		memset(page->data + first % RR_MEMORY_PAGE, 0, end - first);
}

/* Frees the pages at the positions from "from" up to (not including) "to" of the file's array, and gives
 * their space back. */
static void
pages_remove(struct rr_memory *memory, struct rr_memory_node *node, uint32_t from, uint32_t to)
{
	uint64_t octets = (uint64_t)(to - from) * RR_MEMORY_PAGE;

	if (from == to)
		return;
	for (uint32_t i = from; i < to; i++) {
		rr_free(memory->env, node->pages[i].data);
		rr_free(memory->env, node->pages[i].stable);
	}
	memmove(node->pages + from, node->pages + to, (node->page_count - to) * sizeof(node->pages[0]));
	node->page_count -= to - from;
	node->attributes.used -= octets;
	rr_memory_discharge(memory, node->attributes.uid, octets, 0);
}

/* Makes a hole from "first" up to (not including) "end": frees whole pages, and sets the octets in other
 * pages to zero. "end" must be below 2^64 - RR_MEMORY_PAGE. A hole is on stable storage at once, so all other
 * data of the file is made stable before. */
void
rr_memory_pages_punch(struct rr_memory *memory, struct rr_memory_node *node, uint64_t first, uint64_t end)
{
	uint64_t from = (first + RR_MEMORY_PAGE - 1) / RR_MEMORY_PAGE, to = end / RR_MEMORY_PAGE;

	if (first >= end || node->page_count == 0)
		return;
	rr_memory_settle(memory, node);
	if (from > to) {
		pages_zero(node, first, end);
		return;
	}
	pages_zero(node, first, from * RR_MEMORY_PAGE);
	pages_zero(node, to * RR_MEMORY_PAGE, end);
	if (from < to)
		pages_remove(memory, node, rr_memory_pages_find(node, from), rr_memory_pages_find(node, to));
}

void
rr_memory_pages_resize(struct rr_memory *memory, struct rr_memory_node *node, uint64_t size)
{
	uint64_t last = node->page_count ? node->pages[node->page_count - 1].index : 0;

	rr_memory_settle(memory, node);
	rr_memory_pages_punch(memory, node, size, (last + 1) * RR_MEMORY_PAGE);
	node->attributes.size = size;
}

uint64_t
rr_memory_pages_seek(const struct rr_memory_node *node, uint64_t offset, bool data)
{
	uint64_t index = offset / RR_MEMORY_PAGE;

	for (uint32_t i = rr_memory_pages_find(node, index); i < node->page_count; i++) {
		const struct rr_memory_page *page = &node->pages[i];

		if (!data && (page->index != index || !page->data))
			break;
		if (data && page->data)
			return page->index * RR_MEMORY_PAGE > offset ? page->index * RR_MEMORY_PAGE : offset;
		index = page->index + 1;
	}
	if (data)
		return UINT64_MAX;
	return index * RR_MEMORY_PAGE > offset ? index * RR_MEMORY_PAGE : offset;
}

void
rr_memory_pages_free(struct rr_memory *memory, struct rr_memory_node *node)
{
	pages_remove(memory, node, 0, node->page_count);
	rr_free(memory->env, node->pages);
	node->pages = NULL;
	node->page_room = 0;
}
