/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CHECK_SESSION_H
#define RR_TOOL_CHECK_SESSION_H

#include "tool/check.h"
#include "ulb/nfs41.h"

/* COMPOUNDs of NFS version 4.1, for cases. */

enum { RR_CHECK4_ARGS = 1024 };

/* A session, and the path of a file. */
struct rr_check4 {
	struct rr_check_peer *peer;
	struct rr_text *why;
	uint8_t session[NFS4_SESSIONID_SIZE];
	uint64_t client;
	uint32_t sequence;
	const char *path; /* the components behind the root */
	struct rpcrdma_xdr_writer writer;
	uint8_t args[RR_CHECK4_ARGS];
};

/* Begins a session. A server without version 4.1: skipped. */
enum rr_check_verdict rr_check4_session(struct rr_check4 *talk);

/* Begins a COMPOUND of so many operations. */
void rr_check4_begin(struct rr_check4 *talk, uint32_t operations);

/* Begins one with SEQUENCE, PUTROOTFH, and LOOKUPs to the file, and more operations behind them. */
void rr_check4_go(struct rr_check4 *talk, uint32_t more);

/* The names that a path has. */
uint32_t rr_check4_names(const char *path);

void rr_check4_put_read(struct rr_check4 *talk, uint64_t offset, uint32_t count);

/* Sends it; false: there is no reply, and why says so. */
bool rr_check4_call(struct rr_check4 *talk, const struct rr_chunk_lists *lists, struct rr_check_reply *reply);

/* The status of the COMPOUND; the reader is then behind the number of results. UINT32_MAX: there is no such
 * status. */
uint32_t rr_check4_status(const struct rr_check_reply *reply, struct rpcrdma_xdr_reader *reader);

#endif
