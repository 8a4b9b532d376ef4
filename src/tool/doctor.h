/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_DOCTOR_H
#define RR_TOOL_DOCTOR_H

#include "tool/check.h"

/* `rpcrdma doctor`: the steps from a URL to data, what was found at each, and what to do where one fails. */

struct rr_doctor_step {
	const char *name;
	bool failed, skipped;
	char found[384];
	char advice[512]; /* "" where there is nothing to do */
	uint64_t took;    /* ns */
};

struct rr_doctor {
	struct rr_check check; /* comes first: its connection, its server */
	bool json;
	bool is_local; /* the server's address is one of this machine */
	uint32_t failed;
	uint64_t began;
};

/* The next step begins, and ends as step says; prints it. */
void rr_doctor_begin(struct rr_doctor *doctor);
void rr_doctor_end(struct rr_doctor *doctor, struct rr_doctor_step *step);

__attribute__((format(printf, 2, 3))) void rr_doctor_found(
	struct rr_doctor_step *step, const char *format, ...);
__attribute__((format(printf, 2, 3))) void rr_doctor_advise(
	struct rr_doctor_step *step, const char *format, ...);

/* doctor_local.c: this machine's own part: locked memory, and where the server is here, what the kernel has.
 */
void rr_doctor_local(struct rr_doctor *doctor);

/* doctor_reach.c: name, route, provider, port, handshake. False: a step failed. */
bool rr_doctor_reach(struct rr_doctor *doctor);

#endif
