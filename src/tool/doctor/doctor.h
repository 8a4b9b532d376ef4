/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_DOCTOR_DOCTOR_H
#define RR_TOOL_DOCTOR_DOCTOR_H

#include "tool/check/check.h"

/* `rpcrdma doctor` takes the steps from a URL to data, one by one, and prints what it found at each, and what
 * to do if a step fails. */

/* A step of the diagnosis, and its result: it succeeded unless failed or skipped is true. */
struct rr_doctor_step {
	const char *name;
	bool failed, skipped;
	char found[384];
	char advice[512]; /* "": there is nothing to do */
	uint64_t took;    /* ns */
};

/* `rpcrdma doctor` at work. */
struct rr_doctor {
	/* Must be the first member; has the server, and makes its connections and cases. */
	struct rr_check check;
	bool json;
	bool is_local;   /* the server's address is one of this machine */
	uint32_t failed; /* number of steps that failed */
	uint64_t began;  /* when the present step began */
};

/* Tells whether the URL asks for NFS over TCP, without RDMA. */
static inline bool
rr_doctor_over_tcp(const struct rr_doctor *doctor)
{
	return doctor->check.url.transport == RR_TRANSPORT_TCP;
}

/* Begins a step of the diagnosis: notes the time. */
void rr_doctor_begin(struct rr_doctor *doctor);
/* Ends the step: sets the time that it took, prints it, and counts it if it failed. */
void rr_doctor_end(struct rr_doctor *doctor, struct rr_doctor_step *step);

/* Writes into the step the text that says what was found. */
__attribute__((format(printf, 2, 3))) void rr_doctor_found(
	struct rr_doctor_step *step, const char *format, ...);
/* Writes into the step the text that says what the user can do. */
__attribute__((format(printf, 2, 3))) void rr_doctor_advise(
	struct rr_doctor_step *step, const char *format, ...);

/* local.c: makes the steps that examine this machine, and prints what they find. They examine the
 * limit of locked memory; whether the kernel's NFS server serves RDMA, if the server runs here and the URL
 * asks for RDMA; and if the server runs here also the firewall, if a step has failed and the user is root. */
void rr_doctor_local(struct rr_doctor *doctor);

/* reach.c: makes the steps name, route, rpcbind, provider, port and handshake, and prints their
 * results; over TCP there is no handshake. Returns false if a step failed; the steps behind it were not made
 * then. */
bool rr_doctor_reach(struct rr_doctor *doctor);

#endif
