/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All workers are made by the main thread. Worker 0 then runs in that thread and waits for signals as well. A
 * signal that ends the program has STOP written to every worker's eventfd; a worker then has its service end
 * in good order, or gives up after DRAIN_LIMIT, and its loop ends. SIGUSR1 has REPORT written: each worker
 * reports its counts itself, as no other thread may read them. The monitor (monitor.h) writes MEASURE for the
 * same reason.
 */
#include "tool/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tool/asking.h"
#include "tool/notify.h"

/* The time that a service has, after STOP, to answer the calls that it has received. */
#define DRAIN_LIMIT (4 * RR_SECOND)

_Static_assert((int)RR_WORKERS_MAX <= (int)RR_ASKING_MAX, "each worker has a bit");

/* Requests to a worker: an eventfd adds up the numbers written to it, so each request has its own bits. */
#define STOP    UINT64_C(1)
#define MEASURE (UINT64_C(1) << 20)
#define REPORT  (UINT64_C(1) << 40)
#define RENEW   (UINT64_C(1) << 56)

#define MEASURE_LIMIT (500 * RR_MILLISECOND) /* for the answers of all threads together */

const struct rr_option rr_workers_options[] = {
	{ .letter = 'n',
		.name = "threads",
		.argument = "N",
		.help = "threads, each with connections of its own (1)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = RR_WORKERS_MAX,
		.at = offsetof(struct rr_workers, count) },
	{ .name = "connections",
		.argument = "N",
		.help = "connections that each thread accepts at a time (1024)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = RR_WORKERS_CONNECTIONS,
		.at = offsetof(struct rr_workers, engine.connection_max) },
	{ .name = "credits",
		.argument = "N",
		.help = "calls that a connection may have outstanding (64)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 1024,
		.at = offsetof(struct rr_workers, engine.credits) },
	{ .name = "inline",
		.argument = "N",
		.help = "inline threshold to offer, octets: a multiple of 1024 (12288)",
		.kind = RR_OPTION_NUMBER,
		.low = 1024,
		.high = 262144,
		.multiple = 1024,
		.at = offsetof(struct rr_workers, engine.inline_send) },
	{ .name = "provided",
		.argument = "N",
		.help = "large replies that a connection may keep in Read chunks (as --credits)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 4096,
		.at = offsetof(struct rr_workers, engine.provided_max) },
	{ .name = "no-provided",
		.help = "never expose a large reply in Read chunks: one without room becomes an error",
		.kind = RR_OPTION_NO,
		.at = offsetof(struct rr_workers, engine.read_chunks) },
	{ .name = "poll",
		.argument = "US",
		.help = "microseconds for which a thread looks for the next event before it sleeps, as long "
			"as that saves time (serve 0, gateway 100)",
		.kind = RR_OPTION_NUMBER,
		.high = RR_ENGINE_POLL_MAX,
		.at = offsetof(struct rr_workers, engine.poll) },
	{ .name = "monitor",
		.argument = "SOCKET",
		.help = "where rpcrdma top asks (in a directory of the service, of the user, or "
			"/run/rpcrdma)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_workers, monitor) },
	{ .name = "metrics",
		.argument = "[ADDR:]PORT",
		.help = "give Prometheus the counters, over HTTP at this port; without ADDR, on the loopback",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_workers, metrics) },
	{ .name = "no-sandbox",
		.help = "keep capabilities, system calls, files and ports that the service does not use",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_workers, no_sandbox) },
	{ .letter = 'v',
		.name = "verbose",
		.help = "log what happens to connections",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_workers, verbose) },
	{ 0 },
};

/* A thread with its engine and its service. */
struct worker {
	const struct rr_worker_service *ops;
	struct rr_env env;
	struct rpcrdma_engine *engine;
	void *service;
	uint32_t index;
	struct rr_watch request;  /* an eventfd, to which requests are written */
	struct rr_timer drain;    /* runs from STOP on, for DRAIN_LIMIT */
	bool given_up;            /* that time is over */
	pthread_t thread;         /* of each worker but worker 0 */
	struct rr_asking *asking; /* of the run */
};

struct rr_workers_run {
	struct rr_workers workers;
	struct rr_watch signals; /* a signalfd, in the loop of worker 0 */
	uint32_t count;          /* number of workers that were made */
	struct rr_asking asking;
	struct rr_monitor *monitor;
	struct worker all[RR_WORKERS_MAX];
};

/* Called DRAIN_LIMIT after STOP: the worker then ends its loop, even if its service has not ended. */
static void
workers_drain_limit_reached(struct rr_timer *timer)
{
	rr_container(timer, struct worker, drain)->given_up = true;
}

/* ---- Measuring ---- */

/* Adds the counts of this worker to the measure of the monitor, unless the monitor has stopped waiting for
 * them. */
