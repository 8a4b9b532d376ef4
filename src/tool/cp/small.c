/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "tool/cp/cp.h"
#include "tool/cp/remote.h"

/*
 * Copies of the small files of a directory, many at a time: the server syncs the changes of many files
 * together, and no file waits for the answers of another.
 *
 * A job copies a file. It reads the whole file, makes the target under its temporary name, writes it by a
 * single stable WRITE (no COMMIT follows), sets its mode and times, and renames it; with version 4, a single
 * COMPOUND does all that, and another reads the whole file. Data that the server copies by itself is not
 * read, except for its end: the file may have grown since its directory was listed. In any unusual case, from
 * an existing file to a server that refuses something, the file is left for rr_cp_file(), which handles and
 * reports all cases. The directories and names of jobs belong to the caller, who keeps them until
 * rr_cp_small_end().
 */

/* The most jobs at a time; the octets of zeroes that become a hole; octets of the names of extended
 * attributes.
 */
enum { JOBS = 128, SMALL_HOLE = 4096, SMALL_NAMES = 1024 };

/* From SMALL_CREATING on, except for SMALL_LEFT, the temporary file may exist: rr_cp_small_end(). */
enum small_state {
	SMALL_IDLE,
	SMALL_LISTING, /* the extended attributes are listed, and the access list is read */
	SMALL_READING,
	SMALL_LOOKING, /* for an object of the target's name */
	SMALL_CREATING,
	SMALL_WRITING,
	SMALL_COMPARING, /* the source still has its size, after the server copied it by itself */
	SMALL_SETTING,
	SMALL_RENAMING,
	SMALL_PUTTING, /* one call does all from SMALL_CREATING to SMALL_RENAMING */
	SMALL_LEFT,    /* left for rr_cp_file() */
	SMALL_STATES
};

/* A job copies a small file. */
struct small_job {
	struct rr_cp *cp;
	enum small_state state;
	const struct rr_directory *from, *to;
	const char *name;
	size_t directory; /* the path of the directory is so much of the beginning of cp->path */
	struct rr_info info;
	bool fresh;  /* no object of the target's name is looked for: there is none, or it is replaced */
	bool made;   /* the temporary file may exist */
	bool within; /* the server copies the data by itself, so it is not read */
	char temporary[RR_CP_TEMPORARY];
	struct rpcrdma_nfs_object object; /* the target */
	struct rpcrdma_nfs_then then;     /* of the operation under way */
	struct rpcrdma_nfs_io io;
	struct rpcrdma_nfs_whole put;
	struct rpcrdma_nfs_range range;
	struct rpcrdma_nfs_value xattrs;
	char names[SMALL_NAMES];
	struct rpcrdma_nfs_acl acl; /* with entries, for a list that says no more than the mode */
	struct rpcrdma_nfs_acl_entry entries[3];
	uint8_t *data;
};

struct rr_cp_small {
	struct rr_cp *cp;
	uint8_t *memory;
	uint32_t active; /* number of jobs that are neither idle nor left */
	struct small_job jobs[JOBS];
};

typedef void small_begin(struct small_job *job);

static small_begin small_list, small_read, small_look, small_create, small_write, small_compare, small_set,
	small_rename, small_put, small_finish;

/* For each state, the function that begins its action, and the state that follows when the action is done. A
 * job that becomes idle has copied its file: small_finish() counts the file. */
static const struct {
	small_begin *begin;
	enum small_state next;
} steps[SMALL_STATES] = {
	[SMALL_IDLE] = { small_finish, SMALL_IDLE },
	[SMALL_LISTING] = { small_list, SMALL_READING },
	[SMALL_READING] = { small_read, SMALL_LOOKING },
	[SMALL_LOOKING] = { small_look, SMALL_PUTTING },
	[SMALL_PUTTING] = { small_put, SMALL_IDLE },
	[SMALL_CREATING] = { small_create, SMALL_WRITING },
	[SMALL_WRITING] = { small_write, SMALL_COMPARING },
	[SMALL_COMPARING] = { small_compare, SMALL_SETTING },
	[SMALL_SETTING] = { small_set, SMALL_RENAMING },
	[SMALL_RENAMING] = { small_rename, SMALL_IDLE },
	[SMALL_LEFT] = { NULL, SMALL_LEFT },
};

/* Sets the state of the job, and begins the action of that state, which may end at once and set the next
 * state. In SMALL_IDLE and SMALL_LEFT the job has ended: it no longer counts as active. */
