/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of hosts, and how they begin, restart and end. */
#include "server/nlm/table.h"

#include <string.h>
#include <strings.h>

#include <rpcrdma/error.h>

#include "base/checked.h"

/* In all: octets of owners and handles, ranges, waits. And what a host has of each. */
enum {
	NLM_OCTETS = 8 << 20,
	NLM_RANGES = 262144,
	NLM_WAITS = 4096,
	NLM_OWN_CLAIMS = 32,
	NLM_OWN_RANGES = 128,
	NLM_OWN_WAITS = 16,
	NLM_OWN_OCTETS = 16384,
	NLM_BUCKETS = 4096
};

int
rr_nlm_tables_init(
	struct rr_nlm_tables *tables, const struct rr_env *env, struct rr_locks *locks, uint32_t claims)
{
	int error;

	*tables = (struct rr_nlm_tables){ .env = env, .locks = locks };
	rr_list_init(&tables->all);
	rr_list_init(&tables->sweeps);
	rr_list_init(&tables->unused);
	env->random(env->ctx, tables->secret, sizeof(tables->secret));
	tables->bounds[RR_NLM_CLAIMS] = (struct rr_nlm_bound){ claims, NLM_OWN_CLAIMS };
	tables->bounds[RR_NLM_RANGES] = (struct rr_nlm_bound){ NLM_RANGES, NLM_OWN_RANGES };
	tables->bounds[RR_NLM_WAITS] = (struct rr_nlm_bound){ NLM_WAITS, NLM_OWN_WAITS };
	tables->bounds[RR_NLM_OCTETS] = (struct rr_nlm_bound){ NLM_OCTETS, NLM_OWN_OCTETS };
	error = rr_map_init(&tables->hosts, env, RR_NLM_HOSTS);
	if (error == 0)
		error = rr_map_init(&tables->claims, env, NLM_BUCKETS);
	if (error < 0)
		rr_nlm_tables_free(tables);
	return error;
}

void
rr_nlm_tables_free(struct rr_nlm_tables *tables)
{
	rr_list_for_each (link, &tables->all)
		rr_nlm_host_free(rr_container(link, struct rr_nlm_host, of_all));
	rr_map_free(&tables->claims, tables->env);
	rr_map_free(&tables->hosts, tables->env);
}

/* ---- Hosts ---- */

static uint64_t
host_key(const struct rr_nlm_tables *tables, const struct rr_source *source)
{
	return rr_siphash_64(tables->secret, source->address, sizeof(source->address));
}

/* Returns the next host of an address, from this link on. */
static struct rr_nlm_host *
host_next(struct rr_map_link *link, const struct rr_source *source)
{
	for (; link; link = rr_map_next(link)) {
		struct rr_nlm_host *host = rr_container(link, struct rr_nlm_host, by_address);

		if (memcmp(host->source.address, source->address, sizeof(source->address)) == 0)
			return host;
	}
	return NULL;
}

static struct rr_nlm_host *
host_first(const struct rr_nlm_tables *tables, const struct rr_source *source)
{
	return host_next(rr_map_find(&tables->hosts, host_key(tables, source)), source);
}

/* Of a longer name, the first octets count. */
static uint32_t
host_name_length(struct rpcrdma_bytes name)
{
	return (uint32_t)rr_min(name.length, (uint32_t)RR_NLM_NAME);
}

struct rr_nlm_host *
rr_nlm_host_find(
	const struct rr_nlm_tables *tables, const struct rr_source *source, struct rpcrdma_bytes name)
{
	struct rr_nlm_host *host = host_first(tables, source);

	for (; host; host = host_next(rr_map_next(&host->by_address), source)) {
		if (host->name_length == host_name_length(name) &&
			memcmp(host->name, name.data, host->name_length) == 0)
			return host;
	}
	return NULL;
}

/* Returns the octets up to the first dot. */
static uint32_t
host_label(const char *name, uint32_t length)
{
	const char *dot = memchr(name, '.', length);

	return dot ? (uint32_t)(dot - name) : length;
}

struct rr_nlm_host *
rr_nlm_host_meant(
	const struct rr_nlm_tables *tables, const struct rr_source *source, struct rpcrdma_bytes name)
{
	struct rr_nlm_host *only = host_first(tables, source), *host = only;
	uint32_t label = host_label(name.data, host_name_length(name));

	if (host && !host_next(rr_map_next(&host->by_address), source))
		return only;
	for (; host; host = host_next(rr_map_next(&host->by_address), source)) {
		if (host_label(host->name, host->name_length) == label &&
			strncasecmp(host->name, name.data, label) == 0)
			return host;
	}
	return NULL;
}

