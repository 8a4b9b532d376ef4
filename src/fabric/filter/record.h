/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_RECORD_H
#define RR_FABRIC_FILTER_RECORD_H

#include "fabric/fabric.h"

/*
 * A filter that writes a line for each operation and each event to a file (rpcrdma-record(5) describes the
 * lines). It changes nothing on the way.
 */
struct rr_record;

/* Makes the file; a file that exists is emptied. Errors: SYSTEM, NOMEM. */
int rr_record_open(const char *path, struct rr_record **record, struct rr_text *text);

/* Closes the file and frees the record, after all fabrics that write to it. -RPCRDMA_ERR_SYSTEM where not all
 * could be written. record may be NULL. */
int rr_record_close(struct rr_record *record, struct rr_text *text);

/* Puts a filter before below, which the filter then owns. Several filters may write to one record, also from
 * several threads. -RPCRDMA_ERR_NOMEM: below stays the caller's. */
int rr_record_fabric_new(struct rr_fabric *below, struct rr_record *record, struct rr_fabric **fabric);

#endif
