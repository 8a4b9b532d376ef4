/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the COMPOUNDs that make and end a session. */
#include <string.h>

#include "base/checked.h"
#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/session.h"

/* The sizes that the client asks for in a session, and the least that it accepts. */
enum {
	SESSION_MESSAGE = (1 << 20) + 4096,
	SESSION_CACHED = 4096,
	SESSION_OPS_LEAST = 6, /* operations of a COMPOUND: the longest that is always needed is REMOVE's */
	SESSION_MESSAGE_LEAST = 8192,
	SESSION_BACK = 4096
};

/* The operations without a SEQUENCE, which manage the client and its sessions. RFC 8881, 18.35.3: "Typically,
 * the first list of operations includes EXCHANGE_ID, CREATE_SESSION, DELEGPURGE, DESTROY_SESSION,
 * BIND_CONN_TO_SESSION, and DESTROY_CLIENTID." */
static uint32_t steps_enforced[] = { 0,
	1u << (OP_EXCHANGE_ID - 32) | 1u << (OP_CREATE_SESSION - 32) | 1u << (OP_DESTROY_SESSION - 32) |
		1u << (OP_BIND_CONN_TO_SESSION - 32) | 1u << (OP_DESTROY_CLIENTID - 32) };

/* Asks for SP4_MACH_CRED where the calls have a principal that proves itself: nobody else then ends the state
 * of this client. RFC 8881, 2.10.8.3: "The client is used by a single user, and so the client ID and its
 * sessions are used by just that user." That principal is the machine's here. */
static void
steps_protect(struct rr_v4 *v4, state_protect4_a *protect)
{
	v4->asks_machine = !v4->bare && rr_client_auth(v4->config.client)->flavor == RR_RPCSEC_GSS;
	protect->spa_how = v4->asks_machine ? SP4_MACH_CRED : SP4_NONE;
	if (v4->asks_machine)
		protect->u.spa_mach_ops.spo_must_enforce = (bitmap4){ 2, steps_enforced };
}

/* RFC 8881, 18.35.3: "the operations for which the server will require SP4_MACH_CRED": if there are others
 * than those that were asked for, all calls are protected. */
static void
steps_note_protection(struct rr_v4 *v4, const state_protect4_r *protect)
{
	const bitmap4 *enforced = &protect->u.spr_mach_ops.spo_must_enforce;

	v4->guards_all = false;
	if (protect->spr_how != SP4_MACH_CRED)
		return;
	for (uint32_t i = 0; i < enforced->count; i++)
		v4->guards_all |= (enforced->values[i] & ~(i < 2 ? steps_enforced[i] : 0)) != 0;
}

/* Builds EXCHANGE_ID, by which the server gives the client its client ID. */
static void
steps_exchange_build(struct rr_v4_slot *slot)
{
	struct rr_v4 *v4 = slot->v4;
	EXCHANGE_ID4args *args;

	args = &rr_v4_op(slot, OP_EXCHANGE_ID, 3 * NFS4_OPAQUE_LIMIT + 256)->u.opexchange_id;
	memcpy(args->eia_clientowner.co_verifier, v4->verifier, sizeof(v4->verifier));
	args->eia_clientowner.co_ownerid = (struct rpcrdma_bytes){ v4->owner, v4->owner_length };
	args->eia_flags = EXCHGID4_FLAG_USE_NON_PNFS;
	steps_protect(v4, &args->eia_state_protect);
}

/* Copies at most NFS4_OPAQUE_LIMIT octets of bytes into kept. Returns how many octets were copied. */
static uint32_t
steps_keep(uint8_t kept[NFS4_OPAQUE_LIMIT], struct rpcrdma_bytes bytes)
{
	uint32_t length = (uint32_t)rr_min(bytes.length, NFS4_OPAQUE_LIMIT);

	if (length > 0)
		memcpy(kept, bytes.data, length);
	return length;
}

/* Stores the client ID and the server's identity from the result of EXCHANGE_ID. If the client ID is new, the
 * server has no opens of this client, so the files that are open are to be reclaimed. */
static int
steps_exchange_take(struct rr_v4_slot *slot)
{
	const EXCHANGE_ID4resok *ok = &rr_v4_res(slot, OP_EXCHANGE_ID)->u.opexchange_id.u.eir_resok4;
	struct rr_v4 *v4 = slot->v4;
	bool known = ok->eir_flags & EXCHGID4_FLAG_CONFIRMED_R;

	/* RFC 8881, 18.35.4: "eir_sequenceid ... MUST be ignored" if the server knows the client already. */
	if (!known || ok->eir_clientid != v4->clientid) {
		v4->create_sequence = ok->eir_sequenceid;
		rr_v4_opens_reclaim(v4);
		if (v4->config.forgotten)
			v4->config.forgotten(v4->config.keeper);
	}
	v4->clientid = ok->eir_clientid;
	steps_note_protection(v4, &ok->eir_state_protect);
	v4->server.major_length = steps_keep(v4->server.major, ok->eir_server_owner.so_major_id);
	v4->server.scope_length = steps_keep(v4->server.scope, ok->eir_server_scope);
	return 0;
}

