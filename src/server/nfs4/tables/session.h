/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_SESSION_H
#define RR_SERVER_NFS4_TABLES_SESSION_H

#include "server/nfs4/tables/callback.h"
#include "server/nfs4/tables/client.h"

/*
 * Sessions, the connections that are bound to them, and CREATE_SESSION: RFC 8881, sections 2.10, 18.34, 18.36
 * and 18.37. No function here calls the system, as in client.h. Slots and the reply cache are in slot.h.
 *
 * Ownership: the table owns the sessions. A compound under way holds its session; a session that was
 * destroyed leaves the table at once, and is freed when its last compound lets it go. An association belongs
 * to its session, and ends with the session or with the connection.
 */

/* The limits that the server sets for a session. */
struct rr_nfs4_limits {
	uint32_t request_max, response_max; /* octets of a COMPOUND with its RPC header, data included */
	uint32_t cached_max;
	uint32_t operations_max, slots_max;
	/* The largest callback and its reply: over RDMA, as large as an inline message (RFC 8267, 6.5.2). */
	uint32_t back_max;
};

/* A connection, as the sessions see it. */
struct rr_nfs4_conn {
	struct rr_list associations;  /* of this connection to sessions, one for each session */
	struct rr_nfs4_origin origin; /* of the clients that came by this connection */
};

/* The channels of a session; their values are those of channel_dir_from_server4. */
enum { RR_NFS4_FORE = 1, RR_NFS4_BACK = 2 };

/* An association says to which channels of a session a connection is bound. */
struct rr_nfs4_association {
	struct rr_list of_session, of_conn;
	struct rr_nfs4_session *session;
	struct rr_nfs4_conn *conn;
	uint32_t channels;
};

struct rr_nfs4_slot;

enum { RR_NFS4_BACK_SLOTS = 16 };

/* A slot of the backchannel: the sequence ID of the last callback that was answered, and the callback that
 * has the slot; NULL: it is free. */
struct rr_nfs4_back_slot {
	sequenceid4 sequence;
	struct rr_nfs4_callback *callback;
};

struct rr_nfs4_session {
	struct rr_nfs4_sessions *table;
	struct rr_map_link by_id;
	struct rr_list of_client;
	struct rr_nfs4_client *client;
	sessionid4 id;
	channel_attrs4 fore, back;
	/* holders: references to the session; busy: compounds under way, each in its own slot. */
	uint32_t holders, busy;
	struct rr_list associations;
	uint32_t association_count, back_count; /* of all associations; of those to the backchannel */
	uint32_t cb_program;
	/* has_cred: the client has offered a credential that the server can send callbacks with. has_sys:
	 * that is the AUTH_SYS credential sys_uid, sys_gid; else it is AUTH_NONE. */
	bool has_cred, has_sys;
	uint32_t sys_uid, sys_gid;
	bool used;         /* a SEQUENCE has named the session: the client knows it */
	bool wants_back;   /* the client asked for a backchannel at some time */
	bool cb_fault;     /* the backchannel is out of step with the client: no callback uses it any more */
	uint64_t reserved; /* octets for slots, taken from the quota of the client */
	struct rr_nfs4_slot *slots; /* fore.ca_maxrequests of them */
	uint32_t minor;             /* version, of callbacks too */
	/* The client has answered a callback since its last association to a connection for callbacks. */
	bool back_works;
	struct rr_nfs4_callback probe; /* the CB_NULL that tests the backchannel */
	/* The slots of the backchannel that the server uses; the client may offer more. */
	uint32_t back_slot_count, back_busy; /* back_busy: slots that callbacks have */
	struct rr_nfs4_back_slot back_slots[RR_NFS4_BACK_SLOTS];
};

struct rr_nfs4_sessions {
	const struct rr_env *env;
	struct rr_map by_id;
	uint32_t count, next; /* number of sessions; counter for the next session ID */
	struct rr_nfs4_quota sessions, replies;
	/* Callbacks that wait: those that may be sent, and those that were looked at and cannot be sent until
	 * rr_nfs4_callbacks_go(). */
	struct rr_list callbacks, looked_at;
	uint64_t now; /* the time of the last rr_nfs4_callbacks_go() that had one */
	/* Sends the callback from the thread of its connection. NULL: callbacks wait. */
	void (*send)(struct rr_nfs4_callback *callback);
};

enum { RR_NFS4_SESSIONS_PER_CLIENT = 32, RR_NFS4_ASSOCIATIONS_PER_SESSION = 64 };

