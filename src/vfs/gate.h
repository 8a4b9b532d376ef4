/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_GATE_H
#define RR_VFS_GATE_H

#include "vfs/rules.h"
#include "vfs/vfs.h"

/*
 * The gate of one thread: what comes over the network passes it before it reaches a provider. It knows which
 * export a handle lies in, finds the rule that counts for the caller's address there, and makes the identity
 * with which the provider then acts. Servers of all versions ask it, for each handle of each call, so a
 * handle that a client got in some other way gives it nothing.
 *
 * Who owns what: the gate holds a reference to the rules. What it answers are values.
 */

enum { RR_GATE_MEMORY = 64 };

/* The rule that was found for an address last. */
struct rr_gate_memory {
	const struct rr_rule *rule;
	uint32_t number; /* of the export */
	bool used;
	struct rr_source source;
};

struct rr_gate {
	struct rr_vfs *vfs;
	struct rr_rules *rules;
	struct rr_gate_memory memory[RR_GATE_MEMORY];
};

/* A caller, as the call says. */
struct rr_gate_caller {
	struct rr_source source;
	const struct rr_auth_sys *sys; /* NULL: AUTH_NONE */
	uint8_t version;               /* RR_RIGHT_V3 or RR_RIGHT_V4 */
};

enum rr_gate_answer {
	RR_GATE_OPEN,
	RR_GATE_CLOSED, /* not for this address, this port or this version */
	RR_GATE_FLAVOR  /* not with this flavor of authentication */
};

/* rules: of as many exports as vfs has; the gate takes a reference of its own. */
void rr_gate_init(struct rr_gate *gate, struct rr_vfs *vfs, struct rr_rules *rules);
void rr_gate_end(struct rr_gate *gate);

/* Others count from now on. */
void rr_gate_take(struct rr_gate *gate, struct rr_rules *rules);

/*
 * Whether the caller may use the export of that number, and with which identity. number may be export_count,
 * as of a handle that lies in no export: such a caller gets the identity of nobody, and may read only; that
 * is for operations that then find the handle to be bad. A caller who may use no export at all is not let in
 * with such a handle, either.
 */
enum rr_gate_answer rr_gate_ask(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number,
	struct rr_vfs_identity *identity);

/* The same, by a handle that the caller sent. */
enum rr_gate_answer rr_gate_ask_handle(struct rr_gate *gate, const struct rr_gate_caller *caller,
	struct rpcrdma_bytes handle, struct rr_vfs_identity *identity);

/* The identity of a caller whom a rule lets in. sys NULL: AUTH_NONE. */
void rr_gate_identify(
	const struct rr_auth_sys *sys, const struct rr_right *right, struct rr_vfs_identity *identity);

/* The rule by which the caller, with some flavor, may use an export; NULL: it may not. */
const struct rr_rule *rr_gate_rule(
	struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number);

/* Whether the caller, with some flavor, may use all exports. */
bool rr_gate_all_open(struct rr_gate *gate, const struct rr_gate_caller *caller);

#endif
