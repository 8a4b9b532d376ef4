/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_LOOP_H
#define RR_BASE_LOOP_H

#include "base/env.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/payer.h"

/*
 * The event loop of one thread: file descriptors, timers, and tasks that run
 * at the end of the turn. Everything of one engine runs inside rr_loop_turn(),
 * in the thread that calls it; nothing here locks.
 *
 * Ownership: the caller owns each watch, timer and task (they are members
 * of its own structures) and takes them out before it frees them. A callback
 * may add and remove any of them, its own too. An object whose owner may close
 * it in one of its own callbacks is not freed there, but buried: the loop owns
 * it until the turn ends, and functions that are under way can still look at it.
 *
 * Time: a watch or a task may have a payer (payer.h), which is charged with the time that its callback takes.
 * Of descriptors that are ready, those without a payer come first, then that whose payer has used least. A
 * turn handles descriptors for RR_LOOP_SLICE at most, and one with a payer in any case: the others are ready
 * in the next turn still. A turn with one ready descriptor alone charges nobody, as nobody waits.
 */
struct rr_loop;

/* For how long a turn begins to handle descriptors with payers. */
#define RR_LOOP_SLICE (500 * RR_MICROSECOND)

/* How much of the loop's time a host, or a payer among those of its host, can save up (payer.h). It is enough
 * for the calls of a client that does one after the other. */
#define RR_LOOP_CREDIT (1 * RR_MILLISECOND)

enum { RR_READABLE = 1, RR_WRITABLE = 2 };

/* Watches a descriptor: ready() is called when something can be read or written.
 *
 * look() may be NULL. It is called when it is likely, but not known, that something can be read: it tries to
 * read, and returns whether it found anything. If it did not, it has changed nothing. Reading at once is
 * cheaper than asking the system first, if the guess is right. */
struct rr_watch {
	void (*ready)(struct rr_watch *watch,
		unsigned events); /* RR_READABLE, RR_WRITABLE; errors and hang-ups set both */
	bool (*look)(struct rr_watch *watch);
	struct rr_payer *const *payer; /* points to the pointer to its payer; either may be NULL */
	int fd;
	unsigned wanted; /* events that the loop now waits for; private */
};

/* Calls expired() at a time. */
struct rr_timer {
	void (*expired)(struct rr_timer *timer);
	uint64_t at; /* private, as all below */
	uint64_t order;
	struct rr_heap_link link;
	bool armed;
};

/* Calls run() at the end of a turn. */
struct rr_task {
	void (*run)(struct rr_task *task);
	struct rr_payer *const *payer; /* as in a watch */
	struct rr_list link;           /* private */
};

/* A member of an object that the loop is to free at the end of a turn. */
struct rr_grave {
	void (*free)(struct rr_grave *grave, const struct rr_env *env);
	struct rr_list link; /* private */
};

/* Makes a loop. Returns NULL, with errno, if there is no memory (ENOMEM), or if the system gives no epoll
 * descriptor. */
struct rr_loop *rr_loop_new(const struct rr_env *env);

/* Frees the loop and the objects that are buried. Before, all watches must have ended, all timers must be
 * disarmed, and no task may be queued. loop may be NULL. */
void rr_loop_free(struct rr_loop *loop);

const struct rr_env *rr_loop_env(const struct rr_loop *loop);

/* Returns the loop's log for warnings that peers cause (peer_log.h). */
struct rr_peer_log *rr_loop_peer_log(struct rr_loop *loop);

/* Watches fd for the events `wanted` (0: for errors alone). watch->ready must be set before. Returns 0 or
 * -RPCRDMA_ERR_SYSTEM. */
int rr_loop_watch(struct rr_loop *loop, struct rr_watch *watch, int fd, unsigned wanted);

/* Changes the events that a watch waits for. If these are the events that it waits for already, makes no
 * system call. */
void rr_loop_want(struct rr_loop *loop, struct rr_watch *watch, unsigned wanted);

/* Ends the watch: its callback is not called any more, not even in this turn. The descriptor stays open. */
void rr_loop_unwatch(struct rr_loop *loop, struct rr_watch *watch);

/* Initialises a timer: must be called once, before the timer is used. */
void rr_timer_init(struct rr_timer *timer, void (*expired)(struct rr_timer *timer));

/* Arms (or re-arms) timer to expire delay nanoseconds from now. If it is armed by the callback of a timer
 * that expires, it expires in the next turn at the earliest. */
void rr_loop_arm(struct rr_loop *loop, struct rr_timer *timer, uint64_t delay);

/* Disarms the timer. Does nothing if the timer is not armed. */
void rr_loop_disarm(struct rr_loop *loop, struct rr_timer *timer);

