/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CB_COMPOUND and CB_NULL over the connections that clients have made: RFC 8881, sections 2.10.3.1, 20 and
 * 21.
 *
 * Any thread may find that a client is to be called, while the connection belongs to another thread: the
 * callback goes to the outbox of that thread's server, whose eventfd wakes its loop.
 */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rpcrdma/error.h>

#include "rpc/client.h"
#include "server/nfs4/compound.h"

/* A client may take this long for its answer. */
#define CALLBACK_TIMEOUT (10 * RR_SECOND)

/* CALLBACK_WAYS: the most ways of a connection, as its sessions may have different program numbers and
 * credentials. CALLBACK_REPLY: the most octets of an answer. */
enum { CALLBACK_WAYS = 8, CALLBACK_REPLY = 2048 };

/* A way is an RPC client that sends callbacks over one connection, with one program number and one
 * credential: all sessions that have these share it. */
struct callback_way {
	struct rr_list link;
	struct rpcrdma_program program;
	struct rpcrdma_client *client;
	bool has_sys, answered; /* answered: the client has answered the last callback that ended */
	uint32_t uid, gid;
};

/* A callback that is being sent or answered: its RPC call, with the memory for arguments and answer. Freed
 * when the call has ended, or with the connection. */
struct callback_call {
	struct rr_list link; /* in the connection's calls */
	struct rr_call call;
	struct rr_nfs4_connection *connection;
	struct callback_way *way;
	struct rr_nfs4_callback *callback;
	CB_COMPOUND4args args;
	CB_COMPOUND4res res;
	nfs_cb_argop4 ops[2];
	struct rr_nfs4_referring referring; /* of ops[0], which is the CB_SEQUENCE */
	uint8_t memory[1024], keep[4096];   /* for lists of the decoded answer; for its octets */
};

/* Returns the connection over which the callback is to be sent; its `conn` is the part that sessions know. */
static struct rr_nfs4_connection *
callback_connection(const struct rr_nfs4_callback *callback)
{
	return rr_container(callback->conn, struct rr_nfs4_connection, conn);
}

void
rr_nfs4_send(struct rr_nfs4_callback *callback)
{
	struct rr_nfs4_server *server = callback_connection(callback)->server;

	rr_list_append(&server->outbox, &callback->link);
	eventfd_write(server->mail.fd, 1);
}

/* Tells whether the way has the program number and the credential of the session. */
static bool
callback_way_fits(const struct callback_way *way, const struct rr_nfs4_session *session)
{
	return way->program.prog == session->cb_program && way->has_sys == session->has_sys &&
	       (!way->has_sys || (way->uid == session->sys_uid && way->gid == session->sys_gid));
}

/* Returns the way of the connection (the RPC client that sends callbacks over it) that has the program number
 * and the credential of the session; NULL if there is no such way. */
static struct callback_way *
callback_way_find(const struct rr_nfs4_connection *connection, const struct rr_nfs4_session *session)
{
	rr_list_for_each (link, &connection->ways) {
		struct callback_way *way = rr_container(link, struct callback_way, link);

		if (callback_way_fits(way, session))
			return way;
	}
	return NULL;
}

/* Tells whether the way is in use: a callback that it has sent has not ended, or it fits a session that is
 * bound to the connection for callbacks. */
static bool
callback_way_in_use(const struct rr_nfs4_connection *connection, const struct callback_way *way)
{
	rr_list_for_each (link, &connection->calls) {
		if (rr_container(link, struct callback_call, link)->way == way)
			return true;
	}
	rr_list_for_each (link, &connection->conn.associations) {
		const struct rr_nfs4_association *association =
			rr_container(link, struct rr_nfs4_association, of_conn);

		if (association->channels & RR_NFS4_BACK && callback_way_fits(way, association->session))
			return true;
	}
	return false;
}

/* Frees a way that has no calls, and its RPC client. It may run inside a callback of the loop, even one of
 * that RPC client: rr_client_free() keeps the memory of the client until the end of the loop's turn. */
static void
callback_way_free(struct rr_nfs4_connection *connection, struct callback_way *way)
{
	rr_list_remove(&way->link);
	connection->way_count--;
	rr_client_free(way->client);
	rr_free(connection->server->env, way);
}

