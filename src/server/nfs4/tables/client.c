/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of clients: EXCHANGE_ID, leases, and which client ends if the table is full. RFC 8881, sections
 * 8.3 and 18.35. */
#include "server/nfs4/tables/client_private.h"

#include <string.h>

#include <rpcrdma/error.h>

#include "base/checked.h"

/*
 * The events that move a record from phase to phase. Every cell of client_next is filled; a record that has
 * ended stays so.
 */
enum client_event {
	CLIENT_CONFIRM,
	CLIENT_RENEW,
	CLIENT_LEASE_OVER,
	CLIENT_LEASE_OVER_STATELESS,
	CLIENT_UNRECORDED,
	CLIENT_END,
	CLIENT_EVENTS
};

static const enum rr_nfs4_client_phase client_next[RR_NFS4_ENDED + 1][CLIENT_EVENTS] = {
	[RR_NFS4_UNCONFIRMED] = { RR_NFS4_CONFIRMED, RR_NFS4_UNCONFIRMED, RR_NFS4_ENDED, RR_NFS4_ENDED,
		RR_NFS4_UNCONFIRMED, RR_NFS4_ENDED },
	[RR_NFS4_CONFIRMED] = { RR_NFS4_CONFIRMED, RR_NFS4_CONFIRMED, RR_NFS4_LAPSING, RR_NFS4_ENDED,
		RR_NFS4_CONFIRMED, RR_NFS4_ENDED },
	[RR_NFS4_LAPSING] = { RR_NFS4_CONFIRMED, RR_NFS4_CONFIRMED, RR_NFS4_LAPSING, RR_NFS4_ENDED,
		RR_NFS4_COURTESY, RR_NFS4_ENDED },
	[RR_NFS4_COURTESY] = { RR_NFS4_CONFIRMED, RR_NFS4_CONFIRMED, RR_NFS4_COURTESY, RR_NFS4_ENDED,
		RR_NFS4_COURTESY, RR_NFS4_ENDED },
	[RR_NFS4_ENDED] = { RR_NFS4_ENDED, RR_NFS4_ENDED, RR_NFS4_ENDED, RR_NFS4_ENDED, RR_NFS4_ENDED,
		RR_NFS4_ENDED },
};

void
rr_nfs4_client_gone(struct rr_nfs4_client *client)
{
	rr_nfs4_origin_leave(&client->holding);
	rr_nfs4_client_release(client);
}

/* Removes the record of a client that has ended from the table, calls the table's ended(), which ends the
 * sessions and states of the client, and releases the record, unless ended() will do that later. */
static void
client_leave(struct rr_nfs4_client *client)
{
	struct rr_nfs4_clients *clients = client->table;

	rr_map_remove(&clients->by_id, &client->by_id);
	rr_map_remove(&clients->by_owner, &client->by_owner);
	rr_list_remove(&client->by_lease);
	clients->count--;
	if (!clients->ended || clients->ended(clients->ctx, client))
		rr_nfs4_client_gone(client);
}

/*
 * Moves the client to the phase that follows by the event, and does what the new phase requires. A client
 * that ends leaves the table, and may be freed here. For a client whose lease is over (LAPSING), the removal
 * of its record on the disk begins by lapsed(); without lapsed() there is no such record, and the client
 * becomes a courtesy client at once. back() is called if a client confirms or renews after its lease was
 * over.
 */
static void
client_set_phase(struct rr_nfs4_client *client, enum client_event event)
{
	enum rr_nfs4_client_phase old = client->phase;

	client->phase = client_next[old][event];
	if (client->phase == old)
		return;
	if (client->phase == RR_NFS4_ENDED)
		client_leave(client);
	else if (client->phase == RR_NFS4_LAPSING && !client->table->lapsed)
		rr_nfs4_client_unrecorded(client);
	else if (client->phase == RR_NFS4_LAPSING)
		client->table->lapsed(client->table->ctx, client);
	else if (client->phase == RR_NFS4_CONFIRMED && old != RR_NFS4_UNCONFIRMED && client->table->back)
		client->table->back(client->table->ctx, client);
}

