/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_NODE_H
#define RR_TESTS_FABRIC_NODE_H

#include "fabric/iwarp/protocol.h"

/*
 * An iWARP connection by itself, for tests that are the network: what it has to
 * send is collected, what it is to receive is fed in pieces of any size. Its
 * random numbers are always the same, so that a recorded stream can be
 * played to a new node.
 */
enum { NODE_STREAM = 1 << 20, NODE_LOG = 8192, NODE_MEMORY = 65536, NODE_ALIGNMENT = 4096 };

struct node {
	struct rr_iwarp iwarp; /* comes first: tests pass it to functions of the protocol */
	struct rr_env env;
	uint32_t seed;
	struct rr_fabric_config config;
	struct rr_iwarp_shared shared;
	uint8_t *out; /* the octets that it has sent */
	size_t out_size;
	size_t take;        /* octets that TCP takes at a time; 0: all */
	char log[NODE_LOG]; /* one line per event */
	size_t log_size;
	bool keeps; /* receives are not given back */
	uint8_t *kept[16];
	uint32_t kept_count;
	uint8_t memory[NODE_MEMORY] __attribute__((aligned(NODE_ALIGNMENT))); /* for regions and sinks */
	/* Called with each event after it was logged; may be NULL. */
	void (*then)(struct node *node, const struct rr_event *event);
};

/* Makes a node, whose memory for regions begins a page. */
struct node *node_new(const struct rr_fabric_config *config);
void node_free(struct node *node);

/* Collects the octets that the node has to send in node->out. */
void node_collect(struct node *node);

/* Forgets the octets that the node has sent. */
void node_clear(struct node *node);

/* Feeds data in reads of at most step octets each; step 0: of random sizes, from *seed. Returns the octets
 * that were taken: it stops where the node reads no more. */
size_t node_feed(struct node *node, const uint8_t *data, size_t size, size_t step, uint32_t *seed);

/* Set two nodes up as initiator and responder, and carry octets between them until no octets are left. */
void node_connect(struct node *initiator, struct node *responder);
void node_exchange(struct node *one, struct node *other);

/* Posts a work request of one sge; cookie 0: there is no event if it succeeds. */
int node_post(struct node *node, enum rr_work_kind kind, const void *data, uint32_t length, uint32_t handle,
	uint64_t offset, uintptr_t cookie);

/* Registers part of the node's memory. */
struct rr_region node_register(struct node *node, uint32_t at, uint32_t length, unsigned access);

/* Returns the cause of the Terminate with which the node's output ends; -1: it ends with no Terminate. */
int node_terminate_cause(const struct node *node);

#endif
