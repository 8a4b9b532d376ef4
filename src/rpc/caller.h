/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CALLER_H
#define RR_RPC_CALLER_H

#include "base/env.h"
#include "base/siphash.h"
#include "wire/rpc.h"

/*
 * Who asks: what a flavor of authentication (auth.h) found out about the caller of a request. It is all that
 * the layers above RPC know of a caller; no credential and no verifier reaches them.
 *
 * Whose state is: state that a caller makes belongs to the caller's principal. The layers above keep a caller
 * with such state by rr_caller_keep(), and compare callers by rr_caller_same_principal() alone.
 */

enum { RR_CALLER_PRINCIPAL = 255 }; /* the most characters of a principal's name */

/* How arguments and results of the call are protected on their way: not at all, against changes, or also
 * against readers. */
enum rr_caller_protection { RR_CALLER_OPEN, RR_CALLER_INTEGRITY, RR_CALLER_PRIVACY };

struct rr_caller {
	enum rr_auth_flavor flavor; /* by which the caller was authenticated */
	enum rr_caller_protection protection;
	/* The user and the groups with which the caller acts; if named is false, the flavor names no user,
	 * and uid and gid are 0. The memory of groups is that of the request. More groups than a credential
	 * of AUTH_SYS has (RR_AUTH_SYS_GIDS) are in rising order, without UINT32_MAX. */
	bool named;
	uint32_t uid, gid, group_count;
	const uint32_t *groups;
	/* The name of the caller's principal as the flavor proves it, of at most RR_CALLER_PRINCIPAL
	 * characters; it may have any of them but zero. NULL: the flavor has no such names, and the user is
	 * the principal. The memory is that of the request. */
	const char *principal;
};

/* Tells whether two callers are the same principal: they were authenticated by the same flavor, and have the
 * same name, or, where the flavor has no names, are the same user. RFC 8881, 2.10.8.3: "the principal that
 * creates the client ID MUST also be the principal that performs client ID and session maintenance
 * operations." The groups, and the user that a name stands for today, are not compared. */
bool rr_caller_same_principal(const struct rr_caller *a, const struct rr_caller *b);

/* Adds what rr_caller_same_principal() compares to a hash. */
void rr_caller_hash(const struct rr_caller *caller, struct rr_siphash *hash);

/* Returns a number that is the same for all callers of one principal, and most likely another for other
 * principals. It is quick for flavors without names, but not secret. */
uint64_t rr_caller_mark(const struct rr_caller *caller);

/* Stores in *kept what rr_caller_same_principal() compares, with memory of its own for the name. Returns
 * false if there is no memory; then *kept needs no rr_caller_drop(). */
bool rr_caller_keep(const struct rr_env *env, const struct rr_caller *caller, struct rr_caller *kept);
/* Frees the memory of a caller that was kept. */
void rr_caller_drop(const struct rr_env *env, struct rr_caller *kept);

#endif
