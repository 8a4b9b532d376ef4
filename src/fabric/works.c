/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/works.h"

#include <string.h>

enum { KEPT_MAX = 4096 };

void
rr_works_init(struct rr_works *works, const struct rr_env *env)
{
	works->env = env;
	works->kept = 0;
	rr_list_init(&works->free);
}

void
rr_works_destroy(struct rr_works *works)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&works->free)))
		rr_free(works->env, rr_container(link, struct rr_work_item, link));
}

static struct rr_work_item *
works_new_item(struct rr_works *works)
{
	struct rr_list *link = rr_list_pop(&works->free);
	struct rr_work_item *item;

	if (link) {
		works->kept--;
		return rr_container(link, struct rr_work_item, link);
	}
	item = rr_alloc(works->env, sizeof(*item));
	if (item)
		rr_list_init(&item->link);
	return item;
}

struct rr_work_item *
rr_works_get(struct rr_works *works, const struct rr_work *work)
{
	struct rr_work_item *item = works_new_item(works);

	if (!item)
		return NULL;
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
rr_works_put(struct rr_works *works, struct rr_work_item *item)
{
	rr_list_remove(&item->link);
	if (works->kept == KEPT_MAX) {
		rr_free(works->env, item);
		return;
	}
	works->kept++;
	rr_list_append(&works->free, &item->link);
}

void
rr_works_complete(struct rr_works *works, struct rr_work_item *item, struct rr_endpoint *endpoint, int status)
{
	struct rr_event event = {
		.kind = RR_EVENT_COMPLETED, .status = status, .work = item->kind, .cookie = item->cookie
	};

	rr_works_put(works, item);
	endpoint->outstanding--;
	if (event.cookie || status)
		endpoint->handler(endpoint->ctx, &event);
}
