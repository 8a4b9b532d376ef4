/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop of loop.h. epoll(7) finds the descriptors that are ready. The armed timers are in a heap,
 * by their time; queued tasks and buried objects are in lists. */
#include "base/loop.h"

#include <errno.h>
#include <rpcrdma/error.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/peer_log.h"

enum {
	BATCH = 64,        /* the most events that one wait takes */
	TASK_ROUNDS = 100, /* the most rounds of tasks in one turn */
	LOOKS = 3,         /* calls of look() in one turn, until one finds something */
	FOUND_MAX = 4,     /* turns in a row in which look() may find something: then all others are served */
};

struct rr_loop {
	uint64_t turns;
	uint32_t entered; /* calls of rr_loop_enter() without their rr_loop_leave() so far */
	uint64_t now; /* the last reading of the clock in this turn; 0: the clock was not read in this turn,
			 or no turn is under way */
	bool turning;
	const struct rr_env *env;
	int epoll;
	struct rr_heap timers; /* the earliest first */
	uint64_t order; /* of the last timer that was armed: timers of the same time expire in this order */
	struct rr_list tasks;
	struct rr_list graves;
	uint64_t poll_limit;             /* nanoseconds, set by rr_loop_poll(); 0: turns wait at once */
	bool polls;                      /* the last wait was shorter than poll_limit */
	struct epoll_event ready[BATCH]; /* events of the turn in progress; rr_loop_unwatch() clears those of
					    its watch */
	int nready;
	struct rr_watch *alone;  /* the only watch that was ready in the last wait that had any; else NULL */
	struct rr_watch *likely; /* has look(), and was ready alone twice in a row; else NULL */
	uint32_t found;          /* turns in a row in which look() of `likely` found something */
	struct rr_payers payers;
	struct rr_payer *payer; /* who pays for what is done now; NULL: nobody */
	uint64_t pays_since;    /* the time; 0: nobody is charged in this turn so far */
	bool waits;             /* the last call of epoll_wait(2) in this turn was allowed to wait */
	struct rr_peer_log peer_log;
};

/* Whether the timer of link a expires before the timer of link b: its time is earlier or, if both have the
 * same time, it was armed earlier. */
static bool
loop_timer_is_before(struct rr_heap_link *a, struct rr_heap_link *b)
{
	const struct rr_timer *first = rr_container(a, const struct rr_timer, link);
	const struct rr_timer *second = rr_container(b, const struct rr_timer, link);

	return first->at < second->at || (first->at == second->at && first->order < second->order);
}

struct rr_loop *
rr_loop_new(const struct rr_env *env)
{
	struct rr_loop *loop = rr_alloc(env, sizeof(*loop));

	if (!loop) {
		errno = ENOMEM;
		return NULL;
	}
	loop->env = env;
	rr_heap_init(&loop->timers, loop_timer_is_before);
	rr_payers_init(&loop->payers, RR_LOOP_CREDIT);
	rr_list_init(&loop->tasks);
	rr_list_init(&loop->graves);
	rr_peer_log_init(&loop->peer_log, loop);
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll >= 0)
		return loop;
	rr_free(env, loop);
	return NULL;
}

/* Frees all buried objects: those whose owners closed them within a callback, so that the loop must free them
 * later. Freeing an object may bury others, which are freed, too. Returns whether there were any. */
static bool
loop_free_buried(struct rr_loop *loop)
{
	struct rr_list *link;
	bool freed = false;

	while ((link = rr_list_pop(&loop->graves))) {
		struct rr_grave *grave = rr_container(link, struct rr_grave, link);

		grave->free(grave, loop->env);
		freed = true;
	}
	return freed;
}

void
rr_loop_free(struct rr_loop *loop)
{
	if (!loop)
		return;
	loop_free_buried(loop);
	rr_peer_log_end(&loop->peer_log);
	close(loop->epoll);
	rr_free(loop->env, loop);
}

struct rr_peer_log *
rr_loop_peer_log(struct rr_loop *loop)
{
	return &loop->peer_log;
}

const struct rr_env *
rr_loop_env(const struct rr_loop *loop)
{
	return loop->env;
}

/* Adds the watch to epoll, or changes or removes it, as operation says, with the events that the watch wants.
 * Returns the result of epoll_ctl(2). */
static int
loop_control(struct rr_loop *loop, int operation, struct rr_watch *watch)
{
	struct epoll_event event = { .data.ptr = watch };

	if (watch->wanted & RR_READABLE)
		event.events |= EPOLLIN;
	if (watch->wanted & RR_WRITABLE)
		event.events |= EPOLLOUT;
	return epoll_ctl(loop->epoll, operation, watch->fd, &event);
}

