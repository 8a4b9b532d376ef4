/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_STAGE_H
#define RR_TESTS_STAGE_H

#include "test.h"

#include <netinet/in.h>

#include "carrier/engine.h"

/*
 * The common ground of all worlds: an environment whose clock the test moves and whose memory can run out, an
 * engine or a loop in it, an address on the loopback, and directories of the test's own. A world begins with
 * a stage, and adds to it: carriers, a server and a client of the echo program, files that are served.
 */
struct stage {
	struct rr_env env; /* its ctx is the stage; it logs nothing */
	uint64_t now;      /* nanoseconds; stands still unless the test moves it, or `runs` is set */
	uint64_t step;     /* each reading of the clock moves it by so much before */
	bool runs;         /* the clock is the system's, and `now` is added to it */
	uint8_t octet;     /* all random octets are this one; 0: they are random */
	uint32_t allocations, fail_at; /* the allocation of this number fails; 0: every one succeeds */
	struct rpcrdma_engine *engine;
	struct rr_loop *loop;   /* the engine's, or one without an engine */
	struct rr_timer ticker; /* private */
};

/* Makes the environment: its clock shows one second. */
void stage_init(struct stage *stage);

/* Makes an engine. config NULL: the default; make NULL: providers as a user's engine has them. */
void stage_engine(struct stage *stage, const struct rr_engine_config *config, rr_fabric_new *make);

/* Returns the configuration of such an engine: a copy of config, or the default where config is NULL. Inline
 * thresholds that are the default ones become 4096 octets, for which the lengths in tests are made; most
 * peers have these. */
struct rr_engine_config stage_config(const struct rr_engine_config *config);

/* Makes a loop without an engine. */
void stage_loop(struct stage *stage);

/* From now on each turn moves the clock by a millisecond, until stage_end(). */
void stage_tick(struct stage *stage);

/* Frees the engine or the loop. */
void stage_end(struct stage *stage);

/* Turns once, and waits for a millisecond at most. */
void stage_turn(struct stage *stage);

/* Turns until nothing is left to be done. */
void stage_settle(struct stage *stage);

/* Moves the clock by time, and settles. */
void stage_pass(struct stage *stage, uint64_t time);

#define stage_until(stage, expression) turn_until(expression, stage_turn(stage))

/* Returns the address 127.0.0.1 with port 0. */
struct sockaddr_in stage_loopback(void);

/* The room for the path of a directory. */
enum { STAGE_PATH = 64 };
/* stage_directory() makes a directory in /tmp and sets path to its name; stage_remove() removes it with all
 * that is in it. */
void stage_directory(char path[STAGE_PATH]);
void stage_remove(const char *path);

#endif
