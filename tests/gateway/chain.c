/* SPDX-License-Identifier: BSD-3-Clause */
#include "chain.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"

enum { HEADER_MAX = RR_RPC_CALL_HEADER_MAX };

/* ---- Gateways ---- */

static void
set_target(struct rr_gateway_target *target, bool tcp, const struct sockaddr_in *address)
{
	target->transport = tcp ? RR_TRANSPORT_TCP : RR_TRANSPORT_AUTO;
	target->address_count = 1;
	memcpy(&target->addresses[0], address, sizeof(*address));
}

/* Starts a gateway that listens on a free port of this machine, over TCP or RDMA. */
static struct rr_gateway *
start_gateway(struct rpcrdma_engine *engine, const struct rr_gateway_config *config, bool tcp,
	struct sockaddr_in *address)
{
	struct rr_gateway *gateway;
	struct rr_text why;

	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(rr_gateway_new(engine, config, &gateway), 0);
	if (rr_gateway_listen(gateway, tcp ? RR_TRANSPORT_TCP : RR_TRANSPORT_AUTO, (struct sockaddr *)address,
		    sizeof(*address), &why))
		fail_msg("%s", why.text);
	return gateway;
}

/* Turns the far loop, whose descriptor is readable when there is something to do in it. */
static void
turn_far_engine(struct rr_watch *watch, unsigned events)
{
	struct chain *chain = rr_container(watch, struct chain, turning);

	(void)events;
	assert_true(rr_loop_turn(chain->engine->loop, 0) >= 0);
}

/* Starts the second gateway on an engine of its own, in front of the server at this address; the address
 * becomes that of the gateway. */
static void
start_far_gateway(struct chain *chain, const struct rr_engine_config *config, bool over_tcp,
	struct sockaddr_in *address)
{
	struct rr_engine_config own = stage_config(config);
	struct rr_gateway_config far = { .route_count = 0 };
	struct rr_loop *loop = chain->world->stage.engine->loop;

	assert_int_equal(rr_engine_new(&chain->world->stage.env, &own, &chain->engine), 0);
	chain->turning.ready = turn_far_engine;
	assert_int_equal(
		rr_loop_watch(loop, &chain->turning, rr_loop_fd(chain->engine->loop), RR_READABLE), 0);
	set_target(&far.server, true, address);
	chain->far = start_gateway(chain->engine, &far, over_tcp, address);
}

struct chain *
chain_new_on(const struct rr_engine_config *config, bool over_tcp, const uint32_t *routes, int *listeners)
{
	struct chain *chain = calloc(1, sizeof(*chain));
	struct rr_gateway_config near = { .route_count = 0 };
	struct sockaddr_in address;

	assert_non_null(chain);
	chain->world = world_new(config);
	chain->client = chain->server = -1;
	chain->listener = raw_listen(&address);
	start_far_gateway(chain, config, over_tcp, &address);
	set_target(&near.server, over_tcp, &address);
	for (uint32_t i = 0; routes && i < CHAIN_ROUTES; i++) {
		listeners[i] = raw_listen(&address);
		near.routes[i].prog = routes[i];
		set_target(&near.routes[near.route_count++].target, true, &address);
	}
	chain->near = start_gateway(chain->world->stage.engine, &near, true, &chain->address);
	return chain;
}

struct chain *
chain_new(const uint32_t *routes, int *listeners)
{
	return chain_new_on(&rr_engine_config_default, false, routes, listeners);
}

void
chain_free(struct chain *chain)
{
	rr_gateway_free(chain->near);
	rr_gateway_free(chain->far);
	if (chain->client >= 0)
		close(chain->client);
	if (chain->server >= 0)
		close(chain->server);
	if (chain->listener >= 0)
		close(chain->listener);
	world_settle(chain->world);
	rr_loop_turn(chain->engine->loop, 0); /* exchanges of closed connections end in a turn */
	assert_int_equal(world_memory(chain->world), 0);
	assert_int_equal(rr_pool_used(chain->engine->pool) + rr_pool_used(chain->engine->arrivals), 0);
	rr_loop_unwatch(chain->world->stage.engine->loop, &chain->turning);
	rpcrdma_engine_free(chain->engine);
	world_free(chain->world);
	free(chain);
}

