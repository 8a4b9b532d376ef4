/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_RECORDING_H
#define RR_FABRIC_FILTER_RECORDING_H

#include "fabric/fabric.h"

/*
 * A filter that writes a line for each operation and each event to a file (rpcrdma-record(5) describes the
 * lines). It changes nothing on the way.
 */
struct rr_recording;

/* Makes a record that writes lines to the file at path; a file that exists is emptied. Errors: SYSTEM,
 * NOMEM. */
int rr_recording_open(const char *path, struct rr_recording **recording, struct rr_text *text);

/* Closes the file and frees the recording, which may be NULL; all fabrics that write to it must have been
 * destroyed before. Returns -RPCRDMA_ERR_SYSTEM if not all lines could be written. */
int rr_recording_close(struct rr_recording *recording, struct rr_text *text);

/* Makes a filter that writes to recording, and puts it in front of the fabric below, which the filter then
 * owns. Several filters may write to one recording, also from several threads. Returns -RPCRDMA_ERR_NOMEM if
 * there is no memory; below then still belongs to the caller. */
int rr_recording_fabric_new(
	struct rr_fabric *below, struct rr_recording *recording, struct rr_fabric **fabric);

#endif
