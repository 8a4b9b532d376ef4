/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of `rpcrdma serve`. Each has an engine, an NFS server on trees
 * of its own, and an RPC server that listens at all addresses; nothing is
 * shared but the configuration, the means to stop, and the duplicate request
 * cache: a client may come back to another thread than it left.
 *
 * All of them are made by the main thread, so that whatever cannot be had is
 * reported before anything is served. Worker 0 then runs in the main thread
 * and waits for signals as well. What ends it writes STOP to every worker's
 * eventfd; a worker answers what it has received, or gives up after
 * DRAIN_LIMIT, and its loop ends. SIGUSR1 writes REPORT: each worker then
 * tells what it counted, as nobody else may look.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fabric/address.h"
#include "rpc/server.h"
#include "tool/address.h"
#include "tool/report.h"
#include "tool/serve.h"

#define DRAIN_LIMIT (4 * RR_SECOND)

/* An eventfd adds up what is written to it. */
#define STOP   UINT64_C(1)
#define REPORT (UINT64_C(1) << 32)

struct worker {
	struct run *run;
	struct rr_env env;
	struct rr_engine *engine;
	struct rr_nfs_server *nfs;
	struct rr_server *server;
	struct rr_service services[RR_NFS_SERVICES];
	struct rr_watch request; /* an eventfd */
	struct rr_timer drain;
	bool given_up;
	pthread_t thread;
};

struct run {
	const struct rr_tool *tool;
	struct rr_serve *serve;
	struct rr_watch signals; /* a signalfd, in worker 0's loop */
	_Atomic uint64_t verifier;
	struct rr_drc *drc;
	uint32_t count; /* workers made */
	struct worker workers[RR_SERVE_THREADS];
};

static void
drain_limit_reached(struct rr_timer *timer)
{
	rr_container(timer, struct worker, drain)->given_up = true;
}

static void
request_came(struct rr_watch *watch, unsigned events)
{
	struct worker *worker = rr_container(watch, struct worker, request);
	eventfd_t requests = 0;

	(void)events;
	eventfd_read(watch->fd, &requests);
	if (requests >= REPORT)
		rr_report_server(stderr, (uint32_t)(worker - worker->run->workers), worker->server,
			worker->services, RR_NFS_SERVICES);
	if (requests % REPORT == 0)
		return;
	rr_loop_want(worker->engine->loop, watch, 0);
	rr_server_shutdown(worker->server);
	rr_loop_arm(worker->engine->loop, &worker->drain, DRAIN_LIMIT);
}

static void
tell_workers(struct run *run, eventfd_t request)
{
	for (uint32_t i = 0; i < run->count; i++)
		eventfd_write(run->workers[i].request.fd, request);
}

