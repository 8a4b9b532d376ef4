/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of an SVCXPRT. svc_run() asks for a call, dispatches it, which answers it, and asks for the next
 * call. xp_recv() turns the engine's loop, takes the oldest call, and returns its header; xp_stat() says
 * whether more calls wait. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/address.h"
#include "base/checked.h"
#include "tirpc/tirpc.h"

/* A reply until it was sent. It lies in memory of the engine's pool for results, which counts for the
 * connection. */
struct call_reply {
	struct rr_pool *pool;
	uint8_t message[];
};

/* ---- The loop ---- */

/* Arms the timer for the time at which the engine's loop must be turned next. Does nothing if the loop has
 * nothing to wait for (due is negative), or if the timer is armed for an earlier time. If the loop must be
 * turned at once, the timer runs for one nanosecond, as a time of 0 would disarm it. */
static void
server_arm(struct rr_tirpc_server *server)
{
	int64_t due = rpcrdma_engine_due(server->engine);
	uint64_t at = rr_now(server->engine->env) + (due > 0 ? (uint64_t)due : 0);
	struct itimerspec spec = { .it_value = { 0, 1 } };

	if (due < 0 || (server->armed && server->armed <= at))
		return;
	if (due > 0)
		spec.it_value = (struct timespec){ due / (int64_t)RR_SECOND, due % (int64_t)RR_SECOND };
	if (timerfd_settime(server->timer, 0, &spec, NULL) == 0)
		server->armed = at;
}

/* Turns the engine's loop once without waiting, and arms the timer for the next turn. If the timer has
 * expired, first reads it, so that its descriptor is no longer readable. */
static void
server_turn(struct rr_tirpc_server *server)
{
	uint64_t times;

	if (server->armed && read(server->timer, &times, sizeof(times)) == (ssize_t)sizeof(times))
		server->armed = 0;
	(void)rpcrdma_engine_turn(server->engine, 0);
	server_arm(server);
}

/* ---- A call arrives ---- */

void
rr_tirpc_end_call(struct rr_tirpc_server *server)
{
	struct rr_exchange *exchange = server->current;

	server->current = NULL;
	if (exchange)
		rr_exchange_drop(exchange);
}

/* Removes the oldest waiting call from the list and returns it, or NULL if no call waits. */
static struct rr_exchange *
server_take(struct rr_tirpc_server *server)
{
	struct rr_exchange *exchange = server->first;

	if (exchange)
		server->first = exchange->ctx;
	return exchange;
}

/* Sets the caller's address, which svc_getrpccaller() returns, to that of source. A struct rr_source holds an
 * IPv4 address in the form of an IPv6 address; such an address is changed back to IPv4. */
static void
server_set_caller(struct rr_tirpc_server *server, const struct rr_source *source)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_in *in = (struct sockaddr_in *)&server->caller;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&server->caller;

	memset(&server->caller, 0, sizeof(server->caller));
	if (memcmp(source->address, mapped, sizeof(mapped)) == 0) {
		in->sin_family = AF_INET;
		in->sin_port = htons(source->port);
		memcpy(&in->sin_addr, source->address + sizeof(mapped), sizeof(in->sin_addr));
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(source->port);
		memcpy(&in6->sin6_addr, source->address, sizeof(in6->sin6_addr));
	}
	server->handle.xp_rtaddr.len = server->handle.xp_rtaddr.maxlen = rr_address_size(&server->caller);
	server->handle.xp_addrlen = (int)server->handle.xp_rtaddr.len;
	memcpy(&server->handle.xp_raddr, &server->caller, sizeof(server->handle.xp_raddr));
}

/* Decodes the header of a call into message, and makes the call the server's current call. Ends the call
 * instead, and returns false, if its connection is gone, if it has reduced data items, or if its header does
 * not decode. An undecodable header also ends the connection. RFC 8166, 6.1, of a call with a reduced data
 * item that is not DDP-eligible: "The Responder MUST NOT process this RPC Call message and MUST report the
 * violation as described in Section 4.5.2." This server knows no program, so for it no item is eligible. */
static bool
server_begin(struct rr_tirpc_server *server, struct rr_exchange *exchange, struct rpc_msg *message)
{
	const struct rpcrdma_message *call = &exchange->call;
	union {
		const void *from;
		char *stream; /* XDR only reads the memory */
	} memory = { call->stream };

	if (!exchange->carrier) {
		rr_exchange_drop(exchange);
		return false;
	}
	if (call->item_count > 0) {
		rr_exchange_refuse(exchange);
		return false;
	}
	xdrmem_create(&server->arguments, memory.stream, call->length, XDR_DECODE);
	if (!xdr_callmsg(&server->arguments, message)) {
		rr_exchange_lose(exchange);
		return false;
	}
	server_set_caller(server, &exchange->carrier->source);
	server->current = exchange;
	server->xid = exchange->xid;
	return true;
}

/* xp_recv(): ends the call that was dispatched before, if it still waits for an answer. Then decodes the
 * header of the oldest waiting call into message, and drops calls that cannot be dispatched. Returns FALSE if
 * no call waits. */
static bool_t
server_receive(SVCXPRT *handle, struct rpc_msg *message)
{
	struct rr_tirpc_server *server = handle->xp_p1;
	struct rr_exchange *exchange;

	rr_tirpc_end_call(server);
	if (!server->first)
		server_turn(server);
	while ((exchange = server_take(server)))
		if (server_begin(server, exchange, message))
			return TRUE;
	return FALSE;
}

/* xp_stat(): ends the call that was dispatched; if its dispatch function did not answer it, without an
 * answer. Returns XPRT_MOREREQS if more calls wait, otherwise XPRT_IDLE. */