void
chain_pass(struct chain *chain, uint64_t time)
{
	world_pass(chain->world, time);
	/* The descriptor of the far loop does not become readable for timers, as their clock is the
	 * test's. */
	assert_true(rr_loop_turn(chain->engine->loop, 0) >= 0);
	world_settle(chain->world);
}

int
chain_client(struct chain *chain)
{
	struct sockaddr_in echo = chain->world->address;
	int fd;

	chain->world->address = chain->address;
	fd = raw_connect(chain->world);
	chain->world->address = echo;
	return fd;
}

void
chain_connect(struct chain *chain)
{
	struct message *call = call_message(1, 100003, 4, 0, NULL, 0);

	chain->client = chain_client(chain);
	send_message(chain, chain->client, call);
	chain->server = raw_accept(chain->world, chain->listener);
	expect_message(chain, chain->server, call);
	pass_message(chain, chain->server, chain->client, reply_message(1, 0));
}

int
chain_setup(void **state)
{
	*state = chain_new(NULL, NULL);
	chain_connect(*state);
	return 0;
}

int
chain_teardown(void **state)
{
	chain_free(*state);
	return 0;
}

/* ---- Messages ---- */

static struct message *
new_message(uint32_t size)
{
	struct message *message = calloc(1, sizeof(*message) + HEADER_MAX + size);

	assert_non_null(message);
	return message;
}

/* Ends a message with this many octets that depend on its XID. */
static void
finish(struct message *message, const struct rpcrdma_xdr_writer *writer, uint32_t xid, uint32_t size)
{
	uint8_t *body;

	assert_false(writer->failed);
	message->length = (uint32_t)rpcrdma_xdr_length(writer);
	body = message->octets + message->length;
	for (uint32_t i = 0; i < size; i++)
		body[i] = (uint8_t)(i * 13 + i / 255 + xid);
	message->length += size;
}

struct message *
call_message(uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc, const struct rr_opaque_auth *cred,
	uint32_t size)
{
	struct rr_call_header header = { .xid = xid, .prog = prog, .vers = vers, .proc = proc };
	struct message *message = new_message(size);
	struct rpcrdma_xdr_writer writer;

	if (cred)
		header.cred = *cred;
	rpcrdma_xdr_writer_init(&writer, message->octets, HEADER_MAX, NULL, 0);
	rr_rpc_put_call(&writer, &header);
	finish(message, &writer, xid, size);
	return message;
}

struct message *
reply_message(uint32_t xid, uint32_t size)
{
	const struct rr_reply_header header = { .xid = xid };
	struct message *message = new_message(size);
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, message->octets, HEADER_MAX, NULL, 0);
	rr_rpc_put_reply(&writer, &header);
	finish(message, &writer, xid, size);
	return message;
}

void
send_message(struct chain *chain, int fd, const struct message *message)
{
	uint8_t mark[4];

	rr_put_be32(mark, rr_record_mark(message->length, true));
	raw_send(chain->world, fd, mark, sizeof(mark));
	raw_send(chain->world, fd, message->octets, message->length);
}

void
expect_message(struct chain *chain, int fd, struct message *message)
{
	uint8_t *octets = malloc(message->length + 1);

	assert_non_null(octets);
	assert_int_equal(raw_receive(chain->world, fd, octets, message->length + 1), message->length);
	assert_memory_equal(octets, message->octets, message->length);
	free(octets);
	free(message);
}

void
pass_message(struct chain *chain, int from, int to, struct message *message)
{
	send_message(chain, from, message);
	expect_message(chain, to, message);
}

void
expect_nothing(struct chain *chain, int fd)
{
	uint8_t octet;

	world_settle(chain->world);
	assert_int_equal(recv(fd, &octet, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}
