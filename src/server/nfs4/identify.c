/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sends an operation of version 4.0, and whether it was sent before: RFC 7530, sections 9.1 and 9.5. */
#include "server/nfs4/identify.h"

#include <string.h>

#include "server/nfs4/support.h"
#include "server/nfs4/tables/owner.h"

/* What the arguments of an operation say of its client. */
struct identify_name {
	const clientid4 *id;     /* NULL: there is no client ID */
	const stateid4 *stateid; /* NULL: there is no stateid */
	uint32_t kinds;          /* RR_NFS4_OPEN and so on: what the stateid may stand for */
	bool numbered;           /* an owner numbers its requests, by seqid */
	uint32_t seqid;
};

enum { IDENTIFY_ANY = RR_NFS4_OPEN | RR_NFS4_LOCK | RR_NFS4_DELEGATION };

/* Says who sends a LOCK: a new lock-owner by an open, or a known one by its own stateid. */
static struct identify_name
identify_lock(const LOCK4args *args)
{
	const open_to_lock_owner4 *open = &args->locker.u.open_owner;
	const exist_lock_owner4 *known = &args->locker.u.lock_owner;

	if (args->locker.new_lock_owner)
		return (struct identify_name){ NULL, &open->open_stateid, RR_NFS4_OPEN, true,
			open->open_seqid };
	return (struct identify_name){ NULL, &known->lock_stateid, RR_NFS4_LOCK, true, known->lock_seqid };
}

static struct identify_name
identify_name(const nfs_argop4 *op)
{
	switch (op->argop) {
	case OP_OPEN:
		return (struct identify_name){ &op->u.opopen.owner.clientid, NULL, 0, true,
			op->u.opopen.seqid };
	case OP_OPEN_CONFIRM:
		return (struct identify_name){ NULL, &op->u.opopen_confirm.open_stateid, RR_NFS4_OPEN, true,
			op->u.opopen_confirm.seqid };
	case OP_OPEN_DOWNGRADE:
		return (struct identify_name){ NULL, &op->u.opopen_downgrade.open_stateid, RR_NFS4_OPEN, true,
			op->u.opopen_downgrade.seqid };
	case OP_CLOSE:
		return (struct identify_name){ NULL, &op->u.opclose.open_stateid, RR_NFS4_OPEN, true,
			op->u.opclose.seqid };
	case OP_LOCK: return identify_lock(&op->u.oplock);
	case OP_LOCKU:
		return (struct identify_name){ NULL, &op->u.oplocku.lock_stateid, RR_NFS4_LOCK, true,
			op->u.oplocku.seqid };
	case OP_LOCKT: return (struct identify_name){ .id = &op->u.oplockt.owner.clientid };
	case OP_RENEW: return (struct identify_name){ .id = &op->u.oprenew.clientid };
	case OP_RELEASE_LOCKOWNER:
		return (struct identify_name){ .id = &op->u.oprelease_lockowner.lock_owner.clientid };
	case OP_READ: return (struct identify_name){ NULL, &op->u.opread.stateid, IDENTIFY_ANY, false, 0 };
	case OP_WRITE: return (struct identify_name){ NULL, &op->u.opwrite.stateid, IDENTIFY_ANY, false, 0 };
	case OP_SETATTR:
		return (struct identify_name){ NULL, &op->u.opsetattr.stateid, IDENTIFY_ANY, false, 0 };
	case OP_DELEGRETURN:
		return (struct identify_name){ NULL, &op->u.opdelegreturn.deleg_stateid, RR_NFS4_DELEGATION,
			false, 0 };
	default: return (struct identify_name){ .id = NULL };
	}
}

/* Tells whether the stateid is one that READ, WRITE and SETATTR may have without any state. RFC 7530,
 * 9.1.4.3: all zeros, and all ones; "If a stateid value is used that has all zeros or all ones in the "other"
 * field but does not match one of the cases above, the server MUST return the error NFS4ERR_BAD_STATEID." */
static bool
identify_is_special(const nfs_argop4 *op, const stateid4 *stateid)
{
	enum rr_nfs4_special special = rr_nfs4_special(stateid);

	return (op->argop == OP_READ || op->argop == OP_WRITE || op->argop == OP_SETATTR) &&
	       (special == RR_NFS4_ANONYMOUS || special == RR_NFS4_BYPASS);
}

void
rr_nfs4_identify_release(struct rr_nfs4_compound *c)
{
	if (c->client)
		rr_nfs4_client_release(c->client);
	c->client = NULL;
}

/* Makes it the client of the compound. */
static void
identify_set(struct rr_nfs4_compound *c, struct rr_nfs4_client *client)
{
	rr_nfs4_client_hold(client);
	rr_nfs4_identify_release(c);
	c->client = client;
}

/* Finds the client by what the arguments say, and the state if they have a stateid. */
static nfsstat4
identify_find(const struct rr_nfs4_tables *tables, const struct identify_name *name,
	struct rr_nfs4_client **client, struct rr_nfs4_state **state)
{
	nfsstat4 status;

