/* SPDX-License-Identifier: BSD-3-Clause */
/* LOCK and NM_LOCK, and the setting of a lock for which a host waits. */
#include "server/nlm/server_private.h"

static void lock_ask(struct rr_nlm_op *op);

/* The lock cannot be had now. local: a local program has it. The host waits for it if it is ready to. XNFS,
 * 10: BLOCKED says that "the lock is blocked: the server will call back". A host that asks again, as it has
 * not been called for a while, waits once. */
static void
lock_refuse(struct rr_nlm_op *op, bool local)
{
	struct rr_nlm_server *server = op->server;
	struct rr_nlm_wait *wait = op->wait;
	nlm4_stats stat = NLM4_BLOCKED;

	rr_nlm_enter(server);
	if (op->claim->dead || (!op->block && !wait))
		stat = NLM4_DENIED;
	else if (wait || !rr_nlm_wait_find(op->claim, op->span, op->write)) {
		if (!wait)
			wait = rr_nlm_wait_make(op->claim, op->span, op->write, &server->waker, &op->way);
		if (!wait)
			stat = NLM4_DENIED_NOLOCKS;
		else if (local)
			rr_nlm_wait_later(wait, rr_now(server->env));
		else
			rr_nlm_wait_stay(wait);
	}
	rr_nlm_leave(server);
	rr_nlm_op_end(op, stat);
}

/* Enters the lock into the tables, as the storage has set it. The host does not wait for it any more: where
 * it has asked again, and the lock was being set for its wait, or was set already, this answer tells it so.
 */
static nlm4_stats
lock_enter(struct rr_nlm_op *op)
{
	struct rr_nlm_claim *claim = op->claim;
	struct rr_nlm_wait *wait;

	if (claim->dead)
		return NLM4_DENIED_NOLOCKS;
	rr_nlm_claim_forget(claim);
	if (!rr_nlm_claim_lock(claim, op->span, op->write))
		return NLM4_DENIED_NOLOCKS;
	claim->epoch = claim->host->epoch;
	if (op->wait)
		op->wait->phase = RR_NLM_CALLING;
	wait = op->wait ? NULL : rr_nlm_wait_find(claim, op->span, op->write);
	if (wait)
		rr_nlm_wait_end(wait);
	return NLM4_GRANTED;
}

/* Runs when the range was unlocked in the storage, which the tables could not take. */
static void
lock_undone(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	(void)status;
	rr_nlm_op_end(op, NLM4_DENIED_NOLOCKS);
}

/* Has the storage lock or unlock the range by the claim's open. */
static void
lock_storage(struct rr_nlm_op *op, enum rr_vfs_lock_kind kind,
	void (*step)(struct rr_nlm_op *op, enum rr_vfs_status status))
{
	rr_nlm_op_clear(op);
	op->vfs.lock.open = op->claim->open;
	op->vfs.lock.kind = kind;
	op->vfs.lock.offset = op->span.first;
	op->vfs.lock.length = rr_span_length(op->span);
	rr_nlm_op_vfs(op, rr_vfs_lock(op->server->vfs, &op->vfs.lock), step);
}

/* Runs when the storage has answered. RR_VFS_NOTSUPP: with storage that has no locks, the lock in the tables
 * is enough. */
static void
lock_locked(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	nlm4_stats stat;

	if (status == RR_VFS_OK || status == RR_VFS_NOTSUPP) {
		rr_nlm_enter(op->server);
		stat = lock_enter(op);
		rr_nlm_leave(op->server);
		if (stat == NLM4_GRANTED)
			rr_nlm_op_end(op, stat);
		else
			lock_storage(op, RR_VFS_UNLOCK, lock_undone);
		return;
	}
	rr_nlm_enter(op->server);
	if (op->claim->file)
		rr_nlm_claim_forget(op->claim);
	rr_nlm_leave(op->server);
	if (status == RR_VFS_LOCK)
		lock_refuse(op, true);
	else
		rr_nlm_op_end(op, rr_nlm_op_stat(status));
}

