/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on clients and sessions: RFC 8881, sections 18.33 to 18.37, 18.47, 18.50 and 18.51. */
#include <string.h>

#include <rpcrdma/version.h>

#include "server/nfs4/ops.h"

/* Returns NFS4_OK if all flags of the EXCHANGE_ID are known and it asks for SP4_NONE, no state protection, or
 * for SP4_MACH_CRED; else an error, as this server has no SP4_SSV. RFC 8881, 18.35.3, says of undefined
 * flags: "If they are, the server MUST reject the operation with NFS4ERR_INVAL", and of SP4_MACH_CRED: "the
 * client MUST use" "RPCSEC_GSS" "with either a service of rpc_gss_svc_integrity or rpc_gss_svc_privacy". */
static nfsstat4
op_exchange_check(const struct rr_nfs4_compound *c, const EXCHANGE_ID4args *args)
{
	if (args->eia_flags & ~c->args->minor->exchange_flags)
		return NFS4ERR_INVAL;
	switch (args->eia_state_protect.spa_how) {
	case SP4_NONE: return NFS4_OK;
	case SP4_MACH_CRED:
		return c->caller.who->flavor == RR_RPCSEC_GSS && c->caller.who->protection != RR_CALLER_OPEN
			       ? NFS4_OK
			       : NFS4ERR_INVAL;
	case SP4_SSV: return NFS4ERR_ENCR_ALG_UNSUPP;
	}
	return NFS4ERR_INVAL;
}

/* Says how the state of the client is protected. */
static void
op_exchange_protect(
	struct rr_nfs4_compound *c, const struct rr_nfs4_client *client, state_protect4_r *protect)
{
	enum { WORDS = RR_NFS4_OPS_WORDS };
	uint32_t *words = client->machine ? rr_nfs4_alloc(c, 2 * WORDS * sizeof(*words)) : NULL;

	protect->spr_how = SP4_NONE;
	if (!words)
		return;
	memcpy(words, client->machine_ops.enforce, WORDS * sizeof(*words));
	memcpy(words + WORDS, client->machine_ops.allow, WORDS * sizeof(*words));
	protect->spr_how = SP4_MACH_CRED;
	protect->u.spr_mach_ops = (state_protect_ops4){ { .count = WORDS, .values = words },
		{ .count = WORDS, .values = words + WORDS } };
}

/* Fills the result of an EXCHANGE_ID that has succeeded. */
static void
op_exchange_answer(struct rr_nfs4_compound *c, const struct rr_nfs4_client *client, EXCHANGE_ID4resok *ok)
{
	struct rr_nfs4_shared *shared = c->server->shared;
	struct rpcrdma_bytes identity = { shared->identity, sizeof(shared->identity) };
	nfs_impl_id4 *implementation = rr_nfs4_alloc(c, sizeof(*implementation));

	ok->eir_clientid = rr_nfs4_client_id(client);
	ok->eir_sequenceid = client->sequence + 1;
	ok->eir_flags = EXCHGID4_FLAG_USE_NON_PNFS;
	if (client->phase != RR_NFS4_UNCONFIRMED)
		ok->eir_flags |= EXCHGID4_FLAG_CONFIRMED_R;
	op_exchange_protect(c, client, &ok->eir_state_protect);
	/* RFC 8881, 2.10.4: the identity is the same at all addresses and after a restart, and different from
	 * that of all other servers. */
	ok->eir_server_owner.so_major_id = identity;
	ok->eir_server_scope = identity;
	/* Without memory, the answer does not name the implementation. */
	if (!implementation)
		return;
	implementation->nii_domain = (struct rpcrdma_bytes){ "rpcrdma", 7 };
	implementation->nii_name = (struct rpcrdma_bytes){ RPCRDMA_VERSION, strlen(RPCRDMA_VERSION) };
	ok->eir_server_impl_id.count = 1;
	ok->eir_server_impl_id.values = implementation;
}

