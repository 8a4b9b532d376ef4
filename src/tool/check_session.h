/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CHECK_SESSION_H
#define RR_TOOL_CHECK_SESSION_H

#include "tool/check.h"
#include "ulb/nfs41.h"

/* COMPOUNDs of NFS version 4.1, for cases; of version 4.0 where a server has no later one. */

enum { RR_CHECK4_ARGS = 1024, RR_CHECK4_CALLBACK = 0x40000000 /* program of callbacks */ };

/* A session, and the path of a file. */
struct rr_check4 {
	struct rr_check_peer *peer;
	struct rr_text *why;
	bool back; /* the connection is to take callbacks; false behind rr_check4_session(): it is not used so
		    */
	uint32_t minor; /* 0: the server has no later version, and there is no session */
	uint8_t session[NFS4_SESSIONID_SIZE];
	uint64_t client;
	uint32_t sequence;
	const char *path; /* the components behind the root */
	struct rpcrdma_xdr_writer writer;
	uint8_t args[RR_CHECK4_ARGS];
};

/* Begins a session where the server has version 4.1. A server without version 4: skipped. */
enum rr_check_verdict rr_check4_session(struct rr_check4 *talk);

/* Ends the session, and forgets the client. */
void rr_check4_end(struct rr_check4 *talk);

/* Begins a COMPOUND of so many operations. */
void rr_check4_begin(struct rr_check4 *talk, uint32_t operations);

/* Begins one with SEQUENCE in a session, PUTROOTFH, and LOOKUPs to the file, and more operations behind them.
 */
void rr_check4_go(struct rr_check4 *talk, uint32_t more);

/* Moves the reader of such a reply, which is behind the number of results, to the results of those more. */
void rr_check4_skip_way(const struct rr_check4 *talk, struct rpcrdma_xdr_reader *reader);

/* Reads the file's first octets, inline. Its path may begin at an export that is the server's root: path is
 * then without that. */
enum rr_check_verdict rr_check4_find(struct rr_check4 *talk, uint8_t *octets, uint32_t size);

void rr_check4_put_read(struct rr_check4 *talk, uint64_t offset, uint32_t count);

/* Sends it; false: it cannot be sent, and why says so. */
bool rr_check4_send(struct rr_check4 *talk, const struct rr_chunk_lists *lists);

/* Sends it, and takes the reply; false: there is no reply, and why says so. */
bool rr_check4_call(struct rr_check4 *talk, const struct rr_chunk_lists *lists, struct rr_check_reply *reply);

/* The status of the COMPOUND; the reader is then behind the number of results. UINT32_MAX: there is no such
 * status. */
uint32_t rr_check4_status(const struct rr_check_reply *reply, struct rpcrdma_xdr_reader *reader);

#endif
