/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_V3_H
#define RR_NFS_V3_H

#include "nfs/procedure.h"

/* The client's procedures (procedure.h) in NFS version 3. */

enum { RR_V3_PROCEDURES = NFSPROC3_COMMIT + 1 };

/* NFS_V3_program, whose codecs translate the procedures that have arguments or results of their own in
 * procedure.h. */
struct rr_v3 {
	struct rpcrdma_procedure procedures[RR_V3_PROCEDURES];
	struct rpcrdma_program program; /* its procedures are those above */
};

void rr_v3_init(struct rr_v3 *v3);

#endif
