/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_CLIENT_H
#define RR_SERVER_NFS4_TABLES_CLIENT_H

#include "base/avl.h"
#include "base/list.h"
#include "base/map.h"
#include "rpc/caller.h"
#include "server/nfs4/tables/number.h"
#include "server/nfs4/tables/origin.h"
#include "ulb/nfs42.h"

/*
 * The records of clients: RFC 8881, section 18.35, EXCHANGE_ID. Here the record of a client is its struct
 * rr_nfs4_client, as RFC 8881 calls it; its record on the disk is a struct rr_nfs4_record (record.h). The
 * functions take no lock and make no system call; time is a parameter, in nanoseconds of rr_now(). The caller
 * holds the lock of the tables (state.h).
 *
 * A courtesy client is a client whose lease is over: its opens and locks stay until another client wants what
 * conflicts with them; then the courtesy client ends. It becomes an ordinary client again when it comes back.
 *
 * Ownership: the table owns the records. A session and a callback hold the record that they belong to by
 * rr_nfs4_client_hold(); the states of a client end with its record. A record that ended leaves the table at
 * once and is freed when its last holder lets it go.
 */

/*
 * Whose a client is: no other client learns a client ID, as it is random. Beside that, what changes or ends a
 * client or its sessions is for the principal that made the client, at an address that the client has come
 * from: that of its first EXCHANGE_ID, or that of a later one with the same owner, verifier and principal,
 * which proves that the client has moved or has a further address.
 */
enum { RR_NFS4_CLIENT_ADDRESSES = 8 };

/*
 * SP4_MACH_CRED: RFC 8881, 2.10.8.3: the client's machine proves itself, so that nobody else ends its state.
 * The operations of spo_must_enforce are for the principal that made the record, and for calls that are
 * protected against changes at least. Those of spo_must_allow may be sent by that principal for the opens and
 * locks of others, whatever flavors the export has. Both are the first words of a bitmap4.
 */
enum { RR_NFS4_OPS_WORDS = 2 };
struct rr_nfs4_machine_ops {
	uint32_t enforce[RR_NFS4_OPS_WORDS], allow[RR_NFS4_OPS_WORDS];
};

enum rr_nfs4_client_phase {
	RR_NFS4_UNCONFIRMED,
	RR_NFS4_CONFIRMED,
	RR_NFS4_LAPSING,  /* the lease is over; the client's record on the disk is being removed */
	RR_NFS4_COURTESY, /* the lease is over; opens and locks stay until another client wants them */
	RR_NFS4_ENDED
};

struct rr_nfs4_clients;

/* Where a client of version 4.0 wants its callbacks: the arguments of SETCLIENTID. An address that is too
 * long for any address of IP is left out. */
enum { RR_NFS4_NETID = 8, RR_NFS4_UADDR = 64 };
struct rr_nfs4_path {
	uint32_t program, ident;
	uint8_t netid_length, uaddr_length;
	char netid[RR_NFS4_NETID], uaddr[RR_NFS4_UADDR];
};

/* What a client of version 4.0 has in the place of sessions. */
struct rr_nfs4_plain {
	uint32_t number; /* in the client ID; 0: the client has sessions */
	/* RFC 7530, 16.33.5: "confirm" is s of the record { v, x, c, k, s }, and `path` is k. If `updates` is
	 * set, there is a second, unconfirmed record { v, x, c, k, t } beside it. */
	uint64_t confirm, update;
	bool updates;
	struct rr_nfs4_path path, new_path;
	/* owner.c keeps these: the owners of opens and locks, and those of them that have neither, which may
	 * be forgotten, the oldest first. */
	struct rr_list owners, idle;
};

