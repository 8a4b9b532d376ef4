/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_DRC_H
#define RR_RPC_DRC_H

#include <rpcrdma/xdr.h>

#include "base/env.h"
#include "base/map.h"

/*
 * The duplicate request cache: the answers to calls that must not be executed
 * twice. A client that lost its connection sends what was outstanding again,
 * with the same XIDs, and from another port; it then gets the answer that was
 * lost, as the same octets.
 *
 * One cache may serve the servers of many threads: a client may come back to
 * another thread than it left. Only calls of procedures that are not
 * idempotent come here, so its lock is not on the way of data.
 */
struct rr_drc;

struct rr_drc_config {
	uint32_t entries; /* answers kept at most */
	uint32_t octets;  /* and their memory */
	uint64_t age;     /* ns for which they are kept at most */
};

extern const struct rr_drc_config rr_drc_config_default; /* 16384, 8 MiB, 120 s */

enum { RR_DRC_REPLY_MAX = 2048 }; /* octets of the largest answer that is kept */

/*
 * What makes a call the same as another. Of the call, only its arguments count, and they count as octets of
 * the unreduced stream: a repeated call may travel inline, with Read chunks or as a long call, whatever the
 * first one did. The credential may be another one for the same user.
 */
struct rr_drc_key {
	const char *peer; /* as text; what follows the last colon, the port, is ignored */
	uint32_t xid, prog, vers, proc, uid;
	const struct rpcrdma_message *call;
	uint32_t args_at; /* octets of the call's stream in front of its arguments */
};

/* A call while it is executed: its memory is the caller's. */
struct rr_drc_call {
	struct rr_map_link link;
	uint64_t connection, host; /* hashes: in whose share its answer is kept */
};

/* env is used from all the threads. NULL: no memory. */
struct rr_drc *rr_drc_new(const struct rr_env *env, const struct rr_drc_config *config);

/* No call may be open. drc may be NULL. */
void rr_drc_free(struct rr_drc *drc);

enum rr_drc_state {
	RR_DRC_NEW,      /* the caller executes the call, and then calls rr_drc_end() */
	RR_DRC_ANSWERED, /* it was executed before; its answer was copied to reply, RR_DRC_REPLY_MAX octets of
			    memory, and has *length octets */
	RR_DRC_BUSY      /* it is being executed, maybe in another thread: to be asked again later */
};

/* Waits for nothing. */
enum rr_drc_state rr_drc_begin(struct rr_drc *drc, struct rr_drc_call *call, const struct rr_drc_key *key,
	void *reply, uint32_t *length);

/* The call was executed and this is the answer, not framed yet. NULL: it was not executed. An answer that is
 * too large, or has items, is not kept. */
void rr_drc_end(struct rr_drc *drc, struct rr_drc_call *call, const struct rpcrdma_message *reply);

/* Answers given a second time. */
uint64_t rr_drc_hits(struct rr_drc *drc);

#endif