static void
small_set_state(struct small_job *job, enum small_state state)
{
	job->state = state;
	if (state == SMALL_IDLE || state == SMALL_LEFT)
		job->cp->small->active--;
	if (steps[state].begin)
		steps[state].begin(job);
}

/* Called when the step of the job's present state has ended: goes on to the job's next state. After an error
 * or a signal, the state becomes SMALL_LEFT instead: rr_cp_file() will copy the file of the job. */
static void
small_next(struct small_job *job, int error)
{
	bool left = error || job->cp->stop || rr_tool_interrupted(NULL);

	small_set_state(job, left ? SMALL_LEFT : steps[job->state].next);
}

/* Adds the file, which was copied, to the sums and to the progress. */
static void
small_finish(struct small_job *job)
{
	struct rr_cp *cp = job->cp;

	rr_cp_say_done_in(cp, "copy", job->directory, job->name);
	cp->sums.files++;
	cp->sums.octets += job->info.size;
	cp->sums.within += job->within ? job->info.size : 0;
	rr_progress_add(&cp->progress, job->info.size);
}

/* ---- From the source ---- */

/* Returns what is called when the operation of the job's present state has ended. */
static const struct rpcrdma_nfs_then *
small_then(struct small_job *job, void (*done)(void *ctx, int error))
{
	job->then = (struct rpcrdma_nfs_then){ .done = done, .ctx = job };
	return &job->then;
}

/* Called with the result of a function that begins an operation. If it has begun none, the job's step has
 * ended with this error. */
static void
small_begun(struct small_job *job, int error)
{
	if (error)
		small_next(job, error);
}

/* Called when the server has sent the access list of the source. A list of more than three entries has no
 * room: rr_cp_file() will copy the file then. */
static void
small_had_acl(void *ctx, int error)
{
	struct small_job *job = ctx;
	struct rr_side *from = &job->cp->from;

	if (error == NFS3ERR_NOTSUPP) {
		from->listless = true;
		from->listless_on = job->info.fsid;
		error = 0;
	}
	small_next(job, error);
}

/* Asks the server of the source for the access list of the file, if access lists are kept. */
static void
small_ask_acl(struct small_job *job)
{
	const struct rr_cp *cp = job->cp;

	if (!cp->preserve || !cp->from.nfs || rr_cp_is_listless(&cp->from, &job->info)) {
		small_next(job, 0);
		return;
	}
	job->acl = (struct rpcrdma_nfs_acl){ job->entries, 3, 0 };
	small_begun(job, rpcrdma_nfs_get_acl(cp->from.nfs, &job->info.handle, &job->acl, NULL, NULL,
				 small_then(job, small_had_acl)));
}

/* Called when the server has listed the extended attributes of the source. If the file has none, or cannot
 * have any (NOTSUPP), the job goes on to its next state. If there are any, rr_cp_file() will copy the file,
 * as a job does not copy extended attributes; here this counts as an error of the job. */
static void
small_was_listed(void *ctx, int error)
{
	struct small_job *job = ctx;

	if (error == NFS3ERR_NOTSUPP)
		error = 0;
	else if (!error && job->xattrs.length > 0)
		error = NFS3ERR_NOTSUPP;
	if (error)
		small_next(job, error);
	else
		small_ask_acl(job);
}

/* Asks the server of the source whether the file has extended attributes. The job goes on to its next state
 * at once if they are not to be copied, or the source is local, or its server has no such attributes. */
static void
small_list(struct small_job *job)
{
	const struct rr_cp *cp = job->cp;

	if (!cp->archive || cp->no_xattrs || !cp->from.nfs || !rr_nfs_is_newer(cp->from.nfs)) {
		small_ask_acl(job);
		return;
	}
	job->xattrs = (struct rpcrdma_nfs_value){ .data = job->names, .room = sizeof(job->names) };
	small_begun(job, rpcrdma_nfs_list_xattrs(cp->from.nfs, &job->info.handle, &job->xattrs,
				 small_then(job, small_was_listed)));
}

/* Tells whether a local file has extended attributes that are to be copied. Returns true also if they cannot
 * be listed: rr_cp_file() then copies the file, and handles the case. */
static bool
small_has_xattrs(const struct rr_cp *cp, struct rr_file *file)
{
	char names[1024];
	struct rpcrdma_nfs_value value = { .data = names, .room = sizeof(names) };

	return cp->archive && !cp->no_xattrs &&
	       (file->side->ops->list_xattrs(file->side, &(struct rr_directory){ .fd = file->fd }, &value) <
			       0 ||
		       value.length > 0);
}

