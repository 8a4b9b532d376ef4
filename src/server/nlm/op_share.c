/* SPDX-License-Identifier: BSD-3-Clause */
/* SHARE: the share reservations of clients whose system has them (DOS, Windows), for as long as the host has
 * the file open. They stand against the opens of NFS version 4 in the front door of the storage
 * (vfs/reserve.h). */
#include "server/nlm/server_private.h"

_Static_assert((int)fsa_R == (int)RR_VFS_SHARE_READ && (int)fsa_W == (int)RR_VFS_SHARE_WRITE,
	"shares are numbered alike");

static void share_open(struct rr_nlm_op *op);

static void
share_opened(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	struct rr_vfs_open *old = op->claim->open;

	if (status == RR_VFS_BUSY) {
		rr_nlm_op_retry(op, share_open);
		return;
	}
	if (status != RR_VFS_OK) {
		rr_nlm_op_end(op, status == RR_VFS_ACCESS ? NLM4_DENIED : rr_nlm_op_stat(status));
		return;
	}
	op->claim->open = op->vfs.opening.open;
	if (old)
		rr_vfs_close(op->server->vfs, old, NULL);
	rr_nlm_op_end(op, NLM4_GRANTED);
}

/* An owner has one reservation of a file: another SHARE replaces it. */
static void
share_open(struct rr_nlm_op *op)
{
	rr_nlm_op_clear(op);
	op->vfs.opening.object.handle = op->owner.fh;
	op->vfs.opening.object.open = op->claim->open;
	/* An open without any access cannot be made: it denies others something, and reads nothing. */
	op->vfs.opening.access = op->access ? op->access : RR_VFS_SHARE_READ;
	op->vfs.opening.deny = op->deny;
	op->vfs.opening.relation = op->claim->open ? RR_VFS_REPLACES : RR_VFS_ANOTHER;
	rr_nlm_op_vfs(op, rr_vfs_open(op->server->vfs, &op->vfs.opening), share_opened);
}

/* Finds or makes the claim. Returns NLM4_BLOCKED if another operation uses it. */
static nlm4_stats
share_claim(struct rr_nlm_op *op, struct rr_nlm_tables *tables)
{
	struct rr_nlm_host *host =
		rr_nlm_host_make(tables, &op->way.source, op->name, rr_now(op->server->env));
	struct rr_nlm_claim *claim;

	if (!host)
		return NLM4_DENIED_NOLOCKS;
	if (op->reclaim ? !(tables->locks->graces & RR_LOCKS_GRACE_NLM) : tables->locks->graces != 0)
		return NLM4_DENIED_GRACE_PERIOD;
	if (!op->host)
		host->users++;
	op->host = host;
	claim = rr_nlm_claim_make(host, &op->owner, NULL);
	if (!claim)
		return NLM4_DENIED_NOLOCKS;
	if (!rr_nlm_op_use(op, claim))
		return NLM4_BLOCKED;
	claim->epoch = host->epoch;
	return NLM4_GRANTED;
}

void
rr_nlm_share_begin(struct rr_nlm_op *op)
{
	struct rr_nlm_tables *tables = rr_nlm_enter(op->server);
	nlm4_stats stat = share_claim(op, tables);

	rr_nlm_leave(op->server);
	if (stat == NLM4_BLOCKED)
		rr_nlm_op_retry(op, rr_nlm_share_begin);
	else if (stat != NLM4_GRANTED)
		rr_nlm_op_end(op, stat);
	else
		share_open(op);
}
