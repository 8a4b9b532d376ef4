/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lists are shared, under one lock, which is never held over a system call that may wait. A job is in
 * "waiting", then with a member, then in "ended", from where the loop takes all at once. A member keeps a
 * copy of what it works on, as the job itself may be gone before the member looks again.
 */
#include "vfs/posix/crew.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct crew_member {
	struct rr_crew *crew;
	void *member;
	pthread_t thread;
	const struct rr_crew_job *current; /* NULL: it has nothing to do */
	struct rr_crew_job job;            /* a copy */
};

struct rr_crew {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_crew_config config;
	struct rr_watch watch; /* of an eventfd: something has ended */
	pthread_mutex_t lock;  /* of what follows */
	pthread_cond_t wanted;
	struct rr_list waiting, ended;
	uint32_t idle;       /* threads that wait for a job */
	uint32_t busy;       /* members at work */
	uint32_t candidates; /* in waiting */
	uint32_t count;      /* threads: the loop's to change */
	bool ends;
	struct crew_member members[];
};

static bool
crew_conflict(const struct rr_crew_job *one, const struct rr_crew_job *other)
{
	if (one->shares && other->shares)
		return false;
	for (int i = 0; i < RR_CREW_KEYS; i++)
		for (int j = 0; j < RR_CREW_KEYS; j++)
			if (one->keys[i] != 0 && one->keys[i] == other->keys[j])
				return true;
	return false;
}

/* Whether a job that is under way, or that came earlier, stands in the way. */
static bool
crew_is_behind(const struct rr_crew *crew, const struct rr_crew_job *job)
{
	if (job->keys[0] == 0)
		return false;
	for (uint32_t i = 0; i < crew->config.max; i++)
		if (crew->members[i].current && crew_conflict(job, &crew->members[i].job))
			return true;
	for (struct rr_list *link = crew->waiting.next; link != &job->link; link = link->next)
		if (crew_conflict(job, rr_container(link, struct rr_crew_job, link)))
			return true;
	return false;
}

/* A place has one thread in any case, and more while it leaves as many free. */
static bool
crew_has_room(const struct rr_crew *crew, uint64_t place)
{
	uint32_t here = 0;

	for (uint32_t i = 0; i < crew->config.max; i++)
		here += crew->members[i].current && crew->members[i].job.place == place;
	return here < crew->config.max - crew->busy || here == 0;
}

/* The first job that may begin; NULL: there is none. */
static struct rr_crew_job *
crew_next(struct rr_crew *crew)
{
	for (struct rr_list *link = crew->waiting.next; link != &crew->waiting; link = link->next) {
		struct rr_crew_job *job = rr_container(link, struct rr_crew_job, link);

		if (crew_has_room(crew, job->place) && !crew_is_behind(crew, job))
			return job;
	}
	return NULL;
}

static void
crew_move_to_ended(struct rr_crew *crew, struct rr_crew_job *job)
{
	bool was_empty = rr_list_empty(&crew->ended);

	rr_list_remove(&job->link);
	rr_list_append(&crew->ended, &job->link);
	if (was_empty)
		eventfd_write(crew->watch.fd, 1);
}

/* Under the lock, which is given back while the job is at work. */
static void
crew_work(struct rr_crew *crew, struct rr_crew_job *job, struct crew_member *member)
{
	bool has_ended;

	rr_list_remove(&job->link);
	member->job = *job;
	member->current = job;
	crew->candidates--;
	crew->busy++;
	pthread_mutex_unlock(&crew->lock);
	has_ended = job->run(job, member->member);
	pthread_mutex_lock(&crew->lock);
	member->current = NULL;
	crew->busy--;
	/* Others may have waited for this one to end. */
	if (crew->candidates > 0)
		pthread_cond_broadcast(&crew->wanted);
	if (has_ended)
		crew_move_to_ended(crew, job);
}