	*state = NULL;
	if (name->id)
		return rr_nfs4_client_known(&tables->clients, *name->id, client);
	status = rr_nfs4_state_named(tables, name->stateid, state);
	if (status == NFS4_OK && !((*state)->kind & name->kinds))
		status = NFS4ERR_BAD_STATEID;
	if (status == NFS4_OK)
		*client = (*state)->client;
	return status;
}

/* For PUTFH, which names no client: a file that has no name any more is reached by an open of the client that
 * the operations behind it name, if the filehandle is for them. */
static void
identify_ahead(struct rr_nfs4_compound *c, const struct rr_nfs4_tables *tables)
{
	for (uint32_t i = c->index + 1; i < c->args->decoded && c->args->ops[i].argop != OP_PUTFH; i++) {
		const struct identify_name name = identify_name(&c->args->ops[i]);
		struct rr_nfs4_client *client;
		struct rr_nfs4_state *state;

		if (!name.id && !name.stateid)
			continue;
		if (identify_find(tables, &name, &client, &state) == NFS4_OK)
			identify_set(c, client);
		return;
	}
}

/* ---- Owners ---- */

/* Returns a hash by which the same request is known again. */
static uint64_t
identify_digest(const struct rr_nfs4_compound *c)
{
	return c->args->digest ^ rr_caller_mark(c->caller.who);
}

/* Answers a request that was answered before. After an OPEN, the current filehandle is the file, as the
 * operations that follow need it. */
static uint32_t
identify_again(struct rr_nfs4_compound *c, const struct rr_nfs4_owner *owner)
{
	rpcrdma_put_fixed(&c->writer, owner->reply, owner->reply_length);
	c->encoded = true;
	if (owner->handle_length > 0)
		rr_nfs4_set_octets(
			&c->current, (nfs_fh4){ owner->reply + owner->reply_length, owner->handle_length });
	return owner->status;
}

/* Checks the number of a request, and begins it if it is the next of its owner. */
static uint32_t
identify_turn(struct rr_nfs4_compound *c, struct rr_nfs4_owner *owner, uint32_t seqid)
{
	switch (rr_nfs4_owner_turn(owner, seqid, c->op->argop)) {
	case RR_NFS4_TURN_NEW: break;
	case RR_NFS4_TURN_AGAIN: return identify_again(c, owner);
	case RR_NFS4_TURN_BUSY: return RR_NFS4_PENDING;
	case RR_NFS4_TURN_BAD: return NFS4ERR_BAD_SEQID;
	}
	/* A LOCK by a new lock-owner is that of two owners. */
	c->owners[c->owners[0] ? 1 : 0] = owner;
	rr_nfs4_owner_begin(owner);
	return NFS4_OK;
}

/*
 * Finds or makes the open-owner of an OPEN. An owner that is not confirmed begins anew by any OPEN but the
 * same one: RFC 7530, 16.18.5: "The server cancels the OPEN state of the first OPEN request, establishes an
 * unconfirmed OPEN state for the second OPEN request".
 */
static uint32_t
identify_opener(struct rr_nfs4_compound *c, struct rr_nfs4_tables *tables, uint32_t seqid)
{
	struct rpcrdma_bytes name = c->op->u.opopen.owner.owner;
	struct rr_nfs4_owner *owner = rr_nfs4_owner_find(tables, c->client, RR_NFS4_OPEN, name);

	if (owner && owner->busy)
		return RR_NFS4_PENDING;
	if (owner && !owner->confirmed && (owner->seqid != seqid || owner->digest != identify_digest(c)))
		rr_nfs4_owner_anew(owner);
	if (!owner)
		owner = rr_nfs4_owner_make(tables, c->client, RR_NFS4_OPEN, name);
	return owner ? identify_turn(c, owner, seqid) : NFS4ERR_RESOURCE;
}

/* Finds or makes the lock-owner of a LOCK by an open, whose open-owner has got its turn. RFC 7530, 9.1.9:
 * "When any of the state-owner sequence values are invalid, NFS4ERR_BAD_SEQID is returned." Where the number
 * of the open-owner is new, that of the lock-owner cannot be that of a request which was answered. */
static uint32_t
identify_locker(struct rr_nfs4_compound *c, struct rr_nfs4_tables *tables)
{
	const open_to_lock_owner4 *locker = &c->op->u.oplock.locker.u.open_owner;
	struct rr_nfs4_owner *owner;
	struct rr_nfs4_client *client;
	nfsstat4 status = rr_nfs4_client_known(&tables->clients, locker->lock_owner.clientid, &client);

	if (status != NFS4_OK)
		return status;
	if (client != c->client)
		return NFS4ERR_BAD_STATEID;
	owner = rr_nfs4_owner_find(tables, client, RR_NFS4_LOCK, locker->lock_owner.owner);
	if (!owner)
		owner = rr_nfs4_owner_make(tables, client, RR_NFS4_LOCK, locker->lock_owner.owner);
	if (!owner)
		return NFS4ERR_RESOURCE;
	if (!owner->busy && owner->used &&
		rr_nfs4_owner_turn(owner, locker->lock_seqid, OP_LOCK) != RR_NFS4_TURN_NEW)
		return NFS4ERR_BAD_SEQID;
	return identify_turn(c, owner, locker->lock_seqid);
}

