/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of the tables, and the housekeeping of a server: what functions of the tables leave over, records
 * of clients that are to be written or removed, and opens of the storage that no state uses any more. It is
 * done in turns of the loop, a part in each. */
#include "server/nfs4/compound.h"

/* The most that is done in a turn: steps of what is left over, of about a microsecond each, records,
 * and opens. */
enum { HOUSE_UNITS = 256, HOUSE_RECORDS = 64, HOUSE_CLOSES = 64 };

struct rr_nfs4_tables *
rr_nfs4_lock_tables(struct rr_nfs4_server *server)
{
	pthread_mutex_lock(&server->shared->tables.locks->mutex);
	return &server->shared->tables;
}

/* Tells whether there is work for the housekeeping. The caller holds the lock of the tables. */
static bool
house_waits(const struct rr_nfs4_server *server)
{
	const struct rr_nfs4_tables *tables = &server->shared->tables;

	return rr_nfs4_is_left(tables) || !rr_list_empty(&tables->unused) ||
	       (server->recorder && !rr_list_empty(&tables->records.todo));
}

void
rr_nfs4_unlock_tables(struct rr_nfs4_server *server)
{
	bool waits = house_waits(server);

	pthread_mutex_unlock(&server->shared->tables.locks->mutex);
	if (waits && !server->ends && !rr_timer_armed(&server->house))
		rr_loop_arm(server->loop, &server->house, 0);
}

/* The work of the thread for records on one record: writing or removing its file. */
struct house_task {
	struct rr_crew_job job;
	struct rr_nfs4_server *server;
	struct rr_nfs4_record *record;
	bool write, done; /* write, or else remove; whether that succeeded */
};

/* Runs in the thread for records: writes the record that the task names to the disk, or removes it from the
 * disk, and stores in task->done whether that succeeded. Returns true, so that the crew calls
 * house_task_done() next. */
static bool
house_task_run(struct rr_crew_job *job, void *member)
{
	struct house_task *task = rr_container(job, struct house_task, job);
	struct rr_nfs4_record_dir *dir = task->server->shared->dir;
	const struct rr_nfs4_recorded *recorded = &task->record->recorded;

	/* No lock is held: the record stays until house_task_done() reports, and `recorded` never changes. */
	(void)member;
	task->done = task->write ? rr_nfs4_record_write(dir, recorded)
				 : rr_nfs4_record_remove(dir, recorded->name);
	return true;
}

/* Returns a compound of the server that waits for the record; NULL if there is none. */
static struct rr_nfs4_compound *
house_waiter(const struct rr_nfs4_server *server, const struct rr_nfs4_record *record)
{
	rr_list_for_each (link, &server->compounds) {
		struct rr_nfs4_compound *c = rr_container(link, struct rr_nfs4_compound, link);

		if (c->awaited == record)
			return c;
	}
	return NULL;
}

/* Runs when the thread has written or removed a record: reports that to the tables, resumes the compounds
 * that waited for the record, and frees the task. */
static void
house_task_done(struct rr_crew_job *job)
{
	struct house_task *task = rr_container(job, struct house_task, job);
	struct rr_nfs4_server *server = task->server;
	const struct rr_nfs4_record *record = task->record;
	struct rr_nfs4_compound *c = house_waiter(server, record);
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(server);

	/* This may free the record: from here on, `record` only tells which compounds wait for it. */
	rr_nfs4_recorded(tables, task->record, task->done);
	/* If this was the last record to be removed, the grace period ends now. */
	rr_nfs4_look(tables, rr_now(server->env));
	rr_nfs4_unlock_tables(server);
	for (; c; c = house_waiter(server, record)) {
		c->awaited = NULL;
		c->vfs_status = task->done ? RR_VFS_OK : RR_VFS_IO;
		c->resume(c, c->then);
	}
	rr_free(server->env, task);
}

