/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_ERRORS_PRIVATE_H
#define RR_SERVER_NFS4_ERRORS_PRIVATE_H

#include "server/nfs4/errors.h"

/* A list of errors; NFS4_OK ends it. */
#define ERRORS(...) ((const nfsstat4[]){ __VA_ARGS__, NFS4_OK })

/* The errors of version 4.0: those of nearly every operation, and by the number of the operation the others.
 * NFS4_OK ends each list. */
extern const nfsstat4 rr_nfs4_errors40_common[];
extern const nfsstat4 *const rr_nfs4_errors40[OP_RELEASE_LOCKOWNER + 1];

#endif
