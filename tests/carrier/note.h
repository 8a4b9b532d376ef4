/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_CARRIER_NOTE_H
#define RR_TESTS_CARRIER_NOTE_H

#include "carrier/rdma/core/connection.h"
#include "world.h"

/* An optional feature that only tests have: either side sends notes to the other side, unasked. A NOTE has
 * a number in its rdma_optinfo and the text as its payload. A SEEN answers it with the same number and, if
 * the number is odd, with the text again. */
enum { NOTE = 0x7e570001, SEEN = 0x7e570002, NOTE_MAX = 65536 };

/* The list for struct rr_engine_config. */
extern const struct rr_feature *const note_features[];

/* The feature's state of a connection. */
struct note {
	struct rr_connection *connection;
	uint32_t got, got_octets;   /* NOTEs that arrived */
	uint32_t seen, seen_octets; /* SEENs that arrived */
	uint32_t number, echo;      /* of the last SEEN: its number, and octets of its payload */
	uint8_t *answer;            /* the text of the last SEEN that was sent */
	uint8_t info[4];            /* the number of that SEEN */
};

/* A NOTE that was sent, or waits to be sent. */
struct note_sent {
	struct rr_feature_request request;
	uint8_t info[4];
	uint8_t *text;
	bool done;
	int error;
};

/* Returns how many states began and have not ended. */
uint32_t note_states(void);

struct note *note_of(struct rr_carrier *carrier);

/* Sends a text of length octets, in memory of the world. Returns the error of rr_feature_ask(). */
int note_send(struct world *world, struct rr_carrier *carrier, struct note_sent **sent, uint32_t number,
	uint32_t length);

/* Turns until the NOTE has ended, with that error. */
void note_ended(struct world *world, const struct note_sent *sent, int error);

#endif