bool
rr_nfs4_house_record(struct rr_nfs4_server *server, struct rr_nfs4_record *record)
{
	struct house_task *task = server->recorder ? rr_alloc(server->env, sizeof(*task)) : NULL;

	if (!task) {
		rr_nfs4_recorded(&server->shared->tables, record, false);
		return false;
	}
	task->job.run = house_task_run;
	task->job.done = house_task_done;
	task->server = server;
	task->record = record;
	record->server = server;
	task->write = record->phase == RR_NFS4_RECORD_WRITING;
	task->job.owner = record->client ? rr_nfs4_client_address(record->client) : 0;
	task->job.host = task->job.owner;
	rr_crew_add(server->recorder, &task->job);
	return true;
}

bool
rr_nfs4_house_await(struct rr_nfs4_compound *c, rr_nfs4_step *then, nfsstat4 *status)
{
	struct rr_nfs4_records *records = &c->server->shared->tables.records;
	struct rr_nfs4_client *client = c->client;
	struct rr_nfs4_record *record = client->record;

	*status = NFS4_OK;
	if (!records->kept || client->phase == RR_NFS4_ENDED ||
		(record && record->phase == RR_NFS4_RECORD_PRESENT))
		return false;
	*status = NFS4ERR_DELAY;
	if (!record)
		record = client->record = rr_nfs4_record_new(records, client);
	if (!record)
		return false;
	if (record->phase == RR_NFS4_RECORD_ABSENT) {
		rr_nfs4_record_want(records, record, true);
		/* This server has the record written at once, as no other one would resume this compound. */
		if (!rr_nfs4_record_take(record) || !rr_nfs4_house_record(c->server, record))
			return false;
	} else if (record->phase != RR_NFS4_RECORD_WRITING || !rr_list_empty(&record->todo) ||
		   record->server != c->server) {
		return false;
	}
	c->awaited = record;
	c->then = then;
	return true;
}

/* Hands records to the thread for records, if this server has one. The caller holds the lock of the tables.
 */
static void
house_records(struct rr_nfs4_server *server)
{
	struct rr_nfs4_records *records = &server->shared->tables.records;

	for (int i = 0; server->recorder && i < HOUSE_RECORDS; i++) {
		struct rr_nfs4_record *record = rr_nfs4_records_next(records);

		if (!record)
			return;
		rr_nfs4_house_record(server, record);
	}
}

/* Closes at most so many opens of the storage that no state uses any more. The caller holds the lock of the
 * tables. The lock is released while a file is closed. */
static void
house_closes(struct rr_nfs4_server *server, uint32_t most)
{
	for (uint32_t i = 0; i < most; i++) {
		struct rr_nfs4_opened *opened = rr_nfs4_opened_unused(&server->shared->tables);

		if (!opened)
			return;
		pthread_mutex_unlock(&server->shared->tables.locks->mutex);
		rr_vfs_close(server->vfs, opened->open, NULL);
		rr_free(server->env, opened);
		pthread_mutex_lock(&server->shared->tables.locks->mutex);
	}
}

/* Does a part of the work that waits, and comes again in the next turn if there is more. */
static void
house_keep(struct rr_timer *timer)
{
	struct rr_nfs4_server *server = rr_container(timer, struct rr_nfs4_server, house);

	rr_nfs4_go_on(rr_nfs4_lock_tables(server), HOUSE_UNITS);
	house_records(server);
	house_closes(server, HOUSE_CLOSES);
	rr_nfs4_unlock_tables(server);
}

void
rr_nfs4_house_init(struct rr_nfs4_server *server)
{
	rr_timer_init(&server->house, house_keep);
}

void
rr_nfs4_house_close(struct rr_nfs4_server *server)
{
	const struct rr_nfs4_tables *tables = &server->shared->tables;

	if (atomic_load_explicit(&tables->unused_count, memory_order_relaxed) == 0)
		return;
	rr_nfs4_lock_tables(server);
	house_closes(server, HOUSE_CLOSES);
	rr_nfs4_unlock_tables(server);
}

void
rr_nfs4_house_end(struct rr_nfs4_server *server)
{
	rr_loop_disarm(server->loop, &server->house);
	rr_nfs4_lock_tables(server);
	house_closes(server, UINT32_MAX);
	pthread_mutex_unlock(&server->shared->tables.locks->mutex);
}
