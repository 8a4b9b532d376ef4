/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_FATTR3_H
#define RR_VFS_FATTR3_H

#include "ulb/nfs3.h"
#include "vfs/vfs.h"

/* Attributes of NFS version 3 (RFC 1813, 2.6), as a client has them, in the words of vfs.h. */

/* Takes the attributes that a server sent. Members that version 3 does not have are 0. */
void rr_fattr3_take(const fattr3 *given, struct rr_vfs_attributes *attributes);

/* Returns what a client sets. Only times that rr_fattr3_can_set() accepts are kept as they are. */
sattr3 rr_fattr3_give(const struct rr_vfs_set *set);

/* Tells whether version 3 holds the times that are to be set: those from 1970 to 2106. */
bool rr_fattr3_can_set(const struct rr_vfs_set *set);

#endif
