/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_KERNEL_PEER_H
#define RR_TESTS_KERNEL_PEER_H

#include "base/loop.h"
#include "fabric/fabric.h"

/*
 * One side of one connection, in straight lines: each function turns the
 * loop until what it is for has happened. Whatever goes wrong ends the
 * program with status 1 and a line that says what.
 */

enum { PEER_SEND_MAX = 16 << 20, PEER_RECEIVES = 4 };

struct peer_message {
	uint8_t *data;
	uint32_t length;
};

struct peer_options {
	bool connects; /* or it listens */
	bool verbs;    /* or iwarp */
	bool crc, peer_to_peer;
	const char *reject; /* the listener declines with this private data */
	const char *expect; /* what the end of the connection must be explained with */
	const char *address, *port;
};

struct peer {
	struct peer_options options;
	struct rr_loop *loop;
	struct rr_fabric *fabric;
	struct rr_listener *listener;
	struct rr_endpoint *endpoint;
	bool keeps; /* a message that was received stays in its receive: the peer meets an empty pool */
	bool established, ended;
	int status;       /* of the end */
	char text[256];   /* likewise */
	char reason[256]; /* private data of a rejection */
	struct peer_message received[PEER_RECEIVES];
	uint32_t received_count;
	uint32_t posted, completed;
	int work_status; /* the first that was not 0 */
	struct rr_timer kick;
};

/* Ends the program. */
void peer_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define peer_need(condition, ...)                                                                            \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			peer_fail(__VA_ARGS__);                                                              \
	} while (0)

/* Turns the loop until expression is true. */
#define peer_until(peer, expression)                                                                         \
	do {                                                                                                 \
		uint64_t limit_ = peer_limit();                                                              \
		while (!(expression))                                                                        \
			peer_turn(peer, limit_, #expression);                                                \
	} while (0)

uint64_t peer_limit(void);
void peer_turn(struct peer *peer, uint64_t limit, const char *until);

/* A side that is connected, or was rejected where that is what the options are about. */
void peer_open(struct peer *peer, const struct peer_options *options);
void peer_close(struct peer *peer);

/* Posts; peer_complete() waits for all that was posted. */
void peer_post(struct peer *peer, enum rr_work_kind kind, const void *data, uint32_t length, uint32_t handle,
	uint64_t offset);
void peer_complete(struct peer *peer);
void peer_send(struct peer *peer, const void *data, uint32_t length);

/* The next message; the caller takes it with peer_drop(). */
const struct peer_message *peer_receive(struct peer *peer);
void peer_drop(struct peer *peer);

struct rr_region peer_register(struct peer *peer, void *memory, uint32_t length, unsigned access);

/* The connector disconnects, the listener waits for it. */
void peer_part(struct peer *peer);

/* ---- What a program can do with it ---- */

/* Sends, RDMA Writes and RDMA Reads of many sizes, in both directions, compared. */
void peer_exchange(struct peer *peer);

/* The protocol of rping, a program of rdma-core: as its client, or as its server. */
void peer_rping(struct peer *peer);

/* What the connector must not do; the connection ends for it, and both sides know why. */
void peer_write_astray(struct peer *peer);
void peer_read_astray(struct peer *peer);
void peer_damage(struct peer *peer);
void peer_overrun(struct peer *peer);

#endif
