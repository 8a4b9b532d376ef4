/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_LIMITS_H
#define RR_ULB_LIMITS_H

#include <rpcrdma/xdr.h>

/*
 * What NFS messages say of the sizes of later messages: the attributes of the
 * channels of a session (CREATE_SESSION of NFS version 4.1), maxread and
 * maxwrite (attributes of version 4), and the answer to FSINFO of version 3.
 * A gateway that carries less lowers these numbers on their way, in place;
 * messages keep their lengths.
 *
 * Numbers in operations behind one that the schema does not know are not
 * found, nor is anything in messages that RPCSEC_GSS protects.
 */
struct rr_limits {
	uint32_t message; /* octets of a call, and of a reply */
	uint32_t data;    /* octets that a READ or a WRITE moves, or that a READDIR asks for */
	uint32_t callback, callback_reply; /* octets of a callback, and of its answer */
};

/* Whether a call says such numbers, or its reply may: messages of other calls need not be looked at. reader
 * stands at the arguments; it is not moved. */
bool rr_limits_concern(
	const struct rpcrdma_program *program, uint32_t proc, const struct rpcrdma_xdr_reader *reader);

/*
 * Lowers what a CREATE_SESSION of a call asks for. The memory of the message is written to. Returns the
 * largest answer to a callback that the client asked for where that was lowered, else 0.
 */
uint32_t rr_limits_lower_call(const struct rr_limits *limits, const struct rpcrdma_program *program,
	uint32_t proc, const struct rpcrdma_xdr_reader *reader);

/*
 * Lowers what a reply says. reader stands at the results. asked: what rr_limits_lower_call() returned: where
 * the server grants what it was asked for, the client sees what it asked for. Some clients take less for a
 * broken server (Linux: nfs4_verify_back_channel_attrs()).
 */
void rr_limits_lower_reply(const struct rr_limits *limits, uint32_t asked,
	const struct rpcrdma_program *program, uint32_t proc, const struct rpcrdma_xdr_reader *reader);

#endif
