/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_WORLD_H
#define RR_TESTS_RPC_WORLD_H

#include "../stage.h"

#include "echo.h"
#include "rpc/client.h"
#include "rpc/server.h"

/*
 * A world: one engine, with a server of the echo program and a client of it,
 * over TCP or over RDMA. The clock stands still unless a test moves it.
 */

/* What all tests of this program run on. provider NULL: TCP. */
extern rr_fabric_new *world_provider;

/* What all random numbers consist of; 0: they are random. */
extern uint8_t world_octet;

struct world {
	struct stage stage;
	struct rr_server_config server_config; /* of the next one */
	struct rpcrdma_server *server;
	struct rr_drc *drc; /* outlives the server */
	struct sockaddr_in address;
	struct rpcrdma_client *client;

	uint32_t handled; /* calls that came to a handler */
	int peer;         /* above 0: the client's socket, */
	uint32_t heard; /* and how many calls had come when a reply was there first; 0: there was no reply yet
			 */
	uint64_t takes; /* how long each of them takes, in nanoseconds */
	uint32_t
		held; /* ECHO_LATER, ECHO_TALLY, ECHO_BLOB and ECHO_FETCH are put off while this is above 0 */
	void *hostage;  /* pool memory that makes them wait */
	uint32_t tally; /* of ECHO_TALLY */
	bool keeping;   /* ECHO_TALLY keeps its requests, up to four of them */
	bool forgoing;  /* it ends one whose connection is lost */
	struct rpcrdma_request *kept[4];
	uint32_t kept_count, lost; /* requests kept now; those whose connection was lost */
	bool striking;             /* the next ECHO_TALLY loses its connection before its reply leaves */
	struct rr_task strike;
	uint32_t item_room; /* of the last call */
	bool saw_sys;
	struct rr_auth_sys sys;
	uint32_t xids[1024]; /* of the calls handled */
};

int world_setup(void **state);
int world_teardown(void **state);

struct world *world_new(const struct rr_engine_config *config);
void world_free(struct world *world);

/* The server goes away at once, and comes back at the same address. */
void world_kill_server(struct world *world);
void world_start_server(struct world *world);

/* A server of the same programs that listens nowhere. */
struct rpcrdma_server *world_new_server(struct world *world);

/* A client of its own of the same server. */
void world_client_config(const struct world *world, struct rr_client_config *config);
struct rpcrdma_client *world_connect(struct world *world, const struct rr_client_config *config);

/* Octets of the engine's memory that are out. */
size_t world_memory(const struct world *world);

void world_turn(struct world *world);
void world_settle(struct world *world);

/* Answers the requests that were kept, as ECHO_TALLY would have. */
void world_answer_kept(struct world *world);

/* Moves the clock, and settles. */
void world_pass(struct world *world, uint64_t time);

/* Puts off the handling of calls that wait for memory, as some is out; and no longer. */
void world_hold(struct world *world);
void world_let_go(struct world *world);

#define world_until(world, expression) turn_until(expression, world_turn(world))

/* Moves the clock until the expression is true. */
#define world_pass_until(world, expression) turn_until(expression, world_pass(world, 25 * RR_MILLISECOND))

/* A call with its memory. */
struct call {
	struct rr_call base;
	bool done;
	uint32_t times; /* that done() came */
	int error;
	union {
		text echo;
		numbers sum;
		blob blob;
		uint32_t number;
		outcome fail;
	} args;
	union {
		text echo;
		numbers count;
		blob blob;
		uint32_t number;
	} result;
	uint8_t arena[16384];
	uint8_t *data; /* of a blob: what is sent, or what is to come back */
	uint32_t length;
	uint8_t *sink;
	uint8_t *keep;
};

/* A call of procedure; ready to be started after args are set. */
struct call *call_new(uint32_t procedure);

/* One that the server drops. */
struct call *call_unanswered(void);
void call_free(struct call *call);

/* Starts it. */
void call_start(struct world *world, struct call *call);

/* Waits for its end, and returns its error; starts it before. */
int call_wait(struct world *world, const struct call *call);
int call_run(struct world *world, struct call *call);

/* One call and its answer: over RDMA, a connection carries one call at a time before. */
void world_warm_up(struct world *world);

/* An ECHO_BLOB call of length octets, with a sink (if wanted) and a keep large enough. */
struct call *blob_new(uint32_t length, bool with_sink);

/* An ECHO_FETCH call of length octets. */
struct call *fetch_new(uint32_t length);
void assert_blob(const struct call *call);

#endif
