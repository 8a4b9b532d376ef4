/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST: tells whether a lock could be had, and who has it. */
#include <string.h>

#include "server/nlm/server_private.h"

/* Ends the test by the storage's answer. A lock of a local program has the owner "local". XNFS, 10: a holder
 * whose svid is 0 is none that the host could know. */
static void
test_tested(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	static const char owner[] = "local";
	const struct rr_vfs_lock *lock = &op->vfs.lock;

	if (op->fresh)
		rr_vfs_close(op->server->vfs, op->fresh, NULL);
	op->fresh = NULL;
	if (status != RR_VFS_LOCK) {
		rr_nlm_op_end(op, NLM4_GRANTED);
		return;
	}
	op->holder = (struct rr_locks_holder){ .write = lock->conflict.kind == RR_VFS_LOCK_WRITE,
		.owner_length = sizeof(owner) - 1 };
	memcpy(op->holder.owner, owner, sizeof(owner) - 1);
	if (!rr_span(lock->conflict.offset, lock->conflict.length, &op->holder.span))
		op->holder.span = (struct rr_span){ 0, UINT64_MAX };
	rr_nlm_op_end(op, NLM4_DENIED);
}

/* Asks the storage by this open. */
static void
test_storage(struct rr_nlm_op *op, struct rr_vfs_open *open)
{
	rr_nlm_op_clear(op);
	op->vfs.lock.open = open;
	op->vfs.lock.kind = op->write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ;
	op->vfs.lock.offset = op->span.first;
	op->vfs.lock.length = rr_span_length(op->span);
	op->vfs.lock.test = true;
	rr_nlm_op_vfs(op, rr_vfs_lock(op->server->vfs, &op->vfs.lock), test_tested);
}

/* A host that may not open the file learns nothing of local programs. */
static void
test_opened(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	if (status != RR_VFS_OK) {
		rr_nlm_op_end(op, NLM4_GRANTED);
		return;
	}
	op->fresh = op->vfs.opening.open;
	test_storage(op, op->fresh);
}

/* The tables have no lock in the way: asks the storage, by the claim's own open if there is one, as its locks
 * are not in the way. */
static void
test_free(struct rr_nlm_op *op)
{
	if (op->claim && op->claim->open) {
		test_storage(op, op->claim->open);
		return;
	}
	rr_nlm_op_clear(op);
	op->vfs.opening.object.handle = op->owner.fh;
	op->vfs.opening.access = op->write ? RR_VFS_SHARE_WRITE : RR_VFS_SHARE_READ;
	op->vfs.opening.relation = RR_VFS_ANOTHER;
	rr_nlm_op_vfs(op, rr_vfs_open(op->server->vfs, &op->vfs.opening), test_opened);
}

/* Finds the host and the claim, without making any, and begins to use the claim. Returns false if another
 * operation uses it. */
static bool
test_use(struct rr_nlm_op *op, struct rr_nlm_tables *tables)
{
	struct rr_nlm_host *host = rr_nlm_host_find(tables, &op->way.source, op->name);
	struct rr_nlm_claim *claim = host ? rr_nlm_claim_find(host, &op->owner) : NULL;

	if (!claim || op->claim)
		return true;
	if (!rr_nlm_op_use(op, claim))
		return false;
	op->host = host;
	host->users++;
	return true;
}

void
rr_nlm_test_begin(struct rr_nlm_op *op)
{
	struct rr_nlm_tables *tables = rr_nlm_enter(op->server);
	enum rr_locks_answer answer = RR_LOCKS_SOON;
	bool grace = tables->locks->graces;

	if (!grace && test_use(op, tables)) {
		const struct rr_range_wanted wanted = { op->span, op->write,
			op->claim ? &op->claim->ranges : NULL };

		answer = rr_locks_ask(
			tables->locks, &op->vfs.getattr.attributes.id, &wanted, op->host, &op->holder);
	}
	rr_nlm_leave(op->server);
	if (grace)
		rr_nlm_op_end(op, NLM4_DENIED_GRACE_PERIOD);
	else if (answer == RR_LOCKS_SOON)
		rr_nlm_op_retry(op, rr_nlm_test_begin);
	else if (answer == RR_LOCKS_HELD)
		rr_nlm_op_end(op, NLM4_DENIED);
	else
		test_free(op);
}
