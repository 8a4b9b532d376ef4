/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * later_server [PORT]: a server whose handlers answer later, on the loopback, over RDMA and over TCP, until
 * SIGINT or SIGTERM ends it. Prints its two ports. PORT: the RDMA port of another later_server, which this
 * server asks.
 */
#include <pthread.h>
#include <rpcrdma/server.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "later.h"

static struct rpcrdma_engine *engine;
static volatile sig_atomic_t told_to_end;

/* ---- An answer when a timer expires ---- */

struct waiting {
	struct rpcrdma_request *request;
	struct rpcrdma_timer *timer;
};

static void
time_is_up(void *ctx)
{
	struct waiting *waiting = ctx;

	rpcrdma_timer_free(waiting->timer);
	rpcrdma_request_end(waiting->request, RPCRDMA_HANDLED);
}

/* Ends the wait: the connection is gone, and the answer is not wanted any more. */
static void
wait_is_lost(void *ctx, struct rpcrdma_request *request)
{
	struct waiting *waiting = ctx;

	rpcrdma_timer_free(waiting->timer);
	rpcrdma_request_end(request, RPCRDMA_HANDLE_DROP);
}

static enum rpcrdma_handled
handle_wait(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const uint32_t *milliseconds = args;
	struct waiting *waiting = rpcrdma_request_alloc(request, sizeof(*waiting));

	(void)ctx;
	if (!waiting || rpcrdma_timer_new(engine, time_is_up, waiting, &waiting->timer) < 0)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	waiting->request = request;
	*(uint32_t *)result = *milliseconds;
	rpcrdma_timer_arm(waiting->timer, *milliseconds * UINT64_C(1000000));
	rpcrdma_request_on_lost(request, wait_is_lost, waiting);
	return RPCRDMA_HANDLE_KEPT;
}

/* ---- An answer when another server has answered ---- */

static void
asked_done(void *ctx, struct rpcrdma_call *call, int error)
{
	(void)call;
	rpcrdma_request_end(ctx, error < 0 ? RPCRDMA_HANDLE_SYSTEM_ERR : RPCRDMA_HANDLED);
}

static void
ask_is_lost(void *ctx, struct rpcrdma_request *request)
{
	rpcrdma_call_cancel(ctx);
	rpcrdma_request_end(request, RPCRDMA_HANDLE_DROP);
}

/* Asks the other server. Arguments and result are those of the request, which stay until the request is
 * ended. */
static enum rpcrdma_handled
handle_ask(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct rpcrdma_client *asked = ctx;
	struct rpcrdma_call *call;
	const struct rpcrdma_call_config config = {
		.size = sizeof(config),
		.program = &LATER_V1_program,
		.procedure = LATER_COUNT,
		.args = args,
		.result = result,
		.done = asked_done,
		.ctx = request,
	};

	if (!asked || rpcrdma_client_call(asked, &config, &call) < 0)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	rpcrdma_request_on_lost(request, ask_is_lost, call);
	return RPCRDMA_HANDLE_KEPT;
}

/* ---- An answer from another thread ---- */

/* A job lies in the memory of its request. It belongs to the thread from the time when it is in the list
 * until it is posted. */
struct job {
	struct rpcrdma_post post;
	struct rpcrdma_request *request;
	const uint32_t *args;
	uint32_t *result;
	struct job *next;
};

static struct {
	pthread_t thread;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t wanted;
	struct job *first, **last;
	bool ends;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER, .wanted = PTHREAD_COND_INITIALIZER, .last = &worker.first };

/* Ends the request, in the loop's thread again. If the connection has ended meanwhile, the answer is
 * dropped. */
static void
job_is_done(void *ctx)
{
	struct job *job = ctx;

	rpcrdma_request_end(job->request, RPCRDMA_HANDLED);
}

/* Takes the next job; NULL: there will be no more jobs. */
static struct job *
take_job(void)
{
	struct job *job;

	pthread_mutex_lock(&worker.lock);
	while (!worker.first && !worker.ends)
		pthread_cond_wait(&worker.wanted, &worker.lock);
	job = worker.first;
	if (job)
		worker.first = job->next;
	if (!worker.first)
		worker.last = &worker.first;
	pthread_mutex_unlock(&worker.lock);
	return job;
}

