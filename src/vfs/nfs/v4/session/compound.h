/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_SESSION_COMPOUND_H
#define RR_VFS_NFS_V4_SESSION_COMPOUND_H

#include "vfs/nfs/v4/session/slot.h"

/* One COMPOUND: its operations, and the results in the reply. */

/* Appends an operation to the COMPOUND, and returns its arguments, which the caller fills in. Its result
 * takes at most result_max octets, without its number and its status. */
nfs_argop4 *rr_v4_op(struct rr_v4_slot *slot, nfs_opnum4 op, uint32_t result_max);

/* Appends PUTFH of a handle, or PUTROOTFH if the handle is empty. */
void rr_v4_putfh(struct rr_v4_slot *slot, struct rpcrdma_bytes handle);
/* Appends GETATTR of the attributes in asked. */
void rr_v4_getattr(struct rr_v4_slot *slot, const bitmap4 *asked);

/* Returns the result of the last operation of this number. The call must have such an operation, and the
 * server must have executed it. */
const nfs_resop4 *rr_v4_res(const struct rr_v4_slot *slot, nfs_opnum4 op);

/* Decodes the result of the last GETATTR; asked is what the call asked for. Returns false if the result is
 * malformed. */
bool rr_v4_res_attributes(
	const struct rr_v4_slot *slot, const bitmap4 *asked, struct rr_attr_values *attributes);

/* Sends a COMPOUND: a SEQUENCE, unless the work is alone, and the operations that the work builds. */
void rr_v4_send(struct rr_v4_slot *slot, void (*done)(struct rr_call *call, int error));

/* Tells whether the reply fits the call: its results are those of the call's operations, in this slot, and
 * its status is that of the operation that failed, or NFS4_OK. */
bool rr_v4_reply_is_sound(const struct rr_v4_slot *slot);
/* Tells whether SEQUENCE is the operation that failed, so that the slot's sequence ID was not used. A
 * COMPOUND that was refused without any result counts as that, too. */
bool rr_v4_failed_in_sequence(const struct rr_v4_slot *slot);

/* Encodes attributes that are to be set, in memory of the slot. */
fattr4 rr_v4_attr_set(struct rr_v4_slot *slot, const struct rr_vfs_set *set);

/* Sets the error text for a malformed answer. Returns PEER. */
int rr_v4_broken(struct rr_v4 *v4, const char *what);

#endif
