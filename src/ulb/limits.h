/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_LIMITS_H
#define RR_ULB_LIMITS_H

#include <rpcrdma/xdr.h>

/* The most octets of one READ or WRITE of NFS version 3, of this server and of this client. */
enum { RR_NFS_IO_MAX = 1 << 20 };

/* The numbers in NFS messages that bound the sizes of later messages: the attributes of the channels of a
 * session (CREATE_SESSION of NFS version 4.1), maxread and maxwrite (attributes of version 4), and the
 * answer to FSINFO of version 3. A gateway that carries less lowers these numbers on their way, in place;
 * messages keep their lengths.
 *
 * Numbers behind an operation that the schema does not know are not found, nor are numbers in messages that
 * RPCSEC_GSS protects. */
struct rr_limits {
	uint32_t message; /* octets of a call, and of a reply */
	uint32_t data;    /* octets that a READ or a WRITE moves, or that a READDIR asks for */
	uint32_t callback, callback_reply; /* octets of a callback, and of the answer to a callback */
};

/* Returns whether a call, or the reply to it, may have numbers that must be lowered. If not, the gateway need
 * not call rr_limits_lower_call() and rr_limits_lower_reply() for them. Such calls are FSINFO of version 3,
 * and each COMPOUND that has a CREATE_SESSION or asks for the attribute maxread or maxwrite. reader stands at
 * the arguments; the function does not move it. */
bool rr_limits_concern(
	const struct rpcrdma_program *program, uint32_t proc, const struct rpcrdma_xdr_reader *reader);

/* Lowers the numbers in a CREATE_SESSION of a call, in the message's memory. reader stands at the arguments;
 * the function does not move it. If the largest size of a response to a callback was lowered, returns the
 * size that the client asked for, else 0: the caller keeps that for rr_limits_lower_reply(). */
uint32_t rr_limits_lower_call(const struct rr_limits *limits, const struct rpcrdma_program *program,
	uint32_t proc, const struct rpcrdma_xdr_reader *reader);

/* Lowers the numbers in a reply, in the message's memory. reader stands at the results. asked is what
 * rr_limits_lower_call() returned for the call. If the server granted the lowered size of answers to
 * callbacks, the reply gets the size `asked` instead: some clients take a smaller size for the error of a
 * broken server (Linux: nfs4_verify_back_channel_attrs()). */
void rr_limits_lower_reply(const struct rr_limits *limits, uint32_t asked,
	const struct rpcrdma_program *program, uint32_t proc, const struct rpcrdma_xdr_reader *reader);

#endif
