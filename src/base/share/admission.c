/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one bound on the connections that peers make to an engine, and the one rule for what happens at it.
 *
 * A connection is silent if its peer has not called in time (GRACE). Silent connections are cut off first: of
 * the host that has the most of them, the oldest. Where no connection is silent, the connection goes that was
 * longest without a call, of the host with the most connections, as long as that host keeps no fewer than the
 * newcomer's host has. A connection with a call under way goes only if its host has at least two connections
 * more than the newcomer's host. So a host that connects often and does nothing loses those connections, a
 * host that calls keeps its own, and each host can have as many connections as any other host.
 *
 * A newcomer costs no more than a look at LOOKS connections, however many there are.
 */
#include "base/share/share.h"

#include <string.h>

/* The first call may take this long after its connection was accepted, before the connection counts as
 * silent. */
#define GRACE RR_SECOND
/* At most this many connections are looked at for a newcomer. Where there are more, the next newcomer has
 * other connections looked at. */
enum { LOOKS = 1024 };
/* A connection no longer counts as busy if its calls have been under way for longer than this, and no other
 * call has come meanwhile. */
#define BUSY_LIMIT (60 * RR_SECOND)

uint64_t
rr_shares_hash(const struct rr_shares *shares, const char *name)
{
	return rr_siphash_64(shares->secret, name, strlen(name));
}

struct rr_host *
rr_shares_host(struct rr_shares *shares, const char *name)
{
	struct rr_map_link *link =
		shares->by_name.buckets ? rr_map_find(&shares->by_name, rr_shares_hash(shares, name)) : NULL;

	for (; link; link = rr_map_next(link)) {
		struct rr_host *host = rr_container(link, struct rr_host, by_name);

		if (strcmp(host->name, name) == 0)
			return host;
	}
	return NULL;
}

uint32_t
rr_shares_accepted(const struct rr_shares *shares)
{
	uint32_t count = 0;

	for (int i = RR_NOT_ACCEPTED + 1; i < RR_ACCEPTED; i++)
		count += shares->accepted[i];
	return count;
}

void
rr_party_accepted(struct rr_party *party, enum rr_accepted kind)
{
	party->accepted = kind;
	party->host->accepted++;
	party->shares->accepted[kind]++;
	party->accepted_at = rr_now(rr_loop_env(party->shares->loop));
	party->order = ++party->shares->order;
}

void
rr_party_leaves(struct rr_party *party)
{
	if (party->accepted == RR_NOT_ACCEPTED)
		return;
	party->host->accepted--;
	party->shares->accepted[party->accepted]--;
	party->accepted = RR_NOT_ACCEPTED;
}

/* ---- Which connection goes ---- */

/* Whether the party, a connection, is silent: it was accepted at least GRACE ago, and its peer has not sent a
 * call yet. */
static bool
admission_is_silent(const struct rr_party *party, uint64_t now)
{
	return !party->called && now - party->accepted_at >= GRACE;
}

/* Whether the server still executes calls of the party's peer, but not for too long. The time counts from the
 * first call of this function that finds the server executing after the peer's last call. The function notes
 * this time in party->busy_since; when BUSY_LIMIT has passed since then, it returns false. */
static bool
admission_is_busy(struct rr_party *party, uint64_t now)
{
	if (!party->called || !party->ops->is_busy || !party->ops->is_busy(party->ctx))
		return false;
	if (party->busy_order != party->order)
		party->busy_since = now;
	party->busy_order = party->order;
	return now - party->busy_since < BUSY_LIMIT;
}

/* Chooses the parties (connections) among which the caller looks for one to cut off: moves the first LOOKS
 * parties of the list shares->parties, or all if there are fewer, to the end of that list. Returns the link
 * in front of the first party that was moved; that link is the head of the list if all parties were moved. */
static struct rr_list *
admission_take_turn(struct rr_shares *shares)
{
	struct rr_list *behind = shares->parties.prev;

	for (uint32_t i = 0; i < LOOKS && shares->parties.next != &shares->parties; i++) {
		struct rr_list *link = shares->parties.next;

		rr_list_remove(link);
		rr_list_append(&shares->parties, link);
		if (link == behind)
			return &shares->parties;
	}
	return behind;
}

/* Counts, for each host, its silent connections among the parties that stand behind `before` in the list
 * shares->parties, and sets host->silent to the number. A silent connection has not sent a call in time. */
static void
admission_count_silent(struct rr_shares *shares, const struct rr_list *before, uint64_t now)
{
	for (struct rr_list *link = before->next; link != &shares->parties; link = link->next)
		rr_container(link, struct rr_party, link)->host->silent = 0;
	for (struct rr_list *link = before->next; link != &shares->parties; link = link->next) {
		const struct rr_party *party = rr_container(link, struct rr_party, link);

		party->host->silent += party->accepted && admission_is_silent(party, now);
	}
}

/* Whether the connection of party may be closed to make room for a new connection from the host newcomer
 * (NULL if that host has no connection yet). A silent connection may always be closed; a busy one only if its
 * host has at least two connections more than newcomer; any other one if its host has more connections than
 * newcomer, or is newcomer itself. */
static bool
admission_may_go(struct rr_party *party, const struct rr_host *newcomer, uint64_t now)
{
	uint32_t its = party->host->accepted, own = newcomer ? newcomer->accepted : 0;

	if (admission_is_silent(party, now))
		return true;
	if (admission_is_busy(party, now))
		return its > own + 1;
	return its > own || party->host == newcomer;
}

/* Whether party is cut off rather than other, if one of the two has to be. The first difference decides: the
 * party is cut off whose host has more silent connections, or whose host has more connections, or that never
 * called, or whose last call is older. */
static bool
admission_goes_before(const struct rr_party *party, const struct rr_party *other)
{
	const struct rr_host *host = party->host, *others = other->host;

	if (host->silent != others->silent)
		return host->silent > others->silent;
	if (host->accepted != others->accepted)
		return host->accepted > others->accepted;
	if (party->called != other->called)
		return other->called;
	return party->order < other->order;
}

bool
rr_shares_make_room(struct rr_shares *shares, const char *peer, enum rr_accepted kind)
{
	uint64_t now = rr_now(rr_loop_env(shares->loop));
	const struct rr_host *newcomer;
	const struct rr_list *before = admission_take_turn(shares);
	struct rr_party *first = NULL;
	char name[RR_HOST_NAME];

	rr_host_name(peer, name);
	newcomer = rr_shares_host(shares, name);
	admission_count_silent(shares, before, now);
	for (struct rr_list *link = before->next; link != &shares->parties; link = link->next) {
		struct rr_party *party = rr_container(link, struct rr_party, link);

		if (party->accepted && (kind == RR_NOT_ACCEPTED || party->accepted == kind) &&
			admission_may_go(party, newcomer, now) &&
			(!first || admission_goes_before(party, first)))
			first = party;
	}
	if (!first)
		return false;
	rr_party_leaves(first);
	first->ops->cut(first->ctx, "was longest without a call, and another client wanted to connect");
	return true;
}

bool
rr_shares_admit(struct rr_shares *shares, const char *peer)
{
	return rr_shares_accepted(shares) < shares->accepted_max ||
	       rr_shares_make_room(shares, peer, RR_NOT_ACCEPTED);
}
