/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_COMPOUND_H
#define RR_ULB_COMPOUND_H

#include "ulb/walk.h"

/* COMPOUND of NFS version 4, operation by operation. Version 4.2 has all messages of the earlier minor
 * versions, so its schema serves all of them. */

/* Whether the program is NFS version 4 and proc is COMPOUND. */
bool rr_compound_is(const struct rpcrdma_program *program, uint32_t proc);

/* Moves the walk over the fields in front of the operations of a COMPOUND call, and returns the number of
 * operations that the call claims to have. */
uint32_t rr_compound_begin_call(struct rr_walk *walk);

/* Moves the walk over one operation of a call, and returns the operation's number. Whether the walk has
 * failed shows in walk->answer. */
uint32_t rr_compound_next_call(struct rr_walk *walk);

/* Moves the walk over the fields in front of the results of a COMPOUND reply, and returns the number of
 * results that the reply claims to have. */
uint32_t rr_compound_begin_reply(struct rr_walk *walk);
/* Moves the walk over the result of one operation, and returns the operation's number. Counts the result in
 * walk->result if rr_compound_is_read(). Whether the walk has failed shows in walk->answer. */
uint32_t rr_compound_next_reply(struct rr_walk *walk);

/* Whether the operation is a "READ operation", RFC 8267, 6.4.1: "a "READ operation" refers to any NFS version
 * 4 operation that has a DDP-eligible result data item" */
bool rr_compound_is_read(uint32_t operation);

/* ---- compound_names.c ---- */

/* These functions return names, or NULL for a number that the RFCs do not define: of an operation, such as
 * "READ"; of an operation of CB_COMPOUND, such as "CB_RECALL"; of a status, such as "NFS4ERR_DELAY". */
const char *rr_compound_name(uint32_t operation);
const char *rr_compound_callback_name(uint32_t operation);
const char *rr_compound_status_name(uint32_t status);

#endif
