/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_WINDOW_H
#define RR_RPC_AUTH_GSS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* The sequence window of a context: RFC 2203, 5.3.3.1. It is large, as each transmission of a call takes a
 * number, and the calls of all connections of a client share the window. */
enum { RR_GSS_WINDOW = 1024 };

struct rr_gss_window {
	bool begun;
	uint32_t newest;                    /* the highest number that was taken */
	uint64_t taken[RR_GSS_WINDOW / 64]; /* number n: bit n % RR_GSS_WINDOW */
};

/* Takes a number, which a checksum has proved to be the client's. Returns false if it was taken before, or is
 * below the window: the call must be dropped. */
bool rr_gss_window_take(struct rr_gss_window *window, uint32_t number);

#endif