/* Called when the server has read the source. The READ asked for one octet more than the file should have. If
 * it brought another number of octets than the list of the directory said, the file is changing, and
 * rr_cp_file() will copy it instead of this job. */
static void
small_was_read(void *ctx, int error)
{
	struct small_job *job = ctx;

	small_next(job, error ? error : job->io.moved != job->info.size || !job->io.eof);
}

/* Reads a local source into the job's memory. Returns 0 if the whole file was read. Returns another number if
 * rr_cp_file() must copy the file: there was an error, or the file has extended attributes, is no regular
 * file, or is changing. */
static int
small_read_local(struct small_job *job)
{
	struct rr_side *side = &job->cp->from;
	struct rr_cp_piece piece = { .data = job->data, .length = RR_CP_SMALL + 1 };
	struct rr_file file;
	int error = side->ops->open(side, job->from, job->name, &job->info, &file);

	if (error)
		return error;
	error = side->ops->describe(&file, &job->info);
	rr_cp_mask(job->cp, &job->info);
	if (!error && (file.stream || job->info.kind != RR_KIND_FILE || small_has_xattrs(job->cp, &file) ||
			      (job->cp->preserve && job->info.listed)))
		error = -RPCRDMA_ERR_SYSTEM;
	if (!error && side->ops->read(&file, &piece) < 0)
		error = -RPCRDMA_ERR_SYSTEM;
	side->ops->close(&file);
	return error ? error : piece.moved != job->info.size;
}

/* Reads the whole source into the job's memory, and then goes on to the job's next state. If the server
 * copies the data by itself, goes on without reading. */
static void
small_read(struct small_job *job)
{
	if (job->within) {
		small_next(job, 0);
		return;
	}
	if (!job->cp->from.nfs) {
		small_next(job, small_read_local(job));
		return;
	}
	job->io = (struct rpcrdma_nfs_io){
		.size = sizeof(job->io),
		.file = job->info.handle,
		.data = job->data,
		.length = (uint32_t)job->info.size + 1,
		.once = true,
	};
	small_begun(job, rpcrdma_nfs_read(job->cp->from.nfs, &job->io, small_then(job, small_was_read)));
}

/* ---- To a server ---- */

/* Called when an operation on the destination has ended. Notes in job->made whether a temporary file may
 * exist now: also after an error, if no answer came that says what the server did (the error is negative), or
 * the library says so. Then goes on to the job's next state. A LOOKUP that has found the name counts as an
 * error, as rr_cp_file() handles files that exist. A copy within the server must be whole, and stored. */
static void
small_was_done(void *ctx, int error)
{
	struct small_job *job = ctx;

	if (job->state == SMALL_LOOKING)
		error = error == NFS3ERR_NOENT ? 0 : -RPCRDMA_ERR_SYSTEM;
	if (job->state == SMALL_CREATING || job->state == SMALL_PUTTING)
		job->made |= error < 0 || job->put.made;
	if (job->state == SMALL_CREATING && !error)
		job->made = true;
	if (job->state == SMALL_WRITING && job->within && !error &&
		job->range.stored != RPCRDMA_NFS_FILE_SYNC)
		error = -RPCRDMA_ERR_NOTSUP;
	small_next(job, error);
}

/* Makes the copy on the local file system at once: creates the temporary file, writes it, sets its attributes
 * and renames it. Returns 0; another number after an error. */
static int
small_make_local(struct small_job *job)
{
	struct rr_side *side = &job->cp->to;
	struct rr_cp_piece piece = { .data = job->data, .length = (uint32_t)job->info.size };
	struct rr_file file;
	int error;

	if (side->ops->create(side, job->to, job->temporary, job->info.size, &file) != 0)
		return -RPCRDMA_ERR_SYSTEM;
	job->made = true;
	error = side->ops->write(&file, &piece) < 0 || side->ops->finish(&file, &job->info) < 0;
	side->ops->close(&file);
	return error || side->ops->rename(side, job->to, job->temporary, job->name) < 0;
}

/* If the destination is a server, asks whether it has an object of the job's name. Goes on without asking if
 * the directory is new, or existing files are to be replaced (job->fresh). If the destination is local, makes
 * the whole copy at once, which ends the job. */
