/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_SESSION_SLOT_H
#define RR_VFS_NFS_V4_SESSION_SLOT_H

#include "rpc/client.h"
#include "ulb/nfs42.h"
#include "vfs/fattr4/attr.h"

/* The slots of a session, each with the call that it makes, and the work that the call is made for. */

enum {
	RR_V4_SLOTS = 64,
	RR_V4_OPS = 12,    /* operations of a COMPOUND, at most */
	RR_V4_VALUES = 128 /* octets of the attributes that one call can set */
};

struct rr_v4;
struct rr_v4_open;
struct rr_v4_slot;

/* The work of a slot: a procedure for the caller, or a COMPOUND of the session itself. */
struct rr_v4_work {
	/* Appends the operations to the COMPOUND. */
	void (*build)(struct rr_v4_slot *slot);
	/* Called when all operations succeeded. Returns 0, or a negative error. For a procedure it fills in
	 * the caller's result. */
	int (*take)(struct rr_v4_slot *slot);
	/* NULL, or for a procedure: called when an operation failed; slot->result has the results up to that
	 * operation. */
	void (*fail)(struct rr_v4_slot *slot);
	/* For work of the session itself: called at its end, with a negative error, a status, or 0 from
	 * take(). */
	void (*end)(struct rr_v4_slot *slot, int error);
	/* OPEN4_SHARE_ACCESS_... that the file must be open with whose handle the args of the call begin
	 * with; 0, or a call without args: none need be open. */
	uint32_t access;
	bool makes;    /* the procedure opens a file that is not in the table of opens */
	bool changes;  /* the work is not idempotent: the server is to keep its reply */
	bool alone;    /* the COMPOUND has no SEQUENCE */
	bool newer;    /* only version 4.2 has the procedure */
	size_t result; /* of a procedure: the size of the C type of its result, which begins with a status */
};

struct rr_v4_slot {
	struct rr_v4 *v4;
	uint32_t number, generation; /* its number; the session that its call was sent in */
	bool busy;
	const struct rr_v4_work *work;
	struct rr_call *outer;   /* the caller's call; NULL for work of the session itself */
	void *reclaims;          /* what config.reclaim() has set */
	struct rr_v4_open *open; /* the file that the call uses, or that the work opens or closes; or NULL */
	uint32_t kept;           /* octets used of outer->keep */
	uint32_t reply_max;      /* octets of the results of the operations appended so far, at most */
	uint32_t misordered;     /* number of answers NFS4ERR_SEQ_MISORDERED to its call */
	uint64_t until;          /* the time from which the call is not repeated to a busy server */
	struct rr_timer later;   /* armed while the call waits to be repeated */
	struct rr_call call;
	COMPOUND4args args;
	COMPOUND4res result;
	nfs_argop4 ops[RR_V4_OPS];
	struct rr_attr_mask set; /* attributes to be set, with their values */
	uint8_t values[RR_V4_VALUES];
	char owner[24];  /* of an open that the COMPOUND closes itself */
	uint8_t size[8]; /* the size that a file must have, for VERIFY */
	uint8_t arena[8192] __attribute__((aligned(16)));
};

/* Returns a bitmap of the session's slots, of which there are 1 to 64. */
uint64_t rr_v4_slots_of(const struct rr_v4 *v4);
/* Returns a bitmap of the slots that the server allows at present: sr_target_highest_slotid. */
uint64_t rr_v4_slots_allowed(const struct rr_v4 *v4);

/* Reserves the lowest free slot for a call. Returns NULL if none of the slots that the server allows is free.
 */
struct rr_v4_slot *rr_v4_slot_get(struct rr_v4 *v4);
/* Makes the slot free again, unless its last call was given up in the present session. */
void rr_v4_slot_put(struct rr_v4_slot *slot);

/* Called when the caller's call ends, before its done(): the call does not use its open file any more, nor
 * the room that the table of opens has kept for a file that the call makes. slot->outer becomes NULL. */
void rr_v4_slot_end_use(struct rr_v4_slot *slot);

/* Notes in v4->doubt that it is not known what the server did with the call in the slot: the slot is not used
 * again in this session. Does nothing if the call was sent in an earlier session. */
void rr_v4_slot_doubt(struct rr_v4_slot *slot);

/* Cancels the call in the slot: that of the caller without calling its done(); work of the session itself
 * ends with CANCELLED. The slot stays unused for the rest of its session. */
void rr_v4_slot_give_up(struct rr_v4_slot *slot);

#endif
