/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_RECORD_H
#define RR_FABRIC_FILTER_RECORD_H

#include "fabric/fabric.h"

/*
 * A filter that writes down every operation and every event, a line for
 * each (rpcrdma-record(5) describes them). Nothing is changed on the way.
 */
struct rr_record;

/* Makes the file, or empties it. Errors: SYSTEM, NOMEM. */
int rr_record_open(const char *path, struct rr_record **record, struct rr_text *text);

/* After all fabrics that write to it. -RPCRDMA_ERR_SYSTEM where not all could be written. record may be NULL.
 */
int rr_record_close(struct rr_record *record, struct rr_text *text);

/* Puts a filter before below, which it then owns; several may write to one record, also from several threads.
 * -RPCRDMA_ERR_NOMEM: below stays the caller's. */
int rr_record_fabric_new(struct rr_fabric *below, struct rr_record *record, struct rr_fabric **fabric);

#endif
