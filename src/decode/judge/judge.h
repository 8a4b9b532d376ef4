/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_JUDGE_JUDGE_H
#define RR_DECODE_JUDGE_JUDGE_H

#include "decode/decoder.h"

/* A judge checks captured traffic against docs/conformance.md. Each row of that page is split into one or
 * more rules; a rule is about one thing that can be seen in a capture. A finding is a place where the capture
 * breaks a rule. A rule that depends on earlier messages is not applied to a connection whose beginning, or a
 * part of it, was not captured. */

/* The rules, in the order of the rows. A comment names the row of its rule; a rule without a comment belongs
 * to the same row as the rule above it. */
enum rr_rule {
	RR_RULE_TCP, /* A1 */
	RR_RULE_XID, /* A2 */
	RR_RULE_BODY,
	RR_RULE_NO_BODY,
	RR_RULE_NOWHERE,
	RR_RULE_RETIRED,
	RR_RULE_TWICE,
	RR_RULE_UNANSWERED,
	RR_RULE_CHUNK_KIND, /* A3 */
	RR_RULE_OVERLAP,    /* A4 */
	RR_RULE_POSITION,   /* A5 */
	RR_RULE_POSITION_ZERO,
	RR_RULE_NOT_OFFERED, /* A6 */
	RR_RULE_DIRECTION,
	RR_RULE_EMPTY_REPLY, /* A7 */
	RR_RULE_RETURNED,    /* A8 */
	RR_RULE_LONGER,
	RR_RULE_REPLY_READS,
	RR_RULE_REPLY_CHUNK,   /* A9 */
	RR_RULE_EMPTY_SEGMENT, /* A10 */
	RR_RULE_OUTSIDE,       /* A11 */
	RR_RULE_ORDER,
	RR_RULE_LENGTH,
	RR_RULE_LATE,
	RR_RULE_READ_RESPONSE, /* A12 */
	RR_RULE_SEND_SEGMENTS, /* A13 */
	RR_RULE_CREDITS,       /* B1 */
	RR_RULE_GRANT,
	RR_RULE_NO_RECEIVE,
	RR_RULE_THRESHOLD, /* B2 */
	RR_RULE_RANGE,     /* B3 */
	RR_RULE_ERROR_VERSION,
	RR_RULE_ERROR_OF_ERROR,
	RR_RULE_MALFORMED,       /* B4 */
	RR_RULE_PADDING,         /* B5 */
	RR_RULE_REVERSE_VERSION, /* B6 */
	RR_RULE_REPEATED,        /* B7 */
	RR_RULE_STRAY_REPLY,     /* B8 */
	RR_RULE_WRITE_CHUNKS,    /* B9 */
	RR_RULE_INVALIDATION,    /* B10 */
	RR_RULE_INVALIDATED,
	RR_RULE_OLD_THRESHOLD,   /* B12 */
	RR_RULE_VERSION_REFUSED, /* B13 */
	RR_RULE_OPTION,
	RR_RULE_PROVIDED, /* B14 */
	RR_RULE_DONE,
	RR_RULES
};

enum rr_rule_level {
	RR_RULE_MUST,  /* a specification's MUST is broken */
	RR_RULE_REMARK /* a row of docs/conformance.md that no MUST demands, or a finding that a capture only
			  suggests */
};

/* Describes a rule for people; text says how the rule was broken. */
struct rr_rule_text {
	const char *row;     /* "A5" */
	const char *section; /* "RFC 8166, 3.4.5" */
	enum rr_rule_level level;
	const char *text;
	const char *known; /* a peer that is known to deviate, and how; NULL: no peer is known to */
};

extern const struct rr_rule_text rr_rules[RR_RULES];

struct rr_finding {
	enum rr_rule rule;
	struct rr_moment moment;
	bool has_xid; /* the finding belongs to the transaction with this XID */
	uint32_t xid;
	const char *detail; /* the numbers of this finding, as text; valid until the callback returns */
};

struct rr_judge;

/* Makes a judge, which calls found for each finding. Errors: NOMEM. */
int rr_judge_new(const struct rr_env *env, void (*found)(void *ctx, const struct rr_finding *finding),
	void *ctx, struct rr_judge **judge);
/* Frees the judge, which may be NULL. If rr_judge_finish() was not called, ends the capture first, so the
 * judge may still report findings. */
void rr_judge_free(struct rr_judge *judge);

/* Returns the sink for a decoder whose messages and operations are to be judged. It is valid as long as
 * judge. */
struct rr_decode_sink rr_judge_sink(struct rr_judge *judge);

/* Called at the end of the capture: reports calls that should have had a reply by now, and forgets all
 * connections. */
void rr_judge_finish(struct rr_judge *judge);

/* rr_judge_messages() returns how many messages were captured. rr_judge_cut() returns how many of them were
 * not checked, because octets of them were not captured. rr_judge_evicted() returns how many calls without a
 * reply were forgotten to make room for newer calls. Rules that depend on earlier messages are not applied
 * any more to the connection of such a call. */
uint64_t rr_judge_messages(const struct rr_judge *judge);
uint64_t rr_judge_cut(const struct rr_judge *judge);
uint64_t rr_judge_evicted(const struct rr_judge *judge);

#endif
