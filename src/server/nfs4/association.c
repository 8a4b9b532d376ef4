/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps which connections are bound to which channels of a session: RFC 8881, sections 2.10.3.1 and
 * 18.34. */
#include <string.h>

#include "server/nfs4/tables/session.h"

void
rr_nfs4_conn_init(struct rr_nfs4_conn *conn)
{
	rr_list_init(&conn->associations);
	rr_nfs4_origin_init(&conn->origin);
}

/* Returns the association of this connection to this session; NULL if the connection is not bound to the
 * session. A session has few associations; a connection may have one to each of thousands of sessions. */
static struct rr_nfs4_association *
association_find(const struct rr_nfs4_session *session, const struct rr_nfs4_conn *conn)
{
	rr_list_for_each (link, &session->associations) {
		struct rr_nfs4_association *association =
			rr_container(link, struct rr_nfs4_association, of_session);

		if (association->conn == conn)
			return association;
	}
	return NULL;
}

/* Unbinds the connection of the association from the backchannel of the session; does nothing if the
 * connection is bound to the fore channel alone. If the backchannel has no other connection, it counts as
 * untested from now on: a CB_NULL will test the next connection. */
static void
association_drop_back(struct rr_nfs4_association *association)
{
	struct rr_nfs4_session *session = association->session;

	if (!(association->channels & RR_NFS4_BACK))
		return;
	association->channels &= ~(uint32_t)RR_NFS4_BACK;
	if (--session->back_count == 0)
		session->back_works = false;
}

/* Removes an association from its session and its connection, and frees it. */
static void
association_drop(struct rr_nfs4_association *association)
{
	struct rr_nfs4_session *session = association->session;

	association_drop_back(association);
	rr_list_remove(&association->of_session);
	rr_list_remove(&association->of_conn);
	session->association_count--;
	rr_free(session->table->env, association);
}

void
rr_nfs4_conn_end(struct rr_nfs4_conn *conn)
{
	rr_list_for_each (link, &conn->associations)
		association_drop(rr_container(link, struct rr_nfs4_association, of_conn));
	rr_nfs4_origin_end(&conn->origin);
}

void
rr_nfs4_unbind_back(struct rr_nfs4_session *session, const struct rr_nfs4_conn *conn)
{
	struct rr_nfs4_association *association = association_find(session, conn);

	if (association)
		association_drop_back(association);
}

void
rr_nfs4_unbind_all(struct rr_nfs4_session *session)
{
	rr_list_for_each (link, &session->associations)
		association_drop(rr_container(link, struct rr_nfs4_association, of_session));
}

void
rr_nfs4_bind(struct rr_nfs4_session *session, struct rr_nfs4_conn *conn, uint32_t channels)
{
	struct rr_nfs4_association *association = association_find(session, conn);

	if (!association && session->association_count < RR_NFS4_ASSOCIATIONS_PER_SESSION) {
		association = rr_alloc(session->table->env, sizeof(*association));
		if (association) {
			association->session = session;
			association->conn = conn;
			rr_list_append(&session->associations, &association->of_session);
			rr_list_append(&conn->associations, &association->of_conn);
			session->association_count++;
			/* If the client's connection has ended, the client counts under this one now. */
			rr_nfs4_origin_found(&conn->origin, &session->client->holding);
		}
	}
	if (!association)
		return;
	if (channels & ~association->channels & RR_NFS4_BACK)
		session->back_count++;
	association->channels |= channels;
}

uint32_t
rr_nfs4_bound(const struct rr_nfs4_session *session, const struct rr_nfs4_conn *conn)
{
	const struct rr_nfs4_association *association = association_find(session, conn);

	return association ? association->channels : 0;
}

struct rr_nfs4_conn *
rr_nfs4_back_conn(const struct rr_nfs4_session *session)
{
	rr_list_for_each (link, &session->associations) {
		struct rr_nfs4_association *association =
			rr_container(link, struct rr_nfs4_association, of_session);

		if (association->channels & RR_NFS4_BACK)
			return association->conn;
	}
	return NULL;
}

