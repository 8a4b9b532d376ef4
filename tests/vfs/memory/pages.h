/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_MEMORY_PAGES_H
#define RR_VFS_MEMORY_PAGES_H

#include "memory_private.h"

/* The data of files, and what a loss of power leaves of it. */

/* ---- pages.c ---- */
/* Copies length octets from offset on to data. Holes are zeros. */
void rr_memory_pages_read(const struct rr_memory_node *node, uint64_t offset, uint8_t *data, uint32_t length);
/* Makes sure that the file has the page of this index. Where data is true, the page is about to be written:
 * it also gets memory for its data, and, while the file is unstable, keeps its stable content. Errors:
 * RR_VFS_NOSPC, RR_VFS_DQUOT, RR_VFS_BUSY. */
enum rr_vfs_status rr_memory_pages_make(
	struct rr_memory *memory, struct rr_memory_node *node, uint64_t index, bool data);
/* Writes as many octets as there is space for, and stores their number in *written. Returns an error only
 * where that number is 0. */
enum rr_vfs_status rr_memory_pages_write(struct rr_memory *memory, struct rr_memory_node *node,
	uint64_t offset, struct rpcrdma_bytes data, uint32_t *written);
/* Makes the octets from first up to (not including) end zero, and frees the pages that lie within. */
void rr_memory_pages_punch(
	struct rr_memory *memory, struct rr_memory_node *node, uint64_t first, uint64_t end);
/* Returns the position in node->pages of the first page with this index or a greater index, or page_count
 * where there is no such page. */
uint32_t rr_memory_pages_find(const struct rr_memory_node *node, uint64_t index);
/* Returns the first offset, at or behind offset, where there is data (data is true) or where there is none
 * (data is false). Where data is true and no data follows, returns UINT64_MAX. */
uint64_t rr_memory_pages_seek(const struct rr_memory_node *node, uint64_t offset, bool data);
void rr_memory_pages_free(struct rr_memory *memory, struct rr_memory_node *node);
/* Sets the size of the file, and frees the data behind that size. All data of the file is on stable storage
 * afterwards. */
void rr_memory_pages_resize(struct rr_memory *memory, struct rr_memory_node *node, uint64_t size);

/* ---- power.c ---- */
/* Keeps the stable content of a page that an unstable write is about to change. Does nothing where an earlier
 * write has changed or made the page since the last commit. Errors: RR_VFS_BUSY if there is no memory. */
enum rr_vfs_status rr_memory_keep_stable(struct rr_memory *memory, struct rr_memory_page *page);
/* Makes all data of the file stable. */
void rr_memory_settle(struct rr_memory *memory, struct rr_memory_node *node);

#endif
