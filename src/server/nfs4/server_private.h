/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_SERVER_PRIVATE_H
#define RR_SERVER_NFS4_SERVER_PRIVATE_H

#include "base/crew.h"
#include "server/nfs4/pseudo.h"
#include "server/nfs4/server.h"
#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/shared.h"

struct rr_nfs4_compound;

/* A connection that is used for version 4, as the sessions and the callbacks see it. */
struct rr_nfs4_connection {
	struct rr_attachment attachment; /* to the RPC server's connection */
	struct rr_nfs4_server *server;
	struct rr_nfs4_conn conn;
	/* server_callback.c keeps these: the RPC clients that send callbacks over this connection (struct
	 * callback_way) and their number; and the callbacks that are being sent (struct callback_call). */
	struct rr_list ways;
	struct rr_list calls;
	uint32_t way_count;
};

struct rr_nfs4_server {
	const struct rr_env *env;
	struct rr_pool *pool;
	struct rr_vfs *vfs;
	struct rr_gate *gate; /* to vfs */
	struct rr_loop *loop;
	struct rr_nfs4_shared *shared;
	uint32_t minors; /* RR_NFS4_MINOR_*: those that are offered */
	struct rr_pseudo pseudo;
	/* no_leases: the storage has answered that a file system has no leases, so none is asked for there.
	 * no_leases_fsid: that file system; exports may lie in several, and only the last such one is kept.
	 */
	bool no_leases;
	uint64_t no_leases_fsid[2];
	struct rr_list compounds; /* under way */
	struct rr_list spare;     /* memory of compounds that ended */
	uint32_t spare_count;
	struct rr_list outbox; /* callbacks to be sent; guarded by the lock of the tables */
	struct rr_watch mail;  /* an eventfd that wakes the loop when the outbox has callbacks */
	struct rr_timer lease; /* for rr_nfs4_look(), at intervals */
	struct rr_timer house; /* for the housekeeping, in the next turn */
	bool ends;             /* `house` is not armed any more */
	/* server_probe.c: the timer for the next questions to the storage about waits for locks; the question
	 * under way and its call; and how many may still follow it before the timer is armed again. */
	struct {
		struct rr_timer timer;
		struct rr_nfs4_probe probe;
		struct rr_vfs_lock lock;
		uint32_t left;
		bool asks;
	} probing;
	struct rr_crew *recorder; /* writes and removes records of clients; NULL: records are not kept */
	struct rpcrdma_latency operations[RR_NFS4_COUNTS]; /* by the number of the operation */
};

/* Take and give back the lock of the tables, which is held around the functions of the tables, never over
 * storage or I/O. Where these have left work over, rr_nfs4_unlock_tables() has the housekeeping do it. */
struct rr_nfs4_tables *rr_nfs4_lock_tables(struct rr_nfs4_server *server);
void rr_nfs4_unlock_tables(struct rr_nfs4_server *server);

/* ---- server_house.c ---- */

void rr_nfs4_house_init(struct rr_nfs4_server *server);
/* Closes opens that are not used any more, before an operation asks the storage for something: what the
 * tables have ended for the operation (the opens of another client, a delegation) is in its way until it is
 * closed. */
void rr_nfs4_house_close(struct rr_nfs4_server *server);
/* Closes all opens that are not used any more, as the server ends (server->ends is set). */
void rr_nfs4_house_end(struct rr_nfs4_server *server);
/* Hands a record that was taken from the list of those to be written or removed to the thread for records.
 * Returns false where there is no memory, or no such thread any more: the record counts as not written or not
 * removed then. The caller holds the lock of the tables. */
bool rr_nfs4_house_record(struct rr_nfs4_server *server, struct rr_nfs4_record *record);

/* ---- server_probe.c ---- */

void rr_nfs4_probe_init(struct rr_nfs4_server *server);
/* Arms the timer, as a client waits for the lock of a local program. */
void rr_nfs4_probe_later(struct rr_nfs4_server *server);
/* Asks the storage nothing more, as the server ends (server->ends is set). */
void rr_nfs4_probe_stop(struct rr_nfs4_server *server);

/* Ends all waiting when the server ends: changes of records under way are completed, and no compound waits
 * for a record or for another call any more. */
void rr_nfs4_stop_waiting(struct rr_nfs4_server *server);

/* Returns the version 4 connection of a request, and makes it if there is none yet. Returns NULL if there is
 * no memory, or sessions cannot be bound to the connection. */
struct rr_nfs4_connection *rr_nfs4_connection(struct rr_nfs4_server *server, struct rpcrdma_request *request);

/* ---- server_callback.c ---- */

/* Begin and end the service by which other threads give this server the callbacks that it is to send. Errors:
 * NOMEM, SYSTEM; with text. */
int rr_nfs4_mail_begin(struct rr_nfs4_server *server, struct rr_text *text);
void rr_nfs4_mail_end(struct rr_nfs4_server *server);

/* Puts a callback into the outbox of its connection's server, whose thread sends it; sessions->send points
 * here. The caller holds the lock of the tables. */
void rr_nfs4_send(struct rr_nfs4_callback *callback);

/* Makes the RPC client that sends the session's callbacks over the connection of the request, which is bound
 * to the session's backchannel. Then sends a CB_NULL to find out whether the client answers callbacks. The
 * caller holds the lock of the tables. */
void rr_nfs4_way_back(struct rr_nfs4_connection *connection, struct rpcrdma_request *request,
	struct rr_nfs4_session *session);

/* For a connection that ends: rr_nfs4_ways_lost() queues its callbacks again, for other connections; then
 * rr_nfs4_ways_free() frees its RPC clients and their calls. The caller holds the lock of the tables for the
 * first function, but not for the second. */
void rr_nfs4_ways_lost(struct rr_nfs4_connection *connection);
void rr_nfs4_ways_free(struct rr_nfs4_connection *connection);

#endif