uint32_t
rr_op_exchange_id(struct rr_nfs4_compound *c)
{
	const EXCHANGE_ID4args *args = &c->op->u.opexchange_id;
	const struct rr_nfs4_exchange exchange = {
		.owner = &args->eia_clientowner,
		.caller = c->caller.who,
		.update = args->eia_flags & EXCHGID4_FLAG_UPD_CONFIRMED_REC_A,
		.machine = args->eia_state_protect.spa_how == SP4_MACH_CRED
				   ? &args->eia_state_protect.u.spa_mach_ops
				   : NULL,
		.origin = c->connection ? &c->connection->conn.origin : NULL,
	};
	struct rr_nfs4_client *client;
	struct rr_nfs4_tables *tables;
	nfsstat4 status = op_exchange_check(c, args);

	if (status != NFS4_OK)
		return status;
	/* A caller who may use no export gets no state. */
	if (!rr_gate_some_open(c->server->gate, &c->caller)) {
		if (rr_gate_undecided(c->server->gate, &c->caller))
			return NFS4ERR_DELAY;
		rr_gate_log_refusal(c->server->gate, &c->caller, c->server->vfs->export_count);
		return NFS4ERR_PERM;
	}
	tables = rr_nfs4_lock_tables(c->server);
	/* RFC 8881, 18.35.4: "Any unconfirmed record that is not confirmed within a lease period SHOULD be
	 * removed." */
	rr_nfs4_clients_expire(&tables->clients, rr_now(c->server->env));
	status = rr_nfs4_exchange_id(&tables->clients, &exchange, rr_now(c->server->env), &client);
	if (status == NFS4_OK)
		op_exchange_answer(c, client, &c->res.u.opexchange_id.u.eir_resok4);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* The limits of a session, see struct rr_nfs4_limits: octets of a request and of a response; octets of a
 * cached reply; number of slots; octets of a callback and of its reply. */
enum { SESSION_IO = (1 << 20) + 4096, SESSION_CACHED = 4096, SESSION_SLOTS = 64, SESSION_BACK = 4096 };

/* Makes it possible to send callbacks over the connection of this request, if the connection is bound to the
 * backchannel of the session with this ID. The caller holds the lock of the tables. */
static void
session_way_back(struct rr_nfs4_compound *c, const sessionid4 id)
{
	struct rr_nfs4_session *session = rr_nfs4_session_find(&c->server->shared->tables.sessions, id);

	if (session && rr_nfs4_bound(session, &c->connection->conn) & RR_NFS4_BACK)
		rr_nfs4_way_back(c->connection, c->request, session);
}

uint32_t
rr_op_create_session(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_create create = {
		.args = &c->op->u.opcreate_session,
		.caller = c->caller.who,
		.limits = { SESSION_IO, SESSION_IO, SESSION_CACHED, RR_NFS4_OPERATIONS, SESSION_SLOTS,
			SESSION_BACK },
		.minor = c->args->minor->number,
		.now = rr_now(c->server->env),
	};
	CREATE_SESSION4res *res = &c->res.u.opcreate_session;
	struct rr_nfs4_tables *tables;

	/* The connection has ended while an operation in front waited: nobody reads the answer. */
	if (!c->connection)
		return NFS4ERR_DELAY;
	create.conn = &c->connection->conn;
	tables = rr_nfs4_lock_tables(c->server);
	rr_nfs4_clients_expire(&tables->clients, create.now);
	rr_nfs4_create_session(&tables->sessions, &tables->clients, &create, res);
	if (res->csr_status == NFS4_OK)
		session_way_back(c, res->u.csr_resok4.csr_sessionid);
	rr_nfs4_unlock_tables(c->server);
	return res->csr_status;
}

uint32_t
rr_op_destroy_session(struct rr_nfs4_compound *c)
{
	const DESTROY_SESSION4args *args = &c->op->u.opdestroy_session;
	struct rr_nfs4_session *own = c->turn.session;
	struct rr_nfs4_tables *tables;
	nfsstat4 status;

	/* The connection has ended while an operation in front waited: nobody reads the answer. */
	if (!c->connection)
		return NFS4ERR_DELAY;
	/* RFC 8881, 18.37.3: of the session of SEQUENCE, "DESTROY_SESSION MUST be the final operation". */
	if (own && c->index + 1 < c->args->count &&
		memcmp(own->id, args->dsa_sessionid, sizeof(own->id)) == 0)
		return NFS4ERR_NOT_ONLY_OP;
	tables = rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_destroy_session(
		&tables->sessions, args->dsa_sessionid, own, c->caller.who, &c->connection->conn);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

uint32_t
rr_op_bind_conn_to_session(struct rr_nfs4_compound *c)
{
	BIND_CONN_TO_SESSION4res *res = &c->res.u.opbind_conn_to_session;
	struct rr_nfs4_tables *tables;

	/* RFC 8881, 18.34.3: "It MUST be the only operation in the COMPOUND procedure." */
	if (c->args->count > 1)
		return NFS4ERR_NOT_ONLY_OP;
	tables = rr_nfs4_lock_tables(c->server);
	/* The only operation of a COMPOUND runs at once, so c->connection is there. */
	rr_nfs4_bind_conn_to_session(&tables->sessions, c->caller.who, &c->connection->conn,
		&c->op->u.opbind_conn_to_session, res);
	if (res->bctsr_status == NFS4_OK)
		session_way_back(c, res->u.bctsr_resok4.bctsr_sessid);
	rr_nfs4_unlock_tables(c->server);
	return res->bctsr_status;
}

/* Carries out BACKCHANNEL_CTL: from now on the callbacks of the session have another program number and
 * credential, so they need an RPC client of their own. If the client offers no credential that this server
 * can use, nothing changes. */
uint32_t
rr_op_backchannel_ctl(struct rr_nfs4_compound *c)
{
	const BACKCHANNEL_CTL4args *args = &c->op->u.opbackchannel_ctl;
	nfsstat4 status;

	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_callback_security(
		c->turn.session, args->bca_sec_parms.values, args->bca_sec_parms.count);
	if (status == NFS4_OK) {
		c->turn.session->cb_program = args->bca_cb_program;
		if (c->connection)
			session_way_back(c, c->turn.session->id);
	}
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* Carries out DESTROY_CLIENTID, for the principal at an address of the client. A client whose lease is over
 * (LAPSING, COURTESY) is not busy, whatever it still has. */
uint32_t
rr_op_destroy_clientid(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	struct rr_nfs4_client *client =
		rr_nfs4_client_find(&tables->clients, c->op->u.opdestroy_clientid.dca_clientid);
	nfsstat4 status = NFS4_OK;

	if (!client)
		status = NFS4ERR_STALE_CLIENTID;
	else if (!c->connection || !rr_nfs4_client_is_of(client, c->caller.who, &c->connection->conn.origin))
		status = NFS4ERR_WRONG_CRED;
	else if (rr_nfs4_client_has_state(client) && client->phase != RR_NFS4_COURTESY &&
		 client->phase != RR_NFS4_LAPSING)
		status = NFS4ERR_CLIENTID_BUSY;
	else
		rr_nfs4_client_end(client);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/*
 * Completes RECLAIM_COMPLETE: the client cannot reclaim any more, and can make new opens and locks as soon as
 * the grace period is over. RFC 8881, 18.51.4: "If it is done a second time, the error
 * NFS4ERR_COMPLETE_ALREADY will result." With rca_one_fs, which is about one file system, 18.51.3: "the
 * operation returns NFS4_OK and is otherwise ignored". Here it also allows new opens and locks, for clients
 * that send no other RECLAIM_COMPLETE.
 */
static uint32_t
op_reclaim_finish(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_tables *tables;
	nfsstat4 status = NFS4_OK;

	if (c->vfs_status != RR_VFS_OK)
		return NFS4ERR_SERVERFAULT;
	tables = rr_nfs4_lock_tables(c->server);
	if (c->op->u.opreclaim_complete.rca_one_fs)
		c->client->one_fs_complete = true;
	else
		status = rr_nfs4_reclaim_complete(c->client);
	if (status == NFS4_OK && c->client->reclaim_complete)
		rr_nfs4_records_forget(&tables->records, c->client);
	rr_nfs4_look(tables, rr_now(c->server->env));
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/*
 * A client that has reclaimed opens or locks is recorded before RECLAIM_COMPLETE is completed, as that has
 * the record of the last start removed. Any other client has nothing to reclaim after another restart: it is
 * recorded by its first OPEN, and waits for no disk here.
 */
uint32_t
rr_op_reclaim_complete(struct rr_nfs4_compound *c)
{
	nfsstat4 status = NFS4_OK;
	bool waits = false;

	if (c->op->u.opreclaim_complete.rca_one_fs && c->current.kind == RR_NFS4_FH_NONE)
		return NFS4ERR_NOFILEHANDLE;
	/* For op_reclaim_finish(): RR_VFS_OK, unless writing the record sets another status. */
	c->vfs_status = RR_VFS_OK;
	rr_nfs4_lock_tables(c->server);
	if (!c->client->reclaim_complete && c->client->state_count > 0)
		waits = rr_nfs4_house_await(c, op_reclaim_finish, &status);
	rr_nfs4_unlock_tables(c->server);
	if (waits)
		return RR_NFS4_PENDING;
	return status == NFS4_OK ? op_reclaim_finish(c) : status;
}

/* Refuses SET_SSV, as this server grants SP4_SSV protection to no client. RFC 8881, 18.47.3: "It MUST NOT be
 * used if the client did not opt for SP4_SSV state protection ...; the server returns NFS4ERR_INVAL in that
 * case." */
uint32_t
rr_op_set_ssv(struct rr_nfs4_compound *c)
{
	(void)c;
	return NFS4ERR_INVAL;
}
