/* SPDX-License-Identifier: BSD-3-Clause */
/* A job is an operation that does not end at once. A job waits for the turns that its fate gives it, for
 * earlier jobs that have to be executed before it, and for leases that are being recalled; then it is
 * executed; then it waits for its other turns, and ends. The provider's timer is armed as long as there is a
 * job that turns can bring nearer to its end. */
#include "node.h"
#include "run.h"

struct memory_job {
	struct rr_list link; /* in rr_memory_vfs.jobs */
	struct rr_vfs_call *call;
	enum rr_vfs_operation operation;
	struct rr_memory_fate fate; /* the numbers of turns count down */
	/* Objects because of which jobs have an order: the directories whose entries the operation changes,
	 * and the file that it writes or commits. Numbers of nodes; 0: there is no such object. */
	uint64_t directories[2], file;
	enum {
		JOB_WAITS,    /* for its turns, for earlier jobs, or for rr_memory_release() */
		JOB_RECALLS,  /* until leases that are being recalled were given back */
		JOB_EXECUTED, /* and waits for its other turns */
		JOB_ENDS      /* done() is to be called in this turn */
	} state;
	enum rr_vfs_status status; /* once the job is executed or cancelled */
	bool cancelled;            /* the caller has cancelled the operation */
};

/* Returns the number of the object at this offset of the operation's structure, or 0 if there is no such
 * object or it cannot be found. */
static uint64_t
job_number(struct rr_memory_vfs *vfs, struct rr_vfs_call *call, uint16_t offset)
{
	const struct rr_vfs_object *object = rr_vfs_member(call, offset);
	struct rr_memory_node *node;

	if (!object || rr_memory_resolve(vfs->memory, object, &node) != RR_VFS_OK)
		return 0;
	return node->attributes.id.number;
}

/* Fills in a job: its fate (the decision of a test's script on when and how the operation ends), and the
 * numbers of the directories or of the file because of which the job may have to wait for earlier jobs. */
static void
job_fill(struct memory_job *job, struct rr_memory_vfs *vfs, enum rr_vfs_operation operation,
	struct rr_vfs_call *call)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[operation];
	const struct rr_memory_script *script = &vfs->memory->script;

	*job = (struct memory_job){ .call = call, .operation = operation };
	if (script->begin)
		script->begin(script->ctx, operation, call, &job->fate);
	for (int i = 0; i < 2 && row->flags & RR_VFS_ENTRIES; i++)
		job->directories[i] = row->changes[i] ? job_number(vfs, call, row->objects[i]) : 0;
	/* Of an operation with two objects (copy, clone), the second is the file that is written. */
	if (row->flags & (RR_VFS_WRITES | RR_VFS_COMMITS))
		job->file = job_number(vfs, call, row->objects[row->objects[1] ? 1 : 0]);
}

/* Tells whether both numbers stand for the same object. 0 stands for no object. */
static bool
job_same(uint64_t number, uint64_t other)
{
	return number != 0 && number == other;
}

/* Tells whether "job" must wait until the job "earlier", which began first, is executed: both change entries
 * of the same directory, or "job" is a commit and "earlier" writes to the same file. */
static bool
job_stands_before(const struct memory_job *earlier, const struct memory_job *job)
{
	bool commits = rr_vfs_rows[job->operation].flags & RR_VFS_COMMITS;
	bool writes = rr_vfs_rows[earlier->operation].flags & RR_VFS_WRITES;

	if (earlier->state >= JOB_EXECUTED)
		return false;
	if (commits && writes && job_same(earlier->file, job->file))
		return true;
	for (int i = 0; i < 2; i++)
		if (job_same(earlier->directories[i], job->directories[0]) ||
			job_same(earlier->directories[i], job->directories[1]))
			return true;
	return false;
}

/* Returns the first of the provider's earlier jobs that must be executed before this job, or NULL if this job
 * may be executed now. */
