/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_OWNER_H
#define RR_SERVER_NFS4_TABLES_OWNER_H

#include "server/nfs4/tables/state.h"

/*
 * The owners of opens and of locks in version 4.0, where each numbers its requests, and the last answer to
 * each is kept: RFC 7530, sections 9.1.5 to 9.1.11. Clients with sessions have no such owners: there an owner
 * is just a part of its states. The functions need the lock of the tables (tables.h).
 *
 * Ownership: an owner belongs to its client. The request that is under way holds it, so it stays then even if
 * it leaves the tables. An owner of opens that has no states may be forgotten: after a lease, or when its
 * client wants more owners than it may have. An owner of locks goes with its last state.
 */
struct rr_nfs4_owner {
	struct rr_nfs4_tables *tables;
	struct rr_map_link by_name;
	/* The open state that its last CLOSE has ended, by which a repeated CLOSE finds the owner. */
	struct rr_map_link by_closed;  /* key 0: there is none */
	struct rr_list of_client;      /* in the client's list of owners */
	struct rr_list of_idle;        /* in the client's list of idle ones */
	struct rr_list of_aging;       /* in the tables' lists of those that are forgotten after a lease */
	struct rr_nfs4_client *client; /* NULL: the owner has left the tables */
	enum rr_nfs4_kind kind;        /* RR_NFS4_OPEN or RR_NFS4_LOCK */
	struct rr_list states;         /* by of_owner */
	uint32_t locked;               /* how many of them have locked ranges */
	uint32_t holders;
	bool confirmed; /* of opens: OPEN_CONFIRM was sent, or is not needed */
	bool busy;      /* a request is under way */
	bool used;      /* `seqid` is that of a request that has ended, `op` its operation */
	uint32_t seqid;
	nfs_opnum4 op;
	nfsstat4 status;
	uint64_t digest; /* of the request */
	/* The answer: its octets with the number and the status of the operation, and behind them the
	 * filehandle that an OPEN has left; NULL: there was no memory for it. */
	uint8_t *reply;
	uint32_t reply_length, handle_length;
	uint32_t cost; /* what it takes of the quota */
	uint32_t length;
	uint8_t name[];
};

/* Returns the owner of that kind and name that the client has; NULL if there is none. */
struct rr_nfs4_owner *rr_nfs4_owner_find(const struct rr_nfs4_tables *tables,
	const struct rr_nfs4_client *client, enum rr_nfs4_kind kind, struct rpcrdma_bytes name);
/* Makes an owner. Returns NULL if there is no memory, or the client has too many. */
struct rr_nfs4_owner *rr_nfs4_owner_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	enum rr_nfs4_kind kind, struct rpcrdma_bytes name);

/* Returns the owner whose last CLOSE has ended the state that the stateid names; NULL if there is none. */
struct rr_nfs4_owner *rr_nfs4_owner_closed(const struct rr_nfs4_tables *tables, const stateid4 *stateid);

/* What a sequence number says of a request: RFC 7530, 9.1.7. */
enum rr_nfs4_owner_turn {
	RR_NFS4_TURN_NEW,
	RR_NFS4_TURN_AGAIN, /* it is the last request once more: its answer is kept */
	RR_NFS4_TURN_BUSY,  /* another request of the owner is under way */
	RR_NFS4_TURN_BAD
};
enum rr_nfs4_owner_turn rr_nfs4_owner_turn(const struct rr_nfs4_owner *owner, uint32_t seqid, nfs_opnum4 op);

/* Forgets what an owner of opens that is not confirmed has done, as it begins anew. */
void rr_nfs4_owner_anew(struct rr_nfs4_owner *owner);

/* Begins a request, which holds the owner until rr_nfs4_owner_end(). */
void rr_nfs4_owner_begin(struct rr_nfs4_owner *owner);

/* A request that has ended. */
struct rr_nfs4_owner_done {
	uint32_t seqid;
	nfs_opnum4 op;
	nfsstat4 status;
	uint64_t digest;
	struct rpcrdma_bytes reply;  /* the result, with the number and the status of the operation */
	struct rpcrdma_bytes handle; /* the filehandle that an OPEN has left; or none */
};
/* Ends a request. Keeps its number and answer, unless the status is one with which the client does not count
 * it. */
void rr_nfs4_owner_end(struct rr_nfs4_owner *owner, const struct rr_nfs4_owner_done *done);

/* Gives the state to the owner, if the owner has not got it yet. Without effect on a state that has ended. */
void rr_nfs4_owner_take(struct rr_nfs4_owner *owner, struct rr_nfs4_state *state);
/* Takes a state that ends, or was revoked, from its owner, if it has one; state.c calls this function. */
void rr_nfs4_owner_leave(struct rr_nfs4_state *state);
/* Counts that the state has its first locked range, or no locked range any more. */
void rr_nfs4_owner_locked(const struct rr_nfs4_state *state, bool locked);

/* Marks an owner of opens as confirmed. */
void rr_nfs4_owner_confirm(struct rr_nfs4_owner *owner);

/* Carries out RELEASE_LOCKOWNER for an owner of locks: RFC 7530, 16.37. Returns NFS4ERR_LOCKS_HELD if it has
 * locked ranges, and NFS4ERR_RESOURCE if some of its states are left, as they are too many to end at once. */
nfsstat4 rr_nfs4_owner_release(struct rr_nfs4_owner *owner);

/* Ends owners of a client that has ended. Returns whether all have ended. Reduces *units, the most steps. */
bool rr_nfs4_owners_leave(struct rr_nfs4_client *client, uint32_t *units);
/* Forgets owners that have had no states for a lease. Called from time to time. */
void rr_nfs4_owners_look(struct rr_nfs4_tables *tables, uint64_t now);

#endif
