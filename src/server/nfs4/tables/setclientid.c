/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of clients of version 4.0: RFC 7530, sections 9.1.1, 16.33 and 16.34. They stand in the same
 * table as those of EXCHANGE_ID, with the same bounds, but they are no records of the same owners: a host
 * that has both versions is two clients.
 */
#include "server/nfs4/tables/client_private.h"

#include <string.h>

/* The second half of the numbers of which client IDs are made: few other numbers have it, so the server knows
 * its own client IDs by it. */
enum { SETCLIENTID_MARK = 0x34303030 };

clientid4
rr_nfs4_client_plain_id(struct rr_nfs4_clients *clients, struct rr_nfs4_client *client)
{
	clientid4 id;

	do {
		if (++clients->number == 0)
			clients->number = 1;
		id = rr_nfs4_number(
			&clients->numbers, RR_NFS4_NUMBER_CLIENT, clients->number, SETCLIENTID_MARK);
	} while (id == 0 || rr_map_find(&clients->by_id, id));
	client->plain.number = clients->number;
	return id;
}

/* Returns the client of version 4.0 with this client ID; NULL if there is no such client. */
static struct rr_nfs4_client *
setclientid_find(const struct rr_nfs4_clients *clients, clientid4 id)
{
	struct rr_map_link *link = rr_map_find(&clients->by_id, id);
	struct rr_nfs4_client *client = link ? rr_container(link, struct rr_nfs4_client, by_id) : NULL;

	return client && rr_nfs4_client_is_plain(client) ? client : NULL;
}

bool
rr_nfs4_client_has_ended(const struct rr_nfs4_clients *clients, uint32_t number)
{
	return number > 0 && number <= clients->number &&
	       !setclientid_find(clients,
		       rr_nfs4_number(&clients->numbers, RR_NFS4_NUMBER_CLIENT, number, SETCLIENTID_MARK));
}

/* RFC 7530, 13.1.5.3, of NFS4ERR_EXPIRED: "A stateid or clientid designates locking state of any type that
 * has been revoked or released due to cancellation of the client's lease"; 13.1.10.2: "A client ID not
 * recognized by the server was used". A client with a stale client ID reclaims, and one that has expired
 * opens its files anew. */
nfsstat4
rr_nfs4_client_known(const struct rr_nfs4_clients *clients, clientid4 id, struct rr_nfs4_client **client)
{
	uint32_t number, mark;

	*client = setclientid_find(clients, id);
	if (*client)
		return (*client)->phase == RR_NFS4_UNCONFIRMED ? NFS4ERR_STALE_CLIENTID : NFS4_OK;
	rr_nfs4_number_open(&clients->numbers, RR_NFS4_NUMBER_CLIENT, id, &number, &mark);
	return mark == SETCLIENTID_MARK && number > 0 && number <= clients->number ? NFS4ERR_EXPIRED
										   : NFS4ERR_STALE_CLIENTID;
}

/* Returns a value that no SETCLIENTID has returned before, and that nobody can guess. */
static uint64_t
setclientid_new_confirm(const struct rr_nfs4_clients *clients)
{
	return rr_random_u64(clients->env);
}

/* Notes what SETCLIENTID_CONFIRM is to confirm for a record that is confirmed already. RFC 7530, 16.33.5:
 * "the server treats this as a probable callback information update and records an unconfirmed { v, x, c, k,
 * t } and leaves the confirmed { v, x, c, l, s } in place, such that t != s." "Any pre-existing unconfirmed {
 * v, x, c, *, * } is removed." */
static nfsstat4
setclientid_update(struct rr_nfs4_client *client, const struct rr_nfs4_exchange *exchange,
	const struct rr_nfs4_path *path, uint64_t *confirm)
{
	struct rr_nfs4_plain *plain = &client->plain;

	do
		plain->update = setclientid_new_confirm(client->table);
	while (plain->update == plain->confirm);
	plain->updates = true;
	plain->new_path = *path;
	if (exchange->origin)
		rr_nfs4_client_note(client, exchange->origin);
	*confirm = plain->update;
	return NFS4_OK;
}

/* RFC 7530, 16.33.5: "For any confirmed record with the same id string x, if the recorded principal does not
 * match that of the SETCLIENTID call, then the server returns an NFS4ERR_CLID_INUSE error." Here a record
 * that holds nothing, or whose lease is over, is in nobody's way, as in EXCHANGE_ID. */
nfsstat4
rr_nfs4_setclientid(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	const struct rr_nfs4_path *path, uint64_t now, struct rr_nfs4_client **client, uint64_t *confirm)
{
	struct rr_nfs4_client *confirmed = rr_nfs4_client_of_owner(clients, exchange, NULL);
	struct rr_nfs4_origin *origin = rr_nfs4_client_origin(clients, exchange);
	nfsstat4 status;

	*client = confirmed;
	if (!origin)
		return NFS4ERR_DELAY;
	if (confirmed && rr_nfs4_client_is_taken(confirmed, exchange->caller, now))
		return NFS4ERR_CLID_INUSE;
	if (confirmed && rr_caller_same_principal(&confirmed->principal, exchange->caller) &&
		memcmp(confirmed->verifier, exchange->owner->co_verifier, sizeof(confirmed->verifier)) == 0)
		return setclientid_update(confirmed, exchange, path, confirm);
	/* The other three cases: "The server records an unconfirmed { v, x, d, k, t }" in the place of the
	 * unconfirmed record that there was, and "does NOT remove client (lock/share/delegation) state". */
	status = rr_nfs4_client_replace(clients, exchange, origin, now, client);
	if (status != NFS4_OK)
		return status;
	(*client)->plain.path = *path;
	(*client)->plain.confirm = *confirm = setclientid_new_confirm(clients);
	return NFS4_OK;
}

/* Confirms the second record { v, x, c, k, s } of a client. RFC 7530, 16.34.5: "the confirmed { v, x, c, l, t
 * } record is removed and the unconfirmed { v, x, c, k, s } is marked as confirmed". "The server does not
 * remove any relevant leased client state." */
static void
setclientid_take_update(struct rr_nfs4_client *client)
{
	struct rr_nfs4_plain *plain = &client->plain;

	plain->confirm = plain->update;
	plain->path = plain->new_path;
	plain->updates = false;
}

nfsstat4
rr_nfs4_setclientid_confirm(struct rr_nfs4_clients *clients, clientid4 id, uint64_t confirm,
	const struct rr_caller *caller, uint64_t now)
{
	struct rr_nfs4_client *client = setclientid_find(clients, id);
	bool update;

	/* "The server has no record of a confirmed or unconfirmed { *, *, c, *, s }." */
	if (!client)
		return NFS4ERR_STALE_CLIENTID;
	update = client->plain.updates && client->plain.update == confirm;
	if (!update && client->plain.confirm != confirm)
		return NFS4ERR_STALE_CLIENTID;
	if (!rr_caller_same_principal(&client->principal, caller) || !rr_nfs4_client_may_confirm(client, now))
		return NFS4ERR_CLID_INUSE;
	/* RFC 7530, 9.5, of a client that is confirmed already: "SETCLIENTID/SETCLIENTID_CONFIRM never renews
	 * a lease." */
	if (update)
		setclientid_take_update(client);
	if (client->phase != RR_NFS4_UNCONFIRMED)
		return NFS4_OK;
	/* "If there is also a confirmed { *, x, d, *, t }, the server MUST remove client x's relevant leased
	 * client state": the record with the other client ID ends here. */
	rr_nfs4_client_confirm(client, now);
	return NFS4_OK;
}
