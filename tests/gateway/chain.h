/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_GATEWAY_CHAIN_H
#define RR_TESTS_GATEWAY_CHAIN_H

#include "../rpc/raw.h"

#include "gateway/gateway.h"
#include "wire/rpc.h"

/* A client and a server, both played by the test over TCP, octet by octet, and two gateways between them
 * that talk over RDMA. The test sees the messages at both ends, and the gateways' counters. The far
 * gateway has an engine of its own, as if it were in another process; the loop of the world's engine turns
 * the far loop. */
struct chain {
	struct world *world;
	struct rpcrdma_engine *engine; /* of the far gateway */
	struct rr_watch turning;
	struct rr_gateway *near, *far; /* near: on the client's side; far: on the server's side */
	struct sockaddr_in address;    /* where clients connect */
	int listener;                  /* the server's */
	int client, server; /* the ends of a connection through both gateways, once chain_connect() made it */
};

enum { CHAIN_ROUTES = 2 };

/* Makes a chain. Calls of the programs routes[0] and routes[1] go over TCP from the near gateway to
 * listeners of their own; routes may be NULL. */
struct chain *chain_new(const uint32_t *routes, int *listeners);

/* Makes a chain of engines with that configuration; over_tcp: the gateways talk over TCP. */
struct chain *chain_new_on(
	const struct rr_engine_config *config, bool over_tcp, const uint32_t *routes, int *listeners);
void chain_free(struct chain *chain);

/* For cmocka: *state is a connected chain. */
int chain_setup(void **state);
int chain_teardown(void **state);

/* Moves the clock of both gateways. */
void chain_pass(struct chain *chain, uint64_t time);

/* Connects another client, and returns its socket. */
int chain_client(struct chain *chain);

/* Makes the first call and answers it, so that the connections of both ends are there. */
void chain_connect(struct chain *chain);

/* A whole message: a call or a reply. */
struct message {
	uint32_t length;
	uint8_t octets[];
};

/* Makes a call with size octets of arguments, which depend on its XID; cred may be NULL. */
struct message *call_message(uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc,
	const struct rr_opaque_auth *cred, uint32_t size);
struct message *reply_message(uint32_t xid, uint32_t size);

/* Sends all of the message as one record, and turns the loop meanwhile. */
void send_message(struct chain *chain, int fd, const struct message *message);

/* Checks that the next message that arrives is this message, octet by octet. Frees the message. */
void expect_message(struct chain *chain, int fd, struct message *message);

/* Sends the message at one end, and checks that it arrives unchanged at the other end. Frees the message. */
void pass_message(struct chain *chain, int from, int to, struct message *message);

/* Checks that no more octets arrive. */
void expect_nothing(struct chain *chain, int fd);

#endif
