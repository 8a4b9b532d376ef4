/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on filehandles: RFC 8881, sections 18.8, 18.19 to 18.21, 18.27 and 18.28. */
#include <string.h>

#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

/* Ends PUTFH when the storage has looked at its object. After an error there is no current filehandle any
 * more. */
static uint32_t
op_putfh_known(struct rr_nfs4_compound *c)
{
	if (c->vfs_status == RR_VFS_OK)
		return NFS4_OK;
	c->current.kind = RR_NFS4_FH_NONE;
	return rr_nfs4_status(c->vfs_status);
}

/* Runs when the storage has looked at the object of PUTFH. If the last name of the file has been removed, but
 * this client has the file open, the filehandle reaches the file by that open, which c->pinned holds until
 * the compound ends. c->pinned holds one open only: a second such PUTFH in the same compound fails. RFC 8881,
 * 18.25.3, leaves it to the server what becomes of a file that is removed while it is open. */
static uint32_t
op_putfh_looked(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_opened *opened;

	if (c->vfs_status != RR_VFS_STALE || c->pinned)
		return op_putfh_known(c);
	rr_nfs4_lock_tables(c->server);
	/* Of version 4.0, no client may be known. */
	opened = c->client ? rr_nfs4_opened_of(c->client, &c->current.handle) : NULL;
	if (opened)
		c->pinned = rr_nfs4_opened_hold(opened);
	rr_nfs4_unlock_tables(c->server);
	if (!opened)
		return op_putfh_known(c);
	c->current.open = opened->open;
	return rr_nfs4_attributes(c, &c->current, op_putfh_known);
}

/* Returns the stateid of the next operation if that is READ, WRITE or CLOSE, else NULL. */
static const stateid4 *
op_putfh_next_stateid(const struct rr_nfs4_compound *c)
{
	const nfs_argop4 *next = &c->args->ops[c->index + 1];

	if (c->index + 1 >= c->args->decoded)
		return NULL;
	switch (next->argop) {
	case OP_READ: return &next->u.opread.stateid;
	case OP_WRITE: return &next->u.opwrite.stateid;
	case OP_CLOSE: return &next->u.opclose.open_stateid;
	default: return NULL;
	}
}

/* Tells whether PUTFH need not look at its object, because the stateid of the next operation was given for
 * this very filehandle: so the filehandle is good. RFC 8881, 15.1.2.1, of NFS4ERR_BADHANDLE: "Once accepted
 * as valid (by PUTFH), no subsequent status change can cause the filehandle to generate this error." */
static bool
op_putfh_is_known(struct rr_nfs4_compound *c)
{
	const stateid4 *given = op_putfh_next_stateid(c);
	struct rr_nfs4_state *state;
	nfsstat4 status;

	if (!given || rr_nfs4_special(given) != RR_NFS4_NOT_SPECIAL)
		return false;
	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(
		c, &c->current, given, RR_NFS4_OPEN | RR_NFS4_LOCK | RR_NFS4_DELEGATION, &state);
	rr_nfs4_unlock_tables(c->server);
	return status == NFS4_OK;
}

/* Makes a directory of the pseudo root, the tree of directories above the exports, the current filehandle. */
static void
op_set_pseudo(struct rr_nfs4_compound *c, uint32_t directory)
{
	struct rr_vfs_handle handle;

	rr_pseudo_handle(&c->server->pseudo, directory, &handle);
	rr_nfs4_set_fh(&c->current, &handle);
	c->current.kind = RR_NFS4_FH_PSEUDO;
	c->current.pseudo = directory;
}

void
rr_nfs4_set_entry(struct rr_nfs4_compound *c, uint32_t entry)
{
	const struct rr_pseudo *pseudo = &c->server->pseudo;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_handle handle;

	/* If the pseudo root is empty, its only entry stands for the export that is the root itself. */
	if (!pseudo->is_empty && !pseudo->entries[entry].is_export) {
		op_set_pseudo(c, entry);
		return;
	}
	rr_vfs_root(vfs, pseudo->is_empty ? pseudo->root_export : pseudo->entries[entry].export, &handle);
	rr_nfs4_set_fh(&c->current, &handle);
}

uint32_t
rr_op_putfh(struct rr_nfs4_compound *c)
{
	nfs_fh4 object = c->op->u.opputfh.object;
	uint32_t directory = rr_pseudo_find(&c->server->pseudo, object);
	enum rr_gate_answer answer;

	if (directory < c->server->pseudo.count) {
		op_set_pseudo(c, directory);
		return NFS4_OK;
	}
	if (object.length == 0 || object.length > RR_VFS_HANDLE_MAX)
		return NFS4ERR_BADHANDLE;
	rr_nfs4_set_octets(&c->current, object);
	/* If the gate refuses the caller, the object is not looked at. PUTFH itself can answer only
	 * NFS4ERR_WRONGSEC; other refusals are the errors of the next operation, which asks the gate
	 * again. */
	answer = rr_nfs4_ask(c, &c->current);
	/* If the gate lets the caller in, the next operation need not ask the gate again. */
	c->asked = answer == RR_GATE_OPEN ? c->index + 1 : 0;
	if (answer != RR_GATE_OPEN || op_putfh_is_known(c))
		return rr_nfs4_security_put(c, answer);
	return rr_nfs4_attributes(c, &c->current, op_putfh_looked);
}

/* Carries out PUTROOTFH and PUTPUBFH: both make the root the current filehandle. RFC 8881, 18.20.3: the
 * public filehandle may be the root; this server has no other public filehandle. */
uint32_t
rr_op_putrootfh(struct rr_nfs4_compound *c)
{
	rr_nfs4_set_entry(c, 0);
	return rr_nfs4_security_put(c, rr_nfs4_ask(c, &c->current));
}

uint32_t
rr_op_getfh(struct rr_nfs4_compound *c)
{
	c->res.u.opgetfh.u.resok4.object =
		(struct rpcrdma_bytes){ c->current.handle.data, c->current.handle.length };
	return NFS4_OK;
}

uint32_t
rr_op_savefh(struct rr_nfs4_compound *c)
{
	c->saved = c->current;
	return NFS4_OK;
}

/* Carries out RESTOREFH. As after PUTFH, the gate is asked about the filehandle, as it may lie in another
 * export than the last one. */
uint32_t
rr_op_restorefh(struct rr_nfs4_compound *c)
{
	c->current = c->saved;
	return rr_nfs4_security_put(c, rr_nfs4_ask(c, &c->current));
}