int
rr_nfs4_clients_init(struct rr_nfs4_clients *clients, const struct rr_env *env, uint64_t lease, uint32_t max)
{
	memset(clients, 0, sizeof(*clients));
	clients->env = env;
	clients->lease = lease;
	clients->max = max;
	clients->secret = rr_random_u64(env);
	env->random(env->ctx, clients->numbers.secret, sizeof(clients->numbers.secret));
	rr_list_init(&clients->leases);
	rr_nfs4_origin_init(&clients->nobody);
	if (rr_map_init(&clients->by_id, env, max) < 0 || rr_map_init(&clients->by_owner, env, max) < 0 ||
		rr_nfs4_addresses_init(&clients->addresses, env) < 0)
		return -RPCRDMA_ERR_NOMEM;
	return 0;
}

void
rr_nfs4_clients_free(struct rr_nfs4_clients *clients)
{
	rr_list_for_each (link, &clients->leases)
		client_set_phase(rr_container(link, struct rr_nfs4_client, by_lease), CLIENT_END);
	rr_nfs4_origin_end(&clients->nobody);
	rr_nfs4_addresses_free(&clients->addresses);
	rr_map_free(&clients->by_id, clients->env);
	rr_map_free(&clients->by_owner, clients->env);
}

/* Returns the FNV-1a hash of the octets of the owner. The hash starts from a secret, so that a peer cannot
 * choose many owners that have the same hash. */
static uint64_t
client_owner_hash(const struct rr_nfs4_clients *clients, const void *data, uint32_t length)
{
	uint64_t hash = clients->secret ^ UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < length; i++)
		hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Tells whether the lease of the client is not over by the clock. `now` may be earlier than the last renewal:
 * a thread may have asked for the time before it got the lock of the tables, and another thread after that.
 */
static bool
client_lease_runs(const struct rr_nfs4_client *client, uint64_t now)
{
	return now < client->renewed || now - client->renewed < client->table->lease;
}

/* Tells whether the client has come from this address. */
static bool
client_is_from(const struct rr_nfs4_client *client, const struct rr_nfs4_origin *origin)
{
	uint32_t count = (uint32_t)rr_min(client->address_count, RR_NFS4_CLIENT_ADDRESSES);

	for (uint32_t i = 0; origin->address && i < count; i++) {
		if (client->addresses[i] == rr_nfs4_origin_key(origin))
			return true;
	}
	return false;
}

void
rr_nfs4_client_note(struct rr_nfs4_client *client, const struct rr_nfs4_origin *origin)
{
	if (origin->address && !client_is_from(client, origin))
		client->addresses[client->address_count++ % RR_NFS4_CLIENT_ADDRESSES] =
			rr_nfs4_origin_key(origin);
}

/* Returns the record of the owner, of a client of version 4.0 if `plain` is set: see
 * rr_nfs4_client_of_owner(). */
static struct rr_nfs4_client *
client_find_owner(const struct rr_nfs4_clients *clients, struct rpcrdma_bytes owner, bool plain,
	const struct rr_nfs4_origin *from)
{
	struct rr_map_link *link =
		rr_map_find(&clients->by_owner, client_owner_hash(clients, owner.data, owner.length));

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_client *client = rr_container(link, struct rr_nfs4_client, by_owner);

		if ((client->phase == RR_NFS4_UNCONFIRMED) == (from != NULL) &&
			rr_nfs4_client_is_plain(client) == plain && client->owner_length == owner.length &&
			memcmp(client->owner, owner.data, owner.length) == 0 &&
			(!from || client_is_from(client, from)))
			return client;
	}
	return NULL;
}

struct rr_nfs4_client *
rr_nfs4_client_of_owner(const struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	const struct rr_nfs4_origin *from)
{
	return client_find_owner(clients, exchange->owner->co_ownerid, exchange->plain, from);
}

