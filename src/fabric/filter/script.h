/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_SCRIPT_H
#define RR_FABRIC_FILTER_SCRIPT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The language of fault scripts (rpcrdma-fault(7) describes it for people):
 *
 *   script     statement { ";" statement }
 *   statement  action operation N[+] [argument]
 *            | "random" { "seed="N | "rate="FRACTION | "delay="TIME | "kinds="action{","action} }
 *
 * Operations are counted from 1, over all connections of the fabric. "drop send 17" drops the connection of
 * the 17th Send. "fail register 3+" fails the third registration and all that follow. Other examples are
 * "delay complete 5 20ms" and "cut write 2 100".
 */
enum rr_fault_action {
	RR_FAULT_FAIL,
	RR_FAULT_DELAY,
	RR_FAULT_CUT,
	RR_FAULT_REORDER,
	RR_FAULT_FLUSH,
	RR_FAULT_DROP,
	RR_FAULT_CORRUPT,
	RR_FAULT_ACTIONS,
	RR_FAULT_NONE = RR_FAULT_ACTIONS
};

/* The operations that a fault can be done to. */
enum rr_fault_operation {
	RR_FAULT_CONNECT,
	RR_FAULT_ACCEPT,
	RR_FAULT_SEND,
	RR_FAULT_WRITE,
	RR_FAULT_READ,
	RR_FAULT_REGISTER,
	RR_FAULT_RECEIVE,
	RR_FAULT_COMPLETE,
	RR_FAULT_OPERATIONS
};

/* The most rules of a script. */
enum { RR_FAULT_RULES = 32 };

/* A statement: the action that is done to the operation of that number. */
struct rr_fault_rule {
	enum rr_fault_action action;
	enum rr_fault_operation operation;
	uint64_t number, argument; /* argument: ns of a delay, octets that are left by a cut */
	bool onward;               /* also to all operations that follow */
};

/* A script, as rr_fault_parse() reads it. */
struct rr_fault_script {
	struct rr_fault_rule rules[RR_FAULT_RULES];
	uint32_t rule_count;
	uint64_t seed;      /* of the random numbers */
	uint32_t rate;      /* of 2^32: the chance of an operation to have a random fault; 0: never */
	uint32_t kinds;     /* a bit for each action that may be chosen for a random fault */
	uint64_t delay_max; /* ns, the longest delay of a random fault */
};

/* Whether a fault script may apply this action to this operation. */
bool rr_fault_applies(enum rr_fault_action action, enum rr_fault_operation operation);

/* Whether the script may damage octets on their way, so that connections need checksums. */
bool rr_fault_corrupts(const struct rr_fault_script *script);

/* Reads a fault script in the text source into *script. Returns -RPCRDMA_ERR_INVAL, with a text that shows
 * the wrong word, if the script is wrong. */
int rr_fault_parse(const char *source, struct rr_fault_script *script, struct rr_text *text);

#endif
