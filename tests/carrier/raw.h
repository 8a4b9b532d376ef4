/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_RAW_H
#define RR_TESTS_TRANSPORT_RAW_H

#include "carrier/rdma/core/room.h"
#include "wire/properties.h"
#include "wire/rpcrdma1.h"
#include "world.h"

/* A peer that uses the fabric directly: it sends any header that a test wants, and shows the messages that
 * it received. */
enum { RAW_MESSAGES = 256, RAW_REGIONS = 32 };

struct raw_message {
	uint8_t *data;
	uint32_t length;
	bool invalidated;
	uint32_t handle;
};

struct raw {
	struct world *world;
	struct rr_listener *listener;
	struct sockaddr_storage address;
	struct rr_endpoint *endpoint;
	bool established, disconnected;
	int status;
	uint32_t receives; /* that it posts for each connection, as a responder */
	bool exact;        /* it posts only those Receives that the test allows */
	uint32_t completions;
	struct raw_message messages[RAW_MESSAGES]; /* received, and not taken yet */
	uint32_t message_count;
	uint8_t private_data[64]; /* that it sends */
	uint32_t private_size;
	uint8_t peer_private_data[64]; /* that it received */
	uint32_t peer_private_size;
};

/* Makes a raw peer whose private data has 4096 both ways and R, unless the test changes it. */
struct raw *raw_new(struct world *world);
void raw_free(struct raw *raw);

/* Make a raw peer in a new world, config as with world_new(): a requester at the world's acceptor, or a
 * responder for its client. */
struct raw *raw_requester(const struct rr_engine_config *config);
struct raw *raw_responder(const struct rr_engine_config *config);

/* Makes a responder that posts that many Receives, and no others by itself. */
struct raw *raw_responder_with_receives(const struct rr_engine_config *config, uint32_t receives);

/* Makes a requester whose handles may not be invalidated remotely. */
struct raw *raw_requester_uninvalidated(const struct rr_engine_config *config);

/* raw_end() ends the raw peer, then the world. raw_end_client() closes the world's client before, if there
 * is one. */
void raw_end(struct raw *raw);
void raw_end_client(struct raw *raw);

/* Connects to the world's acceptor, as a requester. */
void raw_connect(struct raw *raw);

/* Listens, as a responder, and takes the connection of the world's client. */
void raw_serve(struct raw *raw);

void raw_send(struct raw *raw, const void *data, uint32_t length);
void raw_send_invalidate(struct raw *raw, const void *data, uint32_t length, uint32_t handle);

/* Sends words in network byte order. */
void raw_send_words(struct raw *raw, const uint32_t *words, uint32_t count, uint32_t invalidate);

#define WORDS(...)                                                                                           \
	(const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)
#define SEND(raw, ...) raw_send_words(raw, WORDS(__VA_ARGS__), 0)

/* rdma_opttype and rdma_optinfo of a CONNPROP (draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1) that names all
 * four properties, none of which changes. */
#define CONNPROP(size, reverse, reads, invalidation)                                                         \
	RR_CONNPROP, 60, 4, 1, 4, size, 2, 4, reverse, 0xffffff00, 4, reads, 0xffffff01, 4, invalidation, 1, \
		15

/* The words of a segment on the wire: handle, length, and the offset in two words. */
#define SEGMENT(s) (s).handle, (s).length, (uint32_t)((s).offset >> 32), (uint32_t)((s).offset & UINT32_MAX)

/* Waits for the next message and returns it; it is valid until the next call. */
struct raw_message *raw_next(struct raw *raw);

/* Returns a word of a message. */
uint32_t word(const struct raw_message *message, uint32_t index);

/* For a responder of version 2. raw_introduced() takes the CONNPROP that begins the connection, with its
 * XID. raw_agree() answers it as a peer with the default properties does, with this grant;
 * raw_agree_without_properties() as a peer without properties. */
struct raw_message *raw_introduced(struct raw *raw, uint32_t *xid);
void raw_agree(struct raw *raw, uint32_t grant);
void raw_agree_without_properties(struct raw *raw);

/* For a responder of version 1. raw_answer() sends a good small reply to xid, with this grant.
 * raw_warm_up() answers a call, so that the grant is known. raw_still_works() does the same when the
 * connection may have suffered. */
void raw_answer(struct raw *raw, uint32_t xid, uint32_t grant);
void raw_warm_up(struct raw *raw, uint32_t grant);
void raw_still_works(struct raw *raw);

/* Registers memory of the test. */
struct rr_region raw_register(struct raw *raw, void *memory, uint32_t length, unsigned access);

/* Posts an RDMA Write or Read and waits for it. Returns 0, or the status of the completion; if the
 * endpoint ends, it failed. */
int raw_rdma(struct raw *raw, enum rr_work_kind kind, void *memory, uint32_t length, uint32_t handle,
	uint64_t offset);

/* Writes length octets, which it makes up in data, into the segment of the world's client. */
void raw_fill(struct raw *raw, const struct rr_segment *segment, void *data, uint32_t length);

/* A header that was received, parsed. The arrays belong to raw.c and are valid until the next parse. */
struct raw_header {
	struct rr_rdma_header fixed;
	struct rr_chunk_lists lists;
	struct rr_read_segment reads[32];
	struct rr_chunk writes[8];
	struct rr_segment segments[64];
	const uint8_t *body;
	uint32_t body_length;
};

void raw_parse(const struct raw_message *message, struct raw_header *header);

/* Starts a call with XID 5 that offers a Write chunk of one segment; header: as the raw peer received it. */
struct call *raw_offered_write_chunk(struct raw *raw, struct raw_header *header);

#endif