/* The record of a client. */
struct rr_nfs4_client {
	struct rr_nfs4_clients *table;
	struct rr_map_link by_id; /* key: the client ID */
	struct rr_map_link by_owner;
	struct rr_list by_lease; /* in the table's leases, which begin with the client renewed longest ago */
	struct rr_nfs4_holding holding;
	enum rr_nfs4_client_phase phase;
	verifier4 verifier;
	struct rr_caller principal; /* kept: the caller that made the record */
	bool machine;               /* the client has SP4_MACH_CRED, with these operations */
	struct rr_nfs4_machine_ops machine_ops;
	/* The keys of the addresses that the client has come from (rr_nfs4_origin_key()); a further address
	 * takes the place of the oldest. */
	uint64_t addresses[RR_NFS4_CLIENT_ADDRESSES];
	uint32_t address_count; /* of all addresses that were noted */
	uint64_t renewed;       /* time of the last renewal of the lease */
	uint32_t holders;
	/* The only slot of CREATE_SESSION (RFC 8881, 18.36.4): the sequence ID of the last call, and its
	 * answer. refused: that answer was an error that depends on the arguments alone, and is not given
	 * again. */
	sequenceid4 sequence;
	CREATE_SESSION4res created;
	bool refused;
	/* Sessions and states that refer to this record; the layers of sessions and states own them. */
	struct rr_list sessions, states;
	struct rr_avl opened; /* the states that have an open of the storage, by filehandle */
	uint32_t session_count, state_count;
	struct rr_list waits; /* for locks; wait.c keeps this list, and the number */
	uint32_t wait_count;
	uint32_t status_flags; /* SEQ4_STATUS_* that hold for all sessions of the client */
	/* Numbers of states that are revoked and not freed: [RR_NFS4_EXPIRED - 1] and so on, by the reasons
	 * of enum rr_nfs4_revoked. */
	uint32_t revoked[3];
	bool reclaim_complete, one_fs_complete; /* RECLAIM_COMPLETE was sent; with rca_one_fs */
	/* looked_up: the records on the disk of the last start were searched for the client; known: they name
	 * it. */
	bool looked_up, known;
	struct rr_nfs4_record *record; /* on the disk; NULL: the client has no record */
	struct rr_nfs4_plain plain;    /* of version 4.0 */
	uint32_t owner_length;
	uint8_t owner[];
};

/* The table of all clients. */
struct rr_nfs4_clients {
	const struct rr_env *env;
	struct rr_map by_id, by_owner;
	struct rr_list leases;
	struct rr_nfs4_addresses addresses;
	struct rr_nfs4_origin nobody; /* of clients whose connection had already ended when they came */
	uint64_t lease;               /* nanoseconds */
	uint32_t count, max;
	uint64_t secret; /* for the hash of owners */
	struct rr_nfs4_numbers numbers;
	uint32_t number; /* of the last client of version 4.0 */
	/* Called when a record leaves the table: its sessions and states are to go. Returns false if some are
	 * left: then rr_nfs4_client_gone() is to be called when all have gone. */
	bool (*ended)(void *ctx, struct rr_nfs4_client *client);
	/* Called when a lease is over, to have the client's record on the disk removed;
	 * rr_nfs4_client_unrecorded() is to be called when that record has gone. NULL: there are no records
	 * on the disk. */
	void (*lapsed)(void *ctx, struct rr_nfs4_client *client);
	/* Called when a client came back before another client wanted its opens and locks. */
	void (*back)(void *ctx, struct rr_nfs4_client *client);
	void *ctx;
};

/* The arguments of EXCHANGE_ID that the table needs. */
struct rr_nfs4_exchange {
	const client_owner4 *owner;
	const struct rr_caller *caller;
	bool update;                       /* EXCHGID4_FLAG_UPD_CONFIRMED_REC_A */
	struct rr_nfs4_origin *origin;     /* of the connection; NULL: the connection has ended already */
	const state_protect_ops4 *machine; /* the client asks for SP4_MACH_CRED; NULL: for SP4_NONE */
	bool plain;                        /* SETCLIENTID, of version 4.0 */
};

/* Makes an empty table. lease: the lease period in nanoseconds; max: the most clients that the table may
 * have. Errors: NOMEM; the caller must call rr_nfs4_clients_free() even then. */
int rr_nfs4_clients_init(
	struct rr_nfs4_clients *clients, const struct rr_env *env, uint64_t lease, uint32_t max);
/* Ends all clients and frees the table. */
void rr_nfs4_clients_free(struct rr_nfs4_clients *clients);

/* Carries out EXCHANGE_ID by the nine cases of RFC 8881, 18.35.4, and stores the record in *client. Returns
 * NFS4ERR_DELAY if there is no memory, or if the table is full and no client can be ended for the new one, as
 * its address and connection have as many clients as others. */
nfsstat4 rr_nfs4_exchange_id(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	uint64_t now, struct rr_nfs4_client **client);

/* Returns the client that has sessions with this client ID; NULL if there is no such client. */
struct rr_nfs4_client *rr_nfs4_client_find(const struct rr_nfs4_clients *clients, clientid4 id);
clientid4 rr_nfs4_client_id(const struct rr_nfs4_client *client);

/* ---- setclientid.c: clients of version 4.0 ---- */

/* Tells whether the client is one of version 4.0, without sessions. */
static inline bool
rr_nfs4_client_is_plain(const struct rr_nfs4_client *client)
{
	return client->plain.number != 0;
}