/*
 * Returns the channels to bind, as the client asks: RR_NFS4_FORE, RR_NFS4_BACK or both; 0 if the value is
 * unknown, or demands the backchannel of a session whose callbacks have no credential. RFC 8881, 18.34.3: "If
 * the client specified CDFC4_FORE, the server MUST return CDFS4_FORE." A client that leaves the choice to the
 * server gets both channels, so that callbacks have one more connection to use.
 */
static uint32_t
association_channels(const struct rr_nfs4_session *session, channel_dir_from_client4 direction)
{
	uint32_t back = session->has_cred ? RR_NFS4_BACK : 0;

	switch (direction) {
	case CDFC4_FORE: return RR_NFS4_FORE;
	case CDFC4_BACK: return back;
	case CDFC4_FORE_OR_BOTH: return RR_NFS4_FORE | back;
	case CDFC4_BACK_OR_BOTH: return back ? RR_NFS4_FORE | back : 0;
	}
	return 0;
}

/* Returns the session with this ID; NULL if there is no such session, or if the caller may not bind a
 * connection to it: callbacks go to the client alone. A connection that SEQUENCE has bound may come from any
 * address, and so does one of a client that has SP4_MACH_CRED. */
static struct rr_nfs4_session *
association_session(const struct rr_nfs4_sessions *sessions, const struct rr_caller *caller,
	const struct rr_nfs4_conn *conn, const sessionid4 id)
{
	struct rr_nfs4_session *session = rr_nfs4_session_find(sessions, id);

	if (session && session->client->machine)
		return rr_nfs4_client_may_manage(session->client, caller) ? session : NULL;
	if (!session || rr_nfs4_client_is_of(session->client, caller, &conn->origin))
		return session;
	return rr_nfs4_bound(session, conn) && rr_nfs4_client_may_manage(session->client, caller) ? session
												  : NULL;
}

/*
 * Carries out BIND_CONN_TO_SESSION. It fails with NFS4ERR_INVAL if the connection is bound to the backchannel
 * and the client now asks for the fore channel alone. RFC 8881, 18.34.3: "Invoking BIND_CONN_TO_SESSION on a
 * connection already associated with the specified session has no effect, and the server MUST respond with
 * NFS4_OK, unless the client is demanding changes to the set of channels the connection is associated with.
 * If so, the server MUST return NFS4ERR_INVAL." The backchannel may still be added to the fore channel:
 * SEQUENCE binds a connection to the fore channel, and the client cannot know of that association. If the
 * connection cannot be bound now, it fails with NFS4ERR_DELAY.
 */
void
rr_nfs4_bind_conn_to_session(const struct rr_nfs4_sessions *sessions, const struct rr_caller *caller,
	struct rr_nfs4_conn *conn, const BIND_CONN_TO_SESSION4args *args, BIND_CONN_TO_SESSION4res *res)
{
	struct rr_nfs4_session *session = association_session(sessions, caller, conn, args->bctsa_sessid);
	BIND_CONN_TO_SESSION4resok *ok = &res->u.bctsr_resok4;
	uint32_t channels = session ? association_channels(session, args->bctsa_dir) : 0, bound;

	res->bctsr_status = !session ? NFS4ERR_BADSESSION : channels == 0 ? NFS4ERR_INVAL : NFS4_OK;
	if (res->bctsr_status != NFS4_OK)
		return;
	bound = rr_nfs4_bound(session, conn);
	if (bound & ~channels & RR_NFS4_BACK) {
		res->bctsr_status = NFS4ERR_INVAL;
		return;
	}
	if (channels & RR_NFS4_BACK)
		session->wants_back = true;
	rr_nfs4_bind(session, conn, channels);
	/* There is no memory, or the session has as many connections as it may have. */
	if (channels & ~rr_nfs4_bound(session, conn)) {
		res->bctsr_status = NFS4ERR_DELAY;
		return;
	}
	memcpy(ok->bctsr_sessid, args->bctsa_sessid, sizeof(ok->bctsr_sessid));
	/* RR_NFS4_FORE and RR_NFS4_BACK have the values of CDFS4_FORE and CDFS4_BACK. */
	ok->bctsr_dir = (channel_dir_from_server4)channels;
	/* RFC 8881, 2.10.7.4: a connection over RDMA is in RDMA mode from its beginning, so there is no step
	 * up. */
	ok->bctsr_use_conn_in_rdma_mode = false;
}