int
rr_loop_watch(struct rr_loop *loop, struct rr_watch *watch, int fd, unsigned wanted)
{
	watch->fd = fd;
	watch->wanted = wanted;
	return loop_control(loop, EPOLL_CTL_ADD, watch) < 0 ? -RPCRDMA_ERR_SYSTEM : 0;
}

void
rr_loop_want(struct rr_loop *loop, struct rr_watch *watch, unsigned wanted)
{
	if (watch->wanted == wanted)
		return;
	watch->wanted = wanted;
	loop_control(loop, EPOLL_CTL_MOD, watch);
}

void
rr_loop_unwatch(struct rr_loop *loop, struct rr_watch *watch)
{
	loop_control(loop, EPOLL_CTL_DEL, watch);
	if (loop->alone == watch)
		loop->alone = loop->likely = NULL;
	for (int i = 0; i < loop->nready; i++)
		if (loop->ready[i].data.ptr == watch)
			loop->ready[i].data.ptr = NULL;
}

void
rr_timer_init(struct rr_timer *timer, void (*expired)(struct rr_timer *timer))
{
	timer->expired = expired;
	timer->armed = false;
}

void
rr_loop_arm(struct rr_loop *loop, struct rr_timer *timer, uint64_t delay)
{
	rr_loop_disarm(loop, timer);
	/* A caller may ask for the longest delay there is: the sum must not wrap to a time that has passed.
	 */
	timer->at = rr_now(loop->env) + (delay < INT64_MAX ? delay : INT64_MAX);
	timer->order = ++loop->order;
	timer->armed = true;
	rr_heap_add(&loop->timers, &timer->link);
}

void
rr_loop_disarm(struct rr_loop *loop, struct rr_timer *timer)
{
	if (timer->armed)
		rr_heap_remove(&loop->timers, &timer->link);
	timer->armed = false;
}

void
rr_task_init(struct rr_task *task, void (*run)(struct rr_task *task))
{
	task->run = run;
	task->payer = NULL;
	rr_list_init(&task->link);
}

void
rr_loop_defer(struct rr_loop *loop, struct rr_task *task)
{
	if (rr_list_empty(&task->link))
		rr_list_append(&loop->tasks, &task->link);
}

void
rr_task_cancel(struct rr_task *task)
{
	rr_list_remove(&task->link);
}

void
rr_loop_bury(struct rr_loop *loop, struct rr_grave *grave,
	void (*free)(struct rr_grave *grave, const struct rr_env *env))
{
	grave->free = free;
	if (rr_loop_calls_back(loop))
		rr_list_append(&loop->graves, &grave->link);
	else
		free(grave, loop->env);
}

int64_t
rr_loop_due(const struct rr_loop *loop)
{
	uint64_t now, at;

	if (!rr_list_empty(&loop->tasks) || !rr_list_empty(&loop->graves))
		return 0;
	if (!loop->timers.first)
		return -1;
	now = rr_now(loop->env);
	at = rr_container(loop->timers.first, struct rr_timer, link)->at;
	return at > now ? (int64_t)(at - now) : 0;
}

int
rr_loop_fd(const struct rr_loop *loop)
{
	return loop->epoll;
}

/* Returns for how many milliseconds a turn of the loop may wait: until the next timer expires, or for timeout
 * nanoseconds (negative: without limit), whichever is sooner. The result is rounded up, so that the loop does
 * not spin; the result -1 means without limit. */
static int
loop_wait_limit(const struct rr_loop *loop, int64_t timeout)
{
	int64_t due;

	/* The clock is not read for a turn that does not wait at all. */
	if (timeout == 0)
		return 0;
	due = rr_loop_due(loop);
	if (due < 0 || (timeout >= 0 && timeout < due))
		due = timeout;
	if (due < 0)
		return -1;
	due = due / (int64_t)RR_MILLISECOND + (due % (int64_t)RR_MILLISECOND ? 1 : 0);
	return due > INT32_MAX ? INT32_MAX : (int)due;
}

void
rr_loop_poll(struct rr_loop *loop, uint64_t limit)
{
	loop->poll_limit = limit;
	loop->polls = false;
}

/* Returns the payer of a watch or a task; NULL if it has none. */
static struct rr_payer *
loop_payer(struct rr_payer *const *payer)
{
	return payer ? *payer : NULL;
}

/* Calls look() of the watch whose descriptor is likely to be readable, if there is one, and returns whether
 * it found something. Does not call it if tasks are queued, as these need not wait. */
static bool
loop_look(struct rr_loop *loop)
{
	loop->waits = false;
	for (int i = 0; i < LOOKS && loop->likely && loop->found < FOUND_MAX; i++) {
		if (!rr_list_empty(&loop->tasks))
			break;
		loop->payer = loop_payer(loop->likely->payer);
		if (loop->likely->look(loop->likely)) {
			loop->found++;
			return true;
		}
	}
	loop->payer = NULL;
	/* The time that look() may have read is too old after a wait. */
	loop->now = 0;
	return false;
}

