/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of a request, and the end of all waiting. */
#include "server/nfs4/compound.h"

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
