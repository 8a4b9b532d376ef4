/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FLIGHT_H
#define RR_FABRIC_FILTER_FLIGHT_H

#include "fabric/filter/capture.h"

/*
 * A flight recorder: keeps the last packets of a capture in memory, and writes them to a file when something
 * went wrong. The packets come from the capture that belongs to it (rr_flight_capture()).
 *
 * The memory is fixed: the last RR_FLIGHT_PACKETS packets, and of each the first RR_FLIGHT_OCTETS octets.
 */
struct rr_flight;

enum { RR_FLIGHT_PACKETS = 1024, RR_FLIGHT_OCTETS = 512 };

/* Makes a flight recorder that is to write to the file at path. The string path must outlive the recorder.
 * Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_flight_new(const char *path, struct rr_flight **flight);

/* Returns the capture that belongs to the recorder. The caller passes it to rr_capture_fabric_new(), so that
 * the packets of a fabric go to the recorder. */
struct rr_capture *rr_flight_capture(struct rr_flight *flight);

/* Writes the packets that are kept to the recorder's file, in the format of pcapng, in place of what the
 * file contains. Any thread may call this. The recorder calls it by itself when a connection ends with an
 * error of the protocol. Returns -RPCRDMA_ERR_SYSTEM, with errno, on failure. */
int rr_flight_write(struct rr_flight *flight);

/* Starts a thread that writes the recorder's file when the process receives the signal, and when no peer has
 * sent anything for hang nanoseconds after a call of this side (once for each such silence). The signal must
 * be blocked in all threads. Returns -RPCRDMA_ERR_SYSTEM, with errno, on failure. */
int rr_flight_watch(struct rr_flight *flight, int signal_number, uint64_t hang);

/* Whether the recorder has ever written its file without an error. */
bool rr_flight_is_written(struct rr_flight *flight);

/* Ends the thread and frees the recorder, which may be NULL; all fabrics that write to its capture must have
 * been destroyed before. */
void rr_flight_free(struct rr_flight *flight);

#endif
