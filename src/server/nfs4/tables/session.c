/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a session, and CREATE_SESSION: RFC 8881, sections 18.36 and 18.37. */
#include "server/nfs4/tables/session.h"

#include <string.h>

#include <rpcrdma/error.h>

#include "base/checked.h"
#include "server/nfs4/tables/slot.h"

/* The smallest sizes that a session can work with: a SEQUENCE with a filehandle and a small operation. */
enum { SESSION_REQUEST_LEAST = 256, SESSION_RESPONSE_LEAST = 256, SESSION_OPERATIONS_LEAST = 2 };

/* The smallest sizes that callbacks can work with: a CB_SEQUENCE and a CB_RECALL. The largest such request
 * has 236 octets: the header with an AUTH_SYS credential, a referring call, and the longest filehandle. */
enum { SESSION_BACK_REQUEST_LEAST = 256, SESSION_BACK_RESPONSE_LEAST = 128 };

enum {
	SESSION_FLAGS = CREATE_SESSION4_FLAG_PERSIST | CREATE_SESSION4_FLAG_CONN_BACK_CHAN |
			CREATE_SESSION4_FLAG_CONN_RDMA
};

int
rr_nfs4_sessions_init(struct rr_nfs4_sessions *sessions, const struct rr_env *env, uint32_t max,
	uint64_t replies, uint32_t clients)
{
	memset(sessions, 0, sizeof(*sessions));
	sessions->env = env;
	rr_nfs4_quota_init(&sessions->sessions, RR_NFS4_SESSIONS, max, clients);
	rr_nfs4_quota_init(&sessions->replies, RR_NFS4_REPLIES, replies, clients);
	rr_list_init(&sessions->callbacks);
	rr_list_init(&sessions->looked_at);
	return rr_map_init(&sessions->by_id, env, max);
}

void
rr_nfs4_sessions_free(struct rr_nfs4_sessions *sessions)
{
	rr_map_free(&sessions->by_id, sessions->env);
}

/* ---- The quotas of sessions ---- */

/* Gives back to the quotas what a session of the client has taken: one session, and `reserved` octets for
 * slots. */
static void
session_give(struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client, uint64_t reserved)
{
	rr_nfs4_quota_give(&sessions->sessions, &client->holding, 1);
	rr_nfs4_quota_give(&sessions->replies, &client->holding, reserved);
}

/* Takes octets for slots and their cached replies from the quota, and returns the number of slots that have
 * room in them: the number that the client asked for, or half of it, or a quarter, and so on. Returns 0, and
 * takes nothing, if the quota is too small for the replies of a single slot. */
static uint32_t
session_take_replies(
	struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client, const channel_attrs4 *fore)
{
	for (uint32_t slots = fore->ca_maxrequests; slots > 0; slots /= 2) {
		if (rr_nfs4_quota_take(
			    &sessions->replies, &client->holding, (uint64_t)slots * rr_nfs4_slot_cost(fore)))
			return slots;
	}
	return 0;
}

/* Takes from the quotas what a new session needs, and lowers fore->ca_maxrequests to the number of slots that
 * there is memory for. Returns false if the client may have no further session. */
static bool
session_take(struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client, channel_attrs4 *fore)
{
	if (client->session_count == RR_NFS4_SESSIONS_PER_CLIENT || client->phase == RR_NFS4_ENDED ||
		!rr_nfs4_quota_take(&sessions->sessions, &client->holding, 1))
		return false;
	fore->ca_maxrequests = session_take_replies(sessions, client, fore);
	if (fore->ca_maxrequests > 0)
		return true;
	rr_nfs4_quota_give(&sessions->sessions, &client->holding, 1);
	return false;
}

/* ---- The life of a session ---- */

/* Returns the key of a session in the table: the last eight octets of its ID, which are random. */
static uint64_t
session_key(const sessionid4 id)
{
	uint64_t key;

	memcpy(&key, id + sizeof(sessionid4) - sizeof(key), sizeof(key));
	return key;
}

struct rr_nfs4_session *
rr_nfs4_session_find(const struct rr_nfs4_sessions *sessions, const sessionid4 id)
{
	struct rr_map_link *link = rr_map_find(&sessions->by_id, session_key(id));

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_session *session = rr_container(link, struct rr_nfs4_session, by_id);

		if (memcmp(session->id, id, sizeof(session->id)) == 0)
			return session;
	}
	return NULL;
}