static void
signal_came(struct rr_watch *watch, unsigned events)
{
	struct run *run = rr_container(watch, struct run, signals);
	struct signalfd_siginfo signal;

	(void)events;
	if (read(watch->fd, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (signal.ssi_signo == SIGUSR1) {
		tell_workers(run, REPORT);
		return;
	}
	rr_loop_want(run->workers[0].engine->loop, watch, 0);
	tell_workers(run, STOP);
}

static int
listen_all(const struct rr_tool *tool, struct rr_serve *serve, struct worker *worker)
{
	struct rr_text text;

	for (uint32_t i = 0; i < serve->address_count; i++) {
		struct rr_serve_address *address = &serve->addresses[i];
		struct sockaddr_storage tcp = address->rdma;

		if (rr_server_listen_rdma(
			    worker->server, (struct sockaddr *)&address->rdma, address->size, &text) < 0)
			return rr_tool_fail(tool, "%s", text.text);
		if (serve->tcp_port == 0)
			continue;
		rr_tool_set_port(&tcp, serve->tcp_port);
		if (rr_server_listen_tcp(worker->server, (struct sockaddr *)&tcp, address->size, &text) < 0)
			return rr_tool_fail(
				tool, "%s; --tcp-port takes another port, or 0 for no TCP", text.text);
	}
	return RR_EXIT_OK;
}

/* What it has made is freed by free_worker(), also after a failure. */
static int
make_worker(struct run *run, struct worker *worker)
{
	struct rr_serve *serve = run->serve;
	struct rr_server_config config = rr_server_config_default;
	struct rr_text text = { "out of memory" };
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	worker->run = run;
	worker->request.fd = fd;
	worker->request.ready = request_came;
	rr_timer_init(&worker->drain, drain_limit_reached);
	worker->env = rr_env_system;
	worker->env.log_level = serve->verbose ? RR_LOG_DEBUG : RR_LOG_WARNING;
	if (fd < 0 || rr_engine_new(&worker->env, &serve->engine, &worker->engine) < 0)
		return rr_tool_fail(run->tool, "a thread cannot be set up: %s", strerror(errno));
	if (rr_loop_watch(worker->engine->loop, &worker->request, fd, RR_READABLE) < 0)
		return rr_tool_fail(run->tool, "an event descriptor cannot be watched: %s", strerror(errno));
	if (rr_nfs_server_new(&worker->env, worker->engine->pool, &serve->tree, &run->verifier, &worker->nfs,
		    &text) < 0)
		return rr_tool_fail(run->tool, "%s", text.text);
	rr_nfs_server_services(worker->nfs, worker->services);
	config.drc = run->drc;
	if (rr_server_new(worker->engine, &config, worker->services, RR_NFS_SERVICES, &worker->server) < 0)
		return rr_tool_fail(run->tool, "out of memory");
	return listen_all(run->tool, serve, worker);
}

static void
free_worker(struct worker *worker)
{
	rr_server_free(worker->server);
	rr_nfs_server_free(worker->nfs);
	if (worker->engine) {
		rr_loop_disarm(worker->engine->loop, &worker->drain);
		rr_loop_unwatch(worker->engine->loop, &worker->request);
	}
	rr_engine_free(worker->engine);
	close(worker->request.fd);
}

static void *
run_worker(void *argument)
{
	struct worker *worker = argument;

	while (!worker->given_up && !rr_server_idle(worker->server))
		if (rr_loop_turn(worker->engine->loop, -1) < 0)
			break;
	return NULL;
}

static void
announce(const struct run *run)
{
	const struct rr_serve *serve = run->serve;
	char text[RR_ADDRESS_TEXT];

	for (uint32_t i = 0; i < serve->address_count; i++) {
		rr_address_text((const struct sockaddr *)&serve->addresses[i].rdma, text, sizeof(text));
		for (uint32_t j = 0; j < serve->tree.export_count; j++)
			printf("serving %s as nfs://%s%s%s\n", serve->exports[j].path, text,
				serve->exports[j].name, serve->tree.read_only ? ", read-only" : "");
	}
	if (serve->tcp_port)
		printf("and over TCP at port %u\n", serve->tcp_port);
	printf("ready\n");
	fflush(stdout);
}

/* Signals are blocked in every thread and read by worker 0. */
static int
watch_signals(struct run *run)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	run->signals.ready = signal_came;
	if (fd < 0 || rr_loop_watch(run->workers[0].engine->loop, &run->signals, fd, RR_READABLE) < 0)
		return rr_tool_fail(run->tool, "signals cannot be watched: %s", strerror(errno));
	return RR_EXIT_OK;
}

static int
make_workers(struct run *run)
{
	run->verifier = rr_random_u64(&rr_env_system);
	run->drc = rr_drc_new(&rr_env_system, &rr_drc_config_default);
	if (!run->drc)
		return rr_tool_fail(run->tool, "out of memory");
	while (run->count < run->serve->thread_count) {
		int status = make_worker(run, &run->workers[run->count++]);

		if (status != RR_EXIT_OK)
			return status;
	}
	return RR_EXIT_OK;
}

/* Worker 0 runs here, the others in threads of their own. */
static int
run_workers(struct run *run)
{
	uint32_t started = 1;
	int status = RR_EXIT_OK;

	while (started < run->count &&
		pthread_create(&run->workers[started].thread, NULL, run_worker, &run->workers[started]) == 0)
		started++;
	if (started < run->count) {
		status = rr_tool_fail(run->tool, "thread %u cannot be started; try fewer --threads", started);
		tell_workers(run, STOP);
	} else {
		announce(run);
	}
	run_worker(&run->workers[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(run->workers[i].thread, NULL);
	return status;
}

int
rr_serve_run(const struct rr_tool *tool, struct rr_serve *serve)
{
	static struct run run; /* too large for the stack, and there is one */
	int status;

	run = (struct run){ .tool = tool, .serve = serve, .signals.fd = -1 };
	serve->engine.reuse_port = serve->thread_count > 1;
	status = make_workers(&run);
	if (status == RR_EXIT_OK)
		status = watch_signals(&run);
	if (status == RR_EXIT_OK)
		status = run_workers(&run);
	if (run.signals.fd >= 0) {
		rr_loop_unwatch(run.workers[0].engine->loop, &run.signals);
		close(run.signals.fd);
	}
	for (uint32_t i = 0; i < run.count; i++)
		free_worker(&run.workers[i]);
	rr_drc_free(run.drc);
	return status;
}
