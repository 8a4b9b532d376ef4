/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the RDMA Reads that read the segments of Read chunks into memory: fetch.h. */
#include "carrier/rdma/core/fetch.h"

struct rr_fetch
rr_fetch(const struct rr_chunk_lists *lists, struct rr_read_chunks *chunks, void *memory)
{
	struct rr_fetch fetch = { .lists = lists, .chunks = chunks, .memory = memory };

	for (uint32_t i = 0; i < lists->read_count; i++)
		fetch.left += lists->reads[i].target.length > 0;
	return fetch;
}

bool
rr_fetch_next(struct rr_fetch *fetch, struct rr_work *work, struct rr_sge *sge)
{
	const struct rr_read_segment *read;

	do {
		if (fetch->next == fetch->lists->read_count)
			return false;
		read = &fetch->lists->reads[fetch->next++];
	} while (read->target.length == 0);
	sge->addr = fetch->memory + rr_read_chunks_next(fetch->chunks, read);
	sge->length = read->target.length;
	work->kind = RR_WORK_READ;
	work->sge_count = 1;
	work->remote_handle = read->target.handle;
	work->remote_offset = read->target.offset;
	return true;
}
