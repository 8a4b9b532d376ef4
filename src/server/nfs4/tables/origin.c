/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses and connections that clients come from, and the quotas of what clients may hold. */
#include "server/nfs4/tables/origin.h"

#include <string.h>

/* The clients of an address together may have, beyond their least parts, at most this many times the amount
 * of the quota that stays free. */
enum { ORIGIN_TIMES = 3 };

/* Buckets of the table of addresses. If there are more addresses, some of them share a bucket. */
enum { ORIGIN_BUCKETS = 4096 };

/* ---- Addresses ---- */

int
rr_nfs4_addresses_init(struct rr_nfs4_addresses *addresses, const struct rr_env *env)
{
	addresses->env = env;
	env->random(env->ctx, addresses->secret, sizeof(addresses->secret));
	return rr_map_init(&addresses->by_name, env, ORIGIN_BUCKETS);
}

void
rr_nfs4_addresses_free(struct rr_nfs4_addresses *addresses)
{
	rr_map_free(&addresses->by_name, addresses->env);
}

/* Returns the entry of the address with this name; NULL if there is no such entry, as no connection and no
 * client comes from the address. hash: the hash of the name. */
static struct rr_nfs4_address *
origin_find_address(const struct rr_nfs4_addresses *addresses, const char *name, uint64_t hash)
{
	struct rr_map_link *link = rr_map_find(&addresses->by_name, hash);

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_address *address = rr_container(link, struct rr_nfs4_address, by_name);

		if (strcmp(address->name, name) == 0)
			return address;
	}
	return NULL;
}

/* Returns the entry of the peer's address, and makes the entry if it is not there yet. Returns NULL if there
 * is no memory. */
static struct rr_nfs4_address *
origin_address(struct rr_nfs4_addresses *addresses, const char *peer)
{
	struct rr_nfs4_address *address;
	char name[RR_HOST_NAME];
	uint64_t hash;

	rr_host_name(peer, name);
	hash = rr_siphash_64(addresses->secret, name, strlen(name));
	address = origin_find_address(addresses, name, hash);
	if (address)
		return address;
	address = rr_alloc(addresses->env, sizeof(*address));
	if (!address)
		return NULL;
	address->all = addresses;
	memcpy(address->name, name, strlen(name) + 1);
	rr_nfs4_origin_init(&address->lost);
	address->lost.address = address;
	rr_map_add(&addresses->by_name, &address->by_name, hash);
	return address;
}

/* Removes the address from the table and frees it, unless a connection or a client still refers to it. */
static void
origin_address_leave(struct rr_nfs4_address *address)
{
	if (address->origins > 0 || address->clients > 0)
		return;
	rr_map_remove(&address->all->by_name, &address->by_name);
	rr_free(address->all->env, address);
}

/* ---- Origins ---- */

void
rr_nfs4_origin_init(struct rr_nfs4_origin *origin)
{
	*origin = (struct rr_nfs4_origin){ .count = 0 };
	rr_list_init(&origin->clients);
}

bool
rr_nfs4_origin_join(struct rr_nfs4_addresses *addresses, struct rr_nfs4_origin *origin, const char *peer)
{
	if (origin->address)
		return true;
	origin->address = origin_address(addresses, peer);
	if (!origin->address)
		return false;
	origin->address->origins++;
	return true;
}

uint64_t
rr_nfs4_origin_key(const struct rr_nfs4_origin *origin)
{
	return origin->address->by_name.key;
}

void
rr_nfs4_origin_enter(struct rr_nfs4_origin *origin, struct rr_nfs4_holding *holding)
{
	holding->origin = origin;
	origin->count++;
	origin->address->clients++;
	rr_list_append(&origin->clients, &holding->link);
}

/* Removes a client from the list and the counts of its origin and address. */
static void
origin_remove(struct rr_nfs4_holding *holding)
{
	rr_list_remove(&holding->link);
	holding->origin->count--;
	holding->origin->address->clients--;
}

void
rr_nfs4_origin_leave(struct rr_nfs4_holding *holding)
{
	struct rr_nfs4_address *address = holding->origin->address;

	origin_remove(holding);
	holding->origin = NULL;
	origin_address_leave(address);
}

void
rr_nfs4_origin_found(struct rr_nfs4_origin *origin, struct rr_nfs4_holding *holding)
{
	if (!holding->origin || !origin->address || holding->origin != &origin->address->lost)
		return;
	origin_remove(holding);
	rr_nfs4_origin_enter(origin, holding);
}

