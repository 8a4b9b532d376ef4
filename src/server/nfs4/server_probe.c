/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that wait for the lock of a local program: nobody says when that program unlocks its range, so the
 * storage is asked about once a second whether the range is free. A server asks one question after another,
 * at most PROBE_MOST in a row; in tables->probes the waits follow each other in turns.
 *
 * Ownership: the call is a member of the server, which outlives the storage; the storage holds the open that
 * the call names (rr_vfs_ops.close).
 */
#include "server/nfs4/server_private.h"
#include "server/nfs4/tables/lock.h"

#define PROBE_EVERY RR_SECOND

enum { PROBE_MOST = 64 };

/* Begins the next question, and stores the status of the storage in *status. Returns false if there is none.
 */
static bool
probe_begin(struct rr_nfs4_server *server, enum rr_vfs_status *status)
{
	static const struct rr_vfs_caller self;
	const struct rr_nfs4_probe *probe = &server->probing.probe;
	struct rr_vfs_lock *lock = &server->probing.lock;
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(server);
	struct rr_nfs4_opened *opened = NULL;

	if (server->probing.left > 0)
		opened = rr_nfs4_probe_next(tables, &server->probing.probe, rr_now(server->env));
	rr_nfs4_unlock_tables(server);
	if (!opened)
		return false;
	server->probing.left--;
	lock->call.caller = &self;
	lock->open = opened->open;
	lock->kind = probe->write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ;
	lock->offset = probe->span.first;
	lock->length = rr_span_length(probe->span);
	lock->test = true;
	*status = rr_vfs_lock(server->vfs, lock);
	rr_nfs4_lock_tables(server);
	rr_nfs4_opened_release(tables, opened);
	rr_nfs4_unlock_tables(server);
	return true;
}

static void
probe_answered(struct rr_nfs4_server *server, enum rr_vfs_status status)
{
	rr_nfs4_lock_tables(server);
	rr_nfs4_probe_end(&server->probing.probe, status);
	rr_nfs4_unlock_tables(server);
}

/* Asks one question after another, until the storage does not answer at once, or there is none. */
static void
probe_go(struct rr_nfs4_server *server)
{
	enum rr_vfs_status status = RR_VFS_OK;

	while (status != RR_VFS_PENDING && probe_begin(server, &status))
		if (status != RR_VFS_PENDING)
			probe_answered(server, status);
	server->probing.asks = status == RR_VFS_PENDING;
	if (!server->probing.asks)
		rr_nfs4_probe_later(server);
}

/* Runs when the storage has answered. When the server ends, the wait has gone with its client. */
static void
probe_done(struct rr_vfs_call *call)
{
	struct rr_nfs4_server *server = rr_container(call, struct rr_nfs4_server, probing.lock.call);

	server->probing.asks = false;
	if (server->ends)
		return;
	probe_answered(server, call->status);
	probe_go(server);
}

static void
probe_expired(struct rr_timer *timer)
{
	struct rr_nfs4_server *server = rr_container(timer, struct rr_nfs4_server, probing.timer);

	server->probing.left = PROBE_MOST;
	probe_go(server);
}

void
rr_nfs4_probe_init(struct rr_nfs4_server *server)
{
	rr_timer_init(&server->probing.timer, probe_expired);
	server->probing.lock.call.done = probe_done;
}

void
rr_nfs4_probe_later(struct rr_nfs4_server *server)
{
	bool is_wanted = !rr_list_empty(&rr_nfs4_lock_tables(server)->probes);

	rr_nfs4_unlock_tables(server);
	if (is_wanted && !server->ends && !server->probing.asks && !rr_timer_armed(&server->probing.timer))
		rr_loop_arm(server->loop, &server->probing.timer, PROBE_EVERY);
}

void
rr_nfs4_probe_stop(struct rr_nfs4_server *server)
{
	rr_loop_disarm(server->loop, &server->probing.timer);
	probe_answered(server, RR_VFS_CANCELLED);
}
