/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_STAGE_H
#define RR_TESTS_STAGE_H

#include "test.h"

#include <netinet/in.h>

#include "carrier/engine.h"

/*
 * The ground on which every world stands: an environment whose clock the test moves and whose memory can run
 * out, an engine or a loop in it, an address on the loopback, and directories of the test's own. A world puts
 * a stage in front of what it adds: carriers, a server and a client of the echo program, files that are
 * served.
 */
struct stage {
	struct rr_env env; /* its ctx is the stage; it logs nothing */
	uint64_t now;      /* nanoseconds; stands still, except where the test moves it, or as follows */
	bool runs;         /* the clock is the system's, and `now` is added to it */
	uint8_t octet;     /* all random octets are this one; 0: they are random */
	uint32_t allocations, fail_at; /* the allocation of this number fails; 0: every one succeeds */
	struct rpcrdma_engine *engine;
	struct rr_loop *loop;   /* the engine's, or one without an engine */
	struct rr_timer ticker; /* private */
};

/* The environment: the clock shows one second. */
void stage_init(struct stage *stage);

/* An engine. config NULL: the default; make NULL: providers as a user's engine has them. */
void stage_engine(struct stage *stage, const struct rr_engine_config *config, rr_fabric_new *make);

/* A loop without an engine. */
void stage_loop(struct stage *stage);

/* From now on each turn moves the clock by a millisecond, until stage_end(). */
void stage_tick(struct stage *stage);

/* Frees the engine or the loop. */
void stage_end(struct stage *stage);

/* One turn, which waits for a millisecond at most. */
void stage_turn(struct stage *stage);

/* Turns until nothing is to be done any more. */
void stage_settle(struct stage *stage);

/* Moves the clock, and settles. */
void stage_pass(struct stage *stage, uint64_t time);

#define stage_until(stage, expression) turn_until(expression, stage_turn(stage))

/* 127.0.0.1, with no port. */
struct sockaddr_in stage_loopback(void);

/* A new directory in /tmp, whose name path becomes, and its removal with all that is in it. */
enum { STAGE_PATH = 64 };
void stage_directory(char path[STAGE_PATH]);
void stage_remove(const char *path);

#endif
