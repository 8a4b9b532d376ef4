/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on clients of version 4.0: RFC 7530, sections 16.29, 16.33, 16.34 and 16.37. */
#include <string.h>

#include "server/nfs4/ops.h"
#include "server/nfs4/tables/owner.h"

/* Copies a text of the arguments, as far as it may be one; returns its length, 0 for a text that is too long.
 */
static uint8_t
setclientid_text(char *to, uint32_t room, struct rpcrdma_bytes text)
{
	if (text.length == 0 || text.length > room)
		return 0;
	memcpy(to, text.data, text.length);
	return (uint8_t)text.length;
}

/* Fills *path with where the client wants its callbacks. */
static void
setclientid_path(const SETCLIENTID4args *args, struct rr_nfs4_path *path)
{
	const netaddr4 *location = &args->callback.cb_location;

	*path = (struct rr_nfs4_path){ .program = args->callback.cb_program, .ident = args->callback_ident };
	path->netid_length = setclientid_text(path->netid, sizeof(path->netid), location->na_r_netid);
	path->uaddr_length = setclientid_text(path->uaddr, sizeof(path->uaddr), location->na_r_addr);
}

/* RFC 7530, 16.33.3: with NFS4ERR_CLID_INUSE, the result has the address of the client that has the owner.
 * The record may change before the result is encoded, so the texts are copied. */
static void
setclientid_in_use(struct rr_nfs4_compound *c, const struct rr_nfs4_path *path, clientaddr4 *address)
{
	struct rr_nfs4_path *copy = rr_nfs4_alloc(c, sizeof(*copy));

	/* Without memory, the address stays empty. */
	if (!copy)
		return;
	*copy = *path;
	address->na_r_netid = (struct rpcrdma_bytes){ copy->netid, copy->netid_length };
	address->na_r_addr = (struct rpcrdma_bytes){ copy->uaddr, copy->uaddr_length };
}

/* Returns NFS4_OK if the caller may have state: it may use an export. */
static nfsstat4
setclientid_admit(struct rr_nfs4_compound *c)
{
	if (rr_gate_some_open(c->server->gate, &c->caller))
		return NFS4_OK;
	if (rr_gate_undecided(c->server->gate, &c->caller))
		return NFS4ERR_DELAY;
	rr_gate_log_refusal(c->server->gate, &c->caller, c->server->vfs->export_count);
	return NFS4ERR_PERM;
}

uint32_t
rr_op_setclientid(struct rr_nfs4_compound *c)
{
	const SETCLIENTID4args *args = &c->op->u.opsetclientid;
	SETCLIENTID4res *res = &c->res.u.opsetclientid;
	client_owner4 owner = { .co_ownerid = args->client.id };
	const struct rr_nfs4_exchange exchange = {
		.owner = &owner,
		.caller = c->caller.who,
		.origin = c->connection ? &c->connection->conn.origin : NULL,
		.plain = true,
	};
	uint64_t now = rr_now(c->server->env), confirm = 0;
	struct rr_nfs4_client *client;
	struct rr_nfs4_tables *tables;
	struct rr_nfs4_path path;
	nfsstat4 status = setclientid_admit(c);

	if (status != NFS4_OK)
		return status;
	memcpy(owner.co_verifier, args->client.verifier, sizeof(owner.co_verifier));
	setclientid_path(args, &path);
	tables = rr_nfs4_lock_tables(c->server);
	rr_nfs4_clients_expire(&tables->clients, now);
	status = rr_nfs4_setclientid(&tables->clients, &exchange, &path, now, &client, &confirm);
	if (status == NFS4ERR_CLID_INUSE)
		setclientid_in_use(c, &client->plain.path, &res->u.client_using);
	if (status == NFS4_OK)
		res->u.resok4.clientid = rr_nfs4_client_id(client);
	rr_nfs4_unlock_tables(c->server);
	if (status == NFS4_OK)
		memcpy(res->u.resok4.setclientid_confirm, &confirm, sizeof(confirm));
	return status;
}

uint32_t
rr_op_setclientid_confirm(struct rr_nfs4_compound *c)
{
	const SETCLIENTID_CONFIRM4args *args = &c->op->u.opsetclientid_confirm;
	uint64_t now = rr_now(c->server->env), confirm;
	struct rr_nfs4_tables *tables;
	nfsstat4 status;

	memcpy(&confirm, args->setclientid_confirm, sizeof(confirm));
	tables = rr_nfs4_lock_tables(c->server);
	rr_nfs4_clients_expire(&tables->clients, now);
	status = rr_nfs4_setclientid_confirm(&tables->clients, args->clientid, confirm, c->caller.who, now);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* Carries out RENEW: identify.c has found the client, and renewed its lease. A client may have moved to
 * another connection since. */
uint32_t
rr_op_renew(struct rr_nfs4_compound *c)
{
	rr_nfs4_lock_tables(c->server);
	if (c->connection)
		rr_nfs4_origin_found(&c->connection->conn.origin, &c->client->holding);
	rr_nfs4_unlock_tables(c->server);
	return NFS4_OK;
}

/* Carries out RELEASE_LOCKOWNER. An owner that the server does not know has nothing to be released. */
uint32_t
rr_op_release_lockowner(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	struct rr_nfs4_owner *owner = rr_nfs4_owner_find(
		tables, c->client, RR_NFS4_LOCK, c->op->u.oprelease_lockowner.lock_owner.owner);
	nfsstat4 status = owner ? rr_nfs4_owner_release(owner) : NFS4_OK;

	rr_nfs4_unlock_tables(c->server);
	return status;
}