/* Carries out SETCLIENTID by the five cases of RFC 7530, 16.33.5, stores the record in *client, and in
 * *confirm what SETCLIENTID_CONFIRM is to bring. With NFS4ERR_CLID_INUSE, *client is the record that has this
 * owner. Returns NFS4ERR_DELAY as rr_nfs4_exchange_id() does. */
nfsstat4 rr_nfs4_setclientid(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	const struct rr_nfs4_path *path, uint64_t now, struct rr_nfs4_client **client, uint64_t *confirm);

/* Carries out SETCLIENTID_CONFIRM: RFC 7530, 16.34.5. */
nfsstat4 rr_nfs4_setclientid_confirm(struct rr_nfs4_clients *clients, clientid4 id, uint64_t confirm,
	const struct rr_caller *caller, uint64_t now);

/* Finds the confirmed client of version 4.0 with this client ID, and stores it in *client. Returns
 * NFS4ERR_EXPIRED if the client has ended, and NFS4ERR_STALE_CLIENTID if this start of the server has made no
 * such client ID. */
nfsstat4 rr_nfs4_client_known(
	const struct rr_nfs4_clients *clients, clientid4 id, struct rr_nfs4_client **client);

/* Tells whether a client of version 4.0 with this number has been there, and has ended. */
bool rr_nfs4_client_has_ended(const struct rr_nfs4_clients *clients, uint32_t number);

/* Returns a new client ID, which has the number of the client in it. */
clientid4 rr_nfs4_client_plain_id(struct rr_nfs4_clients *clients, struct rr_nfs4_client *client);

/* ---- All clients ---- */

/* Tells whether the caller may send the operations of spo_must_enforce about the client. */
bool rr_nfs4_client_may_manage(const struct rr_nfs4_client *client, const struct rr_caller *caller);
/* Tells whether the caller may send this operation by spo_must_allow. */
bool rr_nfs4_client_must_allow(
	const struct rr_nfs4_client *client, const struct rr_caller *caller, uint32_t op);

/* Tells whether the client is that of the caller's principal at the address of this connection. */
bool rr_nfs4_client_is_of(const struct rr_nfs4_client *client, const struct rr_caller *caller,
	const struct rr_nfs4_origin *origin);

/* Tells whether an unconfirmed record may be confirmed. It may not if its owner has a confirmed record that
 * belongs to another principal, has sessions, opens or locks, and whose lease is not over. */
bool rr_nfs4_client_may_confirm(const struct rr_nfs4_client *client, uint64_t now);

/* Confirms the record after a CREATE_SESSION that succeeded. Another confirmed record of the same owner
 * ends. */
void rr_nfs4_client_confirm(struct rr_nfs4_client *client, uint64_t now);

/* Renews the lease of the client. RFC 8881, 18.46.3: "If SEQUENCE returns NFS4_OK, then the associated lease
 * MUST be renewed" */
void rr_nfs4_client_renew(struct rr_nfs4_client *client, uint64_t now);

/* Tells whether the client is confirmed and its lease is not over. */
bool rr_nfs4_client_in_lease(const struct rr_nfs4_client *client, uint64_t now);

/* Takes the report that the client has no record on the disk. If the lease of the client is over, its opens
 * and locks may be taken away from now on. */
void rr_nfs4_client_unrecorded(struct rr_nfs4_client *client);

/* Ends the client: its record leaves the table, and its sessions and states end. */
void rr_nfs4_client_end(struct rr_nfs4_client *client);
/* Removes a client that has ended from the counts of its address, and releases its record, when its states
 * have gone: until then it counts for what they hold. */
void rr_nfs4_client_gone(struct rr_nfs4_client *client);

/* Handles the leases that are over: unconfirmed records and records without state end; the other clients
 * become courtesy clients, which keep their state until another client wants it. Returns the nanoseconds
 * until the next lease ends; UINT64_MAX if no lease is running. */
uint64_t rr_nfs4_clients_expire(struct rr_nfs4_clients *clients, uint64_t now);

/* Returns a number that stands for the address that the client came from; 0 if the client has no address. The
 * thread that writes records divides its time among the addresses by this number. */
uint64_t rr_nfs4_client_address(const struct rr_nfs4_client *client);

/* Tells whether the client has sessions, opens, locks or delegations. */
bool rr_nfs4_client_has_state(const struct rr_nfs4_client *client);

/* Take a reference to the record, and release it; the record is freed with its last reference. */
struct rr_nfs4_client *rr_nfs4_client_hold(struct rr_nfs4_client *client);
void rr_nfs4_client_release(struct rr_nfs4_client *client);

#endif
