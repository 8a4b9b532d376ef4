/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_WORLD_H
#define RR_TESTS_FABRIC_WORLD_H

#include "../stage.h"
#include "suite.h"

/*
 * A world: a loop, a fabric, a listener, and connections between them. Each side of a connection notes the
 * events of its handler.
 */
enum { WORLD_LOG = 512 };

struct world_completion {
	enum rr_work_kind work;
	uintptr_t cookie;
	int status;
};

struct world_receive {
	uint8_t *data; /* a copy, or the receive itself if the side keeps its receives */
	uint32_t length;
	bool invalidated;
	uint32_t handle;
};

struct side {
	struct world *world;
	struct rr_endpoint *endpoint;
	bool keep_receives;
	/* With closes: the side closes its endpoint inside the handler of this event. */
	enum rr_event_kind close_on;
	bool closes;
	/* The side sends an octet for each receive, and notes before which receive the first of these octets
	 * had left. It counts the octets that moved since the first receive: all receives must come in one
	 * read. */
	bool answers;
	uint64_t moved_then;
	uint32_t answered_before; /* 0: no octet left between two receives */
	bool established, disconnected;
	int status;
	char text[256];
	uint8_t private_data[600];
	uint32_t private_size;
	uint32_t completions, receives;
	struct world_completion completed[WORLD_LOG];
	struct world_receive received[WORLD_LOG];
};

enum world_answer { WORLD_ACCEPT, WORLD_REJECT, WORLD_HOLD };

struct world {
	struct stage stage; /* the clock runs */
	struct rr_fabric *fabric;
	struct rr_listener *listener;
	struct sockaddr_storage address;
	struct side client, server;
	enum world_answer answer;
	/* Sends that the client allows when it dials, and the server when it accepts. */
	uint32_t client_allows, server_allows;
	uint8_t reply[600]; /* private data to accept or reject with */
	uint32_t reply_size;
	uint32_t requests;
	uint8_t request[600]; /* private data that came with the last request */
	uint32_t request_size;
	struct rr_endpoint *asking; /* the request that is held */
};

/* Sets the provider under test; adapter: NULL where it is no adapter. */
void world_provider(suite_fabric_new *make, const struct suite_adapter *adapter);

/* Uses the loopback address of IPv6 from now on. */
void world_ipv6(void);

/* Whether the provider is an adapter. */
bool world_is_adapter(void);
/* Whether the provider refuses reads of memory that was registered for writing only: see suite.h. */
bool world_checks_reads(void);

/* Whether status is that which a side gets for an access that was refused. */
bool world_tells_refusal(int status);

/* Set up and tear down for cmocka: *state is a struct world. */
int world_setup(void **state);
int world_teardown(void **state);

/* Makes a world as world_setup() does, with this configuration. */
struct world *world_new(const struct rr_fabric_config *config);
void world_free(struct world *world);

/* Connects, and turns until both sides are established. */
void world_connect(struct world *world);

/* Begins to connect, with this private data. */
void world_dial(struct world *world, struct side *side, const void *data, uint32_t size);

/* Accepts the request that is held, for side. */
void world_accept(struct world *world, struct side *side);

/* Turns the loop until the expression is true; the test fails if it never is. */
#define world_until(world, expression) turn_until(expression, world_turn(world))

void world_turn(struct world *world);

/* Turns until nothing happens any more. */
void world_settle(struct world *world);

/* Post a work request of one sge. */
int side_post(struct side *side, enum rr_work_kind kind, const void *data, uint32_t length, uint32_t handle,
	uint64_t offset, uintptr_t cookie);
int side_send(struct side *side, const void *data, uint32_t length, uintptr_t cookie);

/* Closes the endpoint of the side. */
void side_close(struct side *side);

/* Closes the endpoint of the side, and frees all that the side noted. */
void side_free(struct side *side);

/* Returns memory, which the caller frees, with contents that depend on seed. */
uint8_t *filled(size_t size, unsigned seed);

#endif
