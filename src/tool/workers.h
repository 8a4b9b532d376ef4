/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_WORKERS_H
#define RR_TOOL_WORKERS_H

#include "carrier/engine.h"
#include "tool/monitor.h"
#include "tool/tool.h"

/*
 * Threads that serve until a signal ends them, each with an engine and a
 * service of its own. They share nothing but what their maker gives them.
 * SIGUSR1 has each of them report; `rpcrdma top` asks their monitor.
 */

/* Threads, and connections of each thread, at most. */
enum { RR_WORKERS_MAX = 64, RR_WORKERS_CONNECTIONS = 1000000 };

/* Workers that run. */
struct rr_workers_run;

struct rr_worker_service {
	/*
	 * Makes a service on engine, and has it listen. Called for one worker after the other in the main
	 * thread, so that whatever cannot be had is reported before anything is served. Returns an exit
	 * status, after a message; also after a failure *service is freed, if it was set.
	 */
	int (*make)(void *ctx, struct rpcrdma_engine *engine, void **service);
	void (*report)(const void *service, uint32_t thread); /* tells what was counted */
	/* Adds what was counted. */
	void (*measure)(const void *service, uint32_t thread, struct rr_measure *measure);
	void (*announce)(void *ctx);       /* all are there; says where they are found */
	void (*shutdown)(void *service);   /* ends it in good order */
	bool (*idle)(const void *service); /* that is done */
	/* Both NULL: SIGHUP ends the service. reload: SIGHUP came; called in the first worker's thread.
	 * Whenever there is something new, from any thread, the service calls rr_workers_renew(), and each
	 * worker then calls renew in its own thread. */
	void (*reload)(void *ctx, struct rr_workers_run *run);
	void (*renew)(void *service);
	void (*free)(void *service);
};

struct rr_workers {
	const struct rr_tool *tool;
	const struct rr_worker_service *service;
	void *ctx;
	struct rr_engine_config engine; /* inline_send is for both directions; reuse_port is set where it is
					 * needed */
	uint32_t count;
	bool verbose;
	const char *monitor, *metrics; /* see struct rr_monitor_config */
};

/* Table of options (--threads, --connections, --credits, --inline, --provided, --no-provided, --verbose); its
 * state is a struct rr_workers. */
extern const struct rr_option rr_workers_options[];

/* For any thread, while the workers run. */
void rr_workers_renew(struct rr_workers_run *run);

/* Returns the exit status. */
int rr_workers_run(const struct rr_workers *workers);

#endif
