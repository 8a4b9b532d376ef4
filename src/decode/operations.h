/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_OPERATIONS_H
#define RR_DECODE_OPERATIONS_H

#include "decode/message.h"

/* The operations in a COMPOUND or CB_COMPOUND of NFS version 4 that was captured. */

/* The most operations that are read of a message, which may claim any number of them. */
enum { RR_OPERATIONS_MAX = 64 };

struct rr_operation {
	uint32_t number;
	bool has_status; /* it is one of a reply, and its status was captured */
	uint32_t status;
};

struct rr_operations {
	bool is_callback; /* of a CB_COMPOUND */
	bool is_whole;    /* the list has all operations of the message */
	uint32_t count;
	struct rr_operation list[RR_OPERATIONS_MAX];
};

/* Reads the operations of the message, as far as they were captured. Returns false, and sets nothing, if the
 * message is no COMPOUND or CB_COMPOUND, if no count of operations was captured, or if its credential or its
 * verifier is one of RPCSEC_GSS, which may wrap the operations. */
bool rr_operations_read(const struct rr_message *message, struct rr_operations *operations);

/* Return the name of an operation of the list, such as "READ" or "CB_RECALL", and the name of its status; or
 * NULL for a number that the RFCs do not define. */
const char *rr_operation_name(const struct rr_operations *operations, uint32_t index);
const char *rr_operation_status_name(const struct rr_operations *operations, uint32_t index);

#endif
