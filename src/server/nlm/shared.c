/* SPDX-License-Identifier: BSD-3-Clause */
/* What the servers of all threads share, and what was kept from the last start. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rpcrdma/error.h>

#include "base/endian.h"
#include "server/nlm/notice.h"

/* The file with the state of this NSM, and its octets. */
#define SHARED_STATE "state"
enum { SHARED_STATE_SIZE = 4, SHARED_COOKIES = 1024 };

/* Counts the state up: XNFS, 11: it is odd while the host is up, and another one after each start. */
static int
shared_count(struct rr_nlm_shared *shared, struct rr_text *text)
{
	uint8_t octets[SHARED_STATE_SIZE] = { 0 };
	ptrdiff_t got = rr_keep_get(shared->keep, SHARED_STATE, octets, sizeof(octets));
	uint32_t state = got == SHARED_STATE_SIZE ? rr_get_be32(octets) : 0;

	/* A state that was lost may be any: a random one is another than before, most likely. */
	if (state == 0)
		state = rr_random_u32(shared->env) & 0xffffff;
	state = ((state + 2) | 1) & INT32_MAX;
	rr_put_be32(octets, state);
	shared->state = (int32_t)state;
	if (rr_keep_put(shared->keep, SHARED_STATE, octets, sizeof(octets)))
		return 0;
	return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the state of NSM cannot be kept");
}

/* Takes a host of the last start: it may reclaim, and is notified of the restart. */
static int
shared_take(void *ctx, const char *name)
{
	struct rr_nlm_shared *shared = ctx;
	struct rr_source source = { .known = true };
	struct rr_nlm_recorded_host recorded;
	struct rr_nlm_host *host;

	if (strcmp(name, SHARED_STATE) == 0 || !rr_nlm_record_read(shared->keep, name, &recorded))
		return 0;
	memcpy(source.address, recorded.address, sizeof(source.address));
	host = rr_nlm_host_make(&shared->tables, &source,
		(struct rpcrdma_bytes){ recorded.name, recorded.length }, rr_now(shared->env));
	if (!host)
		return 0;
	host->may_reclaim = true;
	host->recorded = RR_NLM_PRESENT;
	shared->config.locks->graces |= RR_LOCKS_GRACE_NLM;
	return rr_nlm_notice_add(shared, &recorded) ? 0 : -RPCRDMA_ERR_NOMEM;
}

static int
shared_recall(struct rr_nlm_shared *shared, struct rr_text *text)
{
	struct rr_text why = { "no memory for locks of version 3" };
	int error = rr_keep_open(shared->env, shared->config.records, &shared->keep, text);

	if (error == 0)
		error = shared_count(shared, text);
	if (error < 0)
		return error;
	error = rr_keep_each(shared->keep, shared_take, shared, &why);
	return error < 0 ? rr_fail(text, error, "%s", why.text) : 0;
}

int
rr_nlm_shared_new(const struct rr_env *env, const struct rr_nlm_config *config, struct rr_nlm_shared **result,
	struct rr_text *text)
{
	struct rr_nlm_shared *shared = rr_alloc(env, sizeof(*shared));
	int error;

	if (!shared)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for locks of version 3");
	shared->env = env;
	shared->config = *config;
	shared->state = (int32_t)(rr_random_u32(env) & 0xffffff) | 1;
	shared->grace_until = rr_now(env) + config->grace;
	rr_list_init(&shared->notices);
	if (gethostname(shared->name, sizeof(shared->name) - 1) != 0 || !shared->name[0])
		strcpy(shared->name, "localhost");
	error = rr_nlm_tables_init(&shared->tables, env, config->locks, config->claims);
	if (error == 0)
		error = rr_map_init(&shared->cookies, env, SHARED_COOKIES);
	if (error < 0)
		rr_fail(text, error, "no memory for locks of version 3");
	else if (config->records)
		error = shared_recall(shared, text);
	if (error < 0) {
		rr_nlm_shared_free(shared);
		return error;
	}
	*result = shared;
	return 0;
}

void
rr_nlm_shared_free(struct rr_nlm_shared *shared)
{
	if (!shared)
		return;
	rr_nlm_notices_free(shared);
	rr_nlm_tables_free(&shared->tables);
	rr_map_free(&shared->cookies, shared->env);
	rr_keep_close(shared->keep);
	rr_free(shared->env, shared);
}

void
rr_nlm_held(struct rr_nlm_shared *shared, struct rr_nlm_held *held)
{
	struct rr_nlm_tables *tables = &shared->tables;

	pthread_mutex_lock(&tables->locks->mutex);
	*held = (struct rr_nlm_held){ .hosts = tables->host_count,
		.claims = tables->claims.count,
		.grace = tables->locks->graces & RR_LOCKS_GRACE_NLM };
	rr_list_for_each (link, &tables->all) {
		const struct rr_nlm_host *host = rr_container(link, struct rr_nlm_host, of_all);

		held->ranges += host->held[RR_NLM_RANGES];
		held->waits += host->held[RR_NLM_WAITS];
	}
	pthread_mutex_unlock(&tables->locks->mutex);
}