void
rr_nfs4_origin_end(struct rr_nfs4_origin *origin)
{
	struct rr_nfs4_address *address = origin->address;

	if (!address)
		return;
	rr_list_for_each (link, &origin->clients) {
		struct rr_nfs4_holding *holding = rr_container(link, struct rr_nfs4_holding, link);

		origin_remove(holding);
		rr_nfs4_origin_enter(&address->lost, holding);
	}
	origin->address = NULL;
	address->origins--;
	origin_address_leave(address);
}

/*
 * Tells whether the client that `holding` belongs to may end for a new client of `origin`. The address with
 * fewer clients gains: a client ends if its address has more clients than the address of the newcomer, and at
 * least two more if the client is not idle, so that two addresses do not take a place from each other in
 * turns. Within one address, the numbers of the connections decide in the same way. An idle client may also
 * end for a newcomer of its own connection.
 */
bool
rr_nfs4_origin_yields(const struct rr_nfs4_holding *holding, const struct rr_nfs4_origin *origin, bool idle)
{
	const struct rr_nfs4_origin *its = holding->origin;
	uint32_t more = idle ? 0 : 1;

	if (its->address != origin->address)
		return its->address->clients > origin->address->clients + more;
	return its->count > origin->count + more || (its == origin && idle);
}

bool
rr_nfs4_origin_is_heavier(const struct rr_nfs4_holding *a, const struct rr_nfs4_holding *b)
{
	const struct rr_nfs4_address *of_a = a->origin->address, *of_b = b->origin->address;

	return of_a->clients > of_b->clients || (of_a == of_b && a->origin->count > b->origin->count);
}

/* ---- Quotas ---- */

/* A client with these amounts can work: it has two files, open and locked, one of them delegated, and a
 * session of eight slots with replies of 4096 octets. */
static const uint64_t origin_needs[RR_NFS4_QUANTITIES] = {
	[RR_NFS4_STATES] = 4,
	[RR_NFS4_RANGES] = 4,
	[RR_NFS4_DELEGATIONS] = 1,
	[RR_NFS4_OWNERS] = 16,
	[RR_NFS4_SESSIONS] = 1,
	[RR_NFS4_REPLIES] = 8 * (4096 + 128),
};

uint32_t
rr_nfs4_quota_clients(enum rr_nfs4_quantity what, uint64_t max, uint32_t clients)
{
	uint64_t enough = max / 2 / origin_needs[what];

	if (enough == 0)
		return 1;
	return enough < clients ? (uint32_t)enough : clients;
}

void
rr_nfs4_quota_init(struct rr_nfs4_quota *quota, enum rr_nfs4_quantity what, uint64_t max, uint32_t clients)
{
	quota->what = what;
	quota->least = max / 2 / clients;
	quota->free = max - quota->least * clients;
}

/* Returns by how much a client exceeds quota->least, the part of the quota that is reserved for each client;
 * 0 if it does not. held: the amount that the client holds. */
static uint64_t
origin_beyond_least(const struct rr_nfs4_quota *quota, uint64_t held)
{
	return held > quota->least ? held - quota->least : 0;
}

/* An amount within the least part of the client is always granted. A larger one is granted if, after that,
 * enough stays free: at least as much as this client then has beyond its least part, and a third of what all
 * clients of its address then have beyond theirs. */
bool
rr_nfs4_quota_take(struct rr_nfs4_quota *quota, struct rr_nfs4_holding *holding, uint64_t amount)
{
	uint64_t *held = &holding->held[quota->what], *more = &holding->origin->address->more[quota->what];
	uint64_t before = origin_beyond_least(quota, *held),
		 after = origin_beyond_least(quota, *held + amount);
	uint64_t wanted = after - before, left;

	if (wanted > 0) {
		if (wanted > quota->free)
			return false;
		left = quota->free - wanted;
		if (after > left || *more + wanted > ORIGIN_TIMES * left)
			return false;
	}
	*held += amount;
	*more += wanted;
	quota->free -= wanted;
	return true;
}

void
rr_nfs4_quota_give(struct rr_nfs4_quota *quota, struct rr_nfs4_holding *holding, uint64_t amount)
{
	uint64_t *held = &holding->held[quota->what];
	/* Only what the client has held beyond its least part was taken from quota->free. */
	uint64_t given = origin_beyond_least(quota, *held) - origin_beyond_least(quota, *held - amount);

	*held -= amount;
	holding->origin->address->more[quota->what] -= given;
	quota->free += given;
}
