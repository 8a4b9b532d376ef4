/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the server that operations use: the lock of the tables, with the work that is done when
 * the lock is given back; the waits for records on the disk; and the connection of a request. */
#include "server/nfs4/compound.h"

/* The work of the thread for records on one record: writing or removing its file. */
struct tables_task {
	struct rr_crew_job job;
	struct rr_nfs4_server *server;
	struct rr_nfs4_record *record;
	bool write, done; /* write, or else remove; whether that succeeded */
};

/* Runs in the thread for records: writes the record that the task names to the disk, or removes it from the
 * disk, and stores in task->done whether that succeeded. Returns true, so that the crew calls
 * server_task_done() next. */
static bool
server_task_run(struct rr_crew_job *job, void *member)
{
	struct tables_task *task = rr_container(job, struct tables_task, job);
	struct rr_nfs4_record_dir *dir = task->server->shared->dir;
	const struct rr_nfs4_recorded *recorded = &task->record->recorded;

	/* No lock is held: the record stays until server_task_done() reports, and `recorded` never changes.
	 */
	(void)member;
	task->done = task->write ? rr_nfs4_record_write(dir, recorded)
				 : rr_nfs4_record_remove(dir, recorded->name);
	return true;
}

/* Returns a compound of the server that waits for the record; NULL if there is none. */
static struct rr_nfs4_compound *
server_waiter(const struct rr_nfs4_server *server, const struct rr_nfs4_record *record)
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
server_task_done(struct rr_crew_job *job)
{
	struct tables_task *task = rr_container(job, struct tables_task, job);
	struct rr_nfs4_server *server = task->server;
	const struct rr_nfs4_record *record = task->record;
	struct rr_nfs4_compound *c = server_waiter(server, record);
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(server);

	/* This may free the record: from here on, `record` only tells which compounds wait for it. */
	rr_nfs4_recorded(tables, task->record, task->done);
	/* If this was the last record to be removed, the grace period ends now. */
	rr_nfs4_look(tables, rr_now(server->env));
	rr_nfs4_unlock_tables(server);
	for (; c; c = server_waiter(server, record)) {
		c->awaited = NULL;
		c->vfs_status = task->done ? RR_VFS_OK : RR_VFS_IO;
		c->resume(c, c->then);
	}
	rr_free(server->env, task);
}

/* Returns a compound whose retry waits, by a timer, for the end of the call that it repeats; NULL if there is
 * none. */
static struct rr_nfs4_compound *
server_looking_compound(const struct rr_nfs4_server *server)
{
	rr_list_for_each (link, &server->compounds) {
		struct rr_nfs4_compound *c = rr_container(link, struct rr_nfs4_compound, link);

		if (rr_timer_armed(&c->look))
			return c;
	}
	return NULL;
}

void
rr_nfs4_stop_waiting(struct rr_nfs4_server *server)
{
	struct rr_crew *recorder = server->recorder;
	struct rr_nfs4_compound *c;

	while ((c = server_looking_compound(server))) {
		rr_loop_disarm(server->loop, &c->look);
		rr_nfs4_resume_with(c, NFS4ERR_DELAY);
	}
	/* No change of a record is begun any more; rr_crew_free() waits for those under way. */
	server->recorder = NULL;
	rr_crew_free(recorder);
}

/* Hands all records that are to be written or removed to the thread for records. If there is no memory for a
 * task, the record is reported as not written or not removed, and the RECLAIM_COMPLETE that wanted it waits
 * no longer: it looks at c->awaited after it has given back the lock. The caller holds the lock of the
 * tables. */
static void
tables_record(struct rr_nfs4_server *server)
{
	struct rr_nfs4_tables *tables = &server->shared->tables;
	struct rr_nfs4_record *record;

	while (server->recorder && (record = rr_nfs4_records_next(&tables->records))) {
		struct tables_task *task = rr_alloc(server->env, sizeof(*task));

		if (!task) {
			struct rr_nfs4_compound *c = server_waiter(server, record);

			if (c)
				c->awaited = NULL;
			rr_nfs4_recorded(tables, record, false);
			continue;
		}
		task->job.run = server_task_run;
		task->job.done = server_task_done;
		task->server = server;
		task->record = record;
		task->write = record->phase == RR_NFS4_RECORD_WRITING;
		task->job.owner = record->client ? rr_nfs4_client_address(record->client) : 0;
		rr_crew_add(server->recorder, &task->job);
	}
}

