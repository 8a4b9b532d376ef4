/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_WORLD_H
#define RR_TESTS_TRANSPORT_WORLD_H

#include "../stage.h"

#include "carrier/carrier.h"

/* A world: an engine with an acceptor and, usually, a connection to it from within the same engine. The
 * clock stands still unless a test moves it. Calls that arrive are answered by `answer`, or queued for the
 * test to answer. */

/* The provider on which all tests of this program run. */
extern rr_fabric_new *provider;

/* Replaces operations of a provider that was just made: *own starts as a copy of the real operations,
 * which are returned. */
const struct rr_fabric_ops * override(struct rr_fabric *fabric, struct rr_fabric_ops *own);

/* The versions that worlds made from now on use, whatever their configuration says. */
extern enum rr_versions world_versions;

/* Set world_versions around a group of tests. */
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
	struct rr_exchange *calls[WORLD_CALLS]; /* calls that are not answered yet */
	uint32_t call_count, arrived, sent;
	uint32_t reply_size;   /* of answer_with_size() */
	struct memory *memory; /* is freed when the world ends */
};

/* Makes a world with a connection. config may be NULL. */
struct world *world_new(const struct rr_engine_config *config);

/* Makes a world with a connection whose client takes calls. */
struct world *world_new_hearing(const struct rr_engine_config *config);

/* Makes a world without a client. */
struct world *world_listening(const struct rr_engine_config *config);

/* Makes a world without a client, on the provider of make(). */
struct world *world_listening_on(const struct rr_engine_config *config, rr_fabric_new *make);
void world_free(struct world *world);
void world_connect(struct world *world);

/* Close the connection of one side. */
void world_close_client(struct world *world);
void world_close_server(struct world *world);

struct rpcrdma_negotiated world_negotiated(const struct rr_carrier *carrier);

/* Has the client take calls, too, from now on; version 1 only, as in version 2 the server knows that the
 * client takes no calls. The calls are answered or queued with those that the server receives. */
void world_hear(struct world *world);

void world_turn(struct world *world);

/* Fills the carrier's queue of work requests from now on, or empties it again. */
void world_stuff(struct rr_carrier *carrier, bool full);

/* Turns until no more events come. */
void world_settle(struct world *world);

/* Moves the clock, then turns until no more events come. */
void world_pass(struct world *world, uint64_t time);

#define world_until(world, expression) turn_until(expression, world_turn(world))

/* Returns memory that is freed with the world. */
void *world_memory(struct world *world, size_t size);

/* Frees that memory now. */
void world_forget(struct world *world);

/* Fills memory with octets that depend on seed. */
void fill(void *memory, size_t size, unsigned seed);

/* ---- Calls and replies ---- */

/* A transaction with its memory. */
struct call {
	struct rr_transaction transaction;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	bool done;
	int error;
	struct rpcrdma_message reply; /* a copy, unreduced: its items are in its stream */
};

/* Makes a call with a stream of that many octets, with XID and type in front. */
struct call *call_new(struct world *world, uint32_t xid, uint32_t stream);
void call_add_item(struct world *world, struct call *call, uint32_t offset, uint32_t length);
void call_add_sink(struct world *world, struct call *call, uint32_t length);
void call_start(struct world *world, struct call *call);

/* call_begin() makes a call and starts it at once. call_arrived() also turns until the server has it to
 * answer. */
struct call *call_begin(struct world *world, uint32_t xid, uint32_t stream);
struct call *call_arrived(struct world *world, uint32_t xid, uint32_t stream);

/* Check that the call ends, with that error (call_answered(): with its reply); they turn until then. */
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

/* Answers with the smallest possible reply. */
void answer_small(struct world *world, struct rr_exchange *exchange);

/* answer_with_size() answers with a stream of world->reply_size octets; assert_reply_octets() checks that
 * a reply is such a one. */
void answer_with_size(struct world *world, struct rr_exchange *exchange);
void assert_reply_octets(const struct rpcrdma_message *reply, uint32_t xid, uint32_t length);

/* Takes the oldest call that is not answered yet. */
struct rr_exchange *world_next_call(struct world *world);

/* Turns until there is exactly such a call, and takes it. */
struct rr_exchange *world_one_call(struct world *world);

/* Returns the message with all items in its stream. Items at RPCRDMA_ITEM_NEXT go to the places that the
 * items of `like` have. */
struct rpcrdma_message flatten(
	struct world *world, const struct rpcrdma_message *message, const struct rpcrdma_message *like);
void assert_same_message(const struct rpcrdma_message *a, const struct rpcrdma_message *b);

#endif