/* Makes room for another host: of the address, if it has as many as it may, else of all. A host that has
 * something stays. Returns false if there is no room. */
static bool
host_make_room(struct rr_nlm_tables *tables, const struct rr_source *source)
{
	struct rr_nlm_host *host = host_first(tables, source), *idle = NULL;
	uint32_t count = 0;

	for (; host; host = host_next(rr_map_next(&host->by_address), source), count++)
		if (rr_nlm_host_is_idle(host))
			idle = host;
	if (count >= RR_NLM_HOSTS_ADDRESS && !idle)
		return false;
	if (count < RR_NLM_HOSTS_ADDRESS && tables->host_count < RR_NLM_HOSTS)
		return true;
	for (struct rr_list *link = tables->all.next; !idle && link != &tables->all; link = link->next) {
		host = rr_container(link, struct rr_nlm_host, of_all);
		if (rr_nlm_host_is_idle(host))
			idle = host;
	}
	if (idle)
		rr_nlm_host_free(idle);
	return idle;
}

struct rr_nlm_host *
rr_nlm_host_make(
	struct rr_nlm_tables *tables, const struct rr_source *source, struct rpcrdma_bytes name, uint64_t now)
{
	struct rr_nlm_host *host = rr_nlm_host_find(tables, source, name);
	uint32_t length = host_name_length(name);

	if (!host) {
		host = host_make_room(tables, source) ? rr_alloc(tables->env, sizeof(*host) + length + 1)
						      : NULL;
		if (!host)
			return NULL;
		host->tables = tables;
		host->number = ++tables->host_number;
		host->source = *source;
		host->name_length = length;
		memcpy(host->name, name.data, length);
		rr_list_init(&host->claims);
		rr_list_init(&host->of_all);
		rr_list_init(&host->of_sweeps);
		rr_map_add(&tables->hosts, &host->by_address, host_key(tables, source));
		tables->host_count++;
	}
	host->used = now;
	rr_list_remove(&host->of_all);
	rr_list_append(&tables->all, &host->of_all);
	return host;
}

void
rr_nlm_host_free(struct rr_nlm_host *host)
{
	struct rr_nlm_tables *tables = host->tables;

	rr_map_remove(&tables->hosts, &host->by_address);
	rr_list_remove(&host->of_all);
	rr_list_remove(&host->of_sweeps);
	tables->host_count--;
	rr_free(tables->env, host);
}

void
rr_nlm_host_state(struct rr_nlm_host *host, int32_t state)
{
	if (state == 0 || state == host->state)
		return;
	/* Locks under another state were taken before the host started anew. */
	if (host->state != 0)
		host->epoch++;
	host->state = state;
}

static void
host_sweep(struct rr_nlm_host *host)
{
	host->swept = true;
	host->to_sweep = host->held[RR_NLM_CLAIMS];
	if (host->to_sweep > 0 && rr_list_empty(&host->of_sweeps))
		rr_list_append(&host->tables->sweeps, &host->of_sweeps);
}

void
rr_nlm_host_restarted(struct rr_nlm_host *host, int32_t state)
{
	/* XNFS, 11, of SM_NOTIFY: "the new state number". A number that is known already tells nothing new of
	 * the locks that were taken under it. */
	if (state != host->state)
		host->epoch++;
	host->state = state;
	host_sweep(host);
}

void
rr_nlm_host_end(struct rr_nlm_host *host)
{
	host->epoch++;
	host_sweep(host);
}

uint32_t
rr_nlm_sweep(struct rr_nlm_tables *tables, uint32_t units)
{
	while (units > 0 && !rr_list_empty(&tables->sweeps)) {
		struct rr_nlm_host *host = rr_container(tables->sweeps.next, struct rr_nlm_host, of_sweeps);
		struct rr_nlm_claim *claim;

		if (host->to_sweep == 0 || rr_list_empty(&host->claims)) {
			rr_list_remove(&host->of_sweeps);
			continue;
		}
		claim = rr_container(host->claims.next, struct rr_nlm_claim, link);
		host->to_sweep--;
		units--;
		if (rr_nlm_claim_is_stale(claim)) {
			rr_nlm_claim_end(claim);
			continue;
		}
		rr_list_remove(&claim->link);
		rr_list_append(&host->claims, &claim->link);
	}
	return units;
}
