/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_WORLD_H
#define RR_TESTS_RPC_WORLD_H

#include "../stage.h"

#include "echo.h"
#include "rpc/client.h"
#include "rpc/server.h"

/* A world: an engine, with a server of the echo program and a client of it, over TCP or over RDMA. The
 * clock stands still unless a test moves it. */

/* The provider of all tests of this program; NULL: they run over TCP. */
extern rr_fabric_new *world_provider;

/* The octet of which all random numbers consist; 0: they are random. */
extern uint8_t world_octet;

enum { WORLD_LONG = 1 << 24 };

struct world {
	struct stage stage;
	struct rr_server_config server_config; /* of the next server that is started */
	struct rpcrdma_server *server;
	struct rr_drc *drc; /* outlives the server */
	struct sockaddr_in address;
	struct rpcrdma_client *client;

	uint32_t handled; /* calls that a handler served */
	int peer;         /* above 0: the socket of a client that the test plays, */
	/* and how many calls had come when its first reply was there; 0: there was no reply yet */
	uint32_t heard;
	uint64_t takes; /* how long each call takes, in nanoseconds */
	/* ECHO_SUM with an XID of WORLD_LONG or above takes so many steps, each as long as a call and noted
	 * as one; and it asks between them whether to pause */
	uint32_t steps;
	bool pausing;
	/* while this is above 0, ECHO_LATER, ECHO_TALLY, ECHO_BLOB and ECHO_FETCH are put off */
	uint32_t held;
	void *hostage;  /* pool memory that makes these calls wait */
	uint32_t tally; /* the sum of ECHO_TALLY */
	bool keeping;   /* ECHO_TALLY keeps its requests, up to four of them */
	bool forgoing;  /* ECHO_TALLY ends a request whose connection is lost */
	struct rpcrdma_request *kept[4];
	uint32_t kept_count, lost; /* requests that are kept now; requests whose connection was lost */
	bool striking;             /* the next ECHO_TALLY loses its connection before its reply leaves */
	struct rr_task strike;
	uint32_t item_room;      /* of the last call */
	struct rr_caller caller; /* of the last call; its groups are in groups */
	uint32_t groups[RR_AUTH_SYS_GIDS];
	uint32_t xids[1024]; /* of the calls that were handled */
};

int world_setup(void **state);
int world_teardown(void **state);

struct world *world_new(const struct rr_engine_config *config);
void world_free(struct world *world);

/* End the server at once, and start a server at the same address. */
void world_kill_server(struct world *world);
void world_start_server(struct world *world);

/* Makes a server of the same programs that does not listen. */
struct rpcrdma_server *world_new_server(struct world *world);

/* Make the configuration of a further client of the same server, and the client. */
void world_client_config(const struct world *world, struct rr_client_config *config);
struct rpcrdma_client *world_connect(struct world *world, const struct rr_client_config *config);

/* Returns the octets of the engine's memory that are in use. */
size_t world_memory(const struct world *world);

void world_turn(struct world *world);
void world_settle(struct world *world);

/* Answers the requests that were kept, as ECHO_TALLY would have done. */
void world_answer_kept(struct world *world);

/* Moves the clock, then turns until no more events come. */
void world_pass(struct world *world, uint64_t time);

/* Have calls wait for memory, as some is in use; and no longer. */
void world_hold(struct world *world);
void world_let_go(struct world *world);

#define world_until(world, expression) turn_until(expression, world_turn(world))

/* Moves the clock until the expression is true. */
#define world_pass_until(world, expression) turn_until(expression, world_pass(world, 25 * RR_MILLISECOND))

/* A call with its memory. */
struct call {
	struct rr_call base;
	bool done;
	uint32_t times; /* how often done() was called */
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
	uint8_t *data; /* of a blob: the data that is sent, or that must come back */
	uint32_t length;
	uint8_t *sink;
	uint8_t *keep;
};

/* Makes a call of procedure, which can be started after args are set. */
struct call *call_new(uint32_t procedure);

/* Makes a call that the server drops. */
struct call *call_unanswered(void);
void call_free(struct call *call);

/* Starts the call. */
void call_start(struct world *world, struct call *call);

/* call_wait() waits for the end of a call, and returns its error; call_run() starts the call before. */
int call_wait(struct world *world, const struct call *call);
int call_run(struct world *world, struct call *call);

/* Makes a call and waits for its answer: before that, an RDMA connection carries one call at a time. */
void world_warm_up(struct world *world);

/* Makes an ECHO_BLOB call of length octets, with a sink (if wanted) and a keep that is large enough. */
struct call *blob_new(uint32_t length, bool with_sink);

/* Makes an ECHO_FETCH call of length octets. */
struct call *fetch_new(uint32_t length);
void assert_blob(const struct call *call);

#endif
