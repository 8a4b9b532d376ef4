/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TIRPC_TIRPC_H
#define RR_TIRPC_TIRPC_H

#include <pthread.h>
#include <rpcrdma/tirpc.h>
/* This header of libtirpc needs the others before it. */
#include <rpc/svc_mt.h>
#include <stdatomic.h>

#include "carrier/carrier.h"

/*
 * TI-RPC has RPC itself: headers, XIDs, authentication, XDR. Here are only the transports below it: a CLIENT
 * and an SVCXPRT on carriers, as the gateway has them. client.c makes clients and their connections,
 * client_call.c calls, client_control.c is clnt_control(), lookup.c asks rpcbind; server.c makes transports
 * and has their connections, server_call.c receives and replies, register.c registers.
 */

enum { RR_TIRPC_ADDRESSES = 8, RR_TIRPC_BUFFER = 4096, RR_TIRPC_GROWTH = 8 };

/* Without a limit of the caller's: that of clnt_create(). */
#define RR_TIRPC_PATIENCE (25 * RR_SECOND)

struct rr_tirpc_client {
	CLIENT handle;        /* its cl_private is the client */
	pthread_mutex_t lock; /* of all that follows, but for aborted */
	struct rpcrdma_engine *engine;
	struct rr_carrier *carrier; /* NULL: there is no connection */
	bool up;                    /* the carrier is connected */
	int lost;                   /* why the last connection ended */
	enum rr_transport transport;
	struct sockaddr_storage address;

	uint32_t xid, prog, vers;
	struct rpc_err error;
	bool has_timeout; /* CLSET_TIMEOUT */
	struct timeval timeout;
	atomic_bool aborted; /* the call under way is to end */
	uint8_t *buffer;     /* for the message of a call */
	uint32_t buffer_size;
};

/* Makes the connection, where there is none. 0, or a negative enum rpcrdma_error; deadline: of rr_now(). */
int rr_tirpc_connect(struct rr_tirpc_client *client, uint64_t deadline);

/* Turns the loop once, for no longer than to the deadline. */
void rr_tirpc_turn(struct rr_tirpc_client *client, uint64_t deadline);

/* The errno that says most about it. */
int rr_tirpc_errno(int error);

/* ---- client_call.c, client_control.c ---- */

enum clnt_stat rr_tirpc_call(CLIENT *handle, rpcproc_t proc, xdrproc_t xargs, void *args, xdrproc_t xresult,
	void *result, struct timeval timeout);
bool_t rr_tirpc_control(CLIENT *handle, u_int request, void *info);

/* ---- lookup.c ---- */

/* The port of the program at the host, under that netid, from its rpcbind. 0: rpc_createerr says why. */
uint16_t rr_tirpc_lookup(const char *host, rpcprog_t prog, rpcvers_t vers, const char *netid);

/* An XDR routine for nothing: xdr_void() has another type. */
static inline bool_t
rr_tirpc_nothing(XDR *xdrs, ...)
{
	(void)xdrs;
	return TRUE;
}

/* ---- The server ---- */

struct rr_tirpc_server {
	SVCXPRT handle; /* its xp_p1 is the server */
	SVCXPRT_EXT ext;
	struct rpcrdma_engine *engine;
	struct rr_acceptor *acceptor;
	struct rr_list connections;
	struct rr_exchange *first, *last; /* calls that wait, linked by their ctx */
	struct rr_exchange *current;      /* the call that is dispatched; NULL: there is no such call */
	uint32_t xid;                     /* its XID, */
	XDR arguments;                    /* and its arguments */
	int timer;                        /* a timerfd: a turn of the loop is due */
	uint64_t armed;                   /* when, of rr_now(); 0: the timer is not armed */
	struct sockaddr_storage at, caller;
};

extern const struct xp_ops rr_tirpc_server_ops;
extern const struct xp_ops2 rr_tirpc_server_ops2;

/* Ends the call that is dispatched without an answer, if there is such a call. */
void rr_tirpc_end_call(struct rr_tirpc_server *server);

/* server.c */
void rr_tirpc_destroy_server(SVCXPRT *handle);

#endif
