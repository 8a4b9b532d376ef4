/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_RECORD_H
#define RR_FABRIC_FILTER_RECORD_H

#include "fabric/fabric.h"

/*
 * A filter that writes a line for each operation and each event to a file (rpcrdma-record(5) describes the
 * lines). It changes nothing on the way.
 */
struct rr_record;

/* Makes a record that writes lines to the file at path; a file that exists is emptied. Errors: SYSTEM,
 * NOMEM. */
int rr_record_open(const char *path, struct rr_record **record, struct rr_text *text);

/* Closes the file and frees the record, which may be NULL; all fabrics that write to it must have been
 * destroyed before. Returns -RPCRDMA_ERR_SYSTEM if not all lines could be written. */
int rr_record_close(struct rr_record *record, struct rr_text *text);

/* Makes a filter that writes to record, and puts it in front of the fabric below, which the filter then
 * owns. Several filters may write to one record, also from several threads. Returns -RPCRDMA_ERR_NOMEM if
 * there is no memory; below then still belongs to the caller. */
int rr_record_fabric_new(struct rr_fabric *below, struct rr_record *record, struct rr_fabric **fabric);

#endif
