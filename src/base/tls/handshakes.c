/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tls/handshakes.h"

#include <string.h>

/* At a tick, so many are put under way at most. */
enum {
	HANDSHAKES_MAX = 64,
	HANDSHAKES_OF_HOST = 24,
	HANDSHAKES_WAITING = 256,
	HANDSHAKES_IN_TURN = 4,
	HANDSHAKES_IN_TICK = 2
};

/* How long a handshake keeps its place in any case. */
#define HANDSHAKES_PLACE (250 * RR_MILLISECOND)
#define HANDSHAKES_TICK  (5 * RR_MILLISECOND)

static struct rr_tls_handshake *
handshakes_of(struct rr_list *link)
{
	return rr_container(link, struct rr_tls_handshake, link);
}

/* Returns how many handshakes in the list are of that host, and stores the oldest of these, or NULL. */
static uint32_t
handshakes_count(const struct rr_list *list, const uint8_t host[16], struct rr_tls_handshake **oldest)
{
	uint32_t count = 0;

	*oldest = NULL;
	rr_list_for_each (link, list) {
		struct rr_tls_handshake *other = handshakes_of(link);

		if (memcmp(other->host, host, sizeof(other->host)) == 0 && ++count == 1)
			*oldest = other;
	}
	return count;
}

static void
handshakes_displace(struct rr_tls_handshake *handshake)
{
	rr_tls_handshakes_end(handshake);
	handshake->displaced(handshake);
}

/* Tells whether the handshake has held its place for as long as it may if others want it. */
static bool
handshakes_is_over(const struct rr_tls_handshakes *handshakes, const struct rr_tls_handshake *handshake)
{
	return rr_loop_clock(handshakes->loop) - handshake->since >= HANDSHAKES_PLACE;
}

/* Tells whether a handshake of some host may have a place. */
static bool
handshakes_have_place(const struct rr_tls_handshakes *handshakes)
{
	return handshakes->count < HANDSHAKES_MAX ||
	       handshakes_is_over(handshakes, handshakes_of(handshakes->under_way.next));
}

/* Puts the handshake under way, if there is a place for it, or one that was held for long enough. Returns
 * false if there is none. */
static bool
handshakes_place(struct rr_tls_handshakes *handshakes, struct rr_tls_handshake *handshake)
{
	struct rr_tls_handshake *oldest;

	if (handshakes_count(&handshakes->under_way, handshake->host, &oldest) < HANDSHAKES_OF_HOST)
		oldest =
			handshakes->count < HANDSHAKES_MAX ? NULL : handshakes_of(handshakes->under_way.next);
	if (oldest && !handshakes_is_over(handshakes, oldest))
		return false;
	if (oldest)
		handshakes_displace(oldest);
	if (!rr_list_empty(&handshake->link))
		handshakes->waiting_count--;
	rr_list_remove(&handshake->link);
	rr_list_append(&handshakes->under_way, &handshake->link);
	handshakes->count++;
	handshake->is_under_way = true;
	handshake->since = rr_loop_clock(handshakes->loop);
	handshake->placed(handshake);
	return true;
}

/* Has the handshake wait for a place. Where too many do, the oldest of its host goes, or else the oldest of
 * all. */
static void
handshakes_wait(struct rr_tls_handshakes *handshakes, struct rr_tls_handshake *handshake)
{
	struct rr_tls_handshake *oldest;

	if (handshakes->waiting_count >= HANDSHAKES_WAITING) {
		if (handshakes_count(&handshakes->waiting, handshake->host, &oldest) == 0)
			oldest = handshakes_of(handshakes->waiting.next);
		handshakes_displace(oldest);
	}
	rr_list_append(&handshakes->waiting, &handshake->link);
	handshakes->waiting_count++;
	if (!rr_timer_armed(&handshakes->tick))
		rr_loop_arm(handshakes->loop, &handshakes->tick, HANDSHAKES_TICK);
}

/* Returns the handshake, of those that wait, that is to have the next place: of the host with the fewest
 * places, the newest. NULL if none waits. */
static struct rr_tls_handshake *
handshakes_next(struct rr_tls_handshakes *handshakes)
{
	struct rr_tls_handshake *next = NULL, *oldest;
	uint32_t least = UINT32_MAX;

	for (struct rr_list *link = handshakes->waiting.prev; link != &handshakes->waiting && least > 0;
		link = link->prev) {
		uint32_t of_host =
			handshakes_count(&handshakes->under_way, handshakes_of(link)->host, &oldest);

		if (of_host >= least)
			continue;
		least = of_host;
		next = handshakes_of(link);
	}
	return next;
}

/* Tells whether no handshake that waits is to have a place before this one. */
static bool
handshakes_is_first(const struct rr_tls_handshakes *handshakes, const struct rr_tls_handshake *handshake)
{
	struct rr_tls_handshake *oldest;

	return handshakes->waiting_count == 0 ||
	       (handshakes->count < HANDSHAKES_MAX &&
		       handshakes_count(&handshakes->under_way, handshake->host, &oldest) == 0);
}

/* Is called at each tick while handshakes wait: puts some of them under way. */
static void
handshakes_tick(struct rr_timer *timer)
{
	struct rr_tls_handshakes *handshakes = rr_container(timer, struct rr_tls_handshakes, tick);
	struct rr_tls_handshake *next;

	for (int i = 0; i < HANDSHAKES_IN_TICK && handshakes_have_place(handshakes); i++) {
		next = handshakes_next(handshakes);
		if (!next || !handshakes_place(handshakes, next))
			break;
	}
	if (!rr_list_empty(&handshakes->waiting))
		rr_loop_arm(handshakes->loop, &handshakes->tick, HANDSHAKES_TICK);
}

void
rr_tls_handshakes_init(struct rr_tls_handshakes *handshakes, struct rr_loop *loop)
{
	handshakes->loop = loop;
	rr_list_init(&handshakes->under_way);
	rr_list_init(&handshakes->waiting);
	rr_timer_init(&handshakes->tick, handshakes_tick);
	handshakes->count = handshakes->waiting_count = 0;
	handshakes->turn = 0;
	handshakes->steps = 0;
}

void
rr_tls_handshakes_begin(struct rr_tls_handshakes *handshakes, struct rr_tls_handshake *handshake)
{
	handshake->of = handshakes;
	handshake->is_under_way = false;
	/* Where others wait, the tick chooses, unless a place is free and the host has none: else newcomers
	 * would have each place that becomes free. */
	if (!handshakes_is_first(handshakes, handshake) || !handshakes_place(handshakes, handshake))
		handshakes_wait(handshakes, handshake);
}

void
rr_tls_handshakes_end(struct rr_tls_handshake *handshake)
{
	struct rr_tls_handshakes *handshakes = handshake->of;

	if (!handshakes)
		return;
	handshake->of = NULL;
	rr_list_remove(&handshake->link);
	if (handshake->is_under_way)
		handshakes->count--;
	else
		handshakes->waiting_count--;
	if (handshakes->waiting_count == 0)
		rr_loop_disarm(handshakes->loop, &handshakes->tick);
}

bool
rr_tls_handshakes_have_turn(struct rr_tls_handshakes *handshakes, uint64_t turn)
{
	if (handshakes->turn != turn)
		handshakes->steps = 0;
	handshakes->turn = turn;
	return handshakes->steps++ < HANDSHAKES_IN_TURN;
}
