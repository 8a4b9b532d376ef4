/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_V4_PROC_H
#define RR_NFS_V4_PROC_H

#include "nfs/v4/newer.h"
#include "ulb/nfs3.h"
#include "vfs/nfs/v4/session/session.h"
#include "vfs/nfs/v4/work.h"

/* The client's procedures (nfs/procedure.h, newer.h) as works of a session (struct rr_v4_work). */

enum { RR_V4_PUT_OPS = 11 }; /* operations of RR_V4_PUT */

/* ---- attr.c ---- */

extern const bitmap4 rr_v4_attr_limits, rr_v4_attr_acl;

/* ---- proc_*.c ---- */

extern const struct rr_v4_work rr_v4_readdir3, rr_v4_readdirplus3, rr_v4_fsinfo3, rr_v4_put, rr_v4_secinfo,
	rr_v4_getacl, rr_v4_setacl;

/* Gives the caller the attributes that a server sent, with their names copied as rr_v4_keep() does. A name
 * that is too long for the client's objects, or has a zero in it, is left out. */
int rr_v4_give_attributes(
	struct rr_v4_slot *slot, const struct rr_attr_values *values, struct rr_nfs_attributes *attributes);
/* Copies octets of a result into the caller's memory (outer->keep), and makes *bytes point there, so that
 * they stay valid after the call. Error LIMIT: there is no room. */
int rr_v4_keep(struct rr_v4_slot *slot, struct rpcrdma_bytes *bytes);

#endif