struct rr_nfs4_session *
rr_nfs4_session_hold(struct rr_nfs4_session *session)
{
	session->holders++;
	return session;
}

void
rr_nfs4_session_release(struct rr_nfs4_session *session)
{
	struct rr_nfs4_client *client = session->client;

	if (--session->holders > 0)
		return;
	rr_nfs4_slots_free(session);
	rr_free(client->table->env, session);
	rr_nfs4_client_release(client);
}

void
rr_nfs4_session_end(struct rr_nfs4_session *session)
{
	struct rr_nfs4_sessions *sessions = session->table;

	if (!sessions)
		return;
	rr_nfs4_unbind_all(session);
	rr_map_remove(&sessions->by_id, &session->by_id);
	rr_list_remove(&session->of_client);
	session->client->session_count--;
	sessions->count--;
	session_give(sessions, session->client, session->reserved);
	/* From now on the session counts as ended, also for its callbacks. */
	session->table = NULL;
	rr_nfs4_callbacks_leave(session);
	rr_nfs4_session_release(session);
}

nfsstat4
rr_nfs4_destroy_session(struct rr_nfs4_sessions *sessions, const sessionid4 id,
	const struct rr_nfs4_session *own, const struct rr_caller *caller, const struct rr_nfs4_conn *conn)
{
	struct rr_nfs4_session *session = rr_nfs4_session_find(sessions, id);

	if (!session)
		return NFS4ERR_BADSESSION;
	/* RFC 8881, 18.37.3: "DESTROY_SESSION MUST be invoked on a connection that is associated with the
	 * session being destroyed." SEQUENCE has associated it with its own session. */
	if (session != own && rr_nfs4_bound(session, conn) == 0)
		return NFS4ERR_CONN_NOT_BOUND_TO_SESSION;
	/* RFC 8881, 15.1.6.4: "An operation that manipulates state was attempted by a principal that was not
	 * allowed to modify that piece of state." */
	if (!rr_nfs4_client_may_manage(session->client, caller))
		return NFS4ERR_WRONG_CRED;
	/* Calls under way still need their slots. */
	if (session->busy > (session == own ? 1 : 0))
		return NFS4ERR_DELAY;
	rr_nfs4_session_end(session);
	return NFS4_OK;
}

/* Sets the attributes of the fore channel: each is what the client asks for, or the limit of the server if
 * that is less. RFC 8881, 18.36.3: no size may be raised. Returns NFS4ERR_TOOSMALL if no operation would fit
 * into the sizes, and NFS4ERR_INVAL if the session would have too few operations, or no slot. */
static nfsstat4
session_fore_attrs(const struct rr_nfs4_limits *limits, const channel_attrs4 *asked, channel_attrs4 *given)
{
	if (asked->ca_maxrequestsize < SESSION_REQUEST_LEAST ||
		asked->ca_maxresponsesize < SESSION_RESPONSE_LEAST)
		return NFS4ERR_TOOSMALL;
	if (asked->ca_maxoperations < SESSION_OPERATIONS_LEAST || asked->ca_maxrequests == 0)
		return NFS4ERR_INVAL;
	*given = (channel_attrs4){
		.ca_maxrequestsize = (uint32_t)rr_min(asked->ca_maxrequestsize, limits->request_max),
		.ca_maxresponsesize = (uint32_t)rr_min(asked->ca_maxresponsesize, limits->response_max),
		.ca_maxresponsesize_cached = (uint32_t)rr_min(asked->ca_maxresponsesize_cached,
			rr_min(limits->cached_max, asked->ca_maxresponsesize)),
		.ca_maxoperations = (uint32_t)rr_min(asked->ca_maxoperations, limits->operations_max),
		.ca_maxrequests = (uint32_t)rr_min(asked->ca_maxrequests, limits->slots_max),
	};
	return NFS4_OK;
}

/* Sets the attributes of the backchannel. RFC 8881, 18.36.3, of ca_maxoperations and of ca_maxrequests: "For
 * the backchannel, the server MUST NOT change the value the client offers." The other values are lowered to
 * the limits of the server. Returns NFS4ERR_TOOSMALL if CB_RECALL would not fit. */