/* Tells whether the client is idle. It is idle if it is unconfirmed, if it has no opens, locks or
 * delegations, or if it is a courtesy client (its lease is over, and its record has been removed from the
 * disk). */
static bool
client_is_idle(const struct rr_nfs4_client *client)
{
	return (client->phase != RR_NFS4_CONFIRMED && client->phase != RR_NFS4_LAPSING) ||
	       client->state_count == 0;
}

/* Returns the client that has to end so that a new client of `origin` gets a record; NULL if no client has to
 * end. An idle client is preferred. Among equals, a client whose address or connection has more clients is
 * preferred, then the client whose lease was renewed longest ago: the list begins with that client. */
static struct rr_nfs4_client *
client_to_go(const struct rr_nfs4_clients *clients, const struct rr_nfs4_origin *origin)
{
	struct rr_nfs4_client *found = NULL;
	bool found_idle = false;

	rr_list_for_each (link, &clients->leases) {
		struct rr_nfs4_client *client = rr_container(link, struct rr_nfs4_client, by_lease);
		bool idle = client_is_idle(client);

		if ((found_idle && !idle) || !rr_nfs4_origin_yields(&client->holding, origin, idle))
			continue;
		if (found && idle == found_idle &&
			!rr_nfs4_origin_is_heavier(&client->holding, &found->holding))
			continue;
		found = client;
		found_idle = idle;
	}
	return found;
}

/* Makes room for a new client of this origin: if the table is full, ends another client. Returns false if the
 * table is full and no client can be ended for the new one. */
static bool
client_make_room(struct rr_nfs4_clients *clients, const struct rr_nfs4_origin *origin)
{
	struct rr_nfs4_client *client;

	if (clients->count < clients->max)
		return true;
	client = client_to_go(clients, origin);
	if (client)
		client_set_phase(client, CLIENT_END);
	return client != NULL;
}

struct rr_nfs4_origin *
rr_nfs4_client_origin(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange)
{
	if (exchange->origin)
		return exchange->origin;
	return rr_nfs4_origin_join(&clients->addresses, &clients->nobody, "") ? &clients->nobody : NULL;
}

/* Returns a client ID that no client has, and that nobody can guess: CREATE_SESSION gives whoever knows it
 * the session of the client (RFC 8881, 18.36.4, phase 2). */
static clientid4
client_new_id(const struct rr_nfs4_clients *clients)
{
	clientid4 id;

	do
		id = rr_random_u64(clients->env);
	while (id == 0 || rr_map_find(&clients->by_id, id));
	return id;
}

/* ---- SP4_MACH_CRED ---- */

/* What every client gets: RFC 8881, 18.35.3: "Normally, the server's result equals the client's argument, but
 * the result MAY be different." DELEGPURGE is enforced as well, as nobody may send it here: RFC
 * 8881, 18.35.3: "the result spo_must_enforce MUST include the operations the client requested from that
 * set." What may be allowed lets go of state. */
#define CLIENT_OP(op) (UINT32_C(1) << ((op) % 32))
static const struct rr_nfs4_machine_ops client_machine_ops = {
	.enforce = { CLIENT_OP(OP_DELEGPURGE),
		CLIENT_OP(OP_BIND_CONN_TO_SESSION) | CLIENT_OP(OP_EXCHANGE_ID) |
			CLIENT_OP(OP_CREATE_SESSION) | CLIENT_OP(OP_DESTROY_SESSION) |
			CLIENT_OP(OP_DESTROY_CLIENTID) },
	.allow = { CLIENT_OP(OP_CLOSE) | CLIENT_OP(OP_DELEGRETURN) | CLIENT_OP(OP_LOCKU) |
			   CLIENT_OP(OP_OPEN_DOWNGRADE),
		CLIENT_OP(OP_FREE_STATEID) | CLIENT_OP(OP_TEST_STATEID) },
};