static void
small_look(struct small_job *job)
{
	struct rr_cp *cp = job->cp;

	if (!cp->to.nfs) {
		int error = small_make_local(job);

		small_set_state(job, error ? SMALL_LEFT : SMALL_IDLE);
		return;
	}
	job->object = (struct rpcrdma_nfs_object){ .size = sizeof(job->object) };
	if (job->fresh)
		small_next(job, 0);
	else
		small_begun(job, rpcrdma_nfs_lookup(cp->to.nfs, &job->to->handle, job->name, &job->object,
					 small_then(job, small_was_done)));
}

/* Makes the server create, write and rename the copy by a single call, if it can do that. Otherwise goes on
 * with SMALL_CREATING, which begins with separate calls for these steps. */
static void
small_put(struct small_job *job)
{
	const struct rpcrdma_nfs_changes changes = rr_cp_remote_attributes(&job->cp->to, &job->info);
	int error = -RPCRDMA_ERR_NOTSUP;

	job->put = (struct rpcrdma_nfs_whole){
		.size = sizeof(job->put),
		.directory = job->to->handle,
		.temporary = job->temporary,
		.name = job->name,
		.changes = &changes,
		.data = job->data,
		.length = (uint32_t)job->info.size,
	};
	if (!job->within && job->info.size > 0)
		error = rpcrdma_nfs_put(job->cp->to.nfs, &job->put, small_then(job, small_was_done));
	if (error == -RPCRDMA_ERR_NOTSUP)
		small_set_state(job, SMALL_CREATING);
	else
		small_begun(job, error);
}

/* Sends the call that creates the temporary file on the server. */
static void
small_create(struct small_job *job)
{
	struct rpcrdma_nfs_changes changes = rr_cp_remote_mode(0600);

	/* An empty file gets its attributes at once: no later WRITE changes its times. */
	if (job->info.size == 0)
		changes = rr_cp_remote_attributes(&job->cp->to, &job->info);
	small_begun(job, rpcrdma_nfs_create(job->cp->to.nfs, &job->to->handle, job->temporary, &changes,
				 &job->object, small_then(job, small_was_done)));
}

/* Sends the data to the server, or makes the server copy the data by itself. If the file is empty, goes on to
 * the job's next state at once. */
static void
small_write(struct small_job *job)
{
	if (job->info.size == 0) {
		small_next(job, 0);
		return;
	}
	if (job->within) {
		job->range = (struct rpcrdma_nfs_range){
			.size = sizeof(job->range),
			.from = job->info.handle,
			.to = job->object.handle,
			.length = job->info.size,
			.stability = RPCRDMA_NFS_FILE_SYNC,
		};
		small_begun(
			job, rpcrdma_nfs_copy(job->cp->to.nfs, &job->range, small_then(job, small_was_done)));
		return;
	}
	job->io = (struct rpcrdma_nfs_io){
		.size = sizeof(job->io),
		.file = job->object.handle,
		.data = job->data,
		.length = (uint32_t)job->info.size,
		.stability = RPCRDMA_NFS_FILE_SYNC,
	};
	small_begun(job, rpcrdma_nfs_write(job->cp->to.nfs, &job->io, small_then(job, small_was_done)));
}

/* Called when the server has read at the end of the source. The READ asked for the last octet and one octet
 * behind it. If it did not bring one octet and the end of the file, the file is changing, and rr_cp_file()
 * will copy it instead of this job. */
static void
small_was_compared(void *ctx, int error)
{
	struct small_job *job = ctx;

	small_next(job, error ? error : job->io.moved != 1 || !job->io.eof);
}

/* Asks the server whether the source still ends where the list of the directory said, if the server copied
 * the data by itself: it copied only the octets up to there. Otherwise goes on to the job's next state at
 * once, as the data was read up to its end. */
static void
small_compare(struct small_job *job)
{
	if (!job->within) {
		small_next(job, 0);
		return;
	}
	job->io = (struct rpcrdma_nfs_io){
		.size = sizeof(job->io),
		.file = job->info.handle,
		.data = job->data,
		.offset = job->info.size - 1,
		.length = 2,
		.once = true,
	};
	small_begun(job, rpcrdma_nfs_read(job->cp->from.nfs, &job->io, small_then(job, small_was_compared)));
}

/* Sends the call that sets the attributes of the temporary file on the server. An empty file got its
 * attributes when it was created; then goes on to the job's next state at once. */
