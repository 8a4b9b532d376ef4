/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_MODEL_MODEL_H
#define RR_TESTS_MODEL_MODEL_H

#include "carrier/carrier.h"
#include "carrier/rdma/version.h"
#include "fabric/filter/script.h"

/*
 * A model of what two transports owe their owners, and an owner that asks
 * everything of them that it may ask, in an order that a seed decides: calls
 * of all kinds in both directions, answers in any order, cancellations,
 * connections that are closed, shut down or lost, and made again. A fault
 * script delays and reorders what happens between them. Time stands still
 * but for the schedule.
 *
 * After each step check.c compares the transports with the model.
 */

enum {
	MODEL_ENDS = 6,           /* of connections, at a time */
	MODEL_CALLS = 4096,       /* in each direction, in one run */
	MODEL_REST = 24,          /* steps for which ended memory is watched */
	MODEL_MESSAGE_MAX = 65536 /* octets */
};

/* A message: its octets follow from these. */
struct said {
	uint32_t xid, type, attempt, end;
	uint32_t length; /* of the stream, at least 16 */
	uint32_t item_count;
	uint32_t offsets[RR_MESSAGE_ITEMS], lengths[RR_MESSAGE_ITEMS];
};

/* Memory that nobody else may touch any more: it is watched for a while, then freed. */
struct rest {
	struct rr_list link;
	uint64_t until; /* step */
	uint32_t size;
	uint8_t memory[];
};

enum call_state { CALL_PENDING, CALL_LOST, CALL_ENDED };

/* A call and its attempts: one that a connection was lost under may go out again, with its XID. */
struct call {
	struct rr_transaction transaction;
	struct rr_list link; /* pending: in its end's; lost: in the model's */
	struct model *model;
	struct end *end; /* while it is pending */
	enum call_state state;
	bool reverse, arrived, answered;
	bool beyond; /* the answer is one that cannot be conveyed */
	struct said said, answer;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	struct rest *memory; /* stream, items and sinks; NULL once it ended */
	uint32_t sinks_at;
};

/* One end of a connection, with its owner's books. */
struct end {
	struct rr_list link;
	struct model *model;
	struct rr_carrier *carrier;
	struct rr_list calls;                       /* pending ones made here */
	struct rr_list asked;                       /* calls of the peer's that are not answered */
	uint32_t id, peer;                          /* peer: 0 until it called */
	uint32_t unanswered, answers, receives_max; /* unanswered: also what was dropped */
	bool is_client, connected, closed, stopping;
	bool starves; /* an answer to it was withheld: it may wait for ever */
};

/* A call that arrived and was not answered. */
struct asked {
	struct rr_list link;
	struct end *end; /* NULL: the connection is gone */
	struct rr_exchange *exchange;
	struct call *call;
	struct said said; /* as it was when it was sent */
	bool current;     /* nobody sent it again */
};

/* An answer on its way. */
struct answer {
	struct rr_list link;
	struct model *model;
	struct rest *memory;
};

/* Memory of a reply that the caller kept. */
struct kept {
	struct rr_list link;
	void *memory;
	struct said said;
	uint64_t until;
};

struct model_totals {
	uint64_t steps, calls, reverse, answered, refused, failed, cancelled, lost, resent, connections,
		faults;
	uint64_t version[RR_VERSIONS + 1], properties; /* of connections that ended */
	uint64_t cut;                                  /* connections, as they moved next to nothing */
	struct rpcrdma_counters counters;
};

struct model {
	uint64_t seed, state, now, step;
	struct rr_env env;
	int64_t live;              /* allocations */
	uint32_t scarce;           /* one in so many allocations fails; 0: none */
	bool resting;              /* nothing new is begun */
	bool harsh;                /* the script makes operations fail */
	enum rr_versions versions; /* that some of the ends speak, where the others speak both */
	char script[512];
	struct rr_fault_script fault;
	struct rr_engine_config config;
	struct rpcrdma_engine *engine;
	struct rr_acceptor *acceptor;
	struct sockaddr_storage address;
	struct rr_list ends, lost, orphans, answers, kept, rests;
	uint32_t end_count, last_end;
	bool fenced[MODEL_CALLS]; /* ends that cancelled a call: its memory is fenced, whatever the peer does
				   */
	struct call *calls[2][MODEL_CALLS];
	uint32_t call_count[2];
	const char *action;
	struct model_totals *totals;
};

/* Says what does not hold, with the seed, and ends the program. */
void model_fail(const struct model *model, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#define model_require(model, holds)                                                                          \
	do {                                                                                                 \
		if (!(holds))                                                                                \
			model_fail(model, "%s:%d: %s", __func__, __LINE__, #holds);                          \
	} while (0)

uint32_t model_random(struct model *model);

/* 0 to limit - 1. */
uint32_t model_below(struct model *model, uint32_t limit);

static inline bool
model_one_in(struct model *model, uint32_t chances)
{
	return model_below(model, chances) == 0;
}

/* An element of the list by chance; NULL where it is empty. */
struct rr_list *model_any(struct model *model, struct rr_list *list);

/* ---- schedule.c ---- */

void model_run(uint64_t seed, uint64_t steps, struct model_totals *totals);

/* What an owner may do inside a callback. */
void model_mischief(struct model *model);

/* ---- message.c ---- */

/* The stream, or an item, of the message. */
void model_say_stream(const struct said *said, uint8_t *to);
void model_say_item(const struct said *said, uint32_t index, uint8_t *to);

/* Octets of an item, its padding with it. */
uint32_t model_padded(uint32_t length);

/* Whether message has the octets of said, wherever its items are. */
bool model_hears(const struct said *said, const struct rpcrdma_message *message);

/* ---- memory.c ---- */

struct rest *model_memory(struct model *model, uint32_t size);

/* From now on nobody may read it or write to it. */
void model_bury(struct model *model, struct rest *memory);

/* Frees what was watched long enough; all of it at the end. */
void model_unearth(struct model *model, bool all);

/* ---- calls.c ---- */

void model_call(struct model *model, struct end *end);
void model_cancel(struct call *call);
void model_resend(struct model *model);

/* The transport has forgotten it. */
void model_forget(struct call *call);
void model_keep_no_longer(struct model *model, bool all);

/* ---- answers.c ---- */

void model_asked(void *ctx, struct rr_exchange *exchange);
void model_answer(struct model *model, struct asked *asked);
void model_withhold(struct model *model, struct asked *asked);

/* Every octet of the call is still what was sent. */
void model_hear_again(const struct model *model, const struct asked *asked);

/* ---- ends.c ---- */

void model_connect(struct model *model);
void model_accepted(void *ctx, struct rr_carrier *carrier);
void model_close(struct end *end);
struct end *model_end(const struct model *model, uint32_t id);

/* ---- check.c ---- */

void model_check(const struct model *model);

/* No endpoint may be left that the peer can do anything with it through. */
void model_check_rest(const struct model *model);

/* ---- under.c, reach.c ---- */

/* What is under the fault filter; NULL: nothing. */
struct rr_endpoint *model_under(struct rr_endpoint *endpoint);

/* Calls seen() for each region of the in-process endpoint that its peer can access. */
void model_reach(struct rr_endpoint *endpoint,
	void (*seen)(void *ctx, const uint8_t *from, uint32_t length, unsigned access), void *ctx);

/* The Sends that the peer may still make. */
uint32_t model_posted(struct rr_endpoint *endpoint);

#endif
