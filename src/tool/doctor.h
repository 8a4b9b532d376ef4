/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_DOCTOR_H
#define RR_TOOL_DOCTOR_H

#include "tool/check.h"

/* `rpcrdma doctor` takes the steps from a URL to data, one by one, and prints what it found at each, and what
 * to do if a step fails. */

struct rr_doctor_step {
	const char *name;
	bool failed, skipped;
	char found[384];
	char advice[512]; /* "": there is nothing to do */
	uint64_t took;    /* ns */
};

struct rr_doctor {
	struct rr_check check; /* must be the first member; has the connection and the server */
	bool json;
	bool is_local; /* the server's address is one of this machine */
	uint32_t failed;
	uint64_t began;
};

/* Begin and end a step of the diagnosis. rr_doctor_end() prints the step, and counts it if it failed. */
void rr_doctor_begin(struct rr_doctor *doctor);
void rr_doctor_end(struct rr_doctor *doctor, struct rr_doctor_step *step);

/* Writes what was found at the step. */
__attribute__((format(printf, 2, 3))) void rr_doctor_found(
	struct rr_doctor_step *step, const char *format, ...);
/* Writes what the user can do about it. */
__attribute__((format(printf, 2, 3))) void rr_doctor_advise(
	struct rr_doctor_step *step, const char *format, ...);

/* doctor_local.c: examines this machine, and prints what it finds: the limit of locked memory; if the server
 * runs here, also the kernel's NFS server, and, if a step has failed and the user is root, the firewall. */
void rr_doctor_local(struct rr_doctor *doctor);

/* doctor_reach.c: takes the steps name, route, rpcbind, provider, port and handshake, and prints them. False:
 * a step failed, and the later ones were not taken. */
bool rr_doctor_reach(struct rr_doctor *doctor);

#endif