/* Waits for ready descriptors, at most limit milliseconds, and puts their events into loop->ready. Returns
 * how many there are, or -1 with errno. */
static int
loop_ask(struct rr_loop *loop, int limit)
{
	int n = epoll_wait(loop->epoll, loop->ready, BATCH, limit);

	loop->nready = n > 0 ? n : 0;
	loop->found = 0;
	loop->waits = limit != 0;
	if (n > 0) {
		struct rr_watch *watch = n == 1 ? loop->ready[0].data.ptr : NULL;

		loop->likely = watch && watch == loop->alone && watch->look ? watch : NULL;
		loop->alone = watch;
	}
	return n;
}

/* Looks for something to read, and then asks for ready descriptors, both without waiting. Returns 1 if look()
 * found something; otherwise the result of loop_ask(). */
static int
loop_try(struct rr_loop *loop)
{
	return loop_look(loop) ? 1 : loop_ask(loop, 0);
}

/* Waits for something to read or to write, at most limit milliseconds. If rr_loop_poll() set a time and the
 * last wait was shorter than that time, first tries again and again, without waiting, for that time. Returns
 * a positive number if something was read or descriptors are ready, 0 if not, or -1 with errno. */
static int
loop_wait(struct rr_loop *loop, int limit)
{
	uint64_t until;
	int n;

	if (limit == 0)
		return loop_try(loop);
	if (loop->poll_limit == 0)
		return loop_ask(loop, limit);
	until = rr_now(loop->env) + loop->poll_limit;
	while (loop->polls) {
		n = loop_try(loop);
		if (n != 0)
			return n;
		sched_yield();
		loop->polls = rr_now(loop->env) < until;
	}
	n = loop_ask(loop, limit);
	loop->polls = rr_now(loop->env) < until;
	return n;
}

/* ---- Who pays ---- */

struct rr_payers *
rr_loop_payers(struct rr_loop *loop)
{
	return &loop->payers;
}

struct rr_payer *
rr_loop_pay(struct rr_loop *loop, struct rr_payer *payer, uint64_t now)
{
	struct rr_payer *before = loop->payer;

	if (before && loop->pays_since > 0 && now > loop->pays_since)
		rr_payer_charge(&loop->payers, before, now - loop->pays_since);
	loop->payer = payer;
	loop->pays_since = now;
	return before;
}

bool
rr_loop_charges(const struct rr_loop *loop)
{
	return loop->pays_since > 0;
}

/* Begins or ends the accounts of a turn. */
static void
loop_clear_account(struct rr_loop *loop)
{
	loop->payer = NULL;
	loop->pays_since = 0;
}

/* ---- What a turn does ---- */

/* Calls ready() of the watch, with the events that came. */
static void
loop_handle(struct rr_watch *watch, uint32_t events)
{
	unsigned what = 0;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		what |= RR_READABLE;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		what |= RR_WRITABLE;
	watch->ready(watch, what);
}

/* Tells whether the watch a is handled before the watch b. */
static bool
loop_watch_is_before(const struct rr_watch *a, const struct rr_watch *b)
{
	const struct rr_payer *first = loop_payer(a->payer), *second = loop_payer(b->payer);

	return second && (!first || rr_payer_is_before(first, second));
}

/* Puts the event that is to be handled first among those from `from` on at this place, in front of the
 * others, and returns its watch. Returns NULL if no watch of them is left: a watch that was removed meanwhile
 * has a NULL pointer in loop->ready. */
static struct rr_watch *
loop_choose(struct rr_loop *loop, int from)
{
	int first = -1;
	struct epoll_event chosen;

	for (int i = from; i < loop->nready; i++) {
		const struct rr_watch *watch = loop->ready[i].data.ptr;

		if (watch && (first < 0 || loop_watch_is_before(watch, loop->ready[first].data.ptr)))
			first = i;
	}
	if (first < 0)
		return NULL;
	chosen = loop->ready[first];
	/* The others keep their order. */
	memmove(&loop->ready[from + 1], &loop->ready[from], (size_t)(first - from) * sizeof(chosen));
	loop->ready[from] = chosen;
	return chosen.data.ptr;
}

/* Handles several ready descriptors in the order of what their payers have used, and charges these. */
static void
loop_handle_in_order(struct rr_loop *loop)
{
	uint64_t began = rr_loop_clock(loop), now = began;
	struct rr_watch *watch;
	bool paid = false;

	for (int i = 0; i < loop->nready && (watch = loop_choose(loop, i)); i++) {
		struct rr_payer *payer = loop_payer(watch->payer);

		/* The first with a payer is handled however long those without one took. */
		if (paid && now - began >= RR_LOOP_SLICE)
			break;
		if (payer && !paid)
			rr_payer_begin(&loop->payers, payer);
		paid |= payer != NULL;
		rr_loop_pay(loop, payer, now);
		loop_handle(watch, loop->ready[i].events);
		now = rr_loop_clock(loop);
	}
	rr_loop_pay(loop, NULL, now);
}