/* Checks the number of an operation that names its owner by a stateid. state: NULL if the stateid names no
 * state; that of a CLOSE may be repeated all the same. */
static uint32_t
identify_by_state(struct rr_nfs4_compound *c, struct rr_nfs4_tables *tables, struct rr_nfs4_owner *owner,
	const struct identify_name *name)
{
	uint32_t status;

	if (!owner)
		return NFS4ERR_BAD_STATEID;
	status = identify_turn(c, owner, name->seqid);
	/* RFC 7530, 16.18.4: "If the server receives an unexpected sequence id with respect to the original
	 * OPEN, then ... all state associated with the original OPEN is released by the server." */
	if (status == NFS4ERR_BAD_SEQID && c->op->argop == OP_OPEN_CONFIRM && !owner->confirmed)
		rr_nfs4_owner_anew(owner);
	if (status != NFS4_OK || c->encoded)
		return status;
	if (owner->kind == RR_NFS4_OPEN && owner->confirmed != (c->op->argop != OP_OPEN_CONFIRM))
		return NFS4ERR_BAD_STATEID;
	return c->op->argop == OP_LOCK && c->op->u.oplock.locker.new_lock_owner ? identify_locker(c, tables)
										: NFS4_OK;
}

/* Gives the turns back that the operation has got, as it has to wait for another owner. */
static void
identify_undo(struct rr_nfs4_compound *c)
{
	/* A request with this status is not counted. */
	const struct rr_nfs4_owner_done done = { .status = NFS4ERR_RESOURCE };

	for (uint32_t i = 0; i < 2; i++) {
		if (c->owners[i])
			rr_nfs4_owner_end(c->owners[i], &done);
		c->owners[i] = NULL;
	}
}

/* ---- All operations ---- */

static uint32_t
identify_named(struct rr_nfs4_compound *c, struct rr_nfs4_tables *tables, const struct identify_name *name)
{
	struct rr_nfs4_owner *owner = NULL;
	struct rr_nfs4_client *client;
	struct rr_nfs4_state *state;
	nfsstat4 status = identify_find(tables, name, &client, &state);

	if (status != NFS4_OK && c->op->argop == OP_CLOSE)
		owner = rr_nfs4_owner_closed(tables, name->stateid);
	if (status != NFS4_OK && !owner)
		return status;
	if (owner)
		client = owner->client;
	if (client->phase == RR_NFS4_ENDED)
		return NFS4ERR_EXPIRED;
	if (state)
		owner = state->seq_owner;
	identify_set(c, client);
	/* RFC 7530, 9.5: "Any operation made with a valid clientid ... or a valid stateid ... informs the
	 * server to renew all of the leases for that client". */
	rr_nfs4_client_renew(client, rr_now(c->server->env));
	if (!name->numbered) {
		/* Nothing but OPEN_CONFIRM may be done with an open that is not confirmed. */
		if (state && state->kind == RR_NFS4_OPEN && !owner->confirmed)
			return NFS4ERR_BAD_STATEID;
		return NFS4_OK;
	}
	return c->op->argop == OP_OPEN ? identify_opener(c, tables, name->seqid)
				       : identify_by_state(c, tables, owner, name);
}

uint32_t
rr_nfs4_identify(struct rr_nfs4_compound *c)
{
	const struct identify_name name = identify_name(c->op);
	struct rr_nfs4_tables *tables;
	uint32_t status = NFS4_OK;

	/* Most operations name no client, and come after one that did not either. */
	if (!name.id && !name.stateid && c->op->argop != OP_PUTFH && !c->client)
		return NFS4_OK;
	tables = rr_nfs4_lock_tables(c->server);
	rr_nfs4_identify_release(c);
	/* Without a filehandle the operation fails, and its request does not count. */
	if (c->operation->flags & RR_NFS4_OP_FH && c->current.kind == RR_NFS4_FH_NONE)
		status = NFS4_OK;
	else if (c->op->argop == OP_PUTFH)
		identify_ahead(c, tables);
	else if (name.id || (name.stateid && !identify_is_special(c->op, name.stateid)))
		status = identify_named(c, tables, &name);
	if (status == RR_NFS4_PENDING)
		identify_undo(c);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

void
rr_nfs4_identify_end(struct rr_nfs4_compound *c, struct rpcrdma_bytes result)
{
	const struct rr_nfs4_fh *fh = &c->current;
	bool opened = c->op->argop == OP_OPEN && c->result->status == NFS4_OK;

	for (uint32_t i = 0; i < 2; i++) {
		const struct identify_name name = identify_name(c->op);
		const struct rr_nfs4_owner_done done = {
			.seqid = i == 0 ? name.seqid : c->op->u.oplock.locker.u.open_owner.lock_seqid,
			.op = c->op->argop,
			.status = c->result->status,
			.digest = identify_digest(c),
			.reply = result,
			.handle = { fh->handle.data, opened ? fh->handle.length : 0 },
		};

		if (c->owners[i])
			rr_nfs4_owner_end(c->owners[i], &done);
		c->owners[i] = NULL;
	}
}