/* Notes what state protection the client has asked for. */
static void
client_note_machine(struct rr_nfs4_client *client, const state_protect_ops4 *asked)
{
	struct rr_nfs4_machine_ops *ops = &client->machine_ops;
	const bitmap4 *allow = asked ? &asked->spo_must_allow : NULL;
	const bitmap4 *enforce = asked ? &asked->spo_must_enforce : NULL;

	client->machine = asked != NULL;
	if (!asked)
		return;
	*ops = client_machine_ops;
	if (enforce->count == 0 || !(enforce->values[0] & CLIENT_OP(OP_DELEGPURGE)))
		ops->enforce[0] = 0;
	for (uint32_t i = 0; i < RR_NFS4_OPS_WORDS; i++)
		ops->allow[i] &= i < allow->count ? allow->values[i] : 0;
}

bool
rr_nfs4_client_may_manage(const struct rr_nfs4_client *client, const struct rr_caller *caller)
{
	return rr_caller_same_principal(&client->principal, caller) &&
	       (!client->machine || caller->protection != RR_CALLER_OPEN);
}

bool
rr_nfs4_client_must_allow(const struct rr_nfs4_client *client, const struct rr_caller *caller, uint32_t op)
{
	return client->machine && op < 32 * RR_NFS4_OPS_WORDS &&
	       client->machine_ops.allow[op / 32] & CLIENT_OP(op) &&
	       rr_nfs4_client_may_manage(client, caller);
}

/* ---- EXCHANGE_ID ---- */

/* Makes an unconfirmed record for the owner, whose client comes from `origin`, and stores it in *made;
 * another client ends if the table is full. Returns NFS4ERR_DELAY if there is no memory, or no room in the
 * table. */
static nfsstat4
client_add_record(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	struct rr_nfs4_origin *origin, uint64_t now, struct rr_nfs4_client **made)
{
	const client_owner4 *owner = exchange->owner;
	struct rr_nfs4_client *client;

	if (!client_make_room(clients, origin))
		return NFS4ERR_DELAY;
	client = rr_alloc(clients->env, sizeof(*client) + owner->co_ownerid.length);
	if (!client)
		return NFS4ERR_DELAY;
	if (!rr_caller_keep(clients->env, exchange->caller, &client->principal)) {
		rr_free(clients->env, client);
		return NFS4ERR_DELAY;
	}
	client->table = clients;
	client->phase = RR_NFS4_UNCONFIRMED;
	client_note_machine(client, exchange->machine);
	memcpy(client->verifier, owner->co_verifier, sizeof(client->verifier));
	client->owner_length = owner->co_ownerid.length;
	memcpy(client->owner, owner->co_ownerid.data, owner->co_ownerid.length);
	client->renewed = now;
	client->holders = 1;
	/* RFC 8881, 18.36.4: "records a contrived CREATE_SESSION result with a "cached" result of
	 * NFS4ERR_SEQ_MISORDERED" */
	client->created.csr_status = NFS4ERR_SEQ_MISORDERED;
	rr_list_init(&client->sessions);
	rr_list_init(&client->states);
	rr_list_init(&client->waits);
	rr_list_init(&client->plain.owners);
	rr_list_init(&client->plain.idle);
	rr_nfs4_client_note(client, origin);
	rr_map_add(&clients->by_id, &client->by_id,
		exchange->plain ? rr_nfs4_client_plain_id(clients, client) : client_new_id(clients));
	rr_map_add(&clients->by_owner, &client->by_owner,
		client_owner_hash(clients, client->owner, client->owner_length));
	rr_list_append(&clients->leases, &client->by_lease);
	rr_nfs4_origin_enter(origin, &client->holding);
	clients->count++;
	*made = client;
	return NFS4_OK;
}

nfsstat4
rr_nfs4_client_replace(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	struct rr_nfs4_origin *origin, uint64_t now, struct rr_nfs4_client **made)
{
	/* The unconfirmed records from other addresses are kept, so that nobody can end the record of another
	 * client before it is confirmed. */
	struct rr_nfs4_client *unconfirmed = rr_nfs4_client_of_owner(clients, exchange, origin);

	if (unconfirmed)
		client_set_phase(unconfirmed, CLIENT_END);
	return client_add_record(clients, exchange, origin, now, made);
}

