/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_BACK_H
#define RR_SERVER_NLM_BACK_H

#include "rpc/client.h"
#include "server/nlm/server_private.h"

/*
 * Calls of the server to hosts: GRANTED, the results of the asynchronous procedures, and SM_NOTIFY. They go
 * to the very address from which the host called, whatever the host says of itself, at the port that the
 * rpcbind of that address names; all over TCP. There is one connection at a time to each program of an
 * address, from each thread.
 */

/* A call to a host. It is the caller's; done() is called once, from the loop, unless it is cancelled. */
struct rr_nlm_call {
	struct rr_list link;
	struct rr_nlm_server *server;
	struct rr_nlm_back *back; /* NULL: the call is not under way, or fails in the next turn */
	struct rr_call rpc;
	void (*done)(struct rr_nlm_call *call, int error);
	_Alignas(8) uint8_t keep[2048]; /* for the result */
};

/* Calls the program of the host. The caller has set proc, args and result of call->rpc, and call->done; args
 * stay until done(). */
void rr_nlm_call_begin(struct rr_nlm_server *server, const struct rr_source *to,
	const struct rpcrdma_program *program, struct rr_nlm_call *call);
/* Ends the call without done(). */
void rr_nlm_call_cancel(struct rr_nlm_call *call);

/* Sends the result of an asynchronous procedure (TEST_MSG to UNLOCK_MSG) to the host, as a call of the
 * procedure `proc` (TEST_RES to UNLOCK_RES). args: of version 4; they are copied. If there is no memory, the
 * host asks again. */
void rr_nlm_send_result(
	struct rr_nlm_server *server, const struct rr_nlm_way *way, uint32_t proc, const void *args);

/* Frees the ways to hosts that were not used for a while, as time goes by; and all of them. */
void rr_nlm_backs_tidy(struct rr_nlm_server *server);
void rr_nlm_backs_end(struct rr_nlm_server *server);

#endif
