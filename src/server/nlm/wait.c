/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nlm/wait.h"

/* The most waits of a host. */
enum { WAITS_OF_HOST = 64 };

static const struct rr_ranges *
wait_own(struct rr_locks_wait *member)
{
	return &rr_container(member, struct rr_nlm_wait, wait)->claim->ranges;
}

static void
wait_ready(struct rr_nlm_wait *wait)
{
	wait->phase = RR_NLM_READY;
	rr_list_remove(&wait->of_waker);
	rr_list_append(&wait->waker->ready, &wait->of_waker);
	wait->waker->wake(wait->waker);
}

static void
wait_is_free(struct rr_locks_wait *member)
{
	wait_ready(rr_container(member, struct rr_nlm_wait, wait));
}

static const struct rr_locks_wait_kind wait_kind = { wait_own, wait_is_free };

struct rr_nlm_wait *
rr_nlm_wait_find(const struct rr_nlm_claim *claim, struct rr_span span, bool write)
{
	for (struct rr_list *link = claim->waits.next; link != &claim->waits; link = link->next) {
		struct rr_nlm_wait *wait = rr_container(link, struct rr_nlm_wait, of_claim);

		if (wait->wait.span.first == span.first && wait->wait.span.last == span.last &&
			wait->wait.write == write)
			return wait;
	}
	return NULL;
}

struct rr_nlm_wait *
rr_nlm_wait_make(struct rr_nlm_claim *claim, struct rr_span span, bool write, struct rr_nlm_waker *waker,
	const struct rr_nlm_way *way)
{
	struct rr_nlm_host *host = claim->host;
	struct rr_nlm_wait *wait;

	if (host->held[RR_NLM_WAITS] >= WAITS_OF_HOST || !rr_nlm_take(host, RR_NLM_WAITS, 1))
		return NULL;
	wait = rr_alloc(host->tables->env, sizeof(*wait));
	if (!wait) {
		rr_nlm_give(host, RR_NLM_WAITS, 1);
		return NULL;
	}
	wait->wait = (struct rr_locks_wait){ .kind = &wait_kind, .span = span, .write = write };
	rr_list_init(&wait->wait.of_file);
	rr_list_init(&wait->of_waker);
	rr_list_init(&wait->of_all);
	rr_list_append(&waker->all, &wait->of_all);
	rr_list_append(&claim->waits, &wait->of_claim);
	wait->claim = claim;
	wait->waker = waker;
	wait->way = *way;
	wait->phase = RR_NLM_TAKING;
	return wait;
}

void
rr_nlm_wait_stay(struct rr_nlm_wait *wait)
{
	wait->phase = RR_NLM_WAITING;
	if (wait->waker->ends)
		rr_nlm_wait_end(wait);
	else
		rr_locks_wait_begin(&wait->wait, wait->claim->file);
}

void
rr_nlm_wait_later(struct rr_nlm_wait *wait, uint64_t now)
{
	wait->phase = RR_NLM_LATER;
	if (wait->waker->ends) {
		rr_nlm_wait_end(wait);
		return;
	}
	wait->tried = now;
	rr_list_append(&wait->waker->later, &wait->of_waker);
	wait->waker->wake(wait->waker);
}

void
rr_nlm_wait_end(struct rr_nlm_wait *wait)
{
	struct rr_nlm_host *host = wait->claim->host;

	rr_locks_wait_leave(&wait->wait);
	rr_list_remove(&wait->of_claim);
	rr_list_remove(&wait->of_waker);
	rr_list_remove(&wait->of_all);
	rr_nlm_give(host, RR_NLM_WAITS, 1);
	wait->claim = NULL;
	if (wait->phase != RR_NLM_TAKING && wait->phase != RR_NLM_CALLING)
		rr_free(host->tables->env, wait);
}

void
rr_nlm_waker_init(struct rr_nlm_waker *waker, void (*wake)(struct rr_nlm_waker *waker))
{
	waker->wake = wake;
	rr_list_init(&waker->all);
	rr_list_init(&waker->ready);
	rr_list_init(&waker->later);
}

void
rr_nlm_waker_end(struct rr_nlm_waker *waker)
{
	waker->ends = true;
	rr_list_for_each (link, &waker->all) {
		struct rr_nlm_wait *wait = rr_container(link, struct rr_nlm_wait, of_all);
		struct rr_nlm_claim *claim = wait->claim;

		if (wait->phase == RR_NLM_TAKING)
			continue;
		rr_nlm_wait_end(wait);
		if (!claim->busy)
			rr_nlm_claim_leave(claim);
	}
}

void
rr_nlm_waits_again(struct rr_nlm_waker *waker, uint64_t now, uint64_t apart)
{
	/* The list is in the order of the times. */
	while (!rr_list_empty(&waker->later)) {
		struct rr_nlm_wait *wait = rr_container(waker->later.next, struct rr_nlm_wait, of_waker);

		if (now - wait->tried < apart)
			return;
		wait_ready(wait);
	}
}
