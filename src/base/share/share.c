/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/share/share.h"

#include <string.h>

#include "base/checked.h"
#include "base/host.h"
#include "base/share/pool.h"

/*
 * Ownership: a party lives until its connection has ended and its last buffer has come back, a host until
 * its last party has gone; both may be paying for the turn of the loop that is under way, and stay in memory
 * until its end. The umpire's timer is armed only while somebody waits for what is due.
 */

/* ---- Hosts ---- */

/* The least and the most buckets of the table of hosts: that many hosts are found without a search; further
 * hosts share buckets. */
enum { BUCKETS_LEAST = 64, BUCKETS_MOST = 16384 };

/* Makes the host with that name, and adds it to the list of hosts and to the map by_name, which is made with
 * the first host. Returns NULL if there is no memory. */
static struct rr_host *
share_host_new(struct rr_shares *shares, const char name[RR_HOST_NAME])
{
	const struct rr_env *env = rr_loop_env(shares->loop);
	uint32_t buckets = (uint32_t)rr_min(shares->accepted_max, BUCKETS_MOST);
	struct rr_host *host;

	if (!shares->by_name.buckets) {
		env->random(env->ctx, shares->secret, sizeof(shares->secret));
		if (rr_map_init(&shares->by_name, env, buckets > BUCKETS_LEAST ? buckets : BUCKETS_LEAST) < 0)
			return NULL;
	}
	host = rr_alloc(env, sizeof(*host));
	if (!host)
		return NULL;
	memcpy(host->name, name, sizeof(host->name));
	rr_list_append(&shares->hosts, &host->link);
	rr_map_add(&shares->by_name, &host->by_name, rr_shares_hash(shares, name));
	rr_payer_host_init(rr_loop_payers(shares->loop), &host->payer, host->by_name.key);
	return host;
}

/* Returns the host to which the peer's address belongs, and counts one more party (connection) of that host.
 * Makes the host if there is none yet. Returns NULL if there is no memory. */
static struct rr_host *
share_host_of(struct rr_shares *shares, const char *peer)
{
	char name[RR_HOST_NAME];
	struct rr_host *host;

	rr_host_name(peer, name);
	host = rr_shares_host(shares, name);
	if (!host)
		host = share_host_new(shares, name);
	if (host)
		host->parties++;
	return host;
}

/* Frees the memory of a host. The loop calls this when it no longer uses the host. */
static void
share_free_host(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct rr_host, grave));
}

/* Counts one party (connection) less of the host, and frees the host if it was the last one. */
static void
share_host_leave(struct rr_shares *shares, struct rr_host *host)
{
	if (--host->parties > 0)
		return;
	rr_list_remove(&host->link);
	rr_map_remove(&shares->by_name, &host->by_name);
	rr_payer_host_end(rr_loop_payers(shares->loop), &host->payer, host->by_name.key);
	rr_loop_bury(shares->loop, &host->grave, share_free_host);
}

/* ---- Parties ---- */

struct rr_party *
rr_party_new(struct rr_shares *shares, const char *peer, const struct rr_party_ops *ops, void *ctx)
{
	struct rr_party *party = rr_alloc(rr_loop_env(shares->loop), sizeof(*party));

	if (!party)
		return NULL;
	party->host = share_host_of(shares, peer);
	if (!party->host) {
		rr_free(rr_loop_env(shares->loop), party);
		return NULL;
	}
	party->shares = shares;
	rr_payer_init(&party->payer, &party->host->payer);
	party->references = 1;
	party->number = ++shares->made;
	party->ops = ops;
	party->ctx = ctx;
	for (int i = 0; i < RR_RESOURCES; i++) {
		party->accounts[i].party = party;
		rr_list_init(&party->accounts[i].waiters);
		rr_list_init(&party->accounts[i].held);
		rr_list_init(&party->accounts[i].turn);
	}
	rr_list_append(&shares->parties, &party->link);
	return party;
}

/* Frees the memory of a party. The loop calls this when it no longer uses the party. */
static void
share_free_party(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct rr_party, grave));
}

struct rr_party *
rr_party_hold(struct rr_party *party)
{
	if (party)
		party->references++;
	return party;
}

void
rr_party_release(struct rr_party *party)
{
	if (!party || --party->references > 0)
		return;
	for (int i = 0; i < RR_RESOURCES; i++)
		rr_list_remove(&party->accounts[i].turn);
	rr_list_remove(&party->link);
	share_host_leave(party->shares, party->host);
	rr_loop_bury(party->shares->loop, &party->grave, share_free_party);
}

void
rr_party_end(struct rr_party *party, const void *ctx)
{
	if (!party)
		return;
	if (party->ctx == ctx) {
		rr_party_leaves(party);
		party->ops = NULL;
	}
	rr_party_release(party);
}

