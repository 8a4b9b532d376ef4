/* SPDX-License-Identifier: BSD-3-Clause */
/* What the operations need of their server: the lock of the tables, and the connection of a request. */
#include "nfs4/compound.h"

struct rr_nfs4_tables *
rr_nfs4_lock_tables(struct rr_nfs4_server *server)
{
	pthread_mutex_lock(&server->shared->lock);
	return &server->shared->tables;
}

void
rr_nfs4_unlock_tables(struct rr_nfs4_server *server)
{
	struct rr_nfs4_tables *tables = &server->shared->tables;
	struct rr_nfs4_opened *opened;

	while ((opened = rr_nfs4_opened_unused(tables))) {
		pthread_mutex_unlock(&server->shared->lock);
		server->vfs->ops->close(server->vfs, opened->open);
		rr_free(server->env, opened);
		pthread_mutex_lock(&server->shared->lock);
	}
	pthread_mutex_unlock(&server->shared->lock);
}

static void
connection_ended(struct rr_attachment *attachment)
{
	struct rr_nfs4_connection *connection =
		rr_container(attachment, struct rr_nfs4_connection, attachment);
	struct rr_nfs4_server *server = connection->server;

	rr_nfs4_lock_tables(server);
	rr_nfs4_conn_end(&connection->conn);
	rr_nfs4_unlock_tables(server);
	rr_list_for_each (link, &server->compounds) {
		struct rr_nfs4_compound *c = rr_container(link, struct rr_nfs4_compound, link);

		if (c->connection == connection)
			c->connection = NULL;
	}
	rr_free(server->env, connection);
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
	connection->attachment.ended = connection_ended;
	rr_list_init(&connection->attachment.link);
	rr_nfs4_conn_init(&connection->conn);
	if (rr_request_attach(request, &connection->attachment))
		return connection;
	rr_free(server->env, connection);
	return NULL;
}