static void *
crew_run(void *argument)
{
	struct crew_member *member = argument;
	struct rr_crew *crew = member->crew;

	pthread_mutex_lock(&crew->lock);
	while (!crew->ends || crew->candidates > 0) {
		struct rr_crew_job *job = crew_next(crew);

		if (job) {
			crew_work(crew, job, member);
			continue;
		}
		crew->idle++;
		pthread_cond_wait(&crew->wanted, &crew->lock);
		crew->idle--;
	}
	/* Those that waited for the last job end, too. */
	pthread_cond_broadcast(&crew->wanted);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* In the loop's thread: what has ended is done. */
static void
crew_finish(struct rr_crew *crew)
{
	struct rr_list ended, *link;

	rr_list_init(&ended);
	pthread_mutex_lock(&crew->lock);
	while ((link = rr_list_pop(&crew->ended)))
		rr_list_append(&ended, link);
	pthread_mutex_unlock(&crew->lock);
	while ((link = rr_list_pop(&ended))) {
		struct rr_crew_job *job = rr_container(link, struct rr_crew_job, link);

		job->done(job);
	}
}

static void
crew_ready(struct rr_watch *watch, unsigned events)
{
	eventfd_t count;

	(void)events;
	eventfd_read(watch->fd, &count);
	crew_finish(rr_container(watch, struct rr_crew, watch));
}

/* Signals are left to others. Without another thread, those that there are do all. */
static void
crew_grow(struct rr_crew *crew)
{
	struct crew_member *member = &crew->members[crew->count];
	sigset_t all, before;

	member->crew = crew;
	member->member = crew->config.enlist(crew->config.ctx);
	if (!member->member)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&member->thread, NULL, crew_run, member) == 0)
		crew->count++;
	else
		crew->config.discharge(crew->config.ctx, member->member);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int
rr_crew_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_crew_config *config,
	struct rr_crew **crew)
{
	struct rr_crew *new = rr_alloc(env, sizeof(*new) + config->max * sizeof(new->members[0]));
	int fd;

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	*crew = new;
	new->env = env;
	new->loop = loop;
	new->config = *config;
	new->watch.ready = crew_ready;
	rr_list_init(&new->waiting);
	rr_list_init(&new->ended);
	pthread_mutex_init(&new->lock, NULL);
	pthread_cond_init(&new->wanted, NULL);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd >= 0 && rr_loop_watch(loop, &new->watch, fd, RR_READABLE) == 0)
		crew_grow(new);
	if (new->count > 0)
		return 0;
	new->watch.fd = fd;
	rr_crew_free(new);
	return -RPCRDMA_ERR_SYSTEM;
}

void
rr_crew_free(struct rr_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->wanted);
	pthread_mutex_unlock(&crew->lock);
	for (uint32_t i = 0; i < crew->count; i++) {
		pthread_join(crew->members[i].thread, NULL);
		crew->config.discharge(crew->config.ctx, crew->members[i].member);
	}
	crew_finish(crew);
	rr_loop_unwatch(crew->loop, &crew->watch);
	if (crew->watch.fd >= 0)
		close(crew->watch.fd);
	pthread_cond_destroy(&crew->wanted);
	pthread_mutex_destroy(&crew->lock);
	rr_free(crew->env, crew);
}

void
rr_crew_add(struct rr_crew *crew, struct rr_crew_job *job)
{
	bool grow;

	job->cancelled = false;
	rr_list_init(&job->link);
	pthread_mutex_lock(&crew->lock);
	rr_list_append(&crew->waiting, &job->link);
	crew->candidates++;
	grow = crew->idle < crew->candidates && crew->count < crew->config.max;
	pthread_cond_signal(&crew->wanted);
	pthread_mutex_unlock(&crew->lock);
	if (grow)
		crew_grow(crew);
}

bool
rr_crew_move(struct rr_crew *crew, const struct rr_crew_job *job, uint64_t place)
{
	bool has_room = false;

	pthread_mutex_lock(&crew->lock);
	for (uint32_t i = 0; i < crew->config.max; i++) {
		struct crew_member *member = &crew->members[i];

		if (member->current != job)
			continue;
		has_room = member->job.place == place || crew_has_room(crew, place);
		if (has_room)
			member->job.place = place;
	}
	pthread_mutex_unlock(&crew->lock);
	return has_room;
}

void
rr_crew_cancel(struct rr_crew *crew, struct rr_crew_job *job)
{
	pthread_mutex_lock(&crew->lock);
	for (struct rr_list *link = crew->waiting.next; link != &crew->waiting; link = link->next)
		if (link == &job->link) {
			job->cancelled = true;
			crew->candidates--;
			crew_move_to_ended(crew, job);
			break;
		}
	pthread_mutex_unlock(&crew->lock);
}