/* ---- The umpire ---- */

/* Returns how many octets the party, a connection, holds of those pools for whose memory others have been
 * waiting for RR_SHARE_TICK or longer. since[i] says since when some party has been waiting for memory of
 * pool i; it is 0 if no party waits. A pool for which `party` itself waits is not counted. */
static size_t
share_holds_of_wanted(
	const struct rr_shares *shares, const struct rr_party *party, const uint64_t *since, uint64_t now)
{
	size_t held = 0;

	for (int i = 0; i < RR_RESOURCES; i++) {
		const struct rr_account *account = &party->accounts[i];

		if (shares->pools[i] && since[i] > 0 && now - since[i] >= RR_SHARE_TICK && !account->due)
			held += account->used;
	}
	return held;
}

/* Whether the peer of the party, a connection, has sent or taken any octets that count as proof, for any of
 * the pools. */
static bool
share_has_proved(const struct rr_party *party)
{
	for (int i = 0; i < RR_RESOURCES; i++) {
		if (party->accounts[i].proven > 0)
			return true;
	}
	return false;
}

/* Cuts the party (a connection) off if its peer has moved too few octets within a time limit, while the party
 * holds `held` octets that others wait for. A party is not judged if held is 0, or if the peer has nothing to
 * send or to take. As soon as the peer has moved enough octets for one limit, the next period begins and
 * these octets count no more. */
static void
share_judge(struct rr_party *party, size_t held, uint64_t now)
{
	uint64_t limit = share_has_proved(party) ? RR_SHARE_LIMIT : RR_SHARE_LIMIT_NEW, moved;

	if (held == 0 || !party->ops->is_awaited(party->ctx)) {
		party->judged_from = 0;
		return;
	}
	moved = party->ops->moved(party->ctx);
	if (party->judged_from > 0 && moved - party->moved_then < rr_share_least(held) * limit / RR_SECOND) {
		if (now - party->judged_from >= limit)
			party->ops->cut(party->ctx,
				"moves next to nothing, while others wait for the memory that it holds");
		return;
	}
	party->judged_from = now;
	party->moved_then = moved;
}

/* Looks at one party, a connection. If the party has held a buffer for too long, what its peer has sent or
 * taken so far no longer counts for it. Then the function cuts the party off if its peer moves too few octets
 * while others wait for the memory that the party holds. A party whose connection has ended already (ops is
 * NULL) is not cut off. since is that of share_holds_of_wanted(). */
static void
share_look_at(struct rr_party *party, const uint64_t *since, uint64_t now)
{
	size_t held = share_holds_of_wanted(party->shares, party, since, now);

	for (int i = 0; i < RR_RESOURCES; i++) {
		if (party->shares->pools[i])
			rr_pool_doubt(party->shares->pools[i], party);
	}
	if (party->ops)
		share_judge(party, held, now);
}

/* The umpire's timer expired: looks at each party (connection), and cuts off those that do not move data
 * while others wait for the memory that they hold. Arms the timer again if any party waits for memory that is
 * due to it. */
static void
share_tick(struct rr_timer *timer)
{
	struct rr_shares *shares = rr_container(timer, struct rr_shares, timer);
	uint64_t since[RR_RESOURCES] = { 0 }, now = rr_now(rr_loop_env(shares->loop));
	bool wanted = false;
	struct rr_list *link;

	for (int i = 0; i < RR_RESOURCES; i++) {
		if (shares->pools[i])
			since[i] = rr_pool_due_since(shares->pools[i]);
		wanted |= since[i] > 0;
	}
	/* Cutting off a connection may free the party of that connection, and no other party. */
	for (link = shares->parties.next; link != &shares->parties;) {
		struct rr_party *party = rr_party_hold(rr_container(link, struct rr_party, link));

		share_look_at(party, since, now);
		link = link->next;
		rr_party_release(party);
	}
	if (wanted)
		rr_loop_arm(shares->loop, timer, RR_SHARE_TICK);
}

void
rr_shares_wanted(struct rr_shares *shares)
{
	if (!rr_timer_armed(&shares->timer))
		rr_loop_arm(shares->loop, &shares->timer, RR_SHARE_TICK);
}

void
rr_shares_init(struct rr_shares *shares, struct rr_loop *loop)
{
	shares->loop = loop;
	rr_list_init(&shares->parties);
	rr_list_init(&shares->hosts);
	rr_timer_init(&shares->timer, share_tick);
}

void
rr_shares_end(struct rr_shares *shares)
{
	rr_loop_disarm(shares->loop, &shares->timer);
	rr_map_free(&shares->by_name, rr_loop_env(shares->loop));
}
