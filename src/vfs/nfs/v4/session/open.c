/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the table of files that are open at the server. The caller names files by handles and opens
 * no file: a file is opened when it is first read or written, and closed when it was not used for a while. */
#include <string.h>

#include "vfs/nfs/v4/session/session.h"

/* Makes the table of opens empty: all entries are free. */
void
rr_v4_opens_init(struct rr_v4 *v4)
{
	rr_list_init(&v4->opens);
	rr_list_init(&v4->open_free);
	for (uint32_t i = 0; i < RR_V4_OPENS; i++) {
		rr_list_init(&v4->open[i].waiters);
		rr_list_append(&v4->open_free, &v4->open[i].link);
	}
}

struct rr_v4_open *
rr_v4_open_find(struct rr_v4 *v4, struct rpcrdma_bytes handle)
{
	for (struct rr_list *link = v4->opens.next; link != &v4->opens; link = link->next) {
		struct rr_v4_open *open = rr_container(link, struct rr_v4_open, link);

		if (!open->once && open->handle_length == handle.length &&
			memcmp(open->handle, handle.data, handle.length) == 0)
			return open;
	}
	return NULL;
}

/* Notes the time at which the open file was used, and moves it to the front of the list of open files. */
static void
open_use(struct rr_v4 *v4, struct rr_v4_open *open)
{
	open->used = rr_loop_now(v4->loop);
	rr_list_remove(&open->link);
	rr_list_prepend(&v4->opens, &open->link);
}

bool
rr_v4_open_has_room(const struct rr_v4 *v4)
{
	return v4->open_count + v4->making < RR_V4_OPENS;
}

struct rr_v4_open *
rr_v4_open_new(struct rr_v4 *v4, struct rpcrdma_bytes handle)
{
	struct rr_v4_open *open;

	if (rr_list_empty(&v4->open_free) || handle.length > sizeof(open->handle))
		return NULL;
	open = rr_container(v4->open_free.next, struct rr_v4_open, link);
	open->state = RR_V4_OPEN_LOST;
	open->access = open->wanted = open->users = open->losses = 0;
	open->has_delegation = open->once = false;
	open->handle_length = handle.length;
	memcpy(open->handle, handle.data, handle.length);
	v4->open_count++;
	open_use(v4, open);
	return open;
}

void
rr_v4_open_take(struct rr_v4 *v4, struct rr_v4_open *open, const OPEN4resok *answered, uint32_t access)
{
	const open_delegation4 *delegation = &answered->delegation;

	open->state = RR_V4_OPEN_READY;
	/* RFC 8881, 9.7: opens by one owner of one file add up. */
	open->access |= access;
	open->stateid = answered->stateid;
	if (delegation->delegation_type == OPEN_DELEGATE_READ)
		open->delegation = delegation->u.read.stateid;
	if (delegation->delegation_type == OPEN_DELEGATE_WRITE)
		open->delegation = delegation->u.write.stateid;
	open->has_delegation |= delegation->delegation_type == OPEN_DELEGATE_READ ||
				delegation->delegation_type == OPEN_DELEGATE_WRITE;
	open_use(v4, open);
}

void
rr_v4_open_forget(struct rr_v4 *v4, struct rr_v4_open *open)
{
	open->state = RR_V4_OPEN_FREE;
	v4->open_count--;
	rr_list_remove(&open->link);
	rr_list_append(&v4->open_free, &open->link);
}

bool
rr_v4_open_begin_use(struct rr_v4 *v4, struct rr_v4_open *open, uint32_t access)
{
	if (open->state != RR_V4_OPEN_READY || access & ~open->access)
		return false;
	open->users++;
	open_use(v4, open);
	return true;
}

/* Goes through the table, in which the file that was used last comes first. Idle files are those that no call
 * uses or waits for; the last one found was unused for the longest time. */
struct rr_v4_open *
rr_v4_open_to_close(struct rr_v4 *v4, uint32_t keep, uint64_t before)
{
	struct rr_v4_open *found = NULL;
	uint32_t idle = 0;

	for (struct rr_list *link = v4->opens.next; link != &v4->opens; link = link->next) {
		struct rr_v4_open *open = rr_container(link, struct rr_v4_open, link);

		if (open->users > 0 || (open->state != RR_V4_OPEN_READY && open->state != RR_V4_OPEN_LOST) ||
			!rr_list_empty(&open->waiters))
			continue;
		idle++;
		found = open;
	}
	return idle > keep || (found && found->used < before) ? found : NULL;
}

struct rr_v4_open *
rr_v4_open_in(struct rr_v4 *v4, enum rr_v4_open_state state)
{
	for (struct rr_list *link = v4->opens.next; link != &v4->opens; link = link->next) {
		struct rr_v4_open *open = rr_container(link, struct rr_v4_open, link);

		if (open->state == state)
			return open;
	}
	return NULL;
}

/* Files in the state READY are to be reclaimed, each for the access that it had. But an open with `once`,
 * which no call will use and which only waits for its CLOSE, counts as lost. A file whose OPEN is under way
 * keeps its state, as that OPEN is sent anew. */
void
rr_v4_opens_reclaim(struct rr_v4 *v4)
{
	for (struct rr_list *link = v4->opens.next; link != &v4->opens; link = link->next) {
		struct rr_v4_open *open = rr_container(link, struct rr_v4_open, link);

		open->has_delegation = false;
		if (open->state != RR_V4_OPEN_READY)
			continue;
		open->state = open->once ? RR_V4_OPEN_LOST : RR_V4_OPEN_RECLAIM;
		open->wanted = open->access;
	}
}

/* An open whose OPEN or CLOSE is under way keeps its state. */
void
rr_v4_open_lose(struct rr_v4_open *open)
{
	if (open->state == RR_V4_OPEN_READY || open->state == RR_V4_OPEN_RECLAIM)
		open->state = RR_V4_OPEN_LOST;
	open->access = 0;
	open->has_delegation = false;
}

void
rr_v4_open_owner(struct rr_v4_slot *slot, OPEN4args *args, uint32_t access)
{
	*args = (OPEN4args){ .share_access = access | OPEN4_SHARE_ACCESS_WANT_NO_DELEG,
		.share_deny = OPEN4_SHARE_DENY_NONE,
		.owner = { .clientid = slot->v4->clientid, .owner = { "rpcrdma", 7 } } };
}