static void
worker_measure(const struct worker *worker)
{
	struct rr_measure *measure = rr_asking_take(worker->asking, worker->index);

	if (!measure)
		return;
	worker->ops->measure(worker->service, worker->index, measure);
	rr_measure_engine(measure, worker->engine);
	rr_asking_give(worker->asking, worker->index);
}

/* Sends a request, such as REPORT or STOP, to all workers by their eventfds. */
static void
workers_tell(struct rr_workers_run *run, eventfd_t request)
{
	for (uint32_t i = 0; i < run->count; i++)
		eventfd_write(run->all[i].request.fd, request);
}

/* Asks all workers to add their counts to the measure, and waits for their answers, at most MEASURE_LIMIT:
 * a worker that hangs keeps no other from being asked in time. Counts the workers that do not answer in time.
 * Runs in the monitor's thread. */
static void
workers_ask(void *ctx, struct rr_measure *measure)
{
	struct rr_workers_run *run = ctx;
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec += (long)MEASURE_LIMIT;
	limit.tv_sec += limit.tv_nsec / (long)RR_SECOND;
	limit.tv_nsec %= (long)RR_SECOND;
	measure->threads = run->count;
	rr_asking_begin(&run->asking, measure, run->count);
	workers_tell(run, MEASURE);
	measure->silent += rr_asking_end(&run->asking, &limit);
}

/* Starts the monitor, which answers requests for the counts in a thread of its own and collects them by
 * workers_ask(). Returns an exit status, after a message if it is not OK. */
static int
workers_start_monitor(struct rr_workers_run *run)
{
	const struct rr_monitor_config config = { run->workers.tool->name, run->workers.monitor,
		run->workers.metrics, workers_ask, run };
	struct rr_text text;

	if (rr_monitor_new(&config, &run->monitor, &text) < 0)
		return rr_tool_fail(run->workers.tool, "%s", text.text);
	return RR_EXIT_OK;
}

/* ---- Requests ---- */

/* Called in the thread of a worker when its eventfd has received requests: carries out each request to
 * report, to measure, to renew the service or to end the service. The value of the eventfd is the sum of the
 * requests: each request has bits of its own, so that the remainder by RENEW has the lower requests alone,
 * and so on. After STOP, the worker takes no further requests. */
static void
worker_request_came(struct rr_watch *watch, unsigned events)
{
	struct worker *worker = rr_container(watch, struct worker, request);
	eventfd_t requests = 0;

	(void)events;
	eventfd_read(watch->fd, &requests);
	if (requests >= RENEW)
		worker->ops->renew(worker->service);
	if (requests % RENEW >= REPORT)
		worker->ops->report(worker->service, worker->index);
	if (requests % REPORT >= MEASURE)
		worker_measure(worker);
	if (requests % MEASURE == 0)
		return;
	rr_loop_want(worker->engine->loop, watch, 0);
	worker->ops->shutdown(worker->service);
	rr_loop_arm(worker->engine->loop, &worker->drain, DRAIN_LIMIT);
}

void
rr_workers_renew(struct rr_workers_run *run)
{
	workers_tell(run, RENEW);
}

/* Called when a signal has come: SIGUSR1 has all workers report, SIGHUP reloads the configuration if the
 * service has one, and all other signals end the workers. After such a signal, further signals are not looked
 * at. */
static void
workers_signal_came(struct rr_watch *watch, unsigned events)
{
	struct rr_workers_run *run = rr_container(watch, struct rr_workers_run, signals);
	struct signalfd_siginfo signal;

	(void)events;
	if (read(watch->fd, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (signal.ssi_signo == SIGUSR1) {
		workers_tell(run, REPORT);
		return;
	}
	if (signal.ssi_signo == SIGHUP && run->workers.service->reload) {
		run->workers.service->reload(run->workers.ctx, run);
		return;
	}
	rr_loop_want(run->all[0].engine->loop, watch, 0);
	workers_tell(run, STOP);
}

/* Makes the engine and the service of a worker. After a failure, worker_free() frees what was made. Returns
 * an exit status, after a message if it is not OK. */
static int
worker_make(const struct rr_workers *workers, struct worker *worker)
{
	struct rr_engine_config config = workers->engine;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	worker->ops = workers->service;
	worker->request.fd = fd;
	worker->request.ready = worker_request_came;
	rr_timer_init(&worker->drain, workers_drain_limit_reached);
	worker->env = rr_env_system;
	worker->env.log_level = workers->verbose ? RR_LOG_DEBUG : RR_LOG_WARNING;
	/* A port of an adapter can have one listener only: that of worker 0. */
	config.adapters_elsewhere = worker->index > 0;
	if (fd < 0 || rr_engine_new(&worker->env, &config, &worker->engine) < 0)
		return rr_tool_fail(workers->tool, "a thread cannot be set up: %s", strerror(errno));
	if (rr_loop_watch(worker->engine->loop, &worker->request, fd, RR_READABLE) < 0)
		return rr_tool_fail(
			workers->tool, "an event descriptor cannot be watched: %s", strerror(errno));
	return worker->ops->make(workers->ctx, worker->engine, &worker->service);
}

/* Frees a worker after its thread has ended, or as far as it was made before a failure. */
static void
worker_free(struct worker *worker)
{
	if (worker->service)
		worker->ops->free(worker->service);
	if (worker->engine) {
		rr_loop_disarm(worker->engine->loop, &worker->drain);
		rr_loop_unwatch(worker->engine->loop, &worker->request);
	}
	rpcrdma_engine_free(worker->engine);
	close(worker->request.fd);
}

/* The thread of a worker: runs the worker's event loop until its service has ended. If the service does not
 * end in time, the worker is given up, and the loop ends, too. */
static void *
worker_run(void *argument)
{
	struct worker *worker = argument;

	while (!worker->given_up && !worker->ops->idle(worker->service))
		if (rr_loop_turn(worker->engine->loop, -1) < 0)
			break;
	return NULL;
}

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR1 in this thread and all threads that it makes later, and has
 * worker 0 receive these signals by a signalfd. Signals that were ignored at the start stay so, but for a
 * SIGHUP that reloads the configuration. SIGPIPE is ignored. Returns an exit status, after a message if it is
 * not OK. */
static int
workers_watch_signals(struct rr_workers_run *run)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!rr_tool_is_ignored(ending[i]) || (ending[i] == SIGHUP && run->workers.service->reload))
			sigaddset(&set, ending[i]);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	run->signals.ready = workers_signal_came;
	if (fd < 0 || rr_loop_watch(run->all[0].engine->loop, &run->signals, fd, RR_READABLE) < 0)
		return rr_tool_fail(run->workers.tool, "signals cannot be watched: %s", strerror(errno));
	return RR_EXIT_OK;
}