static nfsstat4
session_back_attrs(const struct rr_nfs4_limits *limits, const channel_attrs4 *asked, channel_attrs4 *given)
{
	if (asked->ca_maxrequestsize < SESSION_BACK_REQUEST_LEAST ||
		asked->ca_maxresponsesize < SESSION_BACK_RESPONSE_LEAST ||
		asked->ca_maxoperations < SESSION_OPERATIONS_LEAST)
		return NFS4ERR_TOOSMALL;
	*given = (channel_attrs4){
		.ca_maxrequestsize = (uint32_t)rr_min(asked->ca_maxrequestsize, limits->back_max),
		.ca_maxresponsesize = (uint32_t)rr_min(asked->ca_maxresponsesize, limits->back_max),
		.ca_maxresponsesize_cached = 0,
		.ca_maxoperations = asked->ca_maxoperations,
		.ca_maxrequests = asked->ca_maxrequests,
	};
	return NFS4_OK;
}

nfsstat4
rr_nfs4_callback_security(struct rr_nfs4_session *session, const callback_sec_parms4 *parms, uint32_t count)
{
	const callback_sec_parms4 *found = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (parms[i].cb_secflavor == AUTH_NONE && !found)
			found = &parms[i];
		if (parms[i].cb_secflavor == AUTH_SYS && (!found || found->cb_secflavor == AUTH_NONE))
			found = &parms[i];
	}
	/* RFC 8881, 18.36.3: "If the RPCSEC_GSS handle identified by gcbp_handle_from_server does not exist
	 * on the server, the server will return NFS4ERR_NOENT." No such handle exists on this server. */
	if (!found)
		return count > 0 ? NFS4ERR_NOENT : NFS4ERR_INVAL;
	session->has_cred = true;
	session->has_sys = found->cb_secflavor == AUTH_SYS;
	session->sys_uid = session->has_sys ? found->u.cbsp_sys_cred.uid : 0;
	session->sys_gid = session->has_sys ? found->u.cbsp_sys_cred.gid : 0;
	return NFS4_OK;
}

/* Makes a session ID of 16 octets: a counter of 4 octets, so that all IDs differ, and 12 random octets, so
 * that no peer can guess the ID of another. */
static void
session_make_id(struct rr_nfs4_sessions *sessions, sessionid4 id)
{
	uint32_t count = sessions->next++;

	sessions->env->random(sessions->env->ctx, id, sizeof(sessionid4));
	memcpy(id, &count, sizeof(count));
}

/* Makes a session with its slots, and enters it into the table of sessions and into the list of its client.
 * Lowers fore->ca_maxrequests if there is too little quota. Returns NULL if there is no memory or no
 * quota. */
static struct rr_nfs4_session *
session_make(struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client, channel_attrs4 *fore,
	const channel_attrs4 *back)
{
	struct rr_nfs4_session *session;
	uint64_t reserved;

	if (!session_take(sessions, client, fore))
		return NULL;
	reserved = (uint64_t)fore->ca_maxrequests * rr_nfs4_slot_cost(fore);
	session = rr_alloc(sessions->env, sizeof(*session));
	if (!session) {
		session_give(sessions, client, reserved);
		return NULL;
	}
	session->fore = *fore;
	session->back = *back;
	session->back_slot_count = (uint32_t)rr_min(back->ca_maxrequests, RR_NFS4_BACK_SLOTS);
	session->client = client;
	if (!rr_nfs4_slots_make(session, sessions->env)) {
		session_give(sessions, client, reserved);
		rr_free(sessions->env, session);
		return NULL;
	}
	session->table = sessions;
	rr_nfs4_client_hold(client);
	session->holders = 1;
	session->reserved = reserved;
	rr_list_init(&session->associations);
	rr_list_init(&session->probe.link);
	rr_list_append(&client->sessions, &session->of_client);
	client->session_count++;
	session_make_id(sessions, session->id);
	rr_map_add(&sessions->by_id, &session->by_id, session_key(session->id));
	sessions->count++;
	return session;
}

/* Carries out the last phase of CREATE_SESSION, RFC 8881, 18.36.4, phase 4: makes the session, binds the
 * connection to the session and fills *ok. A session for whose callbacks the client offers no credential at
 * all has no backchannel. Returns NFS4ERR_INVAL for an unknown flag, the error of the channel attributes,
 * NFS4ERR_NOENT if only RPCSEC_GSS is offered for callbacks, or NFS4ERR_NOSPC if there is no memory or the
 * client may have no further session. */
