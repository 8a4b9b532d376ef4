/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_ORIGIN_H
#define RR_NFS4_ORIGIN_H

#include "base/env.h"
#include "base/host.h"
#include "base/list.h"

/*
 * The origins of clients, and how much clients of one address may have. Pure, like client.h.
 *
 * The origin of a client is the connection of its EXCHANGE_ID, or, once that has ended, all such connections
 * of its address together. Where the table of clients is full, a newcomer takes the place of a client of the
 * address with the most, and there of the connection with the most (client.c).
 *
 * Of what clients hold, each quantity has a quota. Half of it is divided among as many clients as there can
 * be: each has its part in any case. The other half goes to those that want more: a client may have as much
 * of it as is still free, and the clients of one address three times as much together. There can be no more
 * clients than half of each quota is enough for, see rr_nfs4_quota_clients().
 */
enum rr_nfs4_quantity {
	RR_NFS4_STATES, /* opens and lock-owners */
	RR_NFS4_RANGES,
	RR_NFS4_DELEGATIONS,
	RR_NFS4_SESSIONS,
	RR_NFS4_REPLIES, /* octets that are reserved for cached replies */
	RR_NFS4_QUANTITIES
};

struct rr_nfs4_client;

struct rr_nfs4_quota {
	enum rr_nfs4_quantity what;
	uint64_t least; /* that each client may have */
	uint64_t free;  /* of the half for more than that */
};

struct rr_nfs4_address;

struct rr_nfs4_origin {
	struct rr_nfs4_address *address; /* NULL: no client has come by the connection */
	struct rr_list clients;
	uint32_t count;
};

struct rr_nfs4_address {
	struct rr_list link; /* in all addresses */
	const struct rr_env *env;
	uint32_t origins; /* connections */
	uint32_t clients;
	struct rr_nfs4_origin lost;        /* of connections that have ended */
	uint64_t more[RR_NFS4_QUANTITIES]; /* what its clients have beyond the least */
	char name[RR_HOST_NAME];
};

/* Of a client. */
struct rr_nfs4_holding {
	struct rr_list link;
	struct rr_nfs4_origin *origin;
	uint64_t held[RR_NFS4_QUANTITIES];
};

void rr_nfs4_origin_init(struct rr_nfs4_origin *origin);

/* The connection comes from peer, an address as text. True without effect where it has an address already;
 * false: no memory. addresses: a list of all. */
bool rr_nfs4_origin_join(
	struct rr_list *addresses, const struct rr_env *env, struct rr_nfs4_origin *origin, const char *peer);

/* The connection has ended; its clients stay. */
void rr_nfs4_origin_end(struct rr_nfs4_origin *origin);

/* A client comes, or comes by another connection than before; it goes. */
void rr_nfs4_origin_enter(struct rr_nfs4_origin *origin, struct rr_nfs4_holding *holding);
void rr_nfs4_origin_leave(struct rr_nfs4_holding *holding);

/* A client whose connection has ended came by this one. */
void rr_nfs4_origin_found(struct rr_nfs4_origin *origin, struct rr_nfs4_holding *holding);

/* Whether a newcomer of origin may take the place of a client that came from there. idle: that client loses
 * nothing by it. */
bool rr_nfs4_origin_yields(
	const struct rr_nfs4_holding *holding, const struct rr_nfs4_origin *origin, bool idle);

/* Whether the client of a is to go before that of b. */
bool rr_nfs4_origin_is_heavier(const struct rr_nfs4_holding *a, const struct rr_nfs4_holding *b);

/* For how many clients half of max is enough, at most clients: each can work with its part, even where all
 * others take what they can. */
uint32_t rr_nfs4_quota_clients(enum rr_nfs4_quantity what, uint64_t max, uint32_t clients);

void rr_nfs4_quota_init(
	struct rr_nfs4_quota *quota, enum rr_nfs4_quantity what, uint64_t max, uint32_t clients);

/* The client has so much more. False: it may not. */
bool rr_nfs4_quota_take(struct rr_nfs4_quota *quota, struct rr_nfs4_holding *holding, uint64_t amount);
void rr_nfs4_quota_give(struct rr_nfs4_quota *quota, struct rr_nfs4_holding *holding, uint64_t amount);

#endif
