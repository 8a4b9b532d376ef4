/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_SERVER_PRIVATE_H
#define RR_NFS4_SERVER_PRIVATE_H

#include "nfs4/pseudo.h"
#include "nfs4/server.h"
#include "nfs4/shared.h"
#include "vfs/crew.h"

struct rr_nfs4_compound;

/* A connection over which version 4 is spoken, as the sessions and the callbacks see it. */
struct rr_nfs4_connection {
	struct rr_attachment attachment; /* of the RPC server's connection */
	struct rr_nfs4_server *server;
	struct rr_nfs4_conn conn;
	struct rr_list ways;  /* back to the client: server_callback.c's, as the next ones */
	struct rr_list calls; /* under way */
	uint32_t way_count;
};

struct rr_nfs4_server {
	const struct rr_env *env;
	struct rr_pool *pool;
	struct rr_vfs *vfs;
	struct rr_gate *gate; /* to vfs */
	struct rr_loop *loop;
	struct rr_nfs4_shared *shared;
	struct rr_pseudo pseudo;
	bool no_leases;           /* the storage gives none */
	struct rr_list compounds; /* under way */
	struct rr_list spare;     /* memory of compounds that ended */
	uint32_t spare_count;
	struct rr_list outbox; /* callbacks to be sent: under the lock of the tables */
	struct rr_watch mail;  /* an eventfd: there are some */
	struct rr_timer lease;
	struct rr_crew *recorder; /* writes and removes records of clients; NULL: there are none */
};

/*
 * The lock of the tables: taken around their functions, never held over storage or I/O.
 * rr_nfs4_unlock_tables() has a thread do what the records of clients need, and closes the opens of what
 * ended meanwhile, after it has let go of the lock.
 */
struct rr_nfs4_tables *rr_nfs4_lock_tables(struct rr_nfs4_server *server);
void rr_nfs4_unlock_tables(struct rr_nfs4_server *server);

/* The server ends: what its recorder has begun is done, and no compound waits for it, or for another call,
 * any more. */
void rr_nfs4_stop_waiting(struct rr_nfs4_server *server);

/* The connection of a request; NULL: no memory, or none that sessions can be bound to. */
struct rr_nfs4_connection *rr_nfs4_connection(struct rr_nfs4_server *server, struct rpcrdma_request *request);

/* ---- server_callback.c ---- */

/* Errors: NOMEM, SYSTEM; with text. */
int rr_nfs4_mail_begin(struct rr_nfs4_server *server, struct rr_text *text);
void rr_nfs4_mail_end(struct rr_nfs4_server *server);

/* For sessions->send. The lock of the tables is held. */
void rr_nfs4_send(struct rr_nfs4_callback *callback);

/* The connection of the request is bound to the session's backchannel: what is needed to call over it is made
 * while there is a request of it, and the client is asked whether it answers. The lock of the tables is held.
 */
void rr_nfs4_way_back(struct rr_nfs4_connection *connection, struct rpcrdma_request *request,
	struct rr_nfs4_session *session);

/* The connection ends: nothing goes over it any more. The lock of the tables is held by the first; the second
 * frees, without it. */
void rr_nfs4_ways_lost(struct rr_nfs4_connection *connection);
void rr_nfs4_ways_free(struct rr_nfs4_connection *connection);

#endif
