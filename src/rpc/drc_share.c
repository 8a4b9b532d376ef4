/* SPDX-License-Identifier: BSD-3-Clause */
/* The shares are ranked in heaps: a host's connections in the heap of the host, and all hosts in one heap. */
#include "rpc/drc_share.h"

/* Tells whether answers of share a are forgotten before answers of share b. A share is the part of the cache
 * that one connection or one host uses. The share with more excess comes first. If the excess is equal, that
 * share comes first that was made, or lost an answer, longer ago. */
static bool
share_is_heavier(struct rr_heap_link *link_a, struct rr_heap_link *link_b)
{
	const struct rr_drc_share *a = rr_container(link_a, struct rr_drc_share, rank);
	const struct rr_drc_share *b = rr_container(link_b, struct rr_drc_share, rank);

	return a->excess != b->excess ? a->excess > b->excess : a->order < b->order;
}

int
rr_drc_shares_init(struct rr_drc_shares *shares, const struct rr_env *env, uint32_t entries, uint64_t little)
{
	int error = rr_map_init(&shares->connections, env, entries);

	shares->env = env;
	shares->little = little;
	rr_heap_init(&shares->heaviest, share_is_heavier);
	return error ? error : rr_map_init(&shares->hosts, env, entries);
}

void
rr_drc_shares_end(struct rr_drc_shares *shares)
{
	rr_map_free(&shares->connections, shares->env);
	rr_map_free(&shares->hosts, shares->env);
}

/* Returns the heap in which the share is ranked: for the share of a connection, the heap of its host; for the
 * share of a host, the heap of all hosts. */
static struct rr_heap *
share_heap_of(struct rr_drc_shares *shares, struct rr_drc_share *share)
{
	return share->host ? &share->host->members : &shares->heaviest;
}

/* Changes the weight of a share when it got or lost an answer, and moves the share to its new place in its
 * heap. A connection with little (shares->little) has no excess, so that such connections count as equal. A
 * share that lost an answer is ranked behind those with the same excess. */
static void
share_set_weight(struct rr_drc_shares *shares, struct rr_drc_share *share, uint64_t weight)
{
	rr_heap_remove(share_heap_of(shares, share), &share->rank);
	if (weight < share->weight)
		share->order = ++shares->order;
	share->weight = weight;
	share->excess = share->host && weight <= shares->little ? 0 : weight;
	rr_heap_add(share_heap_of(shares, share), &share->rank);
}

/* Frees the share if it has no answers and, as the share of a host, no shares of connections. */
static void
share_end_if_empty(struct rr_drc_shares *shares, struct rr_drc_share *share)
{
	if (share->weight > 0 || share->members.first)
		return;
	rr_heap_remove(share_heap_of(shares, share), &share->rank);
	rr_map_remove(share->host ? &shares->connections : &shares->hosts, &share->link);
	rr_free(shares->env, share);
}

/* Returns the share with that hash, and makes it if it does not exist yet. To find the share of a connection,
 * host is the share of its host; to find the share of a host, host is NULL. Returns NULL if there is no
 * memory. */
static struct rr_drc_share *
share_of(struct rr_drc_shares *shares, struct rr_drc_share *host, uint64_t hash)
{
	struct rr_map *map = host ? &shares->connections : &shares->hosts;
	struct rr_map_link *found = rr_map_find(map, hash);
	struct rr_drc_share *share;

	if (found)
		return rr_container(found, struct rr_drc_share, link);
	share = rr_alloc(shares->env, sizeof(*share));
	if (!share)
		return NULL;
	share->host = host;
	share->order = ++shares->order;
	rr_heap_init(&share->members, share_is_heavier);
	rr_list_init(&share->answers);
	rr_map_add(map, &share->link, hash);
	rr_heap_add(share_heap_of(shares, share), &share->rank);
	return share;
}

struct rr_drc_share *
rr_drc_share_add(struct rr_drc_shares *shares, uint64_t connection, uint64_t host, struct rr_list *answer,
	uint64_t weight)
{
	struct rr_drc_share *whole = share_of(shares, NULL, host), *share;

	if (!whole)
		return NULL;
	share = share_of(shares, whole, connection);
	if (!share) {
		share_end_if_empty(shares, whole);
		return NULL;
	}
	share_set_weight(shares, share, share->weight + weight);
	share_set_weight(shares, whole, whole->weight + weight);
	rr_list_append(&share->answers, answer);
	return share;
}

void
rr_drc_share_remove(
	struct rr_drc_shares *shares, struct rr_drc_share *share, struct rr_list *answer, uint64_t weight)
{
	struct rr_drc_share *host = share->host;

	rr_list_remove(answer);
	share_set_weight(shares, share, share->weight - weight);
	share_set_weight(shares, host, host->weight - weight);
	share_end_if_empty(shares, share);
	share_end_if_empty(shares, host);
}

struct rr_list *
rr_drc_shares_first(const struct rr_drc_shares *shares)
{
	const struct rr_drc_share *share;

	if (!shares->heaviest.first)
		return NULL;
	/* The share of the heaviest host; then that of its heaviest connection, whose answers are listed. A
	 * host in the heap has at least one connection, and that has at least one answer. */
	share = rr_container(shares->heaviest.first, struct rr_drc_share, rank);
	share = rr_container(share->members.first, struct rr_drc_share, rank);
	return share->answers.next;
}