/* Calls ready() of each watch whose descriptor is ready. */
static void
loop_handle_ready(struct rr_loop *loop)
{
	struct rr_watch *watch = loop->nready > 0 ? loop->ready[0].data.ptr : NULL;

	if (loop->nready > 1) {
		loop_handle_in_order(loop);
	} else if (watch) {
		/* What follows in this turn is mostly for the same payer. */
		loop->payer = loop_payer(watch->payer);
		loop_handle(watch, loop->ready[0].events);
	}
	loop->nready = 0;
}

/* Calls expired() of the timers whose time has come, and returns whether there were any. A timer that is
 * armed by one of these calls waits for the next turn, so that timers that arm each other cannot starve the
 * rest. */
static bool
loop_run_timers(struct rr_loop *loop)
{
	uint64_t now, last = loop->order;
	bool ran = false;

	if (!loop->timers.first)
		return false;
	now = rr_loop_now(loop);
	while (loop->timers.first) {
		struct rr_timer *timer = rr_container(loop->timers.first, struct rr_timer, link);

		if (timer->at > now || timer->order > last)
			break;
		rr_loop_disarm(loop, timer);
		timer->expired(timer);
		ran = true;
	}
	return ran;
}

/* Runs a task at the cost of its payer. Where nobody is charged so far, and the task is for the payer for
 * whom all was done in this turn, or for nobody, nobody is charged still: to read the clock would cost more
 * than many a task. */
static void
loop_run_task(struct rr_loop *loop, struct rr_task *task)
{
	struct rr_payer *payer = loop_payer(task->payer);

	if (payer != loop->payer && (payer || loop->pays_since > 0))
		rr_loop_pay(loop, payer, rr_loop_clock(loop));
	task->run(task);
}

/* Runs the queued tasks, in rounds, and returns whether there were any. A round runs the tasks that were
 * queued when the round began. At most TASK_ROUNDS rounds run, so that tasks that queue each other cannot
 * starve the rest. */
static bool
loop_run_tasks(struct rr_loop *loop)
{
	bool ran = false;

	for (int round = 0; round < TASK_ROUNDS && !rr_list_empty(&loop->tasks); round++) {
		struct rr_list mark; /* stands behind the last task of this round */

		rr_list_append(&loop->tasks, &mark);
		while (loop->tasks.next != &mark) {
			struct rr_list *link = rr_list_pop(&loop->tasks);

			loop_run_task(loop, rr_container(link, struct rr_task, link));
		}
		rr_list_remove(&mark);
		ran = true;
	}
	return ran;
}

uint64_t
rr_loop_clock(struct rr_loop *loop)
{
	uint64_t now = rr_now(loop->env);

	/* Only a turn keeps the time, as it forgets the time at its end. */
	if (loop->turning)
		loop->now = now;
	return now;
}

uint64_t
rr_loop_known(const struct rr_loop *loop)
{
	return loop->now;
}

uint64_t
rr_loop_now(struct rr_loop *loop)
{
	return loop->now > 0 ? loop->now : rr_loop_clock(loop);
}

bool
rr_loop_waits(const struct rr_loop *loop)
{
	return loop->waits;
}

uint64_t
rr_loop_turns(const struct rr_loop *loop)
{
	return loop->turns;
}

bool
rr_loop_calls_back(const struct rr_loop *loop)
{
	return loop->turning || loop->entered > 0;
}

void
rr_loop_enter(struct rr_loop *loop)
{
	loop->entered++;
}

void
rr_loop_leave(struct rr_loop *loop)
{
	loop->entered--;
}

int
rr_loop_turn(struct rr_loop *loop, int64_t timeout)
{
	int limit = loop_wait_limit(loop, timeout), n;
	bool ran;

	/* look() may be called while the turn waits: it is inside the turn already. */
	loop->turns++;
	loop->turning = true;
	loop_clear_account(loop);
	n = loop_wait(loop, limit);
	if (n < 0 && errno != EINTR) {
		loop->turning = false;
		return -RPCRDMA_ERR_SYSTEM;
	}
	ran = n > 0;
	loop_handle_ready(loop);
	ran |= loop_run_timers(loop);
	ran |= loop_run_tasks(loop);
	if (loop->payer && loop->pays_since > 0)
		rr_loop_pay(loop, NULL, rr_loop_clock(loop));
	ran |= loop_free_buried(loop);
	loop_clear_account(loop);
	loop->turning = false;
	loop->now = 0;
	return ran;
}