/* Makes an empty table. All clients together, of which there are at most `clients`, may have `max` sessions
 * and `replies` octets of cached replies. Errors: NOMEM. */
int rr_nfs4_sessions_init(struct rr_nfs4_sessions *sessions, const struct rr_env *env, uint32_t max,
	uint64_t replies, uint32_t clients);
/* Frees the table; all sessions have gone. */
void rr_nfs4_sessions_free(struct rr_nfs4_sessions *sessions);

/* The arguments of rr_nfs4_create_session(). */
struct rr_nfs4_create {
	const CREATE_SESSION4args *args;
	const struct rr_caller *caller;
	struct rr_nfs4_limits limits;
	struct rr_nfs4_conn *conn;
	uint32_t minor;
	uint64_t now;
};

/* Carries out CREATE_SESSION, with the client's own reply cache (RFC 8881, 18.36.4). The pointers in *res
 * stay valid as long as the client exists. */
void rr_nfs4_create_session(struct rr_nfs4_sessions *sessions, struct rr_nfs4_clients *clients,
	const struct rr_nfs4_create *create, CREATE_SESSION4res *res);

/* Returns the session with this session ID; NULL if there is no such session. */
struct rr_nfs4_session *rr_nfs4_session_find(const struct rr_nfs4_sessions *sessions, const sessionid4 id);

/* Carries out DESTROY_SESSION. own: the session of the SEQUENCE in the same COMPOUND; NULL if there is none.
 * caller, conn: of the request. */
nfsstat4 rr_nfs4_destroy_session(struct rr_nfs4_sessions *sessions, const sessionid4 id,
	const struct rr_nfs4_session *own, const struct rr_caller *caller, const struct rr_nfs4_conn *conn);

/* Ends the session, even if it is in use. Its memory is freed when the last reference to it is released. */
void rr_nfs4_session_end(struct rr_nfs4_session *session);

/* Take a reference to the session, and release it; the session is freed with its last reference. */
struct rr_nfs4_session *rr_nfs4_session_hold(struct rr_nfs4_session *session);
void rr_nfs4_session_release(struct rr_nfs4_session *session);

/* Sets the credential that callbacks carry: the first AUTH_SYS credential that the client offers, else
 * AUTH_NONE if that is offered. RFC 8881, 2.10.8.2: the server "MUST NOT use unoffered combinations". Changes
 * nothing if the client offers neither: returns NFS4ERR_NOENT then, as this server has no RPCSEC_GSS, or
 * NFS4ERR_INVAL if nothing is offered. */
nfsstat4 rr_nfs4_callback_security(
	struct rr_nfs4_session *session, const callback_sec_parms4 *parms, uint32_t count);

/* Tells whether the session has ended: it has left the table and exists only for its references. */
static inline bool
rr_nfs4_session_ended(const struct rr_nfs4_session *session)
{
	return !session->table;
}

/* ---- association.c ---- */

void rr_nfs4_conn_init(struct rr_nfs4_conn *conn);
/* Ends the associations of a connection that has ended. The clients that came by it keep their records and
 * count as clients of ended connections from now on (origin.h). */
void rr_nfs4_conn_end(struct rr_nfs4_conn *conn);

/* Binds the connection to these channels of the session, in addition to those that it is bound to already. If
 * the session has as many associations as it may have, or there is no memory, the connection stays unbound.
 */
void rr_nfs4_bind(struct rr_nfs4_session *session, struct rr_nfs4_conn *conn, uint32_t channels);
/* Returns the channels of the session that the connection is bound to: RR_NFS4_FORE, RR_NFS4_BACK, both, or
 * 0. */
uint32_t rr_nfs4_bound(const struct rr_nfs4_session *session, const struct rr_nfs4_conn *conn);
/* Unbinds the connection from the backchannel. */
void rr_nfs4_unbind_back(struct rr_nfs4_session *session, const struct rr_nfs4_conn *conn);
/* Ends all associations of a session that ends. */
void rr_nfs4_unbind_all(struct rr_nfs4_session *session);
/* Returns a connection that can carry callbacks of the session; NULL if there is no such connection. */
struct rr_nfs4_conn *rr_nfs4_back_conn(const struct rr_nfs4_session *session);

/* Carries out BIND_CONN_TO_SESSION, and fills *res. caller, conn: of the request. */
void rr_nfs4_bind_conn_to_session(const struct rr_nfs4_sessions *sessions, const struct rr_caller *caller,
	struct rr_nfs4_conn *conn, const BIND_CONN_TO_SESSION4args *args, BIND_CONN_TO_SESSION4res *res);

#endif
