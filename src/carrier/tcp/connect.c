/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins TCP carriers at the connecting side, and makes what the TCP carriers of an engine share. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrier/tcp/tcp_private.h"

#include "base/errno.h"

/* Opens a socket, begins to connect it, makes a carrier of it and stores the carrier in *carrier. Returns 0
 * or an error. If connect() itself fails, returns 0, and the carrier's closed() reports the failure. */
static int
tcp_connect(struct rr_carriers *carriers, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text)
{
	const struct sockaddr *address = to->address;
	struct rr_tcp *tcp;
	int error, fd, result;

	if (address->sa_family != AF_INET && address->sa_family != AF_INET6 && address->sa_family != AF_UNIX)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"only addresses of IPv4, IPv6 and Unix sockets can be connected to");
	fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no socket: %s", strerror(errno));
	rr_tcp_set_options(fd);
	error = connect(fd, address, to->size) < 0 ? errno : 0;
	if (error == EINPROGRESS || error == EINTR)
		error = 0;
	result = rr_tcp_new(carriers, fd, address, RR_TCP_CONNECTING, &tcp, text);
	if (result < 0) {
		close(fd);
		return result;
	}
	tcp->wants = to->secure;
	*carrier = &tcp->base;
	rr_carrier_attach(*carrier, events, ctx);
	if (error)
		rr_tcp_fail(tcp, rr_errno_error(error), "%s: no connection over TCP: %s", tcp->base.peer,
			strerror(error));
	return 0;
}

/* Makes the data that all TCP connections of the engine share, and stores them in *carriers. Returns 0 or
 * -RPCRDMA_ERR_NOMEM. */
static int
tcp_begin(struct rpcrdma_engine *engine, struct rr_carriers **carriers)
{
	struct rr_tcp_carriers *new = rr_alloc(engine->env, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->base.engine = engine;
	rr_tcp_keep_outbounds(new);
	rr_tcp_keep_exchanges(new);
	*carriers = &new->base;
	return 0;
}

/* Frees the data that all TCP connections of the engine shared. */
static void
tcp_end(struct rr_carriers *carriers)
{
	const struct rr_env *env = carriers->engine->env;
	struct rr_tcp_carriers *kind = rr_container(carriers, struct rr_tcp_carriers, base);

	rr_cache_end(&kind->outbounds);
	rr_cache_end(&kind->exchanges);
	rr_free(env, kind->staging);
	rr_free(env, kind);
}

/* See rr_acceptor_providers(). */
static const char *
tcp_providers(const struct rr_acceptor *acceptor)
{
	(void)acceptor;
	return "tcp";
}

/* TCP is at work in every engine. */
static bool
tcp_at_work(const struct rr_carriers *carriers, enum rr_transport transport)
{
	(void)carriers;
	(void)transport;
	return true;
}

const struct rr_carriers_ops rr_tcp_carriers = {
	.transports = RR_TRANSPORT_BIT(RR_TRANSPORT_TCP),
	.begin = tcp_begin,
	.end = tcp_end,
	.connect = tcp_connect,
	.listen = rr_tcp_listen,
	.address = rr_tcp_acceptor_address,
	.providers = tcp_providers,
	.unlisten = rr_tcp_unlisten,
	.at_work = tcp_at_work,
};
