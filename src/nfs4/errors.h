/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_ERRORS_H
#define RR_NFS4_ERRORS_H

#include "ulb/nfs42.h"

/* Whether the operation may answer with that status: RFC 8881, section 15.2; RFC 7862, section 11.2; RFC
 * 8276, section 8.5. */
bool rr_nfs4_status_allowed(nfs_opnum4 op, nfsstat4 status);

/* The status, or NFS4ERR_SERVERFAULT in place of an error that no client expects of the operation: storage
 * fails in more ways than the tables of the RFCs have. */
nfsstat4 rr_nfs4_status_for(nfs_opnum4 op, nfsstat4 status);

#endif