/* Builds CREATE_SESSION, with the limits that this client asks for and without a backchannel. */
static void
steps_create_build(struct rr_v4_slot *slot)
{
	static callback_sec_parms4 sec = { .cb_secflavor = AUTH_NONE };
	struct rr_v4 *v4 = slot->v4;
	CREATE_SESSION4args *args;

	v4->message = (uint32_t)rr_min(SESSION_MESSAGE, v4->config.engine->config.message_max);
	/* The session has no backchannel, as no flag asks for one: this client takes nothing that the server
	 * would have to recall. The values for a backchannel only fill fields that must be there. */
	args = &rr_v4_op(slot, OP_CREATE_SESSION, XDR_MAX_CREATE_SESSION4res)->u.opcreate_session;
	*args = (CREATE_SESSION4args){ .csa_clientid = v4->clientid,
		.csa_sequence = v4->create_sequence,
		.csa_fore_chan_attrs = { .ca_maxrequestsize = v4->message,
			.ca_maxresponsesize = v4->message,
			.ca_maxresponsesize_cached = SESSION_CACHED,
			.ca_maxoperations = RR_V4_OPS,
			.ca_maxrequests = RR_V4_SLOTS },
		.csa_back_chan_attrs = { .ca_maxrequestsize = SESSION_BACK,
			.ca_maxresponsesize = SESSION_BACK,
			.ca_maxoperations = 2,
			.ca_maxrequests = 1 },
		.csa_cb_program = 0x40000000,
		.csa_sec_parms = { 1, &sec } };
}

/* Stores the ID and the limits of the new session, and makes its slots free, except those that an earlier
 * call still has. Fails if the limits are too small to be used. */
static int
steps_create_take(struct rr_v4_slot *slot)
{
	const CREATE_SESSION4resok *ok = &rr_v4_res(slot, OP_CREATE_SESSION)->u.opcreate_session.u.csr_resok4;
	const channel_attrs4 *fore = &ok->csr_fore_chan_attrs;
	struct rr_v4 *v4 = slot->v4;

	if (fore->ca_maxrequests == 0 || fore->ca_maxoperations < SESSION_OPS_LEAST ||
		fore->ca_maxrequestsize < SESSION_MESSAGE_LEAST ||
		fore->ca_maxresponsesize < SESSION_MESSAGE_LEAST)
		return rr_fail(&v4->text, -RPCRDMA_ERR_PEER,
			"the server's session has %u slots, %u operations, and messages of %u and %u octets, "
			"which is no use",
			fore->ca_maxrequests, fore->ca_maxoperations, fore->ca_maxrequestsize,
			fore->ca_maxresponsesize);
	memcpy(v4->session, ok->csr_sessionid, sizeof(v4->session));
	v4->create_sequence++;
	v4->generation++;
	v4->slots = (uint32_t)rr_min(fore->ca_maxrequests, RR_V4_SLOTS);
	v4->highest = v4->slots - 1;
	v4->operations = fore->ca_maxoperations;
	v4->request_max = (uint32_t)rr_min(fore->ca_maxrequestsize, v4->message);
	v4->reply_max = (uint32_t)rr_min(fore->ca_maxresponsesize, v4->message);
	v4->free = v4->doubt = 0;
	memset(v4->sequence, 0, sizeof(v4->sequence));
	for (uint32_t i = 0; i < v4->slots; i++)
		v4->free |= (uint64_t)!v4->slot[i].busy << i;
	return 0;
}

/* RFC 8881, 2.10.11.3: "If the client wants to use additional connections for the fore channel, then it needs
 * to call BIND_CONN_TO_SESSION if it specified SP4_SSV or SP4_MACH_CRED state protection when the client ID
 * was created." */
static void
steps_bind_build(struct rr_v4_slot *slot)
{
	BIND_CONN_TO_SESSION4args *args =
		&rr_v4_op(slot, OP_BIND_CONN_TO_SESSION, XDR_MAX_BIND_CONN_TO_SESSION4res)
			 ->u.opbind_conn_to_session;

	slot->call.over = slot->v4->unbound;
	memcpy(args->bctsa_sessid, slot->v4->session, sizeof(args->bctsa_sessid));
	args->bctsa_dir = CDFC4_FORE;
}

static void
steps_complete_build(struct rr_v4_slot *slot)
{
	rr_v4_op(slot, OP_RECLAIM_COMPLETE, 0);
}

static void
steps_destroy_build(struct rr_v4_slot *slot)
{
	DESTROY_SESSION4args *args = &rr_v4_op(slot, OP_DESTROY_SESSION, 0)->u.opdestroy_session;

	memcpy(args->dsa_sessionid, slot->v4->session, sizeof(args->dsa_sessionid));
}

static void
steps_forget_build(struct rr_v4_slot *slot)
{
	rr_v4_op(slot, OP_DESTROY_CLIENTID, 0)->u.opdestroy_clientid.dca_clientid = slot->v4->clientid;
}

const struct rr_v4_work rr_v4_exchange_step = {
	.build = steps_exchange_build, .take = steps_exchange_take, .alone = true
};
const struct rr_v4_work rr_v4_create_step = {
	.build = steps_create_build, .take = steps_create_take, .alone = true
};
const struct rr_v4_work rr_v4_bind_step = {
	.build = steps_bind_build, .take = rr_v4_nothing_take, .alone = true
};
const struct rr_v4_work rr_v4_reclaim_step = {
	.build = rr_v4_open_build, .take = rr_v4_opened, .changes = true
};
const struct rr_v4_work rr_v4_complete_step = {
	.build = steps_complete_build, .take = rr_v4_nothing_take, .changes = true
};
const struct rr_v4_work rr_v4_close_step = {
	.build = rr_v4_close_build, .take = rr_v4_nothing_take, .changes = true
};
const struct rr_v4_work rr_v4_destroy_step = {
	.build = steps_destroy_build, .take = rr_v4_nothing_take, .alone = true
};
const struct rr_v4_work rr_v4_forget_step = {
	.build = steps_forget_build, .take = rr_v4_nothing_take, .alone = true
};