static const struct memory_job *
job_obstacle(const struct rr_memory_vfs *vfs, const struct memory_job *job)
{
	rr_list_for_each (link, &vfs->jobs) {
		const struct memory_job *earlier = rr_container(link, struct memory_job, link);

		if (earlier == job)
			return NULL;
		if (job_stands_before(earlier, job))
			return earlier;
	}
	return NULL;
}

/* Takes references to the opens that an operation uses (hold is true), so that the opens exist until the
 * operation ends, or gives the references back (hold is false), which may free opens that are closed. */
static void
job_hold(struct rr_vfs_call *call, enum rr_vfs_operation operation, bool hold)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[operation];
	struct rr_vfs_object *objects[] = { rr_vfs_member(call, row->objects[0]),
		rr_vfs_member(call, row->objects[1]) };
	struct rr_vfs_open **named = rr_vfs_member(call, row->open);
	struct rr_vfs_open *opens[] = { objects[0] ? objects[0]->open : NULL,
		objects[1] ? objects[1]->open : NULL, named ? *named : NULL };

	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		if (!opens[i])
			continue;
		if (hold)
			opens[i]->jobs++;
		else if (--opens[i]->jobs == 0)
			rr_memory_open_drop(opens[i]);
	}
}

/* Executes the job's operation, or lets it fail as its fate says, and sets the job's state and status. Where
 * the operation waits for a lease (RR_VFS_PENDING), it has done nothing yet: the job is then in the state
 * JOB_RECALLS, and is executed again after the lease was given back. */
static void
job_execute(struct rr_memory_vfs *vfs, struct memory_job *job)
{
	if (job->fate.status != RR_VFS_OK)
		job->status = rr_memory_skip(vfs, job->operation, job->call, job->fate.status);
	else
		job->status = rr_memory_run(vfs, job->operation, job->call);
	job->state = job->status == RR_VFS_PENDING ? JOB_RECALLS : JOB_EXECUTED;
}

/* Puts a copy of the job into the provider's list, takes references to its opens, and arms the timer for the
 * next turn. Returns RR_VFS_PENDING. Where there is no memory for the copy, the operation ends with
 * RR_VFS_BUSY instead. */
static enum rr_vfs_status
job_queue(struct rr_memory_vfs *vfs, const struct memory_job *job)
{
	struct memory_job *queued = rr_alloc(vfs->memory->env, sizeof(*queued));

	if (!queued)
		return rr_memory_skip(vfs, job->operation, job->call, RR_VFS_BUSY);
	*queued = *job;
	queued->call->job = queued;
	rr_list_append(&vfs->jobs, &queued->link);
	job_hold(queued->call, queued->operation, true);
	rr_loop_arm(vfs->vfs.loop, &vfs->timer, 0);
	return RR_VFS_PENDING;
}

enum rr_vfs_status
rr_memory_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_memory_vfs *own = rr_container(vfs, struct rr_memory_vfs, vfs);
	struct memory_job job;

	job_fill(&job, own, operation, call);
	if (!job.fate.held && job.fate.before == 0 && job.fate.after == 0 && !job_obstacle(own, &job)) {
		job_execute(own, &job);
		if (job.state == JOB_EXECUTED)
			return job.status;
	}
	return job_queue(own, &job);
}

/* Takes one step with one job in a turn of the loop: reduces by one the number of turns for which the job
 * waits, cancels or executes the job, or sets its state to JOB_ENDS. Returns true where a step was taken, so
 * that another turn is needed; false where the job is held, or waits for a lease or for another job. */
static bool
job_turn(struct rr_memory_vfs *vfs, struct memory_job *job)
{
	if (job->state < JOB_EXECUTED) {
		if (job->fate.held)
			return false;
		if (job->cancelled) {
			job->status = rr_memory_skip(vfs, job->operation, job->call, RR_VFS_CANCELLED);
			job->state = JOB_ENDS;
			return true;
		}
		if (job->fate.before > 0) {
			job->fate.before--;
			return true;
		}
		if (job->state == JOB_RECALLS || job_obstacle(vfs, job))
			return false;
		job_execute(vfs, job);
		return true;
	}
	if (job->fate.after > 0)
		job->fate.after--;
	else
		job->state = JOB_ENDS;
	return true;
}