static inline bool
rr_timer_armed(const struct rr_timer *timer)
{
	return timer->armed;
}

/* Initialises a task: must be called once, before the task is used. */
void rr_task_init(struct rr_task *task, void (*run)(struct rr_task *task));

/* Queues task, to run once at the end of this turn (of the next turn, if no turn is under way). Does nothing
 * if task is queued already. Tasks that other tasks queue run in the same turn, but for one hundred rounds at
 * most. */
void rr_loop_defer(struct rr_loop *loop, struct rr_task *task);

/* Takes the task out of the queue, so that it does not run. Does nothing if the task is not queued. */
void rr_task_cancel(struct rr_task *task);

/* Has an object freed by free(), which is called with grave, a member of the object, and with the loop's
 * environment. If a callback is under way, as rr_loop_calls_back() says, the call comes at the end of this
 * turn, or of the next turn if no turn is under way. Otherwise it comes at once. An object may be buried only
 * once. */
void rr_loop_bury(struct rr_loop *loop, struct rr_grave *grave,
	void (*free)(struct rr_grave *grave, const struct rr_env *env));

/* Runs one turn of the loop. Waits for at most timeout nanoseconds (negative: until something happens; 0: not
 * at all), but not longer than to the next timer; a signal ends the wait. Then handles ready descriptors,
 * expired timers and queued tasks, and frees what is buried. Returns 1 if anything of this ran, 0 if nothing
 * did, or -RPCRDMA_ERR_SYSTEM.
 *
 * If the last two turns with ready descriptors had the same one alone, a turn that does not wait calls look()
 * of its watch first. If that finds something, the other descriptors have to wait for a later turn: at most
 * four turns in a row do so. */
int rr_loop_turn(struct rr_loop *loop, int64_t timeout);

/* Both return the time, as rr_now() of the loop's environment does. rr_loop_clock() reads the clock.
 * rr_loop_now() may return an older time: the time when the clock was last read in this turn of the loop.
 * Callers that need the time for each message use rr_loop_now(), as reading the clock costs as much as a
 * hundred instructions. */
uint64_t rr_loop_now(struct rr_loop *loop);
uint64_t rr_loop_clock(struct rr_loop *loop);

/* Returns the time that rr_loop_now() would return without reading the clock, or 0 if rr_loop_now() would
 * read the clock. */
uint64_t rr_loop_known(const struct rr_loop *loop);

/* Returns the payers of the loop's time: those that wait, and the clock of their accounts. */
struct rr_payers *rr_loop_payers(struct rr_loop *loop);

/* Has payer (NULL: nobody) pay for the loop's time from the time `now` on, and charges the one who has paid
 * so far with the time until then. Returns the latter, who is to pay again when this is over. A payer may
 * leave meanwhile, but its memory must stay until the end of the turn (rr_loop_bury()). */
struct rr_payer *rr_loop_pay(struct rr_loop *loop, struct rr_payer *payer, uint64_t now);

/* Tells whether somebody is charged with the time of this turn. */
bool rr_loop_charges(const struct rr_loop *loop);

/* Whether the caller is inside a callback: one of a turn of the loop, or the code between rr_loop_enter() and
 * rr_loop_leave(). */
bool rr_loop_calls_back(const struct rr_loop *loop);

/* rr_loop_enter() begins, and rr_loop_leave() ends, a time in which every function counts as called inside a
 * callback, although no turn of the loop is under way. */
void rr_loop_enter(struct rr_loop *loop);
void rr_loop_leave(struct rr_loop *loop);

/* Returns whether the turn that is under way has waited for its events, or would have waited if there had
 * been none. If not, as in a program that spins or polls, this thread is not asleep while its peers work. */
bool rr_loop_waits(const struct rr_loop *loop);

/* Returns how many turns of the loop there have been. Callers use it to limit what they do within one turn,
 * as everything else waits meanwhile. */
uint64_t rr_loop_turns(const struct rr_loop *loop);

/* Lets a turn that has nothing to do look for events again and again, for up to limit nanoseconds, before it
 * waits: being woken costs more than handling an event. A turn does so only if the last wait was shorter than
 * limit, and it yields the processor to threads that can run. If limit is 0, as it is at first, turns wait at
 * once. */
void rr_loop_poll(struct rr_loop *loop, uint64_t limit);

/* Returns a descriptor that becomes readable when a turn has something to do. Expired timers do not make it
 * readable. */
int rr_loop_fd(const struct rr_loop *loop);

/* Returns in how many nanoseconds the next turn is due. 0 means now; a negative number means that the next
 * turn is due only when the descriptor of rr_loop_fd() is readable. */
int64_t rr_loop_due(const struct rr_loop *loop);

#endif
