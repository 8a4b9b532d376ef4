/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At SIGHUP the configuration is read again by a separate thread: the look-up of host names may take long,
 * and calls are served meanwhile. A directory whose line has an error keeps its rules, and all else counts; a
 * configuration with an error in its options is refused as a whole.
 *
 * Ownership: `rules` is a reference, replaced under the lock. Each worker takes its own reference. The thread
 * sets the state to idle as its last act.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tool/serve/serve.h"

enum { RELOAD_LIMIT = 1 }; /* seconds that the end of the server waits for the thread */

struct rr_serve_rules {
	const struct rr_tool *tool;
	const struct rr_serve *serve; /* the running server */
	struct rr_workers_run *workers;
	pthread_mutex_t lock;   /* of rules and state */
	struct rr_rules *rules; /* those in force */
	pthread_t thread;
	/* No thread reads; a thread reads; it reads, and is to read once more afterwards. */
	enum { RELOAD_IDLE, RELOAD_READS, RELOAD_AGAIN } state;
	bool started; /* the thread must be joined */
};

int
rr_serve_rules_new(const struct rr_tool *tool, const struct rr_serve *serve, struct rr_serve_rules **result)
{
	struct rr_serve_rules *made = calloc(1, sizeof(*made));

	*result = made;
	if (!made)
		return rr_tool_fail(tool, "out of memory");
	made->tool = tool;
	made->serve = serve;
	made->rules = rr_rules_hold(serve->rules);
	pthread_mutex_init(&made->lock, NULL);
	return RR_EXIT_OK;
}

/* Waits for the thread that reads the configuration, if it runs, but not longer than RELOAD_LIMIT: a slow
 * lookup of a host name must not keep the server from ending. A thread that still runs then uses memory that
 * cannot be freed, so the process ends at once. */
void
rr_serve_rules_end(struct rr_serve_rules *fresh)
{
	struct timespec limit;

	if (!fresh->started)
		return;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += RELOAD_LIMIT;
	fresh->started = pthread_timedjoin_np(fresh->thread, NULL, &limit) != 0;
	if (!fresh->started)
		return;
	fprintf(stderr,
		"rpcrdma serve: names of hosts in %s are still looked up; the server does not wait for "
		"them\n",
		fresh->serve->config.path);
	fflush(NULL);
	_exit(RR_EXIT_OK);
}

void
rr_serve_rules_free(struct rr_serve_rules *fresh)
{
	if (!fresh)
		return;
	rr_rules_release(fresh->rules);
	pthread_mutex_destroy(&fresh->lock);
	free(fresh);
}

struct rr_rules *
rr_serve_fresh(struct rr_serve_rules *fresh)
{
	struct rr_rules *rules;

	pthread_mutex_lock(&fresh->lock);
	rules = rr_rules_hold(fresh->rules);
	pthread_mutex_unlock(&fresh->lock);
	return rules;
}

/* Keeps the rules in force of those directories whose lines have errors. Only this thread changes which rules
 * are in force. Returns false if there is no memory. */
static bool
reload_keep(const struct rr_serve_rules *fresh, struct rr_serve *serve)
{
	int error = 0;

	for (uint32_t i = 0; i < RR_SERVE_EXPORTS && !error; i++)
		if (serve->bad[i])
			error = rr_rules_keep(serve->rules, i, fresh->rules);
	return error == 0;
}

/* Reads the command line and the configuration file once more, and puts the new rules in force if the options
 * have no errors; otherwise the old rules stay. */
static void
reload_once(struct rr_serve_rules *fresh)
{
	const struct rr_serve *running = fresh->serve;
	struct rr_rules *before;
	struct rr_serve *serve;
	int status = rr_serve_load(fresh->tool, running, running->argc, running->argv, &serve);

	if (status == RR_OPTIONS_GO_ON && reload_keep(fresh, serve)) {
		pthread_mutex_lock(&fresh->lock);
		before = fresh->rules;
		fresh->rules = rr_rules_hold(serve->rules);
		pthread_mutex_unlock(&fresh->lock);
		rr_rules_release(before);
		rr_workers_renew(fresh->workers);
		fprintf(stderr, "rpcrdma serve: %s: the new rules count from now on\n", running->config.path);
	} else {
		fprintf(stderr, "rpcrdma serve: %s: refused; the rules stay as they are\n",
			running->config.path);
	}
	rr_serve_free(serve);
}

/* Called after the configuration was read: tells whether SIGHUP has come meanwhile, so that the configuration
 * must be read once more. If not, notes that the thread is idle. */
static bool
reload_again(struct rr_serve_rules *fresh)
{
	bool again;

	pthread_mutex_lock(&fresh->lock);
	again = fresh->state == RELOAD_AGAIN;
	fresh->state = again ? RELOAD_READS : RELOAD_IDLE;
	pthread_mutex_unlock(&fresh->lock);
	return again;
}

/* The thread that reads the configuration after SIGHUP. If SIGHUP comes while it reads, once or several
 * times, it reads the configuration once more. */
static void *
reload_thread(void *ctx)
{
	struct rr_serve_rules *fresh = ctx;

	do
		reload_once(fresh);
	while (reload_again(fresh));
	return NULL;
}

/* Called after SIGHUP: notes that the configuration must be read. Returns true if the caller must start the
 * thread that reads it; false if that thread runs already, and will read once more. */
static bool
reload_begin(struct rr_serve_rules *fresh)
{
	bool idle;

	pthread_mutex_lock(&fresh->lock);
	idle = fresh->state == RELOAD_IDLE;
	fresh->state = idle ? RELOAD_READS : RELOAD_AGAIN;
	pthread_mutex_unlock(&fresh->lock);
	return idle;
}

/* Called by the main thread, at SIGHUP. If a thread reads the configuration already, only notes that it must
 * read once more. */
void
rr_serve_reload(struct rr_serve_rules *fresh, struct rr_workers_run *workers)
{
	fresh->workers = workers;
	if (!reload_begin(fresh))
		return;
	/* The previous thread has noted that it is idle, and ends at once. */
	if (fresh->started)
		pthread_join(fresh->thread, NULL);
	fresh->started = pthread_create(&fresh->thread, NULL, reload_thread, fresh) == 0;
	if (!fresh->started) {
		rr_tool_warn(fresh->tool, "no thread to read %s again", fresh->serve->config.path);
		reload_again(fresh);
	}
}
