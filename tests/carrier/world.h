/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_WORLD_H
#define RR_TESTS_TRANSPORT_WORLD_H

#include "../stage.h"

#include "carrier/carrier.h"

/*
 * A world: an engine with an acceptor and, usually, one connection between
 * them. The clock stands still unless a test moves it. Calls that arrive are
 * answered by `answer`, or queued for the test to answer.
 */

/* The provider that all tests of this program run on. */
extern rr_fabric_new *provider;

/* Own operations in place of those of a provider that was just made: *own starts as a copy of the real ones,
 * which are returned. */
const struct rr_fabric_ops * override(struct rr_fabric *fabric, struct rr_fabric_ops *own);

/* What the worlds that are made from now on speak, whatever their configuration says. */
extern enum rr_versions world_versions;

/* Set them around a group of tests. */
int world_speak_both(void **state);
int world_speak_version_1(void **state);

enum { WORLD_CALLS = 256 };

struct memory;

struct world {
	struct stage stage;
	struct rr_acceptor *acceptor;
	struct sockaddr_storage address;
	struct rr_carrier *client, *server;
	bool client_connected, client_closed, server_connected, server_closed;
	int client_error, server_error;
	char client_text[256], server_text[256];
	bool hears; /* the client takes calls */
	void (*answer)(struct world *world, struct rr_exchange *exchange);
	struct rr_exchange *calls[WORLD_CALLS]; /* not answered */
	uint32_t call_count, arrived, sent;
	uint32_t reply_size;   /* of answer_with_size() */
	struct memory *memory; /* freed when the world ends */
};

/* config may be NULL. Connected. */
struct world *world_new(const struct rr_engine_config *config);

/* The same with a client that takes calls. */
struct world *world_new_hearing(const struct rr_engine_config *config);

/* The same without a client. */
struct world *world_listening(const struct rr_engine_config *config);

/* The same on what make() makes. */
struct world *world_listening_on(const struct rr_engine_config *config, rr_fabric_new *make);
void world_free(struct world *world);
void world_connect(struct world *world);

/* One side's owner lets go of the connection. */
void world_close_client(struct world *world);
void world_close_server(struct world *world);

struct rpcrdma_negotiated world_negotiated(const struct rr_carrier *carrier);

/* From now on the client takes calls, too; version 1 only, as in version 2 the server was told that it does
 * not. They are answered or queued with those that the server gets. */
void world_hear(struct world *world);

void world_turn(struct world *world);

/* The carrier has as many work requests outstanding as there may be, from now on, or none of these any more.
 */
void world_stuff(struct rr_carrier *carrier, bool full);

/* Turns until nothing happens any more. */
void world_settle(struct world *world);

/* Moves the clock, and does the same. */
void world_pass(struct world *world, uint64_t time);

#define world_until(world, expression) turn_until(expression, world_turn(world))

/* Memory that is freed with the world. */
void *world_memory(struct world *world, size_t size);

/* Frees it now. */
void world_forget(struct world *world);

/* Octets that depend on seed. */
void fill(void *memory, size_t size, unsigned seed);

/* ---- Calls and replies ---- */

/* A transaction with its memory. */
struct call {
	struct rr_transaction transaction;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	bool done;
	int error;
	struct rpcrdma_message reply; /* copied, unreduced: its items are in its stream */
};

/* A call with a stream of that many octets, XID and type in front. */
struct call *call_new(struct world *world, uint32_t xid, uint32_t stream);
void call_add_item(struct world *world, struct call *call, uint32_t offset, uint32_t length);
void call_add_sink(struct world *world, struct call *call, uint32_t length);
void call_start(struct world *world, struct call *call);

/* A new one, started at once; and, turning until it is there, the one that the server has to answer. */
struct call *call_begin(struct world *world, uint32_t xid, uint32_t stream);
struct call *call_arrived(struct world *world, uint32_t xid, uint32_t stream);

/* Turns until the call is over, with that error (0: it got its reply). */
void call_ended(const struct call *call, int error);
void call_answered(const struct call *call);

/* A reply, in memory of the world. */
struct reply {
	struct rpcrdma_message message;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
};

struct reply *reply_new(struct world *world, uint32_t xid, uint32_t stream);
void reply_add_item(struct world *world, struct reply *reply, uint32_t offset, uint32_t length);
void reply_send(struct world *world, struct rr_exchange *exchange, struct reply *reply);

/* Answers with the smallest reply that there is. */
void answer_small(struct world *world, struct rr_exchange *exchange);

/* Answers with a stream of world->reply_size octets; whether a reply is that one. */
void answer_with_size(struct world *world, struct rr_exchange *exchange);
void assert_reply_octets(const struct rpcrdma_message *reply, uint32_t xid, uint32_t length);

/* Takes the oldest call that is not answered. */
struct rr_exchange *world_next_call(struct world *world);

/* Turns until there is one such call, and takes it. */
struct rr_exchange *world_one_call(struct world *world);

/* The message with all items in its stream. Items at RPCRDMA_ITEM_NEXT go to where those of `like` are. */
struct rpcrdma_message flatten(
	struct world *world, const struct rpcrdma_message *message, const struct rpcrdma_message *like);
void assert_same_message(const struct rpcrdma_message *a, const struct rpcrdma_message *b);

#endif
