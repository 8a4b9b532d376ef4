/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_GATE_H
#define RR_VFS_GATE_H

#include "base/peer_log.h"
#include "rpc/caller.h"
#include "vfs/idmap/idmap.h"
#include "vfs/rules.h"
#include "vfs/vfs.h"

/*
 * The gate checks each call that comes over the network before a provider sees the call. The gate knows which
 * export a handle lies in, finds the rule (rules.h) that counts for the caller's address there, and makes the
 * identity with which the provider then acts. Servers of all versions of NFS ask the gate about each handle
 * of each call, so a handle that a client got from another client gives it no rights.
 *
 * The log gets a line about a caller that the rules refuse, with the reason, once for each address and export
 * that the gate remembers.
 *
 * Rules for names and netgroups of hosts want look-ups, which go on in threads (idmap/idmap.h) while the gate
 * answers RR_GATE_LATER. A caller whom a rule for an address admits waits for none.
 *
 * A gate belongs to one thread and holds a reference to the rules. A rule that the gate returns is valid
 * until the gate gets other rules or ends; its other answers are copies.
 */

enum { RR_GATE_MEMORY = 64 };

/* An entry of the gate's cache: the rule that was last found for an address and an export. logged: the log
 * has a line that this address was refused there. number is the number of the export, or the count of exports
 * for refusals that are about all of them. */
struct rr_gate_memory {
	const struct rr_rule *rule;
	uint32_t number;
	bool used, logged;
	bool waits;     /* the names of the host are being looked up: the rule is not known yet */
	bool named;     /* names have decided */
	uint64_t until; /* the entry counts; of one that names have decided */
	struct rr_source source;
};

/* The counts of an export, since the gate was made: calls of those whom the gate let in (a COMPOUND of NFS
 * version 4 is a call in each export in which it works), and octets of the data of files. */
struct rr_gate_count {
	uint64_t calls, octets_read, octets_written;
};

struct rr_gate {
	struct rr_vfs *vfs;
	struct rr_rules *rules;
	struct rr_peer_log *log;      /* for refused callers; NULL: refusals are not logged */
	struct rr_idmap *idmap;       /* the owner's: names and groups of users; NULL: there are none */
	struct rr_idmap *hosts;       /* likewise: names and netgroups of hosts; NULL: no host has any */
	struct rr_gate_count *counts; /* the owner's, zeroed, one for each export; NULL: nothing is counted */
	struct rr_gate_memory memory[RR_GATE_MEMORY];
};

/* The caller of an operation, as the RPC call describes the caller. */
struct rr_gate_caller {
	struct rr_source source;
	const struct rr_caller *who;
	uint8_t version; /* RR_RIGHT_V3 or RR_RIGHT_V4: the version of NFS that is used */
};

enum rr_gate_answer {
	RR_GATE_OPEN,
	RR_GATE_CLOSED, /* the rules forbid this address, port, version or principal */
	RR_GATE_LATER,  /* the names of the caller's host decide, and are being looked up */
	RR_GATE_FLAVOR  /* the rules forbid this flavor of authentication, or want a connection inside of TLS
			 */
};

/* Prepares the gate. rules must have as many exports as vfs, in the same order; the gate takes a reference of
 * its own. log: see struct rr_gate. */
void rr_gate_init(struct rr_gate *gate, struct rr_vfs *vfs, struct rr_rules *rules, struct rr_peer_log *log);
/* Gives the gate's reference to its rules back. */
void rr_gate_end(struct rr_gate *gate);

/* Replaces the gate's rules: the gate takes a reference to rules and gives back its reference to the old
 * rules. */
void rr_gate_take(struct rr_gate *gate, struct rr_rules *rules);

/* Tells whether the caller may use the export of this number. RR_GATE_OPEN: it may, and *identity is the
 * identity with which the provider acts for the caller. RR_GATE_FLAVOR: it may not by this flavor of
 * authentication. RR_GATE_CLOSED: it may not. number is export_count for a handle that lies in no export. In
 * that case a caller who may use some export gets RR_GATE_OPEN and the identity of nobody, who may only read:
 * the operation itself then ends with RR_VFS_BAD_HANDLE. Any other caller gets RR_GATE_CLOSED. */
enum rr_gate_answer rr_gate_ask(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number,
	struct rr_vfs_identity *identity);

/* Answers as rr_gate_ask() does, for the export of a handle that the caller sent. */
enum rr_gate_answer rr_gate_ask_handle(struct rr_gate *gate, const struct rr_gate_caller *caller,
	struct rpcrdma_bytes handle, struct rr_vfs_identity *identity);

/* Stores in *identity the identity of a caller to whom a rule gives the rights *right. from is the caller, or
 * NULL for nobody. More than RR_VFS_GROUPS groups stay where who has them, in rising order: then *identity
 * is valid as long as the caller's request. */
void rr_gate_identify(
	const struct rr_gate_caller *from, const struct rr_right *right, struct rr_vfs_identity *identity);

/* Tells whether it is not known yet, of some export, whether the caller may use it, as the names of the
 * caller's host are being looked up. rr_gate_rule() finds no rule there, and the functions above that tell
 * whether all or some are open count it as closed. */
bool rr_gate_undecided(struct rr_gate *gate, const struct rr_gate_caller *caller);

/* Finds out whether the caller's rule in the export of this number is known: RR_IDMAP_FOUND: it is, or it is
 * known that there is none. RR_IDMAP_WAIT: waiter will be woken. RR_IDMAP_BUSY: the client is to come again
 * later. */
enum rr_idmap_status rr_gate_know(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number,
	struct rr_idmap_waiter *waiter);

/* Adds to the counts of the export in which a caller of this identity acts. */
static inline void
rr_gate_count(struct rr_gate *gate, const struct rr_vfs_identity *identity, struct rr_gate_count more)
{
	struct rr_gate_count *count;

	if (!gate->counts || identity->export >= gate->vfs->export_count)
		return;
	count = &gate->counts[identity->export];
	count->calls += more.calls;
	count->octets_read += more.octets_read;
	count->octets_written += more.octets_written;
}

/* Tells whether two identities are those of one user with the same groups. Whether they may change something
 * is not compared. */
bool rr_gate_same_user(const struct rr_vfs_identity *a, const struct rr_vfs_identity *b);

/* Returns the rule by which a caller from this address and port may use the export of this number by this
 * version of NFS, or NULL if there is none. The caller's flavor of authentication is not looked at. */
const struct rr_rule *rr_gate_rule(
	struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number);

/* Logs that this caller, whom rr_gate_rule() gives no rule, is refused the export of this number, and why;
 * number is export_count if the caller has no rule in any export. rr_gate_ask() does so itself. */
void rr_gate_log_refusal(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number);

/* Tells whether rr_gate_rule() finds a rule for the caller in every export, and in at least one. */
bool rr_gate_all_open(struct rr_gate *gate, const struct rr_gate_caller *caller);
bool rr_gate_some_open(struct rr_gate *gate, const struct rr_gate_caller *caller);

#endif
