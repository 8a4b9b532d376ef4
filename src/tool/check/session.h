/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CHECK_SESSION_H
#define RR_TOOL_CHECK_SESSION_H

#include "tool/check/check.h"
#include "ulb/nfs42.h"

/* COMPOUNDs of NFS version 4.1 for test cases; of version 4.0 if the server has no later version. */

enum { RR_CHECK4_ARGS = 1024, RR_CHECK4_CALLBACK = 0x40000000 /* program number of callbacks */ };

/* A session, the path of a file, and the COMPOUND that is being written. */
struct rr_check4 {
	struct rr_check_peer *peer;
	struct rr_text *why; /* gets the reason if a function fails */
	/* Before rr_check4_session(): the session is to take callbacks. Afterwards: the server agreed to make
	 * its callbacks over this connection. */
	bool back;
	uint32_t minor; /* 0: the server has no later version, and there is no session */
	uint8_t session[NFS4_SESSIONID_SIZE];
	uint64_t client;   /* the client ID */
	uint32_t sequence; /* of the session's only slot: the number of its last request */
	const char *path;  /* of the file, from the server's root */
	struct rpcrdma_xdr_writer writer;
	uint8_t args[RR_CHECK4_ARGS]; /* memory of the writer */
};

/* Begins a session of NFS version 4.1. If the server has only version 4.0, passes without a session
 * (talk->minor is 0). If the server has no version 4, the test case is skipped. */
enum rr_check_verdict rr_check4_session(struct rr_check4 *talk);

/* Ends the session, if there is one and the connection still stands, and has the server forget the client.
 * Errors are ignored. talk must not be used any more afterwards. */
void rr_check4_end(struct rr_check4 *talk);

/* Begins a COMPOUND that will have `operations` operations, which the caller adds. */
void rr_check4_begin(struct rr_check4 *talk, uint32_t operations);

/* Begins a COMPOUND with SEQUENCE (if there is a session), PUTROOTFH, and a LOOKUP for each name of the
 * file's path; the caller adds `more` operations. */
void rr_check4_go(struct rr_check4 *talk, uint32_t more);

/* Skips the results of SEQUENCE, PUTROOTFH and LOOKUP in the reply to a COMPOUND of rr_check4_go(). The
 * reader must stand behind the number of results; afterwards it stands at the results of the caller's own
 * operations. */
void rr_check4_skip_way(const struct rr_check4 *talk, struct rpcrdma_xdr_reader *reader);

/* Reads the file's first `size` octets, inline, into `octets`. If that fails, removes the first name from
 * talk->path, as it may be of an export that the server shows as its root, and tries again; talk->path
 * remains the path that led to the file. The case is skipped if the file cannot be read at all. */
enum rr_check_verdict rr_check4_find(struct rr_check4 *talk, uint8_t *octets, uint32_t size);

/* Adds to the COMPOUND a READ with the anonymous stateid. */
void rr_check4_put_read(struct rr_check4 *talk, uint64_t offset, uint32_t count);

/* Sends the COMPOUND, with the chunks of lists; lists may be NULL if there are no chunks. Returns false if
 * the COMPOUND cannot be sent; talk->why then has the reason. */
bool rr_check4_send(struct rr_check4 *talk, const struct rr_chunk_lists *lists);

/* Sends the COMPOUND, with the chunks of lists, and waits for its reply; lists may be NULL if there are no
 * chunks. Returns false if no reply came; talk->why then has the reason. */
bool rr_check4_call(struct rr_check4 *talk, const struct rr_chunk_lists *lists, struct rr_check_reply *reply);

/* Returns the status of the COMPOUND, or UINT32_MAX if the reply cannot be decoded. Sets up the reader for
 * the results of the reply, behind the number of results. */
uint32_t rr_check4_status(const struct rr_check_reply *reply, struct rpcrdma_xdr_reader *reader);

#endif
