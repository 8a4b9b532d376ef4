/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_ERRORS_H
#define RR_SERVER_NFS4_ERRORS_H

#include "ulb/nfs42.h"

/* Tells whether the operation of that minor version may answer with that status: RFC 7530, section 13.2; RFC
 * 8881, section 15.2; RFC 7862, section 11.2; RFC 8276, section 8.5. */
bool rr_nfs4_status_allowed(uint32_t minor, nfs_opnum4 op, nfsstat4 status);

/* Returns the status, or the nearest status that the operation may answer with, as storage fails in more ways
 * than the tables of the RFCs list. Returns NFS4ERR_SERVERFAULT if no status is near. */
nfsstat4 rr_nfs4_status_for(uint32_t minor, nfs_opnum4 op, nfsstat4 status);

#endif
