/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/works.h"

#include <string.h>

/* The most items that are kept for reuse. */
enum { KEPT_MAX = 4096 };

void
rr_works_init(struct rr_cache *works, const struct rr_env *env)
{
	rr_cache_init(works, env, sizeof(struct rr_work_item), KEPT_MAX);
}

struct rr_work_item *
rr_works_get(struct rr_cache *works, const struct rr_work *work)
{
	struct rr_work_item *item = rr_cache_get(works);

	if (!item)
		return NULL;
	rr_list_init(&item->link);
	item->kind = work->kind;
	item->remote_handle = work->remote_handle;
	item->remote_offset = work->remote_offset;
	item->cookie = work->cookie;
	item->end = 0;
	item->sink = item->at = 0;
	item->sge_count = work->sge_count;
	item->length = 0;
	for (uint32_t i = 0; i < work->sge_count; i++) {
		item->sges[i] = work->sges[i];
		item->length += work->sges[i].length;
	}
	return item;
}

void
rr_works_put(struct rr_cache *works, struct rr_work_item *item)
{
	rr_list_remove(&item->link);
	rr_cache_put(works, item);
}

void
rr_works_complete(struct rr_cache *works, struct rr_work_item *item, struct rr_endpoint *endpoint, int status)
{
	struct rr_event event = {
		.kind = RR_EVENT_COMPLETED, .status = status, .work = item->kind, .cookie = item->cookie
	};

	rr_works_put(works, item);
	endpoint->outstanding--;
	if (event.cookie || status)
		endpoint->handler(endpoint->ctx, &event);
}
