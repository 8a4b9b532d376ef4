/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FLIGHT_H
#define RR_FABRIC_FILTER_FLIGHT_H

#include "fabric/filter/capture.h"

/*
 * A flight recorder: the last packets that a capture would have, kept in memory, and written to a file when
 * something went wrong. The capture that it belongs to (rr_flight_capture()) makes the packets; nothing is
 * written before.
 *
 * The memory is fixed: the last RR_FLIGHT_PACKETS packets, of each the first RR_FLIGHT_OCTETS octets.
 */
struct rr_flight;

enum { RR_FLIGHT_PACKETS = 1024, RR_FLIGHT_OCTETS = 512 };

/* path must outlive the recorder. -RPCRDMA_ERR_NOMEM. */
int rr_flight_new(const char *path, struct rr_flight **flight);

/* What is to be put before a fabric: rr_capture_fabric_new(). The recorder's. */
struct rr_capture *rr_flight_capture(struct rr_flight *flight);

/* Writes what is kept, in the format of pcapng, in place of what the file had. Any thread. Connections that
 * end with an error of the protocol have it written without a call. -RPCRDMA_ERR_SYSTEM, with errno. */
int rr_flight_write(struct rr_flight *flight);

/* Has a thread of its own, which writes the file when the process receives the signal, and when a call of
 * this side got no answer for so long (ns; once for each call). The signal must be blocked in all threads.
 * -RPCRDMA_ERR_SYSTEM. */
int rr_flight_watch(struct rr_flight *flight, int signal_number, uint64_t hang);

/* Whether the file was ever written. */
bool rr_flight_is_written(struct rr_flight *flight);

/* After all fabrics that write to it. flight may be NULL. */
void rr_flight_free(struct rr_flight *flight);

#endif
