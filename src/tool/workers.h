/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_WORKERS_H
#define RR_TOOL_WORKERS_H

#include "carrier/engine.h"
#include "tool/monitor/monitor.h"
#include "tool/tool.h"

/*
 * Workers: threads that serve until a signal ends them, each with its own engine and its own service, which
 * is a server or a gateway. They share only what their maker gives them. SIGUSR1 has each of them report;
 * `rpcrdma top` asks their monitor.
 */

/* The most threads, and the most connections of each thread. */
enum { RR_WORKERS_MAX = 64, RR_WORKERS_CONNECTIONS = 1000000 };

/* Workers that run. */
struct rr_workers_run;

/* The functions of the service that each worker has. ctx is that of struct rr_workers. */
struct rr_worker_service {
	/*
	 * Makes a service on engine, and has the service listen. Called for each worker in turn in the main
	 * thread, so that any failure is reported before calls are served. Returns an exit status, after a
	 * message if it is not OK. If *service was set, free() frees it, also after a failure.
	 */
	int (*make)(void *ctx, struct rpcrdma_engine *engine, void **service);
	void (*report)(const void *service, uint32_t thread); /* prints the counts */
	/* Adds the counts of the service to the measure. */
	void (*measure)(const void *service, uint32_t thread, struct rr_measure *measure);
	void (*announce)(void *ctx);       /* all workers exist: prints where they are found */
	void (*shutdown)(void *service);   /* begins to end the service in good order */
	bool (*idle)(const void *service); /* tells whether the service has ended */
	/* If both are NULL, SIGHUP ends the service. reload() is called in the first worker's thread when
	 * SIGHUP has come. When it has read something new, the service calls rr_workers_renew() from any
	 * thread, and each worker then calls renew() in its own thread. */
	void (*reload)(void *ctx, struct rr_workers_run *run);
	void (*renew)(void *service);
	void (*free)(void *service);
};

/* What workers are made from. */
struct rr_workers {
	const struct rr_tool *tool;
	const struct rr_worker_service *service;
	void *ctx; /* for the functions of the service */
	/* Of each worker's engine. inline_send is for both directions; reuse_port and spread are set if there
	 * are several workers. */
	struct rr_engine_config engine;
	uint32_t count; /* number of workers */
	bool verbose, no_sandbox;
	const char *monitor, *metrics; /* see struct rr_monitor_config */
};

/* The table of options (--threads, --connections, --credits, --inline, --provided, --no-provided, --poll,
 * --monitor, --metrics, --no-sandbox, --verbose), whose state is a struct rr_workers. */
extern const struct rr_option rr_workers_options[];

/* Has each worker call the function renew of its service, in its own thread. Any thread may call this while
 * the workers run. */
void rr_workers_renew(struct rr_workers_run *run);

/* Runs the workers until a signal ends them. Returns the exit status, after a message if it is not OK. */
int rr_workers_run(const struct rr_workers *workers);

#endif