static void
small_set(struct small_job *job)
{
	const struct rpcrdma_nfs_changes changes = rr_cp_remote_attributes(&job->cp->to, &job->info);

	if (job->info.size == 0)
		small_next(job, 0);
	else
		small_begun(job, rpcrdma_nfs_change(job->cp->to.nfs, &job->object.handle, &changes,
					 small_then(job, small_was_done)));
}

/* Sends the call that renames the temporary file to the final name of the copy. */
static void
small_rename(struct small_job *job)
{
	const struct rpcrdma_nfs_handle *directory = &job->to->handle;

	small_begun(job, rpcrdma_nfs_rename(job->cp->to.nfs, directory, job->temporary, directory, job->name,
				 small_then(job, small_was_done)));
}

/* ---- All jobs ---- */

int
rr_cp_small_init(struct rr_cp *cp)
{
	size_t size = (size_t)JOBS * RR_CP_SMALL_ROOM;

	cp->small = calloc(1, sizeof(*cp->small));
	if (!cp->small)
		return -RPCRDMA_ERR_NOMEM;
	cp->small->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (cp->small->memory == MAP_FAILED) {
		cp->small->memory = NULL;
		return -RPCRDMA_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < JOBS; i++) {
		cp->small->jobs[i].cp = cp;
		cp->small->jobs[i].data = cp->small->memory + (size_t)i * RR_CP_SMALL_ROOM;
	}
	return 0;
}

void
rr_cp_small_free(struct rr_cp *cp)
{
	if (cp->small && cp->small->memory)
		munmap(cp->small->memory, (size_t)JOBS * RR_CP_SMALL_ROOM);
	free(cp->small);
	cp->small = NULL;
}

static struct small_job *
small_find_idle(struct rr_cp_small *small)
{
	for (uint32_t i = 0; i < JOBS; i++)
		if (small->jobs[i].state == SMALL_IDLE)
			return &small->jobs[i];
	return NULL;
}

/* Waits for events, for so long at most, in one turn of the event loop, and shows the progress. If waiting
 * fails, sets cp->stop. */
static void
small_turn(struct rr_cp *cp, int64_t timeout)
{
	if (rr_loop_turn(cp->engine->loop, timeout) < 0)
		cp->stop = true;
	rr_progress_show(&cp->progress);
}

/* Tells whether the copy of this file should get holes. A job makes no holes, so rr_cp_file() copies such a
 * file. */
static bool
small_is_sparse(const struct rr_cp *cp, const struct rr_info *info)
{
	if (cp->sparse == RR_SPARSE_ALWAYS)
		return info->size >= SMALL_HOLE;
	return cp->sparse == RR_SPARSE_AUTO && info->size >= info->used + SMALL_HOLE;
}

/* Tells whether a job can copy the file. The file must be small and without holes, the command line must not
 * name it itself, and with -a it must have no further hard links, no access list, and no set-user-ID or
 * set-group-ID bit, which takes a SETATTR of its own, nor times that are left out. In an existing local
 * directory, the name must be free, or that of a file that `rpcrdma sync` replaces. */
static bool
small_fits(struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *name)
{
	uint32_t most = (uint32_t)rr_min(RR_CP_SMALL, rr_min(cp->from.piece_max, cp->to.piece_max));
	uint32_t piece = rr_rate_piece(&cp->pump.rate, most);
	struct rr_info there;

	if (cp->depth == 0 || info->size >= piece || small_is_sparse(cp, info) ||
		(cp->archive && info->links > 1) ||
		(cp->preserve && (info->mode & ~RR_MODE_KEPT || info->listed || cp->inherits)) ||
		!rr_cp_times_held(cp, info))
		return false;
	/* A local directory can be looked at at once. */
	return cp->to.nfs || cp->fresh ||
	       (cp->to.ops->look(&cp->to, to, name, &there) == 0 &&
		       (there.kind == RR_KIND_NONE || (cp->sync && there.kind == RR_KIND_FILE)));
}

/* With --bwlimit, waits until a file of this size may be copied. After an error or a signal, waits no more.
 */
static void
small_await_time(struct rr_cp *cp, uint64_t size)
{
	struct rr_loop *loop = cp->engine->loop;
	uint64_t wait;

	if (cp->pump.rate.limit == 0)
		return;
	while ((wait = rr_rate_wait(&cp->pump.rate, rr_loop_clock(loop))) > 0 && !cp->stop &&
		!rr_tool_interrupted(NULL))
		small_turn(cp, (int64_t)wait);
	rr_rate_take(&cp->pump.rate, (uint32_t)size, rr_loop_clock(loop));
}