/* Frees a way that is not in use if the connection has as many ways as it may have: BACKCHANNEL_CTL gives a
 * session another program number and another credential again and again, and leaves ways that no session uses
 * any more. Returns false if all ways are in use. */
static bool
callback_way_make_room(struct rr_nfs4_connection *connection)
{
	if (connection->way_count < CALLBACK_WAYS)
		return true;
	rr_list_for_each (link, &connection->ways) {
		struct callback_way *way = rr_container(link, struct callback_way, link);

		if (callback_way_in_use(connection, way))
			continue;
		callback_way_free(connection, way);
		return true;
	}
	return false;
}

/* Makes the way (the RPC client that sends callbacks) for the session over the connection of the request, if
 * there is none yet. If that fails, for lack of memory or as the connection has too many ways in use, the
 * first callback over this connection fails: the connection is then unbound from the backchannel, and the
 * client learns from the flags of SEQUENCE that it has to bind a connection. */
static void
callback_way_make(struct rr_nfs4_connection *connection, struct rpcrdma_request *request,
	const struct rr_nfs4_session *session)
{
	const struct rr_client_config config = {
		.auth = session->has_sys ? NULL : &rr_auth_none,
		.user = { .uid = session->sys_uid, .gid = session->sys_gid },
	};
	const struct rr_env *env = connection->server->env;
	struct callback_way *way;
	struct rr_text text;

	if (callback_way_find(connection, session) || !callback_way_make_room(connection))
		return;
	way = rr_alloc(env, sizeof(*way));
	if (!way)
		return;
	way->program = nfs42_NFS_CB_program;
	way->program.prog = session->cb_program;
	way->has_sys = session->has_sys;
	way->answered = false;
	way->uid = session->sys_uid;
	way->gid = session->sys_gid;
	if (rr_request_client(request, &config, &way->client, &text) < 0) {
		rr_free(env, way);
		return;
	}
	rr_list_append(&connection->ways, &way->link);
	connection->way_count++;
}

void
rr_nfs4_way_back(struct rr_nfs4_connection *connection, struct rpcrdma_request *request,
	struct rr_nfs4_session *session)
{
	const struct callback_way *way;

	callback_way_make(connection, request, session);
	/* NULL if the way could not be made: then the CB_NULL fails. */
	way = callback_way_find(connection, session);
	rr_nfs4_back_probe(session, way && way->answered, rr_now(connection->server->env));
}

/* Runs when the call of a callback has ended with an answer or an error: hands the answer or the error to
 * callback.c, sends the callbacks that can go now, and frees the call. */
static void
callback_done(struct rr_call *call, int error)
{
	struct callback_call *done = rr_container(call, struct callback_call, call);
	struct rr_nfs4_server *server = done->connection->server;
	struct rr_nfs4_callback *callback = done->callback;
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(server);

	rr_list_remove(&done->link);
	done->way->answered = error >= 0;
	if (error < 0)
		rr_nfs4_callback_failed(callback);
	else
		rr_nfs4_callback_answered(
			callback, callback->kind->put ? &done->res : NULL, rr_now(server->env));
	rr_nfs4_callbacks_go(&tables->sessions, rr_now(server->env));
	rr_nfs4_unlock_tables(server);
	rr_free(server->env, done);
}

/* Fills the RPC call of a callback, together with the arguments. The caller holds the lock of the tables: as
 * long as it does, the owner of the callback, which gives the arguments, cannot end. */
static void
callback_fill(struct callback_call *made, const struct callback_way *way)
{
	struct rr_nfs4_callback *callback = made->callback;
	bool bare = !callback->kind->put;

	made->call = (struct rr_call){ .program = &way->program,
		.proc = bare ? CB_NULL : CB_COMPOUND,
		.args = &made->args,
		.result = &made->res,
		.reply_max = bare ? 0 : CALLBACK_REPLY,
		.arena = rpcrdma_arena(made->memory, sizeof(made->memory)),
		.keep = made->keep,
		.keep_size = sizeof(made->keep),
		.timeout = CALLBACK_TIMEOUT,
		.done = callback_done };
	if (bare)
		return;
	made->args.minorversion = callback->session->minor;
	made->args.argarray.count = 2;
	made->args.argarray.values = made->ops;
	made->ops[0].argop = OP_CB_SEQUENCE;
	rr_nfs4_callback_sequence(callback, &made->referring, &made->ops[0].u.opcbsequence);
	callback->kind->put(callback, &made->ops[1]);
}

