/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_SESSION_OPEN_H
#define RR_VFS_NFS_V4_SESSION_OPEN_H

#include "vfs/nfs/v4/session/slot.h"

/* The table of files that a client has opened at the server, or is about to open, for callers that name files
 * by handles and open none. */

enum {
	RR_V4_OPENS = 160,     /* files that are open at a time: `rpcrdma cp` has 128 under way */
	RR_V4_OPENS_IDLE = 16, /* of these, files that may stay open without being read or written */
};

enum rr_v4_open_state {
	RR_V4_OPEN_FREE,    /* the entry is not in use */
	RR_V4_OPEN_MAKING,  /* OPEN is under way, and calls wait */
	RR_V4_OPEN_READY,   /* the file is open */
	RR_V4_OPEN_LOST,    /* the server has forgotten the open: it is made again when it is needed */
	RR_V4_OPEN_RECLAIM, /* the server restarted: the open is to be reclaimed in its grace period */
	RR_V4_OPEN_CLOSING  /* CLOSE is under way */
};

struct rr_v4_open {
	struct rr_list link; /* in v4->opens, the last used first; or in v4->open_free */
	enum rr_v4_open_state state;
	uint32_t access, wanted; /* OPEN4_SHARE_ACCESS_...: granted; asked for by the OPEN under way */
	uint32_t users;          /* calls in slots that use its stateid */
	uint32_t losses;         /* how often CLOSE is to be sent again, as the session was lost */
	uint64_t used;           /* when it was last used */
	stateid4 stateid, delegation;
	bool has_delegation;
	bool once;              /* made by another open-owner: no call uses it, and it is to be closed */
	struct rr_list waiters; /* list of struct rr_call */
	uint8_t handle[NFS4_FHSIZE];
	uint32_t handle_length;
};

void rr_v4_opens_init(struct rr_v4 *v4);

/* Returns the entry of the table of opens, in whatever state, that calls share for the file with this handle,
 * or NULL if there is none. Entries with `once`, which no call may use, are left out. */
struct rr_v4_open *rr_v4_open_find(struct rr_v4 *v4, struct rpcrdma_bytes handle);

/* Tells whether the table has room for one more open, besides those that calls in slots will make. */
bool rr_v4_open_has_room(const struct rr_v4 *v4);

/* Enters a file in the table of opens, in the state RR_V4_OPEN_LOST: the file is not open yet. Returns NULL
 * if the table is full, or the handle is too long for version 4. */
struct rr_v4_open *rr_v4_open_new(struct rr_v4 *v4, struct rpcrdma_bytes handle);

/* Notes the result of an OPEN for access: the file is open with this stateid, and with the delegation that
 * the server may have given. */
void rr_v4_open_take(struct rr_v4 *v4, struct rr_v4_open *open, const OPEN4resok *answered, uint32_t access);

/* Counts a user of the open's stateid, until rr_v4_slot_end_use(). Returns false, and counts nothing, if the
 * stateid cannot be used for access. */
bool rr_v4_open_begin_use(struct rr_v4 *v4, struct rr_v4_open *open, uint32_t access);

/* Removes the open from the table of opens: its memory is free for another open. */
void rr_v4_open_forget(struct rr_v4 *v4, struct rr_v4_open *open);

/* Returns the open file to close next: the one that was unused for the longest time, if more than keep open
 * files are idle, or if its last use was before the given time. Returns NULL if no file is to be closed. */
struct rr_v4_open *rr_v4_open_to_close(struct rr_v4 *v4, uint32_t keep, uint64_t before);

/* Returns an open in this state, or NULL if there is none. */
struct rr_v4_open *rr_v4_open_in(struct rr_v4 *v4, enum rr_v4_open_state state);

/* Called when the server has restarted, and has forgotten all opens and delegations: files that were open are
 * to be reclaimed. */
void rr_v4_opens_reclaim(struct rr_v4 *v4);
/* Notes that the server revoked the open, or does not know it: it is made again when it is needed. */
void rr_v4_open_lose(struct rr_v4_open *open);

/* Fills in the arguments that all OPENs of this client have in common: they deny others no access, and ask
 * for no delegation, because there is no backchannel by which the server could recall a delegation. access is
 * OPEN4_SHARE_ACCESS_... */
void rr_v4_open_owner(struct rr_v4_slot *slot, OPEN4args *args, uint32_t access);

/* ---- opening.c: OPEN and CLOSE of slot->open ---- */

/* The most octets of a result of OPEN: it is the largest with a delegation to write. */
enum { RR_V4_OPEN_MAX = 16 + 20 + 4 + (4 + 16) + 4 + (16 + 4 + 12 + 12 + 4 + 256) };

/* Appends OPEN of slot->open, for the access in slot->open->wanted. */
void rr_v4_open_build(struct rr_v4_slot *slot);
/* Takes the result of that OPEN: slot->open is open. Returns 0. */
int rr_v4_opened(struct rr_v4_slot *slot);
/* Appends CLOSE of slot->open, and the return of its delegation, if it has one. */
void rr_v4_close_build(struct rr_v4_slot *slot);
/* Enters a file in the table of opens that the COMPOUND of a call has made and opened, for the calls that
 * follow; room was kept for it (the member makes of the work). An entry of this file whose CLOSE is under way
 * ends with that CLOSE, so this OPEN has an entry of its own. An entry whose OPEN is under way waits for the
 * end of that OPEN as before. */
void rr_v4_open_enter(struct rr_v4_slot *slot, struct rpcrdma_bytes handle, uint32_t access);
/* Enters a file in the table of opens that the COMPOUND of a call has opened and not closed, or for which the
 * server gave a delegation. The table later closes it as an unused one. Room in the table was kept for the
 * file (the member makes of the work); only an impossible handle could fail to be entered. */
void rr_v4_open_leave(struct rr_v4_slot *slot, struct rpcrdma_bytes handle, uint32_t access);

/* Is the take() of a COMPOUND whose results are not used. Returns 0. */
int rr_v4_nothing_take(struct rr_v4_slot *slot);

#endif
