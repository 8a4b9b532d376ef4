/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_TIRPC_H
#define RPCRDMA_TIRPC_H

#include <rpc/rpc.h>
#include <rpcrdma/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Transports of TI-RPC (libtirpc) over RDMA: a CLIENT and an SVCXPRT, as clnt_create() and svctcp_create()
 * make them over TCP. A program that was made with rpcgen moves to RDMA by changing the call that creates its
 * handle; stubs, dispatch functions and XDR routines stay as they are. Link with librpcrdma-tirpc and
 * libtirpc: `pkg-config --libs rpcrdma-tirpc`.
 *
 * Messages have at most 1 MiB + 64 KiB, and travel inline, as position-zero Read chunks, in Reply chunks,
 * and in Read chunks of the responder. No argument or result is placed by itself: there is no upper-layer
 * binding for a program of rpcgen, so nothing of it is DDP-eligible (RFC 8166, section 6). `rpcrdma xdr`
 * makes stubs that place data.
 *
 * Authentication is TI-RPC's own, and all of its flavors travel: AUTH_NONE, AUTH_SYS, RPCSEC_GSS.
 */

/*
 * Makes a client of the program at host, as clnt_create() does. netid is "rdma" (IPv4) or "rdma6" (IPv6;
 * RFC 5665, section 5.1); NULL means "rdma". The rpcbind of the host says at which port the program is.
 * Where netid is "tcp" or "tcp6", calls go over TCP without RDMA.
 *
 * Threads: several threads may call with one CLIENT; their calls go one after another. The thread that calls
 * drives the connection while it waits. No thread is made, and between calls nothing happens: a connection
 * that the server closed meanwhile is made again by the next call.
 *
 * Timeouts: as of a CLIENT over TCP: that of clnt_call(), or that of CLSET_TIMEOUT, which then counts for all
 * calls. A timeout of 0 sends the call and does not wait for its result. A call that ran out of time is
 * cancelled: no peer reaches its memory any more, and the next call can be made.
 *
 * Cancelling: CLNT_ABORT() from another thread ends the call under way with RPC_INTR. Threads that are
 * cancelled (pthread_cancel()) end when their call has returned.
 *
 * clnt_control() knows CLSET_TIMEOUT, CLGET_TIMEOUT, CLGET_SERVER_ADDR, CLGET_SVC_ADDR, CLGET_FD (a
 * descriptor to wait for, not a socket), and CLGET_ and CLSET_ of XID, PROG and VERS. clnt_destroy() closes
 * the connection and frees the client, but for its cl_auth; no thread may be in a call then.
 *
 * Where the function fails, it returns NULL, and rpc_createerr says why: RPC_UNKNOWNHOST, RPC_UNKNOWNPROTO
 * (netid), RPC_RPCBFAILURE, RPC_PROGNOTREGISTERED, RPC_SYSTEMERROR with the errno of the connection.
 *
 * The clnt_stat of a call, beside what the server answers: RPC_CANTENCODEARGS (the arguments do not encode,
 * or are too large), RPC_CANTSEND (no connection could be made), RPC_CANTRECV (the connection was lost, or
 * the reply is larger than a message may be: EMSGSIZE), RPC_TIMEDOUT, RPC_INTR, RPC_CANTDECODERES,
 * RPC_SYSTEMERROR (no memory).
 */
RPCRDMA_API CLIENT *rpcrdma_clnt_create(const char *host, rpcprog_t prog, rpcvers_t vers, const char *netid);

/* Makes a client as rpcrdma_clnt_create() does, but at a port that the caller knows: rpcbind is not asked.
 * Threads and errors are those of rpcrdma_clnt_create(). */
RPCRDMA_API CLIENT *rpcrdma_clnt_create_port(
	const char *host, u_short port, rpcprog_t prog, rpcvers_t vers, const char *netid);

/*
 * Makes a transport that serves over RDMA at host and port, in place of svctcp_create(). host is a name or a
 * numeric address; NULL means all addresses of this machine, by IPv4. A port of 0 is chosen by the system:
 * the member xp_port of the result has it. The dispatch function is registered as usual:
 *
 *     transport = rpcrdma_svc_create(NULL, 0);
 *     svc_register(transport, PROG, VERS, prog_1, 0);    (rpcbind does not learn of the program)
 *     rpcrdma_svc_reg(transport, PROG, VERS, prog_1);    (rpcbind does)
 *     svc_run();
 *
 * svc_register() with IPPROTO_TCP would tell rpcbind that the program is served over TCP at that port.
 *
 * Threads: svc_run(), or whatever calls svc_getreqset() and svc_getreq_poll(), drives all connections of the
 * transport while the program serves, in the thread that calls it; nothing happens while a dispatch function
 * runs. A transport has at most 1024 connections. Peers that do not take their replies lose their connection.
 *
 * Authentication: TI-RPC's; svc_getrpccaller() has the caller's address while a call is served.
 *
 * svc_destroy() closes all connections and frees the transport. Where the function fails, it returns NULL,
 * and rpc_createerr says why: RPC_UNKNOWNADDR, RPC_SYSTEMERROR with errno.
 */
RPCRDMA_API SVCXPRT *rpcrdma_svc_create(const char *host, u_short port);

/*
 * Registers a dispatch function, as svc_reg() does, and the program in the rpcbind of this machine, under
 * "rdma" or "rdma6" and at the port of the transport; an earlier registration of the same program, version
 * and netid gives way. Threads: as svc_reg(). The function returns FALSE if another program is registered
 * with this process under the same number, there is no memory, rpcbind does not run, or rpcbind refused: only
 * root and the same user may replace a registration.
 */
RPCRDMA_API bool_t rpcrdma_svc_reg(SVCXPRT *transport, rpcprog_t prog, rpcvers_t vers,
	void (*dispatch)(struct svc_req *request, SVCXPRT *transport));

/* Removes the registration that rpcrdma_svc_reg() made, in this process and in rpcbind. Threads: as
 * svc_unreg(). */
RPCRDMA_API void rpcrdma_svc_unreg(SVCXPRT *transport, rpcprog_t prog, rpcvers_t vers);

#ifdef __cplusplus
}
#endif

#endif