/* Makes all workers. Stops at the first one that cannot be made, which run->count then includes, so that it
 * is freed, too. Returns an exit status, after a message if it is not OK. */
static int
workers_make(struct rr_workers_run *run)
{
	while (run->count < run->workers.count) {
		struct worker *worker = &run->all[run->count];
		int status;

		worker->index = run->count++;
		worker->asking = &run->asking;
		status = worker_make(&run->workers, worker);

		if (status != RR_EXIT_OK)
			return status;
	}
	return RR_EXIT_OK;
}

/* Prints where the server listens and that it is ready, and notifies the service manager. */
static void
workers_announce(const struct rr_workers *workers)
{
	workers->service->announce(workers->ctx);
	printf("ready\n");
	fflush(stdout);
	/* The server serves nevertheless; a service manager that is never notified ends the server after a
	 * while, and reports that. */
	if (rr_notify("READY=1") < 0)
		fprintf(stderr, "rpcrdma: the service manager at %s cannot be reached\n",
			getenv("NOTIFY_SOCKET"));
}

/* Runs worker 0 in this thread and each other worker in a thread of its own, and waits until all have ended.
 * If a thread cannot be started, stops the workers. Returns an exit status. */
static int
workers_run(struct rr_workers_run *run)
{
	uint32_t started = 1;
	int status = RR_EXIT_OK;

	while (started < run->count &&
		pthread_create(&run->all[started].thread, NULL, worker_run, &run->all[started]) == 0)
		started++;
	if (started < run->count) {
		status = rr_tool_fail(
			run->workers.tool, "thread %u cannot be started; try fewer --threads", started);
		workers_tell(run, STOP);
	} else {
		workers_announce(&run->workers);
	}
	worker_run(&run->all[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(run->all[i].thread, NULL);
	return status;
}

/* Raises the soft limit of open descriptors to the hard limit, as connections and files of a server need
 * many. */
static void
workers_raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
rr_workers_run(const struct rr_workers *workers)
{
	static struct rr_workers_run run; /* too large for the stack; there is only one run */
	int status;

	workers_raise_descriptor_limit();
	run = (struct rr_workers_run){ .workers = *workers, .signals.fd = -1 };
	rr_asking_init(&run.asking);
	/* The user gives one inline threshold for both directions. */
	run.workers.engine.inline_receive = workers->engine.inline_send;
	run.workers.engine.reuse_port = workers->count > 1;
	if (workers->count > 1)
		run.workers.engine.spread = rr_spread_new(&rr_env_system);
	status = workers_make(&run);
	if (status == RR_EXIT_OK)
		status = workers_watch_signals(&run);
	if (status == RR_EXIT_OK)
		status = workers_start_monitor(&run);
	if (status == RR_EXIT_OK)
		status = workers_run(&run);
	rr_monitor_free(run.monitor);
	if (run.signals.fd >= 0) {
		rr_loop_unwatch(run.all[0].engine->loop, &run.signals);
		close(run.signals.fd);
	}
	for (uint32_t i = 0; i < run.count; i++)
		worker_free(&run.all[i]);
	rr_spread_free(run.workers.engine.spread);
	rr_asking_destroy(&run.asking);
	return status;
}