/* Returns a job of the provider in the state JOB_ENDS, or NULL if there is none. */
static struct memory_job *
job_that_ends(struct rr_memory_vfs *vfs)
{
	rr_list_for_each (link, &vfs->jobs) {
		struct memory_job *job = rr_container(link, struct memory_job, link);

		if (job->state == JOB_ENDS)
			return job;
	}
	return NULL;
}

/* Ends a job: removes it from the provider's list, gives back its opens, frees it, and ends the
 * operation. */
static void
job_end(struct rr_memory_vfs *vfs, struct memory_job *job)
{
	struct rr_vfs_call *call = job->call;
	enum rr_vfs_status status = job->status;

	rr_list_remove(&job->link);
	job_hold(call, job->operation, false);
	rr_free(vfs->memory->env, job);
	rr_vfs_ended(&vfs->vfs, call, status);
}

/* Does one turn of the provider's timer: takes a step with each job, calls recall() of leases, and ends the
 * jobs that are to be ended. After done() of the last operation under way the provider is not used any more,
 * because that done() may destroy it. done() may also begin and cancel operations. */
void
rr_memory_turn(struct rr_timer *timer)
{
	struct rr_memory_vfs *vfs = rr_container(timer, struct rr_memory_vfs, timer);
	struct memory_job *job;
	bool more = false;

	rr_list_for_each (link, &vfs->jobs)
		more |= job_turn(vfs, rr_container(link, struct memory_job, link));
	rr_memory_recalls(vfs);
	if (more)
		rr_loop_arm(vfs->vfs.loop, timer, 0);
	while ((job = job_that_ends(vfs)) != NULL) {
		bool last = vfs->vfs.counters.under_way == 1;

		job_end(vfs, job);
		if (last)
			return;
	}
}

/* Lets the provider's jobs that wait for leases try again in the next turn of the loop. Where release is
 * true, the jobs that a test's script holds go on, too. */
static void
job_wake(struct rr_memory_vfs *vfs, bool release)
{
	rr_list_for_each (link, &vfs->jobs) {
		struct memory_job *job = rr_container(link, struct memory_job, link);

		if (job->state == JOB_RECALLS)
			job->state = JOB_WAITS;
		if (release)
			job->fate.held = false;
	}
	rr_loop_arm(vfs->vfs.loop, &vfs->timer, 0);
}

void
rr_memory_wake(struct rr_memory *memory)
{
	rr_list_for_each (link, &memory->vfss)
		job_wake(rr_container(link, struct rr_memory_vfs, link), false);
}

void
rr_memory_release(struct rr_memory *memory)
{
	rr_list_for_each (link, &memory->vfss)
		job_wake(rr_container(link, struct rr_memory_vfs, link), true);
}

void
rr_memory_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_memory_vfs *own = rr_container(vfs, struct rr_memory_vfs, vfs);
	struct memory_job *job = call->job;

	job->cancelled = true;
	rr_loop_arm(vfs->loop, &own->timer, 0);
}

/* Returns how many jobs of the provider wait for rr_memory_release(), as their fate says. */
static uint32_t
job_held(const struct rr_memory_vfs *vfs)
{
	uint32_t count = 0;

	rr_list_for_each (link, &vfs->jobs)
		count += rr_container(link, struct memory_job, link)->fate.held;
	return count;
}

uint32_t
rr_memory_held(const struct rr_memory *memory)
{
	uint32_t count = 0;

	rr_list_for_each (link, &memory->vfss)
		count += job_held(rr_container(link, struct rr_memory_vfs, link));
	return count;
}