/* Looks for a lock of another owner, of whatever protocol. If there is none, the storage is asked, and
 * meanwhile nobody else gets the range. */
static void
lock_ask(struct rr_nlm_op *op)
{
	struct rr_nlm_tables *tables = rr_nlm_enter(op->server);
	struct rr_nlm_claim *claim = op->claim;
	const struct rr_range_wanted wanted = { op->span, op->write, &claim->ranges };
	enum rr_locks_answer answer = RR_LOCKS_HELD;
	bool intends = true;

	if (!claim->dead)
		answer = rr_locks_ask(tables->locks, &claim->file->id, &wanted, claim->host, &op->holder);
	if (answer == RR_LOCKS_FREE)
		intends = rr_nlm_claim_intend(claim, op->span, op->write);
	rr_nlm_leave(op->server);
	if (answer == RR_LOCKS_SOON)
		rr_nlm_op_retry(op, lock_ask);
	else if (answer == RR_LOCKS_HELD)
		lock_refuse(op, false);
	else if (!intends)
		rr_nlm_op_end(op, NLM4_DENIED_NOLOCKS);
	else
		lock_storage(op, op->write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ, lock_locked);
}

/* The host's name is on the disk: opens the file for the lock. */
static void
lock_open(struct rr_nlm_op *op)
{
	rr_nlm_open(op, op->write ? RR_VFS_SHARE_WRITE : RR_VFS_SHARE_READ, lock_ask);
}

/* Returns whether the host may have the lock by what is known of the restart: GRANTED, or why not. A reclaim
 * is for hosts that were on the list at the start, and for the time of grace; any other lock for later. */
static nlm4_stats
lock_graced(const struct rr_nlm_op *op, const struct rr_nlm_host *host)
{
	uint32_t graces = host->tables->locks->graces;

	if (op->reclaim)
		return graces & RR_LOCKS_GRACE_NLM && host->may_reclaim ? NLM4_GRANTED
									: NLM4_DENIED_GRACE_PERIOD;
	return graces && !op->wait ? NLM4_DENIED_GRACE_PERIOD : NLM4_GRANTED;
}

/* Finds or makes the host and the claim. Returns NLM4_BLOCKED if another operation uses the claim. */
static nlm4_stats
lock_claim(struct rr_nlm_op *op, struct rr_nlm_tables *tables)
{
	struct rr_nlm_claim *claim;
	struct rr_nlm_host *host =
		rr_nlm_host_make(tables, &op->way.source, op->name, rr_now(op->server->env));
	nlm4_stats stat;

	if (!host)
		return NLM4_DENIED_NOLOCKS;
	stat = lock_graced(op, host);
	if (stat != NLM4_GRANTED)
		return stat;
	if (!op->host)
		host->users++;
	op->host = host;
	rr_nlm_host_state(host, op->state);
	claim = rr_nlm_claim_make(host, &op->owner, &op->vfs.getattr.attributes.id);
	if (!claim)
		return NLM4_DENIED_NOLOCKS;
	return rr_nlm_op_use(op, claim) ? NLM4_GRANTED : NLM4_BLOCKED;
}

void
rr_nlm_lock_begin(struct rr_nlm_op *op)
{
	struct rr_nlm_tables *tables;
	nlm4_stats stat;

	/* The lock is set for one that waits: its claim has an open. */
	if (op->claim) {
		lock_ask(op);
		return;
	}
	tables = rr_nlm_enter(op->server);
	stat = lock_claim(op, tables);
	rr_nlm_leave(op->server);
	if (stat == NLM4_BLOCKED)
		rr_nlm_op_retry(op, rr_nlm_lock_begin);
	else if (stat != NLM4_GRANTED)
		rr_nlm_op_end(op, stat);
	else if (op->monitored)
		rr_nlm_record(op, lock_open);
	else
		lock_open(op);
}
