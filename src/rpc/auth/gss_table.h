/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_TABLE_H
#define RR_RPC_AUTH_GSS_TABLE_H

#include <pthread.h>

#include "base/env.h"
#include "base/gss/gss.h"
#include "base/list.h"
#include "base/map.h"
#include "base/siphash.h"
#include "rpc/auth/gss_user.h"
#include "rpc/auth/gss_window.h"

/*
 * The contexts of a server. All its threads share them, as a client uses a context over all its connections.
 * A context is known by a handle that nobody can guess. It lives until its client destroys it, its ticket
 * expires, for RR_GSS_UNKNOWN seconds if its principal is no user (who may become one), it was not used for
 * RR_GSS_IDLE seconds, or its place is needed: a principal at an address, an address, and all together have
 * so many places, and the context that was not used for the longest time goes first. A call that has begun
 * keeps its context.
 *
 * Any thread may call all functions. The lock is held for a few steps only, whatever clients do.
 */
enum { RR_GSS_HANDLE = 16, RR_GSS_IDLE = 3600, RR_GSS_UNKNOWN = 600 };

/* How many contexts there are at most. */
struct rr_gss_bounds {
	uint32_t principal, address, all;
};
extern const struct rr_gss_bounds rr_gss_bounds_default; /* 64, 1024, 8192 */

/* All contexts of a principal at an address, or of an address; the longest unused first. */
struct rr_gss_account {
	struct rr_map_link by_key;
	struct rr_list entries;
	uint32_t count;
};

/* A context. Its members do not change, but for the window, which rr_gss_table_take() locks, and the private
 * ones. */
struct rr_gss_entry {
	struct rr_gss_context *context;
	struct rr_gss_user user;
	char principal[RR_GSS_NAME_MAX + 1];
	uint8_t handle[RR_GSS_HANDLE];
	int64_t until; /* the time at which it ends, on the clock of time(2) */

	/* What follows belongs to the table. */
	const struct rr_env *env;
	struct rr_gss_table *table;
	struct rr_map_link by_handle;
	uint32_t holders; /* the table is one until the context is forgotten */
	bool listed;
	int64_t used; /* when it was used last */
	struct rr_list by_use, of_principal, of_address;
	struct rr_gss_account *principal_account, *address_account;
	struct rr_gss_window window;
};

struct rr_gss_table;

/* Makes a table without contexts. Errors: NOMEM. */
int rr_gss_table_new(
	const struct rr_env *env, const struct rr_gss_bounds *bounds, struct rr_gss_table **table);
/* Forgets all contexts. Nobody may hold one any more. table may be NULL. */
void rr_gss_table_free(struct rr_gss_table *table);

/* Adds a context, which then belongs to the table, and chooses its handle. host: the name
 * of its client's host (rr_host_name()). Returns its entry, held for the caller. NULL: there is no memory,
 * and the context and the user still belong to the caller. */
struct rr_gss_entry *rr_gss_table_add(struct rr_gss_table *table, struct rr_gss_context *context,
	const char *principal, const struct rr_gss_user *user, const char *host);

/* Returns the entry of this handle, held for the caller, or NULL. */
struct rr_gss_entry *rr_gss_table_find(struct rr_gss_table *table, const void *handle, size_t size);

/* Tells whether the context has ended. */
bool rr_gss_table_ended(const struct rr_gss_entry *entry);

/* Takes a number of the entry's window: rr_gss_window_take(). */
bool rr_gss_table_take(struct rr_gss_entry *entry, uint32_t number);

/* Takes the entry out of the table: its handle is unknown from now on. */
void rr_gss_table_forget(struct rr_gss_entry *entry);
/* Gives a held entry back. The last holder frees it. */
void rr_gss_table_release(struct rr_gss_entry *entry);

/* Returns the number of contexts. */
uint32_t rr_gss_table_count(struct rr_gss_table *table);

#endif
