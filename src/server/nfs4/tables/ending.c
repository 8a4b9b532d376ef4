/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file ends what has very many states or locked ranges: a client, and an open. As others see it, it ends
 * at once: no stateid of it is known any more, and its client can do nothing with it. But the states and
 * ranges end one by one, some in each turn of the loop. Until then they are still in the way of others, who
 * get NFS4ERR_DELAY, and they count for the address of the client.
 */
#include "server/nfs4/tables/owner.h"
#include "server/nfs4/tables/tables.h"

/* The most steps in which states end at once; mostly a client has fewer states and ranges. */
enum { ENDING_AT_ONCE = 256 };

/* Ends states of the client. Returns whether all have ended. */
static bool
ending_states(struct rr_nfs4_client *client, uint32_t *units)
{
	while (!rr_list_empty(&client->states)) {
		if (!rr_nfs4_state_end_part(
			    rr_container(client->states.next, struct rr_nfs4_state, of_client), units))
			return false;
	}
	return true;
}

/* Ends lock states of the open. Returns whether all have ended. */
static bool
ending_locks(struct rr_nfs4_state *open, uint32_t *units)
{
	while (!rr_list_empty(&open->locks)) {
		if (!rr_nfs4_state_end_part(
			    rr_container(open->locks.next, struct rr_nfs4_state, of_open), units))
			return false;
	}
	return true;
}

bool
rr_nfs4_ending_client(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client)
{
	uint32_t units = ENDING_AT_ONCE;

	if (ending_states(client, &units) && rr_nfs4_owners_leave(client, &units))
		return true;
	rr_list_append(&tables->ending_clients, &client->by_lease);
	return false;
}

void
rr_nfs4_ending_open(struct rr_nfs4_state *open)
{
	uint32_t units = ENDING_AT_ONCE;

	if (!rr_list_empty(&open->ending) || ending_locks(open, &units))
		return;
	rr_nfs4_state_hold(open);
	rr_list_append(&open->tables->ending, &open->ending);
}

void
rr_nfs4_ending_go(struct rr_nfs4_tables *tables, uint32_t *units)
{
	while (*units > 0 && !rr_list_empty(&tables->ending)) {
		struct rr_nfs4_state *open = rr_container(tables->ending.next, struct rr_nfs4_state, ending);

		if (!ending_locks(open, units))
			return;
		rr_list_remove(&open->ending);
		rr_nfs4_state_release(open);
	}
	while (*units > 0 && !rr_list_empty(&tables->ending_clients)) {
		struct rr_nfs4_client *client =
			rr_container(tables->ending_clients.next, struct rr_nfs4_client, by_lease);

		if (!ending_states(client, units) || !rr_nfs4_owners_leave(client, units))
			return;
		rr_list_remove(&client->by_lease);
		rr_nfs4_client_gone(client);
	}
}