bool
rr_nfs4_client_is_taken(const struct rr_nfs4_client *confirmed, const struct rr_caller *caller, uint64_t now)
{
	return !rr_caller_same_principal(&confirmed->principal, caller) &&
	       rr_nfs4_client_has_state(confirmed) && client_lease_runs(confirmed, now);
}

/* Returns the status of an EXCHANGE_ID with EXCHGID4_FLAG_UPD_CONFIRMED_REC_A: it succeeds if the owner has a
 * confirmed record with the same verifier and principal (RFC 8881, 18.35.4, cases 6 to 9). confirmed: that
 * record; NULL if there is none. */
static nfsstat4
client_update_record(struct rr_nfs4_client *confirmed, const struct rr_nfs4_exchange *exchange)
{
	if (!confirmed)
		return NFS4ERR_NOENT; /* 7: no confirmed record */
	if (memcmp(confirmed->verifier, exchange->owner->co_verifier, sizeof(confirmed->verifier)) != 0)
		return NFS4ERR_NOT_SAME; /* 8: wrong verifier */
	if (!rr_caller_same_principal(&confirmed->principal, exchange->caller))
		return NFS4ERR_PERM; /* 9: wrong principal */
	/* RFC 8881, 2.10.8.3: the operation is in spo_must_enforce. */
	if (!rr_nfs4_client_may_manage(confirmed, exchange->caller))
		return NFS4ERR_PERM;
	return NFS4_OK; /* 6: update */
}

/*
 * Answers an EXCHANGE_ID without EXCHGID4_FLAG_UPD_CONFIRMED_REC_A whose owner has a confirmed record: RFC
 * 8881, 18.35.4, cases 2, 3 and 5. *same is set to true if the client keeps its client ID; if *same is false,
 * the caller makes a new record. If the confirmed record belongs to another principal, the record ends; but
 * if it has sessions, opens or locks and its lease is not over, it stays and NFS4ERR_CLID_INUSE is returned.
 */
static nfsstat4
client_meet_confirmed(
	struct rr_nfs4_client *confirmed, const struct rr_nfs4_exchange *exchange, uint64_t now, bool *same)
{
	*same = false;
	/* 3: "Client Collision" */
	if (rr_nfs4_client_is_taken(confirmed, exchange->caller, now))
		return NFS4ERR_CLID_INUSE;
	if (!rr_caller_same_principal(&confirmed->principal, exchange->caller)) {
		client_set_phase(confirmed, CLIENT_END);
		return NFS4_OK;
	}
	/* 2: "Non-Update on Existing Client ID"; 5: "Client Restart", if the verifier differs. */
	*same = memcmp(confirmed->verifier, exchange->owner->co_verifier, sizeof(confirmed->verifier)) == 0;
	return NFS4_OK;
}

nfsstat4
rr_nfs4_exchange_id(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange, uint64_t now,
	struct rr_nfs4_client **client)
{
	struct rr_nfs4_client *confirmed = rr_nfs4_client_of_owner(clients, exchange, NULL);
	struct rr_nfs4_origin *origin = rr_nfs4_client_origin(clients, exchange);
	nfsstat4 status = origin ? NFS4_OK : NFS4ERR_DELAY;
	bool same = exchange->update;

	*client = confirmed;
	if (exchange->update)
		status = client_update_record(confirmed, exchange);
	else if (status == NFS4_OK && confirmed)
		status = client_meet_confirmed(confirmed, exchange, now, &same);
	if (status != NFS4_OK)
		return status;
	if (same) {
		if (exchange->origin)
			rr_nfs4_client_note(confirmed, exchange->origin);
		return NFS4_OK;
	}
	/* Cases 1 and 4: "the server deletes the unconfirmed record" and makes a new record. */
	return rr_nfs4_client_replace(clients, exchange, origin, now, client);
}

