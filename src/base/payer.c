/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/payer.h"

#include "base/list.h"

void
rr_payers_init(struct rr_payers *payers, uint64_t credit)
{
	rr_fair_queue_init(&payers->hosts, credit);
}

void
rr_payer_host_init(const struct rr_payers *payers, struct rr_payer_host *host, uint64_t key)
{
	const struct rr_payer_left *left = &payers->left[key % RR_PAYERS_LEFT];

	rr_fair_queue_init(&host->waiting, payers->hosts.credit);
	host->turn.tag = left->key == key ? left->tag : 0;
}

void
rr_payer_host_end(struct rr_payers *payers, const struct rr_payer_host *host, uint64_t key)
{
	struct rr_payer_left *left = &payers->left[key % RR_PAYERS_LEFT];

	if (left->key == key || host->turn.tag > left->tag)
		*left = (struct rr_payer_left){ .key = key, .tag = host->turn.tag };
}

void
rr_payer_init(struct rr_payer *payer, struct rr_payer_host *host)
{
	payer->host = host;
	payer->turn.tag = host->waiting.clock;
}

void
rr_payer_wait(struct rr_payers *payers, struct rr_payer *payer)
{
	rr_fair_queue_wait(&payer->host->waiting, &payer->turn);
	rr_fair_queue_wait(&payers->hosts, &payer->host->turn);
}

void
rr_payer_leave(struct rr_payers *payers, struct rr_payer *payer)
{
	rr_fair_queue_leave(&payer->host->waiting, &payer->turn);
	if (rr_fair_queue_empty(&payer->host->waiting))
		rr_fair_queue_leave(&payers->hosts, &payer->host->turn);
}

struct rr_payer *
rr_payers_first(const struct rr_payers *payers)
{
	struct rr_fair_member *member = rr_fair_queue_first(&payers->hosts);

	if (!member)
		return NULL;
	member = rr_fair_queue_first(&rr_container(member, struct rr_payer_host, turn)->waiting);
	return rr_container(member, struct rr_payer, turn);
}

struct rr_payer *
rr_payers_take(struct rr_payers *payers)
{
	struct rr_fair_member *member = rr_fair_queue_take(&payers->hosts);
	struct rr_payer_host *host;

	if (!member)
		return NULL;
	host = rr_container(member, struct rr_payer_host, turn);
	member = rr_fair_queue_take(&host->waiting);
	if (!rr_fair_queue_empty(&host->waiting))
		rr_fair_queue_wait(&payers->hosts, &host->turn);
	return rr_container(member, struct rr_payer, turn);
}

void
rr_payer_begin(struct rr_payers *payers, const struct rr_payer *payer)
{
	rr_fair_queue_begin(&payer->host->waiting, &payer->turn);
	rr_fair_queue_begin(&payers->hosts, &payer->host->turn);
}

void
rr_payer_charge(struct rr_payers *payers, struct rr_payer *payer, uint64_t time)
{
	rr_fair_queue_charge(&payer->host->waiting, &payer->turn, time);
	rr_fair_queue_charge(&payers->hosts, &payer->host->turn, time);
}

void
rr_payer_refund(struct rr_payers *payers, struct rr_payer *payer, uint64_t time)
{
	rr_fair_queue_refund(&payer->host->waiting, &payer->turn, time);
	rr_fair_queue_refund(&payers->hosts, &payer->host->turn, time);
}
