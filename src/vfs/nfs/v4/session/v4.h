/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_SESSION_V4_H
#define RR_VFS_NFS_V4_SESSION_V4_H

#include "vfs/nfs/v4/session/slot.h"

/*
 * This is a session of NFS version 4.1 or 4.2 (RFC 8881, RFC 7862): each call of a procedure becomes a
 * COMPOUND in a slot. The caller defines the procedures: it gives the work (slot.h) of each call.
 *
 * Statuses of version 4 are passed on by their numbers. NFS4ERR_GRACE becomes NFS4ERR_DELAY, which has the
 * number of NFS3ERR_JUKEBOX: the caller waits, and repeats the call. A handle of no octets is that of the
 * directory that all paths of the server begin at.
 */
struct rr_v4;

/* NFS version 4 as clients call it: the table of the schema has the codecs of servers, too, which are half of
 * the code that is made of the schema. */
extern const struct rpcrdma_program rr_v4_program;

struct rr_v4_config {
	struct rpcrdma_engine *engine;
	struct rpcrdma_client *client; /* stays the caller's */
	uint32_t minor;                /* 1 or 2 */
	uint64_t retry; /* ns for which a busy server is asked again; 0: it is not asked again */
	/* Returns the work of a call; NULL: there is no such procedure. */
	const struct rr_v4_work *(*work)(const struct rr_call *call);
	/* Returns a text for people that describes a status. NULL: its number is enough. */
	const char *(*status_text)(int status);
	/* For a caller that has opened files by works of its own; NULL: it has none. The first is called when
	 * the server has forgotten them. The second returns the work that reclaims the next of them, and may
	 * set slot->reclaims; NULL: there is none left. Where the server refuses it, its fail() is called. */
	void (*forgotten)(void *keeper);
	const struct rr_v4_work *(*reclaim)(void *keeper, struct rr_v4_slot *slot);
	void *keeper;
};

/* Makes a client of version 4, which begins to make a session: rr_v4_wait() waits for that. Errors: NOMEM. */
int rr_v4_new(const struct rr_v4_config *config, struct rr_v4 **v4);

/* Cancels calls that are under way, without done(), and frees v4. The server keeps its state of this client
 * until the lease ends, unless rr_v4_leave() was called. v4 may be NULL. */
void rr_v4_free(struct rr_v4 *v4);

/* Turns the loop until there is a session. stop is asked after each turn: true ends the wait with CANCELLED.
 * PROG_MISMATCH: the server does not support this minor version. REJECTED: see rr_v4_refusal(). */
int rr_v4_wait(struct rr_v4 *v4, bool (*stop)(void *ctx), void *ctx);

/* Cancels calls that are under way, without done(). If there is a session, then lets the server forget this
 * client: closes files, ends the session and the client ID, and turns the loop until that is done, or
 * patience (ns) is over. */
void rr_v4_leave(struct rr_v4 *v4, uint64_t patience);

/* Starts a call. Its done() is always called later, by the
 * loop, unless the call is cancelled. Error PROC_UNAVAIL: the client's version has no such procedure. */
void rr_v4_call(struct rr_v4 *v4, struct rr_call *call);

/* Cancels a call without calling its done(). */
void rr_v4_cancel(struct rr_v4 *v4, struct rr_call *call);

/* After the session could not be made with the error REJECTED, returns the status of NFS version 4 with which
 * the server refused it. */
uint32_t rr_v4_refusal(const struct rr_v4 *v4);

/* Returns the client ID, for owners of locks. */
uint64_t rr_v4_clientid(const struct rr_v4 *v4);

/* Returns the minor version in use. */
uint32_t rr_v4_minor(const struct rr_v4 *v4);

/* Returns how many operations a COMPOUND of the session may have. RFC 8881, 18.36.3: "The maximum number of
 * operations ... that the client will send in a COMPOUND". */
uint32_t rr_v4_operations(const struct rr_v4 *v4);

/* Tells whether both clients' servers say that they are one server. Nothing proves that this is true. */
bool rr_v4_is_same_server(const struct rr_v4 *a, const struct rr_v4 *b);

/* Returns the reason why the last call failed. */
const char *rr_v4_error(const struct rr_v4 *v4);

/* Returns how many sessions were made. */
uint32_t rr_v4_sessions(const struct rr_v4 *v4);

/* Returns how many files are open at the server, or are about to be opened, reclaimed or closed. */
uint32_t rr_v4_opens(const struct rr_v4 *v4);

#endif
