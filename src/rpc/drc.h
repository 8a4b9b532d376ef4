/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_DRC_H
#define RR_RPC_DRC_H

#include <rpcrdma/xdr.h>

#include "base/env.h"
#include "base/map.h"
#include "rpc/caller.h"

/* The duplicate request cache: the answers to calls that must not be executed twice. A client that lost its
 * connection sends its outstanding calls again, with the same XIDs, and from another port. It then gets the
 * same answer again, octet for octet.
 *
 * A cache may serve the servers of many threads: a client may come back to another thread than before. Only
 * calls of procedures that are not idempotent come here, so reads and writes of data do not take its lock. */
struct rr_drc;

/* The bounds of a cache. */
struct rr_drc_config {
	uint32_t entries; /* answers kept at most */
	uint32_t octets;  /* and the octets of their memory */
	uint64_t age;     /* ns for which they are kept at most */
};

extern const struct rr_drc_config rr_drc_config_default; /* 16384 answers, 8 MiB, 120 s */

enum { RR_DRC_REPLY_MAX = 2048 }; /* octets of the largest answer that is kept */

/* The properties by which two calls are the same. Of the message, only the arguments count, as octets of
 * the unreduced stream: a repeated call may travel inline, with Read chunks or as a long call, in another
 * way than the first call. The credential may be another credential of the same principal. */
struct rr_drc_key {
	const char *peer; /* as text; the port, behind the last colon, is ignored */
	uint32_t xid, prog, vers, proc;
	const struct rr_caller *caller;
	const struct rpcrdma_message *call;
	uint32_t args_at; /* octets of the call's stream in front of its arguments */
};

/* A call while it is executed. The memory belongs to the caller. */
struct rr_drc_call {
	struct rr_map_link link;
	uint64_t connection, host; /* hashes: the shares to which its answer belongs */
};

/* Makes a duplicate request cache. All threads that use the cache use env. Returns NULL if there is no
 * memory. */
struct rr_drc *rr_drc_new(const struct rr_env *env, const struct rr_drc_config *config);

/* Frees the cache. No call may be open in it (rr_drc_begin()). drc may be NULL. */
void rr_drc_free(struct rr_drc *drc);

/* The results of rr_drc_begin(). */
enum rr_drc_state {
	RR_DRC_NEW, /* the caller executes the call, and then calls rr_drc_end() */
	/* The call was executed before; its answer was copied to reply, which has room for
	 * RR_DRC_REPLY_MAX octets, and has *length octets. */
	RR_DRC_ANSWERED,
	RR_DRC_BUSY /* the call is being executed, maybe in another thread: ask again later */
};

/* Looks the call up in the cache by key. If neither an answer to it nor the same call under way is found, the
 * call is new: it counts as being executed ("open") until rr_drc_end(). Stores an answer that was found in
 * reply and *length. Never waits for the end of a call. */
enum rr_drc_state rr_drc_begin(struct rr_drc *drc, struct rr_drc_call *call, const struct rr_drc_key *key,
	void *reply, uint32_t *length);

/* Called when a call for which rr_drc_begin() returned RR_DRC_NEW is over: the call does not count as being
 * executed any more. Keeps the answer unless it is too large or has items. reply is the answer without a
 * record mark, or NULL if the call was not executed; a repetition of it is then executed. */
void rr_drc_end(struct rr_drc *drc, struct rr_drc_call *call, const struct rpcrdma_message *reply);

/* Returns how many repeated calls got their answer from the cache. */
uint64_t rr_drc_hits(struct rr_drc *drc);

#endif
