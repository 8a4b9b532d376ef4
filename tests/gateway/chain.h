/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_GATEWAY_CHAIN_H
#define RR_TESTS_GATEWAY_CHAIN_H

#include "../rpc/raw.h"

#include "gateway/gateway.h"
#include "wire/rpc.h"

/*
 * A client and a server, both played by the test over TCP, octet by octet, and two gateways between them that
 * talk over RDMA: what happens on the way is seen at both ends, and in the gateways' counters. The far
 * gateway has an engine of its own, which the loop of the world's turns: memory is as in two processes.
 */
struct chain {
	struct world *world;
	struct rpcrdma_engine *engine; /* of the far gateway */
	struct rr_watch turning;
	struct rr_gateway *near, *far; /* of the client */
	struct sockaddr_in address;    /* where clients connect */
	int listener;                  /* the server's */
	int client, server;            /* a connection through all, once chain_connect() made it */
};

enum { CHAIN_ROUTES = 2 };

/* Calls of the programs routes[0] and routes[1] go over TCP from the near gateway to listeners of their own;
 * routes may be NULL. */
struct chain *chain_new(const uint32_t *routes, int *listeners);

/* Engines of that config; with TCP between the gateways, if that is wanted. */
struct chain *chain_new_on(
	const struct rr_engine_config *config, bool over_tcp, const uint32_t *routes, int *listeners);
void chain_free(struct chain *chain);

/* For cmocka: *state is a chain, connected. */
int chain_setup(void **state);
int chain_teardown(void **state);

/* Moves the clock of both gateways. */
void chain_pass(struct chain *chain, uint64_t time);

/* Another client. */
int chain_client(struct chain *chain);

/* The first call and its answer, so that both connections are there. */
void chain_connect(struct chain *chain);

/* A message on its way: a call or a reply, whole. */
struct message {
	uint32_t length;
	uint8_t octets[];
};

/* A call whose arguments are size octets that its XID tells; cred may be NULL. */
struct message *call_message(uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc,
	const struct rr_opaque_auth *cred, uint32_t size);
struct message *reply_message(uint32_t xid, uint32_t size);

/* As one record; sends all of it, turning the loop meanwhile. */
void send_message(struct chain *chain, int fd, const struct message *message);

/* What arrives is this message, octet by octet. Frees it. */
void expect_message(struct chain *chain, int fd, struct message *message);

/* Sends it at one end; it arrives at the other one as it is. Frees it. */
void pass_message(struct chain *chain, int from, int to, struct message *message);

/* Nothing more arrives. */
void expect_nothing(struct chain *chain, int fd);

#endif