static enum xprt_stat
server_state(SVCXPRT *handle)
{
	struct rr_tirpc_server *server = handle->xp_p1;

	rr_tirpc_end_call(server);
	if (!server->first)
		server_turn(server);
	return server->first ? XPRT_MOREREQS : XPRT_IDLE;
}

/* xp_getargs(): decodes the arguments of the call that is being dispatched into args. Returns FALSE if no
 * call is being dispatched, or the arguments cannot be decoded. */
static bool_t
server_arguments(SVCXPRT *handle, xdrproc_t xargs, void *args)
{
	struct rr_tirpc_server *server = handle->xp_p1;

	return server->current && SVCAUTH_UNWRAP(&SVC_XP_AUTH(handle), &server->arguments, xargs, args);
}

/* xp_freeargs(): frees the memory that decoded arguments point to, by their XDR routine. Returns what the
 * routine returns. */
static bool_t
server_free_arguments(SVCXPRT *handle, xdrproc_t xargs, void *args)
{
	XDR xdrs = { .x_op = XDR_FREE };

	(void)handle;
	return (*xargs)(&xdrs, args);
}

/* ---- The reply ---- */

/* Called when the carrier does not need the memory of the reply any more: gives it back to the pool. */
static void
server_sent(void *arg)
{
	struct call_reply *reply = arg;

	rr_pool_put(reply->pool, reply);
}

/* Encodes the reply, its header and its results, into memory of size octets. The authenticator of the handle
 * encodes the results. Stores the number of encoded octets in *length. Returns false if the reply does not
 * fit or cannot be encoded. */
static bool
server_write(
	SVCXPRT *handle, struct rpc_msg message, struct call_reply *reply, uint32_t size, uint32_t *length)
{
	bool has_results = message.rm_reply.rp_stat == MSG_ACCEPTED && message.acpted_rply.ar_stat == SUCCESS;
	xdrproc_t xresult = message.acpted_rply.ar_results.proc;
	void *result = message.acpted_rply.ar_results.where;
	bool good;
	XDR xdrs;

	/* xdr_replymsg() encodes only the header: the results are encoded by the authenticator. */
	if (has_results) {
		message.acpted_rply.ar_results.proc = rr_tirpc_nothing;
		message.acpted_rply.ar_results.where = NULL;
	}
	xdrmem_create(&xdrs, (char *)reply->message, size, XDR_ENCODE);
	good = xdr_replymsg(&xdrs, &message) &&
	       (!has_results || SVCAUTH_WRAP(&SVC_XP_AUTH(handle), &xdrs, xresult, result));
	*length = xdr_getpos(&xdrs);
	return good;
}

/* Encodes the reply to the current call into memory of the pool, and returns it. Takes larger memory until
 * the reply fits. Returns NULL if the results cannot be encoded: svcerr_systemerr() must then answer the
 * call. Also returns NULL if there is no memory: then ends the call and its connection, as memory is short
 * because the caller does not read its replies. */
static struct call_reply *
server_encode(struct rr_tirpc_server *server, const struct rpc_msg *message, uint32_t *length)
{
	struct rr_pool *pool = server->engine->results;
	const uint32_t max = server->engine->config.message_max;

	for (uint64_t size = RR_TIRPC_BUFFER;; size = rr_min(size * RR_TIRPC_GROWTH, max)) {
		struct rr_party *party = server->current->carrier->party;
		struct call_reply *reply = rr_pool_get(pool, party, sizeof(*reply) + size);

		if (!reply) {
			rr_exchange_lose(server->current);
			server->current = NULL;
			return NULL;
		}
		reply->pool = pool;
		if (server_write(&server->handle, *message, reply, (uint32_t)size, length))
			return reply;
		rr_pool_put(pool, reply);
		if (size >= max)
			return NULL;
	}
}

/* xp_reply(): encodes the reply to the call that is being dispatched, and sends it. Returns FALSE if nothing
 * was sent. */
static bool_t
server_reply(SVCXPRT *handle, struct rpc_msg *message)
{
	struct rr_tirpc_server *server = handle->xp_p1;
	struct rpcrdma_message encoded = { .stream = NULL };
	struct call_reply *reply;

	if (!server->current || !server->current->carrier)
		return FALSE;
	message->rm_xid = server->xid;
	reply = server_encode(server, message, &encoded.length);
	if (!reply)
		return FALSE;
	encoded.stream = reply->message;
	rr_exchange_reply(server->current, &encoded, server_sent, reply);
	server->current = NULL;
	return TRUE;
}

/* svc_control(): gets or sets the flag SVC_VERSQUIET. If it is set, calls of a version that is not served are
 * ignored; otherwise they are answered with an error. Returns FALSE for any other request. */
static bool_t
server_control(SVCXPRT *handle, const u_int request, void *info)
{
	switch (request) {
	case SVCGET_VERSQUIET: *(int *)info = svc_flags(handle) & SVC_VERSQUIET; return TRUE;
	case SVCSET_VERSQUIET:
		svc_flags(handle) =
			*(int *)info ? svc_flags(handle) | SVC_VERSQUIET : svc_flags(handle) & ~SVC_VERSQUIET;
		return TRUE;
	default: return FALSE;
	}
}

const struct xp_ops rr_tirpc_server_ops = {
	.xp_recv = server_receive,
	.xp_stat = server_state,
	.xp_getargs = server_arguments,
	.xp_reply = server_reply,
	.xp_freeargs = server_free_arguments,
	.xp_destroy = rr_tirpc_destroy_server,
};
const struct xp_ops2 rr_tirpc_server_ops2 = { .xp_control = server_control };