static bool
is_prime(uint32_t number)
{
	for (uint32_t divisor = 2; (uint64_t)divisor * divisor <= number; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

static void *
work(void *ctx)
{
	struct job *job;

	while ((job = take_job())) {
		for (uint32_t number = 2; number < *job->args; number++)
			*job->result += is_prime(number);
		rpcrdma_engine_post(engine, &job->post);
	}
	return ctx;
}

static enum rpcrdma_handled
handle_count(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct job *job = rpcrdma_request_alloc(request, sizeof(*job));

	(void)ctx;
	if (!job || *(const uint32_t *)args > 10000000)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	*job = (struct job){
		.post = { .run = job_is_done, .ctx = job },
		.request = request,
		.args = args,
		.result = result,
	};
	pthread_mutex_lock(&worker.lock);
	*worker.last = job;
	worker.last = &job->next;
	pthread_cond_signal(&worker.wanted);
	pthread_mutex_unlock(&worker.lock);
	return RPCRDMA_HANDLE_KEPT;
}

/* Ends the thread. It first does the jobs that are left, so that each kept request is ended. */
static void
end_worker(void)
{
	pthread_mutex_lock(&worker.lock);
	worker.ends = true;
	pthread_cond_signal(&worker.wanted);
	pthread_mutex_unlock(&worker.lock);
	pthread_join(worker.thread, NULL);
}

/* ---- The server ---- */

static rpcrdma_handler *const handlers[] = {
	[LATER_NULL] = NULL, /* the library answers it */
	[LATER_WAIT] = handle_wait,
	[LATER_ASK] = handle_ask,
	[LATER_COUNT] = handle_count,
};

static void
end(int signal)
{
	(void)signal;
	told_to_end = 1;
	rpcrdma_engine_wake(engine);
}

static int
fail(const char *text)
{
	fprintf(stderr, "later_server: %s\n", text);
	return EXIT_FAILURE;
}

static int
listen_and_turn(struct rpcrdma_server *server)
{
	uint16_t port = 0, tcp_port = 0;

	if (rpcrdma_server_listen(server, RPCRDMA_TRANSPORT_RDMA, NULL, &port) < 0 ||
		rpcrdma_server_listen(server, RPCRDMA_TRANSPORT_TCP, NULL, &tcp_port) < 0)
		return fail(rpcrdma_server_error(server));
	printf("%u %u\n", port, tcp_port);
	fflush(stdout);
	while (!told_to_end && rpcrdma_engine_turn(engine, -1) >= 0)
		;
	return EXIT_SUCCESS;
}

/* Serves until a signal. The thread ends first, then the server: each request that is still kept is lost
 * then, and so ended. The jobs that the thread has posted run before the engine goes. */
static int
serve(struct rpcrdma_client *asked)
{
	const struct rpcrdma_service service = {
		.program = &LATER_V1_program, .handlers = handlers, .ctx = asked
	};
	const struct rpcrdma_server_config config = {
		.size = sizeof(config), .services = &service, .service_count = 1
	};
	struct rpcrdma_server *server;
	int status;

	if (rpcrdma_server_new(engine, &config, &server) < 0)
		return fail(rpcrdma_engine_error(engine));
	if (pthread_create(&worker.thread, NULL, work, NULL) != 0) {
		rpcrdma_server_free(server);
		return fail("there is no thread to be had");
	}
	status = listen_and_turn(server);
	end_worker();
	rpcrdma_server_free(server);
	return status;
}

int
main(int argc, char **argv)
{
	struct rpcrdma_client_config config = { .size = sizeof(config) };
	struct rpcrdma_client *asked = NULL;
	int error, status = EXIT_FAILURE;

	error = rpcrdma_engine_new(NULL, &engine);
	if (error < 0)
		return fail(rpcrdma_strerror(error));
	signal(SIGINT, end);
	signal(SIGTERM, end);
	config.port = (uint16_t)(argc > 1 ? atoi(argv[1]) : 0);
	if (argc > 1 && rpcrdma_client_connect(engine, &config, &asked) < 0)
		fail(rpcrdma_engine_error(engine));
	else
		status = serve(asked);
	rpcrdma_client_free(asked);
	rpcrdma_engine_free(engine);
	return status;
}
