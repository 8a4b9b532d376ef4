/* SPDX-License-Identifier: BSD-3-Clause */
/* The flavors that an export may be used with: RFC 8881, section 2.6.3.1. */
#include "server/nfs4/ops.h"

/* Returns the operation behind this one, for the rules of RFC 8881, 2.6.3.1.1; NULL if there is none. SAVEFH
 * is skipped: RFC 8881, 2.6.3.1.1.1: "the server implementation pretends SAVEFH is not in the series of
 * operations". */
static const nfs_argop4 *
security_next(const struct rr_nfs4_compound *c)
{
	for (uint32_t i = c->index + 1; i < c->args->decoded; i++)
		if (c->args->ops[i].argop != OP_SAVEFH)
			return &c->args->ops[i];
	return NULL;
}

/* Tells whether the next operation may follow if the caller uses a wrong security flavor. It may if it does
 * not need the right flavor, or answers NFS4ERR_WRONGSEC itself: RFC 8881, 2.6.3.1.1.2 to 2.6.3.1.1.6. */
static bool
security_may_follow(const nfs_argop4 *next)
{
	switch (next->argop) {
	case OP_PUTFH:
	case OP_PUTPUBFH:
	case OP_PUTROOTFH:
	case OP_RESTOREFH:
	case OP_LOOKUP:
	case OP_LOOKUPP:
	case OP_SECINFO:
	case OP_SECINFO_NO_NAME: return true;
	case OP_OPEN:
		return next->u.opopen.claim.claim == CLAIM_NULL ||
		       next->u.opopen.claim.claim == CLAIM_DELEGATE_CUR ||
		       next->u.opopen.claim.claim == CLAIM_DELEGATE_PREV;
	default: return false;
	}
}

/* RFC 8881, 2.10.8.3: the client "can specify a list of operations that the server MUST allow using the
 * machine credential". */
bool
rr_nfs4_machine_may(const struct rr_nfs4_compound *c, uint32_t op)
{
	return c->client && rr_nfs4_client_must_allow(c->client, c->caller.who, op);
}

/*
 * Returns the status of an operation that has set the current filehandle: NFS4ERR_WRONGSEC if the caller uses
 * a wrong security flavor, as the gate has said in `answer`, and the next operation needs the right flavor;
 * else NFS4_OK. RFC 8881, 2.6.3.1.1.7: "the put filehandle operation MUST return NFS4ERR_WRONGSEC when there
 * is a security tuple mismatch."
 */
nfsstat4
rr_nfs4_security_put(const struct rr_nfs4_compound *c, enum rr_gate_answer answer)
{
	const nfs_argop4 *next = security_next(c);

	if (answer != RR_GATE_FLAVOR || !next || security_may_follow(next) ||
		rr_nfs4_machine_may(c, next->argop))
		return NFS4_OK;
	return NFS4ERR_WRONGSEC;
}

/* Lists the flavors of all exports that the caller may use: what the pseudo root may be used with. If there
 * is no such export, lists those that need no keys. */
static uint32_t
security_union(struct rr_nfs4_compound *c, uint32_t flavors[RR_RIGHT_FLAVORS])
{
	struct rr_right all = { 0 };

	for (uint32_t i = 0; i < c->server->vfs->export_count; i++) {
		const struct rr_rule *rule = rr_gate_rule(c->server->gate, &c->caller, i);

		all.flavors |= rule ? rule->right.flavors : 0;
	}
	if (!all.flavors)
		all.flavors = RR_RIGHT_SYS | RR_RIGHT_NONE;
	return rr_right_flavors(&all, flavors);
}

uint32_t
rr_nfs4_security_flavors(struct rr_nfs4_compound *c, uint32_t flavors[RR_RIGHT_FLAVORS])
{
	const struct rpcrdma_bytes handle = { c->current.handle.data, c->current.handle.length };
	struct rr_vfs *vfs = c->server->vfs;
	const struct rr_rule *rule = NULL;
	uint32_t number;

	if (c->current.kind == RR_NFS4_FH_VFS) {
		number = rr_vfs_export_of(vfs, handle);
		/* NULL: no rule names the caller, or the handle lies in no export. */
		rule = number < vfs->export_count ? rr_gate_rule(c->server->gate, &c->caller, number) : NULL;
	}
	return rule ? rr_right_flavors(&rule->right, flavors) : security_union(c, flavors);
}
