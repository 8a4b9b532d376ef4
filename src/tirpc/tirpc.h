/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TIRPC_TIRPC_H
#define RR_TIRPC_TIRPC_H

#include <pthread.h>
#include <rpcrdma/tirpc.h>
/* This header of libtirpc needs the headers above. */
#include <rpc/svc_mt.h>
#include <stdatomic.h>

#include "carrier/carrier.h"

/* TI-RPC itself implements RPC: headers, XIDs, authentication, XDR. This folder has only the transports
 * below it: a CLIENT and an SVCXPRT on carriers. client.c makes clients and their connections,
 * client_call.c calls, client_control.c has clnt_control(), lookup.c asks rpcbind; server.c makes
 * transports and has their connections, server_call.c receives and replies, register.c registers programs. */

/* The most addresses of a host that are tried; the octets of the first buffer for a message, and how many
 * times larger the next one is, if the message does not fit. */
enum { RR_TIRPC_ADDRESSES = 8, RR_TIRPC_BUFFER = 4096, RR_TIRPC_GROWTH = 8 };

/* The time to connect if the caller sets no limit: that of clnt_create(). */
#define RR_TIRPC_PATIENCE (25 * RR_SECOND)

/* A CLIENT of this library. */
struct rr_tirpc_client {
	CLIENT handle;        /* its cl_private is the client */
	pthread_mutex_t lock; /* for all that follows but aborted */
	struct rpcrdma_engine *engine;
	struct rr_carrier *carrier; /* NULL: there is no connection */
	bool up;                    /* the carrier is connected */
	int lost;                   /* negative error: why the last connection ended */
	enum rr_transport transport;
	struct sockaddr_storage address;

	uint32_t xid, prog, vers;
	struct rpc_err error;
	bool has_timeout; /* CLSET_TIMEOUT */
	struct timeval timeout;
	atomic_bool aborted; /* the call under way must end */
	uint8_t *buffer;     /* for the message of a call */
	uint32_t buffer_size;
};

/* Connects to the client's address, unless the client is connected, and waits until the deadline, a time of
 * rr_now(), at most. Returns 0 if the client is connected then, or a negative enum rpcrdma_error: TIMEDOUT
 * after the deadline, CANCELLED if the call was aborted meanwhile, or why the connection could not be
 * made. */
int rr_tirpc_connect(struct rr_tirpc_client *client, uint64_t deadline);

/* Turns the loop of the client's engine once: handles events, and waits for them until the deadline at
 * most. */
void rr_tirpc_turn(struct rr_tirpc_client *client, uint64_t deadline);

/* Returns the errno that describes the error, a negative enum rpcrdma_error, best: EIO if no other does. */
int rr_tirpc_errno(int error);

/* ---- client_call.c, client_control.c ---- */

enum clnt_stat rr_tirpc_call(CLIENT *handle, rpcproc_t proc, xdrproc_t xargs, void *args, xdrproc_t xresult,
	void *result, struct timeval timeout);
bool_t rr_tirpc_control(CLIENT *handle, u_int request, void *info);

/* ---- lookup.c ---- */

/* Asks the rpcbind at the host for the program, and returns the port of the program under that netid. Returns
 * 0 if there is no such port; rpc_createerr then has the reason. */
uint16_t rr_tirpc_lookup(const char *host, rpcprog_t prog, rpcvers_t vers, const char *netid);

/* Is an XDR routine that encodes and decodes nothing. xdr_void() cannot be used, as its type differs. */
static inline bool_t
rr_tirpc_nothing(XDR *xdrs, ...)
{
	(void)xdrs;
	return TRUE;
}

/* ---- The server ---- */

/* An SVCXPRT of this library. */
struct rr_tirpc_server {
	SVCXPRT handle; /* its xp_p1 is the server */
	SVCXPRT_EXT ext;
	struct rpcrdma_engine *engine;
	struct rr_acceptor *acceptor;
	struct rr_list connections;
	struct rr_exchange *first, *last; /* calls that wait, linked by their ctx */
	struct rr_exchange *current;      /* the call that is being dispatched; NULL: there is no such call */
	uint32_t xid;                     /* the XID of that call, */
	XDR arguments;                    /* and its arguments */
	int timer;                        /* a timerfd: readable when a turn of the loop is due */
	uint64_t armed; /* the time for which the timer is armed, of rr_now(); 0: it is not armed */
	struct sockaddr_storage at, caller;
};

extern const struct xp_ops rr_tirpc_server_ops;
extern const struct xp_ops2 rr_tirpc_server_ops2;

/* Ends the call that is being dispatched without an answer, if there is such a call. */
void rr_tirpc_end_call(struct rr_tirpc_server *server);

/* server.c: ends the server: closes its connections and descriptors, and frees it. */
void rr_tirpc_destroy_server(SVCXPRT *handle);

#endif
