/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_ORIGIN_H
#define RR_SERVER_NFS4_TABLES_ORIGIN_H

#include "base/env.h"
#include "base/host.h"
#include "base/list.h"
#include "base/map.h"
#include "base/siphash.h"

/*
 * The origins of clients, and how much the clients of an address may hold. The functions make no system call.
 *
 * The origin of a client is the connection of its EXCHANGE_ID. When that connection has ended, the client
 * belongs to the origin `lost` of its address, together with all clients whose connections from this address
 * have ended. If the table of clients is full, a newcomer takes the place of a client of the address with the
 * most clients, and there of the connection with the most clients (client.c).
 *
 * Each quantity that clients hold has a quota. Half of the quota is divided into equal parts for as many
 * clients as there can be, so that each client is sure of its part. The other half goes to the clients that
 * want more: a client may have as much of it as is still free, and the clients of an address together three
 * times as much. There can be no more clients than half of each quota is enough for, see
 * rr_nfs4_quota_clients().
 */
enum rr_nfs4_quantity {
	RR_NFS4_STATES, /* opens and lock-owners */
	RR_NFS4_RANGES,
	RR_NFS4_DELEGATIONS,
	RR_NFS4_OWNERS, /* of version 4.0, with the answers that are kept for them */
	RR_NFS4_SESSIONS,
	RR_NFS4_REPLIES, /* octets of slots, with those reserved for cached replies */
	RR_NFS4_QUANTITIES
};

struct rr_nfs4_client;

/* The quota of one quantity, which all clients share. */
struct rr_nfs4_quota {
	enum rr_nfs4_quantity what;
	uint64_t least; /* the part that each client is sure of */
	uint64_t free;  /* what is left of the half that may be held beyond the least */
};

struct rr_nfs4_address;

/* All addresses that connections or clients come from. */
struct rr_nfs4_addresses {
	const struct rr_env *env;
	struct rr_map by_name;
	uint8_t secret[RR_SIPHASH_KEY]; /* of the hash of names, the key of by_name */
};

/* A connection, as its clients are counted; or all ended connections of an address together. */
struct rr_nfs4_origin {
	struct rr_nfs4_address *address; /* NULL: not known yet, or the connection has ended */
	struct rr_list clients;
	uint32_t count; /* of clients */
};

struct rr_nfs4_address {
	struct rr_nfs4_addresses *all;
	struct rr_map_link by_name;
	uint32_t origins; /* number of connections */
	uint32_t clients;
	struct rr_nfs4_origin lost;        /* clients of connections that have ended */
	uint64_t more[RR_NFS4_QUANTITIES]; /* what the clients hold beyond the least */
	char name[RR_HOST_NAME];
};

/* What a client holds of each quantity. */
struct rr_nfs4_holding {
	struct rr_list link; /* in the origin's clients */
	struct rr_nfs4_origin *origin;
	uint64_t held[RR_NFS4_QUANTITIES];
};

/* Makes an empty table of addresses. Errors: NOMEM. */
int rr_nfs4_addresses_init(struct rr_nfs4_addresses *addresses, const struct rr_env *env);

/* Frees the table; no origin and no client may be left. Zeroed memory may be given, too, if
 * rr_nfs4_addresses_init() failed or was not called. */
void rr_nfs4_addresses_free(struct rr_nfs4_addresses *addresses);

void rr_nfs4_origin_init(struct rr_nfs4_origin *origin);

/* Sets the address of the connection; peer: the address as text, whose port does not count. Does nothing if
 * the connection has an address already. Returns false if there is no memory. */
bool rr_nfs4_origin_join(
	struct rr_nfs4_addresses *addresses, struct rr_nfs4_origin *origin, const char *peer);

/* Returns a number that stands for the address of the connection, which is known; no other address has it. */
uint64_t rr_nfs4_origin_key(const struct rr_nfs4_origin *origin);

/* Handles the end of the connection: its clients move to the origin `lost` of their address. */
void rr_nfs4_origin_end(struct rr_nfs4_origin *origin);

/* Enter a client under the connection that it came by, and remove it. An address that no connection and no
 * client refers to any more is freed. */
void rr_nfs4_origin_enter(struct rr_nfs4_origin *origin, struct rr_nfs4_holding *holding);
void rr_nfs4_origin_leave(struct rr_nfs4_holding *holding);

/* Counts a client that has come back by the connection `origin`, and whose own connection has ended, under
 * `origin` from now on, and no longer under the origin `lost` of its address. Does nothing if the client's
 * own connection is still there, if `origin` has another address, or if the client has ended. */
void rr_nfs4_origin_found(struct rr_nfs4_origin *origin, struct rr_nfs4_holding *holding);

/* Tells whether a new client of `origin` may take the place of the client that `holding` belongs to, when the
 * table of clients is full. idle: that client is unconfirmed, has no opens, locks or delegations, or is a
 * courtesy client (its lease is over). */
bool rr_nfs4_origin_yields(
	const struct rr_nfs4_holding *holding, const struct rr_nfs4_origin *origin, bool idle);

/* Tells whether the client of `a` has to end before the client of `b`: its address has more clients, or both
 * have the same address and its connection has more clients. */
bool rr_nfs4_origin_is_heavier(const struct rr_nfs4_holding *a, const struct rr_nfs4_holding *b);

/* Returns the number of clients that there can be, from 1 to `clients`, so that the half of the quota `max`
 * that is divided equally among them gives each client enough to work. No client can take the part of
 * another. */
uint32_t rr_nfs4_quota_clients(enum rr_nfs4_quantity what, uint64_t max, uint32_t clients);

/* Sets up a quota. max: the amount that all clients together may hold; clients: the most clients. */
void rr_nfs4_quota_init(
	struct rr_nfs4_quota *quota, enum rr_nfs4_quantity what, uint64_t max, uint32_t clients);

/* Takes an amount of the quota for the client. Returns false if the client may not have that much more. */
bool rr_nfs4_quota_take(struct rr_nfs4_quota *quota, struct rr_nfs4_holding *holding, uint64_t amount);
/* Gives an amount back that the client has taken. */
void rr_nfs4_quota_give(struct rr_nfs4_quota *quota, struct rr_nfs4_holding *holding, uint64_t amount);

#endif