struct rr_nfs4_client *
rr_nfs4_client_find(const struct rr_nfs4_clients *clients, clientid4 id)
{
	struct rr_map_link *link = rr_map_find(&clients->by_id, id);
	struct rr_nfs4_client *client = link ? rr_container(link, struct rr_nfs4_client, by_id) : NULL;

	return client && !rr_nfs4_client_is_plain(client) ? client : NULL;
}

clientid4
rr_nfs4_client_id(const struct rr_nfs4_client *client)
{
	return client->by_id.key;
}

bool
rr_nfs4_client_is_of(const struct rr_nfs4_client *client, const struct rr_caller *caller,
	const struct rr_nfs4_origin *origin)
{
	return rr_nfs4_client_may_manage(client, caller) && client_is_from(client, origin);
}

/* Returns the confirmed record that the client is to replace; NULL if there is none. */
static struct rr_nfs4_client *
client_before(const struct rr_nfs4_client *client)
{
	return client->phase == RR_NFS4_UNCONFIRMED
		       ? client_find_owner(client->table,
				 (struct rpcrdma_bytes){ client->owner, client->owner_length },
				 rr_nfs4_client_is_plain(client), NULL)
		       : NULL;
}

bool
rr_nfs4_client_may_confirm(const struct rr_nfs4_client *client, uint64_t now)
{
	const struct rr_nfs4_client *old = client_before(client);

	return !old || !rr_nfs4_client_is_taken(old, &client->principal, now);
}

void
rr_nfs4_client_confirm(struct rr_nfs4_client *client, uint64_t now)
{
	struct rr_nfs4_client *old = client_before(client);

	if (old)
		client_set_phase(old, CLIENT_END);
	client_set_phase(client, CLIENT_CONFIRM);
	rr_nfs4_client_renew(client, now);
}

void
rr_nfs4_client_renew(struct rr_nfs4_client *client, uint64_t now)
{
	client_set_phase(client, CLIENT_RENEW);
	if (client->phase == RR_NFS4_ENDED)
		return;
	client->renewed = now;
	rr_list_remove(&client->by_lease);
	rr_list_append(&client->table->leases, &client->by_lease);
}

bool
rr_nfs4_client_in_lease(const struct rr_nfs4_client *client, uint64_t now)
{
	return client->phase == RR_NFS4_CONFIRMED && client_lease_runs(client, now);
}

void
rr_nfs4_client_unrecorded(struct rr_nfs4_client *client)
{
	client_set_phase(client, CLIENT_UNRECORDED);
}

void
rr_nfs4_client_end(struct rr_nfs4_client *client)
{
	client_set_phase(client, CLIENT_END);
}

uint64_t
rr_nfs4_clients_expire(struct rr_nfs4_clients *clients, uint64_t now)
{
	rr_list_for_each (link, &clients->leases) {
		struct rr_nfs4_client *client = rr_container(link, struct rr_nfs4_client, by_lease);

		if (client_lease_runs(client, now))
			return client->renewed + clients->lease - now;
		client_set_phase(
			client, client->state_count > 0 ? CLIENT_LEASE_OVER : CLIENT_LEASE_OVER_STATELESS);
	}
	return UINT64_MAX;
}

uint64_t
rr_nfs4_client_address(const struct rr_nfs4_client *client)
{
	return client->holding.origin ? (uintptr_t)client->holding.origin->address : 0;
}

bool
rr_nfs4_client_has_state(const struct rr_nfs4_client *client)
{
	return client->session_count > 0 || client->state_count > 0;
}

struct rr_nfs4_client *
rr_nfs4_client_hold(struct rr_nfs4_client *client)
{
	client->holders++;
	return client;
}

void
rr_nfs4_client_release(struct rr_nfs4_client *client)
{
	const struct rr_env *env = client->table->env;

	if (--client->holders > 0)
		return;
	rr_caller_drop(env, &client->principal);
	rr_free(env, client);
}