/* Removes the callback from the outbox (the list of callbacks to be sent), makes its RPC call, and stores in
 * *way the RPC client that is to send the call. Without such an RPC client, or without memory, returns NULL,
 * and the callback is queued again or ends. The caller holds the lock of the tables. */
static struct callback_call *
callback_make(struct rr_nfs4_callback *callback, struct callback_way **way)
{
	struct rr_nfs4_connection *connection = callback_connection(callback);
	struct callback_call *made;

	rr_list_remove(&callback->link);
	*way = callback_way_find(connection, callback->session);
	if (!*way) {
		rr_nfs4_callback_failed(callback);
		return NULL;
	}
	made = rr_alloc(connection->server->env, sizeof(*made));
	if (!made) {
		rr_nfs4_callback_lost(callback);
		return NULL;
	}
	made->connection = connection;
	made->way = *way;
	made->callback = callback;
	callback_fill(made, *way);
	rr_list_append(&connection->calls, &made->link);
	return made;
}

/* Sends the callbacks that another thread has put into the outbox, the list of callbacks to be sent. The lock
 * of the tables is released while a call begins, as callback_done() may run at once and takes this lock. */
static void
callback_mail_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_nfs4_server *server = rr_container(watch, struct rr_nfs4_server, mail);
	eventfd_t count;

	(void)events;
	/* Resets the eventfd, which is readable as long as its count is not 0. */
	eventfd_read(watch->fd, &count);
	rr_nfs4_lock_tables(server);
	while (!rr_list_empty(&server->outbox)) {
		struct callback_way *way;
		struct callback_call *made =
			callback_make(rr_container(server->outbox.next, struct rr_nfs4_callback, link), &way);

		if (!made)
			continue;
		rr_nfs4_unlock_tables(server);
		rr_client_call(way->client, &made->call);
		rr_nfs4_lock_tables(server);
	}
	rr_nfs4_unlock_tables(server);
}

int
rr_nfs4_mail_begin(struct rr_nfs4_server *server, struct rr_text *text)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), error;

	server->mail.ready = callback_mail_ready;
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no descriptor for callbacks");
	error = rr_loop_watch(server->loop, &server->mail, fd, RR_READABLE);
	if (error == 0)
		return 0;
	close(fd);
	server->mail.fd = -1;
	return rr_fail(text, error, "no descriptor for callbacks: %s", rpcrdma_strerror(error));
}

void
rr_nfs4_mail_end(struct rr_nfs4_server *server)
{
	if (server->mail.fd < 0)
		return;
	rr_loop_unwatch(server->loop, &server->mail);
	close(server->mail.fd);
	server->mail.fd = -1;
}

void
rr_nfs4_ways_lost(struct rr_nfs4_connection *connection)
{
	rr_list_for_each (link, &connection->server->outbox) {
		struct rr_nfs4_callback *callback = rr_container(link, struct rr_nfs4_callback, link);

		if (callback->conn == &connection->conn)
			rr_nfs4_callback_lost(callback);
	}
	/* The RPC calls themselves stay until rr_nfs4_ways_free(). */
	rr_list_for_each (link, &connection->calls)
		rr_nfs4_callback_lost(rr_container(link, struct callback_call, link)->callback);
	rr_nfs4_callbacks_go(&connection->server->shared->tables.sessions, rr_now(connection->server->env));
}

void
rr_nfs4_ways_free(struct rr_nfs4_connection *connection)
{
	const struct rr_env *env = connection->server->env;
	struct rr_list *link;

	while ((link = rr_list_pop(&connection->calls))) {
		struct callback_call *call = rr_container(link, struct callback_call, link);

		rr_client_cancel(call->call.client, &call->call);
		rr_free(env, call);
	}
	while (!rr_list_empty(&connection->ways))
		callback_way_free(connection, rr_container(connection->ways.next, struct callback_way, link));
}
