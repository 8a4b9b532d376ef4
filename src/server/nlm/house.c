/* SPDX-License-Identifier: BSD-3-Clause */
/* The mutex of the tables, and the housekeeping of a server: what functions of the tables leave over, and
 * opens of claims that have ended. It is done in turns of the loop, a part in each. */
#include "server/nlm/server_private.h"

/* The most that is done in a turn: waits and claims, and opens that are closed. */
enum { HOUSE_UNITS = 256, HOUSE_CLOSES = 64 };

struct rr_nlm_tables *
rr_nlm_enter(struct rr_nlm_server *server)
{
	pthread_mutex_lock(&server->shared->config.locks->mutex);
	return &server->shared->tables;
}

static bool
house_waits(const struct rr_nlm_tables *tables)
{
	return !rr_list_empty(&tables->locks->to_look) || !rr_list_empty(&tables->sweeps) ||
	       !rr_list_empty(&tables->unused);
}

/* Closes at most so many opens of claims that have ended. The mutex is held, but not while a file is closed.
 */
static void
house_close(struct rr_nlm_server *server, uint32_t most)
{
	struct rr_nlm_tables *tables = &server->shared->tables;

	while (most-- > 0 && !rr_list_empty(&tables->unused)) {
		struct rr_nlm_claim *claim =
			rr_container(rr_list_pop(&tables->unused), struct rr_nlm_claim, link);

		pthread_mutex_unlock(&tables->locks->mutex);
		rr_vfs_close(server->vfs, claim->open, NULL);
		rr_free(server->env, claim);
		pthread_mutex_lock(&tables->locks->mutex);
	}
}

void
rr_nlm_leave(struct rr_nlm_server *server)
{
	struct rr_nlm_tables *tables = &server->shared->tables;
	bool work;

	/* No turn of the loop follows. */
	if (server->ends)
		house_close(server, UINT32_MAX);
	work = house_waits(tables);
	pthread_mutex_unlock(&tables->locks->mutex);
	if (work && !server->ends && !rr_timer_armed(&server->house))
		rr_loop_arm(server->loop, &server->house, 0);
}

/* Does a part of what is left over, and comes again in the next turn if there is more. */
static void
house_keep(struct rr_timer *timer)
{
	struct rr_nlm_server *server = rr_container(timer, struct rr_nlm_server, house);
	struct rr_nlm_tables *tables = rr_nlm_enter(server);

	rr_nlm_sweep(tables, rr_locks_go(tables->locks, HOUSE_UNITS));
	house_close(server, HOUSE_CLOSES);
	rr_nlm_leave(server);
}

void
rr_nlm_house_init(struct rr_nlm_server *server)
{
	rr_timer_init(&server->house, house_keep);
}
