/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/crew_share.h"

#include <rpcrdma/error.h>
#include <string.h>

enum {
	AVERAGED = 8, /* the average weighs about this many jobs */
	BUCKETS = 256,
	KEPT = 64 /* accounts, and hosts, whose memory is kept for reuse at most */
};

int
rr_crew_accounts_init(struct rr_crew_accounts *accounts, const struct rr_env *env)
{
	rr_cache_init(&accounts->free_owners, env, sizeof(struct rr_crew_owner), KEPT);
	rr_cache_init(&accounts->free_hosts, env, sizeof(struct rr_crew_host), KEPT);
	if (rr_map_init(&accounts->owners, env, BUCKETS) < 0 ||
		rr_map_init(&accounts->hosts, env, BUCKETS) < 0)
		return -RPCRDMA_ERR_NOMEM;
	return 0;
}

void
rr_crew_accounts_end(struct rr_crew_accounts *accounts)
{
	const struct rr_env *env = accounts->free_owners.env;

	rr_cache_end(&accounts->free_owners);
	rr_cache_end(&accounts->free_hosts);
	rr_map_free(&accounts->owners, env);
	rr_map_free(&accounts->hosts, env);
}

void
rr_crew_share_init(struct rr_crew_share *share)
{
	*share = (struct rr_crew_share){ .others.jobs = 0 };
	rr_payers_init(&share->payers, RR_CREW_CREDIT);
	rr_payer_host_init(&share->payers, &share->other_host.payer, 0);
	rr_payer_init(&share->others.payer, &share->other_host.payer);
	share->others.payer.ctx = &share->others;
	rr_list_init(&share->others.ready);
}

/* Returns the key of a number in a file system. */
static uint64_t
share_key(uint64_t number, uint32_t index)
{
	return number << RR_CREW_INDEX_BITS | index;
}

/* Returns the host with that key, and counts one more account of it; makes it if there is none. Returns NULL
 * if there is no memory. */
static struct rr_crew_host *
share_host(struct rr_crew_accounts *accounts, const struct rr_crew_share *share, uint64_t key)
{
	struct rr_map_link *found = rr_map_find(&accounts->hosts, key);
	struct rr_crew_host *host = found ? rr_container(found, struct rr_crew_host, by_key)
					  : rr_cache_get(&accounts->free_hosts);

	if (!found && host) {
		*host = (struct rr_crew_host){ .owners = 0 };
		rr_payer_host_init(&share->payers, &host->payer, key);
		rr_map_add(&accounts->hosts, &host->by_key, key);
	}
	if (host)
		host->owners++;
	return host;
}

/* Counts one account less of the host, and frees it with its last account. */
static void
share_leave_host(struct rr_crew_accounts *accounts, struct rr_crew_share *share, struct rr_crew_host *host)
{
	if (--host->owners > 0)
		return;
	rr_payer_host_end(&share->payers, &host->payer, host->by_key.key);
	rr_map_remove(&accounts->hosts, &host->by_key);
	rr_cache_put(&accounts->free_hosts, host);
}

/* Makes an account. Returns NULL if there is no memory. */
static struct rr_crew_owner *
share_new(struct rr_crew_accounts *accounts, struct rr_crew_share *share, uint64_t host, uint64_t key)
{
	struct rr_crew_owner *owner = rr_cache_get(&accounts->free_owners);

	if (!owner)
		return NULL;
	*owner = (struct rr_crew_owner){ .host = share_host(accounts, share, host) };
	if (!owner->host) {
		rr_cache_put(&accounts->free_owners, owner);
		return NULL;
	}
	rr_payer_init(&owner->payer, &owner->host->payer);
	owner->payer.ctx = owner;
	rr_list_init(&owner->ready);
	rr_map_add(&accounts->owners, &owner->by_key, key);
	share->owners++;
	return owner;
}

struct rr_crew_owner *
rr_crew_share_join(struct rr_crew_accounts *accounts, struct rr_crew_share *share, uint32_t index,
	uint64_t host, uint64_t owner)
{
	uint64_t key = share_key(owner, index);
	struct rr_map_link *found = owner > 0 ? rr_map_find(&accounts->owners, key) : NULL;
	struct rr_crew_owner *account = NULL;

	if (found)
		account = rr_container(found, struct rr_crew_owner, by_key);
	else if (owner > 0)
		account = share_new(accounts, share, share_key(host, index), key);
	if (!account)
		account = &share->others;
	account->jobs++;
	return account;
}

void
rr_crew_share_leave(
	struct rr_crew_accounts *accounts, struct rr_crew_share *share, struct rr_crew_owner *owner)
{
	if (--owner->jobs > 0 || owner == &share->others)
		return;
	rr_map_remove(&accounts->owners, &owner->by_key);
	share_leave_host(accounts, share, owner->host);
	rr_cache_put(&accounts->free_owners, owner);
	share->owners--;
}

uint64_t
rr_crew_share_begin(struct rr_crew_share *share, struct rr_crew_owner *owner)
{
	rr_payer_charge(&share->payers, &owner->payer, share->average);
	return share->average;
}

void
rr_crew_share_end(struct rr_crew_share *share, struct rr_crew_owner *owner, uint64_t charged, uint64_t spent)
{
	if (spent > charged)
		rr_payer_charge(&share->payers, &owner->payer, spent - charged);
	else
		rr_payer_refund(&share->payers, &owner->payer, charged - spent);
	share->average =
		share->average == 0 ? spent : share->average - share->average / AVERAGED + spent / AVERAGED;
}