struct rr_nfs4_tables *
rr_nfs4_lock_tables(struct rr_nfs4_server *server)
{
	pthread_mutex_lock(&server->shared->lock);
	return &server->shared->tables;
}

/* How many opens are closed, and in how many steps work that was left over is done, before the lock of the
 * tables is given back. */
enum { TABLES_CLOSES = 16, TABLES_UNITS = 16 };

/* Closes opens of the storage that no state uses any more: some of them, or all if the server ends. The
 * caller holds the lock of the tables. The lock is released while a file is closed. */
static void
tables_close_unused(struct rr_nfs4_server *server)
{
	struct rr_nfs4_opened *opened;

	for (int closes = 0; closes < TABLES_CLOSES || server->ends; closes++) {
		opened = rr_nfs4_opened_unused(&server->shared->tables);
		if (!opened)
			return;
		pthread_mutex_unlock(&server->shared->lock);
		rr_vfs_close(server->vfs, opened->open, NULL);
		rr_free(server->env, opened);
		pthread_mutex_lock(&server->shared->lock);
	}
}

/* Gives back the lock of the tables. Before that, does a part of the work that was left over, hands changed
 * records to the thread that writes them, and closes opens that are not used any more. All lists are looked
 * at first, as they are mostly empty, and each call takes the lock several times. Work that is still left
 * over is for the next turn of the loop. */
void
rr_nfs4_unlock_tables(struct rr_nfs4_server *server)
{
	struct rr_nfs4_tables *tables = &server->shared->tables;
	bool is_left = rr_nfs4_is_left(tables) && rr_nfs4_go_on(tables, TABLES_UNITS);

	if (!rr_list_empty(&tables->records.todo))
		tables_record(server);
	if (!rr_list_empty(&tables->unused))
		tables_close_unused(server);
	if ((is_left || !rr_list_empty(&tables->unused)) && !server->ends && !rr_timer_armed(&server->rest))
		rr_loop_arm(server->loop, &server->rest, 0);
	pthread_mutex_unlock(&server->shared->lock);
}

/* Runs when a connection has ended: unbinds it from its sessions, takes back its callbacks, removes it from
 * the compounds that came by it, and frees it. */
static void
server_connection_ended(struct rr_attachment *attachment)
{
	struct rr_nfs4_connection *connection =
		rr_container(attachment, struct rr_nfs4_connection, attachment);
	struct rr_nfs4_server *server = connection->server;

	rr_nfs4_lock_tables(server);
	rr_nfs4_conn_end(&connection->conn);
	rr_nfs4_ways_lost(connection);
	rr_nfs4_unlock_tables(server);
	rr_nfs4_ways_free(connection);
	rr_list_for_each (link, &server->compounds) {
		struct rr_nfs4_compound *c = rr_container(link, struct rr_nfs4_compound, link);

		if (c->connection == connection)
			c->connection = NULL;
	}
	rr_free(server->env, connection);
}

/* Sets the address of the connection to the peer's address in the request. Returns false if there is no
 * memory. */
static bool
server_connection_join(struct rr_nfs4_connection *connection, const struct rpcrdma_request *request)
{
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(connection->server);
	bool joined =
		rr_nfs4_origin_join(&tables->clients.addresses, &connection->conn.origin, request->peer);

	rr_nfs4_unlock_tables(connection->server);
	return joined;
}

struct rr_nfs4_connection *
rr_nfs4_connection(struct rr_nfs4_server *server, struct rpcrdma_request *request)
{
	struct rr_attachment *attachment = rr_request_attached(request, server);
	struct rr_nfs4_connection *connection;

	if (attachment)
		return rr_container(attachment, struct rr_nfs4_connection, attachment);
	connection = rr_alloc(server->env, sizeof(*connection));
	if (!connection)
		return NULL;
	connection->server = server;
	connection->attachment.key = server;
	connection->attachment.ended = server_connection_ended;
	rr_list_init(&connection->attachment.link);
	rr_nfs4_conn_init(&connection->conn);
	rr_list_init(&connection->ways);
	rr_list_init(&connection->calls);
	if (server_connection_join(connection, request) &&
		rr_request_attach(request, &connection->attachment))
		return connection;
	/* There is no memory, or the connection of the request has ended. */
	rr_nfs4_lock_tables(server);
	rr_nfs4_conn_end(&connection->conn);
	rr_nfs4_unlock_tables(server);
	rr_free(server->env, connection);
	return NULL;
}