static nfsstat4
session_create_phase(struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client,
	const struct rr_nfs4_create *create, CREATE_SESSION4resok *ok)
{
	const CREATE_SESSION4args *args = create->args;
	struct rr_nfs4_session *session;
	channel_attrs4 fore, back;
	nfsstat4 status;

	if (args->csa_flags & ~(uint32_t)SESSION_FLAGS)
		return NFS4ERR_INVAL;
	status = session_fore_attrs(&create->limits, &args->csa_fore_chan_attrs, &fore);
	if (status == NFS4_OK)
		status = session_back_attrs(&create->limits, &args->csa_back_chan_attrs, &back);
	if (status != NFS4_OK)
		return status;
	session = session_make(sessions, client, &fore, &back);
	if (!session)
		return NFS4ERR_NOSPC;
	session->minor = create->minor;
	session->cb_program = args->csa_cb_program;
	status = rr_nfs4_callback_security(session, args->csa_sec_parms.values, args->csa_sec_parms.count);
	if (status == NFS4ERR_NOENT) {
		rr_nfs4_session_end(session);
		return status;
	}
	rr_nfs4_bind(session, create->conn, RR_NFS4_FORE);
	if (session->has_cred && args->csa_flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN) {
		session->wants_back = true;
		rr_nfs4_bind(session, create->conn, RR_NFS4_BACK);
	}
	/* Without memory, the connection is not bound, and the result does not have the flag. */
	ok->csr_flags =
		rr_nfs4_bound(session, create->conn) & RR_NFS4_BACK ? CREATE_SESSION4_FLAG_CONN_BACK_CHAN : 0;
	memcpy(ok->csr_sessionid, session->id, sizeof(ok->csr_sessionid));
	ok->csr_sequence = args->csa_sequence;
	ok->csr_fore_chan_attrs = fore;
	ok->csr_back_chan_attrs = back;
	return NFS4_OK;
}

/*
 * Carries out CREATE_SESSION. The result is kept in the client, and a retry with the same sequence ID gets it
 * again, so that no session is made twice. NFS4ERR_TOOSMALL and NFS4ERR_INVAL are not replayed, as they
 * depend on the arguments alone and change nothing: a client that asks for other sizes under the same
 * sequence ID gets its session.
 */
void
rr_nfs4_create_session(struct rr_nfs4_sessions *sessions, struct rr_nfs4_clients *clients,
	const struct rr_nfs4_create *create, CREATE_SESSION4res *res)
{
	struct rr_nfs4_client *client = rr_nfs4_client_find(clients, create->args->csa_clientid);
	sequenceid4 sequence = create->args->csa_sequence;
	bool repeats;

	res->csr_status = client ? NFS4ERR_CLID_INUSE : NFS4ERR_STALE_CLIENTID;
	/* RFC 8881, 18.36.4, phase 3, of the records { *, *, old_principal, clientid, confirmed or not }:
	 * "the server returns NFS4ERR_CLID_INUSE". It holds for a retry, too: its result names the session.
	 */
	if (!client || !rr_nfs4_client_is_of(client, create->caller, &create->conn->origin))
		return;
	/* A call with the sequence ID of the last call gets the same result again, except if that was an
	 * error of its arguments: then it is executed as a new call. */
	repeats = sequence == client->sequence;
	if (repeats && !client->refused) {
		*res = client->created; /* a replay, or the contrived result */
		return;
	}
	res->csr_status = NFS4ERR_SEQ_MISORDERED;
	if (!repeats && sequence != client->sequence + 1)
		return;
	if (!rr_nfs4_client_may_confirm(client, create->now))
		res->csr_status = NFS4ERR_CLID_INUSE;
	else
		res->csr_status = session_create_phase(sessions, client, create, &res->u.csr_resok4);
	client->sequence = sequence;
	client->created = *res;
	client->refused = res->csr_status == NFS4ERR_TOOSMALL || res->csr_status == NFS4ERR_INVAL;
	if (res->csr_status == NFS4_OK)
		rr_nfs4_client_confirm(client, create->now);
}