bool
rr_cp_small(struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info,
	const struct rr_directory *to)
{
	struct small_job *job = NULL;

	if (!small_fits(cp, info, to, name))
		return false;
	/* Waits for an idle job. There is none even if no job is active, when rr_cp_file() must copy the
	 * files of all jobs; and none is waited for when the copy is to end. */
	while (!(job = small_find_idle(cp->small)) && cp->small->active > 0 && !cp->stop &&
		!rr_tool_interrupted(NULL))
		small_turn(cp, -1);
	if (!job)
		return false;
	job->from = from;
	job->to = to;
	job->name = name;
	job->directory = strlen(cp->path) - strlen(name) - 1;
	job->info = *info;
	rr_cp_mask(cp, &job->info);
	job->fresh = cp->fresh || cp->sync; /* an existing file is replaced */
	job->made = job->put.made = false;
	job->within = cp->pump.within && info->size > 0;
	if (!job->within)
		small_await_time(cp, info->size);
	rr_cp_temporary(name, 0, job->temporary);
	cp->small->active++;
	small_set_state(job, SMALL_LISTING);
	return true;
}

/* Tells whether any job still copies a file into the directory `to`. */
static bool
small_is_busy(const struct rr_cp *cp, const struct rr_directory *to)
{
	for (uint32_t i = 0; i < JOBS; i++) {
		const struct small_job *job = &cp->small->jobs[i];

		if (job->to == to && job->state != SMALL_IDLE && job->state != SMALL_LEFT)
			return true;
	}
	return false;
}

/* Copies by rr_cp_file() the file of a job that did not succeed (state SMALL_LEFT), unless the whole copy is
 * to end. Before that, removes the job's temporary file. The job becomes idle. */
static void
small_again(struct small_job *job)
{
	struct rr_cp *cp = job->cp;
	size_t length = strlen(cp->path);
	struct rr_info there;

	job->state = SMALL_IDLE;
	/* It was read from this machine, which is not limited, and will be taken again. */
	if (!job->within && !cp->from.nfs)
		rr_rate_give(&cp->pump.rate, (uint32_t)job->info.size);
	snprintf(cp->path + length, sizeof(cp->path) - length, "/%s", job->name);
	/* The temporary file may be gone: a RENAME may have been executed though its answer was lost with the
	 * connection. */
	if (job->made && (cp->to.ops->look(&cp->to, job->to, job->temporary, &there) < 0 ||
				 there.kind != RR_KIND_NONE))
		rr_cp_remove_temporary(cp, job->to, job->temporary);
	if (!cp->stop && !rr_tool_interrupted(NULL))
		rr_cp_file(cp, job->from, job->name, &job->info, job->to, job->name);
	cp->path[length] = '\0';
}

/* Cancels the operation that is under way, at either server. */
static void
small_cancel(struct small_job *job)
{
	const struct rr_cp *cp = job->cp;

	if (cp->from.nfs)
		rpcrdma_nfs_cancel(cp->from.nfs, &job->then);
	if (cp->to.nfs)
		rpcrdma_nfs_cancel(cp->to.nfs, &job->then);
}

/* After a signal, jobs under way have this time to end, so that their temporary files can be removed. */
#define SMALL_PATIENCE (5 * RR_SECOND)

void
rr_cp_small_end(struct rr_cp *cp, const struct rr_directory *to)
{
	uint64_t until = 0;

	while (small_is_busy(cp, to)) {
		bool ending = cp->stop || rr_tool_interrupted(NULL);

		if (ending && until == 0)
			until = rr_now(&rr_env_system) + SMALL_PATIENCE;
		if (ending && rr_now(&rr_env_system) > until)
			break;
		small_turn(cp, -1);
	}
	/* A job that is not idle was left for rr_cp_file(), or did not end in time after a signal. */
	for (uint32_t i = 0; i < JOBS; i++) {
		struct small_job *job = &cp->small->jobs[i];

		if (job->to != to || job->state == SMALL_IDLE)
			continue;
		small_cancel(job);
		/* The server may have executed the call that was cancelled. */
		job->made |= job->state >= SMALL_CREATING && job->state != SMALL_LEFT;
		cp->small->active -= job->state != SMALL_LEFT;
		small_again(job);
	}
}
