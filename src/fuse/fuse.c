/* SPDX-License-Identifier: BSD-3-Clause */
/* The mount: reads what the kernel asks, and has the operations answer it. */
#include "fuse/fuse.h"

#include <errno.h>
#include <linux/fuse.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"
#include "fuse/lock.h"
#include "fuse/ops.h"

enum { FUSE_TURN = 64, FUSE_BUCKETS = 1 << 10, FUSE_BACKGROUND = 64, FUSE_MINOR = 38, FUSE_OLDEST = 31 };

/* How the octets behind the header of a request are made up: arguments of a size, so many names with a zero
 * behind each, and data. */
struct fuse_row {
	rr_fuse_run *run;
	uint16_t args;
	uint8_t names;
	bool data;
};

#define ARGS(type) sizeof(struct type)

static const struct fuse_row fuse_rows[] = {
	[FUSE_LOOKUP] = { rr_fuse_op_lookup, 0, 1, false },
	[FUSE_GETATTR] = { rr_fuse_op_getattr, ARGS(fuse_getattr_in), 0, false },
	[FUSE_SETATTR] = { rr_fuse_op_setattr, ARGS(fuse_setattr_in), 0, false },
	[FUSE_READLINK] = { rr_fuse_op_readlink, 0, 0, false },
	[FUSE_SYMLINK] = { rr_fuse_op_symlink, 0, 1, true },
	[FUSE_MKNOD] = { rr_fuse_op_mknod, ARGS(fuse_mknod_in), 1, false },
	[FUSE_MKDIR] = { rr_fuse_op_mkdir, ARGS(fuse_mkdir_in), 1, false },
	[FUSE_UNLINK] = { rr_fuse_op_unlink, 0, 1, false },
	[FUSE_RMDIR] = { rr_fuse_op_rmdir, 0, 1, false },
	[FUSE_RENAME] = { rr_fuse_op_rename, ARGS(fuse_rename_in), 2, false },
	[FUSE_LINK] = { rr_fuse_op_link, ARGS(fuse_link_in), 1, false },
	[FUSE_OPEN] = { rr_fuse_op_open, ARGS(fuse_open_in), 0, false },
	[FUSE_READ] = { rr_fuse_op_read, ARGS(fuse_read_in), 0, false },
	[FUSE_WRITE] = { rr_fuse_op_write, ARGS(fuse_write_in), 0, true },
	[FUSE_STATFS] = { rr_fuse_op_statfs, 0, 0, false },
	[FUSE_RELEASE] = { rr_fuse_op_release, ARGS(fuse_release_in), 0, false },
	[FUSE_FSYNC] = { rr_fuse_op_flush, ARGS(fuse_fsync_in), 0, false },
	[FUSE_SETXATTR] = { rr_fuse_op_setxattr, FUSE_COMPAT_SETXATTR_IN_SIZE, 1, true },
	[FUSE_GETXATTR] = { rr_fuse_op_getxattr, ARGS(fuse_getxattr_in), 1, false },
	[FUSE_LISTXATTR] = { rr_fuse_op_listxattr, ARGS(fuse_getxattr_in), 0, false },
	[FUSE_REMOVEXATTR] = { rr_fuse_op_removexattr, 0, 1, false },
	[FUSE_FLUSH] = { rr_fuse_op_flush, ARGS(fuse_flush_in), 0, false },
	[FUSE_OPENDIR] = { rr_fuse_op_opendir, ARGS(fuse_open_in), 0, false },
	[FUSE_READDIR] = { rr_fuse_op_readdir, ARGS(fuse_read_in), 0, false },
	[FUSE_RELEASEDIR] = { rr_fuse_op_releasedir, ARGS(fuse_release_in), 0, false },
	[FUSE_FSYNCDIR] = { rr_fuse_op_fsyncdir, ARGS(fuse_fsync_in), 0, false },
	[FUSE_GETLK] = { rr_fuse_op_getlk, ARGS(fuse_lk_in), 0, false },
	[FUSE_SETLK] = { rr_fuse_op_setlk, ARGS(fuse_lk_in), 0, false },
	[FUSE_SETLKW] = { rr_fuse_op_setlk, ARGS(fuse_lk_in), 0, false },
	[FUSE_ACCESS] = { rr_fuse_op_access, ARGS(fuse_access_in), 0, false },
	[FUSE_CREATE] = { rr_fuse_op_create, ARGS(fuse_create_in), 1, false },
	[FUSE_FALLOCATE] = { rr_fuse_op_fallocate, ARGS(fuse_fallocate_in), 0, false },
	[FUSE_READDIRPLUS] = { rr_fuse_op_readdir, ARGS(fuse_read_in), 0, false },
	[FUSE_RENAME2] = { rr_fuse_op_rename2, ARGS(fuse_rename2_in), 2, false },
	[FUSE_LSEEK] = { rr_fuse_op_lseek, ARGS(fuse_lseek_in), 0, false },
	[FUSE_COPY_FILE_RANGE] = { rr_fuse_op_copy, ARGS(fuse_copy_file_range_in), 0, false },
};

/* Answers the kernel's first request: which of its features are used. */
static void
fuse_init(struct rr_fuse *fuse, struct rr_fuse_request *request, const uint8_t *data, size_t length)
{
	/* PARALLEL_DIROPS: names of one directory are looked up beside each other. AUTO_INVAL_DATA: pages of
	 * a file whose size or time has changed go. HANDLE_KILLPRIV: the server clears the bits setuid and
	 * setgid. Not WRITEBACK_CACHE: with it the kernel never takes a size from us that another client has
	 * made. */
	enum {
		WANTED = FUSE_ASYNC_READ | FUSE_POSIX_LOCKS | FUSE_FLOCK_LOCKS | FUSE_BIG_WRITES |
			 FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
			 FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV | FUSE_MAX_PAGES | FUSE_CACHE_SYMLINKS
	};
	struct fuse_init_in in = { 0 };
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_MINOR };

	memcpy(&in, data, rr_min(length, sizeof(in)));
	if (in.major < FUSE_KERNEL_VERSION || (in.major == FUSE_KERNEL_VERSION && in.minor < FUSE_OLDEST)) {
		rr_log(fuse->env, RR_LOG_ERROR, "the kernel's FUSE protocol %u.%u is too old: 7.%d is wanted",
			in.major, in.minor, FUSE_OLDEST);
		rr_fuse_answer(request, EPROTO, NULL, 0);
		return;
	}
	/* A newer kernel asks again, with our version. */
	if (in.major > FUSE_KERNEL_VERSION) {
		rr_fuse_answer(request, 0, &out, sizeof(out));
		return;
	}
	out.max_readahead = in.max_readahead;
	out.flags = in.flags & WANTED;
	if (!fuse->config.locks)
		out.flags &= ~(uint32_t)(FUSE_POSIX_LOCKS | FUSE_FLOCK_LOCKS);
	out.max_background = FUSE_BACKGROUND;
	out.congestion_threshold = FUSE_BACKGROUND * 3 / 4;
	out.max_write = RR_FUSE_IO;
	out.max_pages = RR_FUSE_IO / 4096;
	out.time_gran = 1;
	fuse->begun = true;
	rr_fuse_answer(request, 0, &out, sizeof(out));
	if (fuse->config.begun)
		fuse->config.begun(fuse->config.ctx);
}

/* Copies what is behind the header into the request. Returns 0, or an errno. */
static int
fuse_parse(struct rr_fuse_request *request, const struct fuse_row *row, const uint8_t *data, size_t length)
{
	_Static_assert(RR_FUSE_ARGS >= sizeof(struct fuse_setattr_in), "room for all arguments");
	size_t size;

	if (length < row->args)
		return EIO;
	memcpy(request->args.octets, data, row->args);
	data += row->args;
	length -= row->args;
	for (unsigned i = 0; i < row->names; i++) {
		const uint8_t *end = memchr(data, '\0', length);

		if (!end)
			return EIO;
		size = (size_t)(end - data) + 1;
		if (size > sizeof(request->names[i]))
			return ENAMETOOLONG;
		memcpy(request->names[i], data, size);
		data += size;
		length -= size;
	}
	if (!row->data || length == 0)
		return 0;
	request->data = request->fuse->env->realloc(request->fuse->env->ctx, NULL, length);
	if (!request->data)
		return ENOMEM;
	memcpy(request->data, data, length);
	request->size = (uint32_t)length;
	return 0;
}

/* Forgets nodes; no answer follows. */
static void
fuse_forget(struct rr_fuse *fuse, const struct fuse_in_header *header, const uint8_t *data, size_t length)
{
	struct fuse_forget_one one = { .nodeid = header->nodeid };
	struct fuse_batch_forget_in batch = { .count = 1 };
	struct rr_fuse_node *node;

	if (header->opcode == FUSE_FORGET) {
		if (length < sizeof(one.nlookup))
			return;
		memcpy(&one.nlookup, data, sizeof(one.nlookup));
	} else {
		if (length < sizeof(batch))
			return;
		memcpy(&batch, data, sizeof(batch));
		data += sizeof(batch);
		length -= sizeof(batch);
		batch.count = (uint32_t)rr_min((size_t)batch.count, length / sizeof(one));
	}
	for (uint32_t i = 0; i < batch.count; i++) {
		if (header->opcode == FUSE_BATCH_FORGET)
			memcpy(&one, data + i * sizeof(one), sizeof(one));
		node = rr_fuse_node_find(&fuse->nodes, one.nodeid);
		if (node)
			rr_fuse_node_forget(node, one.nlookup);
	}
}

/* Tells the kernel an error where there is no memory for a request. */
static void
fuse_refuse(struct rr_fuse *fuse, uint64_t unique, int error)
{
	const struct fuse_out_header out = { .len = sizeof(out), .error = -error, .unique = unique };

	if (write(fuse->config.fd, &out, sizeof(out)) < 0)
		rr_log(fuse->env, RR_LOG_DEBUG, "the kernel has given up on a request");
}

/* Handles a request that has a node and an answer. */
static void
fuse_run(struct rr_fuse *fuse, const struct fuse_in_header *header, const uint8_t *data, size_t length)
{
	const struct fuse_row *row =
		header->opcode < sizeof(fuse_rows) / sizeof(*fuse_rows) ? &fuse_rows[header->opcode] : NULL;
	struct rr_fuse_request *request = rr_fuse_request_new(fuse, header->unique, header->opcode);
	struct rr_fuse_node *node =
		header->nodeid == FUSE_ROOT_ID ? fuse->root : rr_fuse_node_find(&fuse->nodes, header->nodeid);
	int error;

	if (!request) {
		fuse_refuse(fuse, header->unique, ENOMEM);
		return;
	}
	if (header->opcode == FUSE_INIT) {
		fuse_init(fuse, request, data, length);
		return;
	}
	if (!row || !row->run || !fuse->begun || !node) {
		rr_fuse_answer(request, row && row->run && fuse->begun ? ESTALE : ENOSYS, NULL, 0);
		return;
	}
	request->node = rr_fuse_node_hold(node);
	error = fuse_parse(request, row, data, length);
	if (error) {
		rr_fuse_answer(request, error, NULL, 0);
		return;
	}
	rr_fuse_request_identify(request, header->uid, header->gid, header->pid);
	row->run(request);
}

/* Handles what the kernel has sent. */
static void
fuse_take(struct rr_fuse *fuse, size_t length)
{
	const uint8_t *data = fuse->buffer;
	struct fuse_in_header header;
	struct fuse_interrupt_in interrupt;

	if (length < sizeof(header))
		return;
	memcpy(&header, data, sizeof(header));
	if (header.len != length)
		return;
	data += sizeof(header);
	length -= sizeof(header);
	fuse->counters.requests++;
	switch (header.opcode) {
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET: fuse_forget(fuse, &header, data, length); return;
	case FUSE_INTERRUPT:
		if (length < sizeof(interrupt))
			return;
		memcpy(&interrupt, data, sizeof(interrupt));
		rr_fuse_interrupt(fuse, interrupt.unique);
		return;
	case FUSE_DESTROY: fuse_refuse(fuse, header.unique, 0); return;
	default: fuse_run(fuse, &header, data, length);
	}
}

/* The kernel has ended the mount. */
static void
fuse_over(struct rr_fuse *fuse)
{
	fuse->over = true;
	fuse->watched = false;
	rr_loop_unwatch(fuse->loop, &fuse->watch);
	if (fuse->config.ended)
		fuse->config.ended(fuse->config.ctx);
}

static void
fuse_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_fuse *fuse = rr_container(watch, struct rr_fuse, watch);

	(void)events;
	for (int i = 0; i < FUSE_TURN && !fuse->over; i++) {
		ssize_t length = read(fuse->config.fd, fuse->buffer, RR_FUSE_BUFFER);

		if (length > 0)
			fuse_take(fuse, (size_t)length);
		else if (length < 0 && (errno == ENOENT || errno == EINTR))
			continue; /* ENOENT: the request was interrupted before it was read */
		else if (length < 0 && errno == EAGAIN)
			return;
		else
			fuse_over(fuse); /* ENODEV: umount(8), or the connection was aborted */
	}
}

static void
fuse_age(struct rr_timer *timer)
{
	struct rr_fuse *fuse = rr_container(timer, struct rr_fuse, age);

	if (rr_fuse_behind_look(fuse, false))
		rr_loop_arm(fuse->loop, timer, RR_SECOND);
}

static int
fuse_make(struct rr_fuse *fuse)
{
	static const struct rr_crew_config notifier = { .max = 1 };
	const struct rr_fuse_config *config = &fuse->config;
	struct rr_vfs_handle handle;
	int error = rr_fuse_nodes_init(&fuse->nodes, fuse->env);

	if (!error)
		error = rr_map_init(&fuse->requests, fuse->env, FUSE_BUCKETS);
	if (!error)
		error = rr_map_init(&fuse->files.map, fuse->env, FUSE_BUCKETS);
	fuse->buffer = rr_alloc(fuse->env, RR_FUSE_BUFFER);
	if (error || !fuse->buffer)
		return -RPCRDMA_ERR_NOMEM;
	error = rr_crew_new(fuse->env, fuse->loop, &notifier, &fuse->notifier);
	if (error)
		return error;
	/* Numbers of nodes begin behind that of the root. */
	fuse->nodes.last = FUSE_ROOT_ID - 1;
	rr_vfs_root(config->vfs, config->export, &handle);
	fuse->root = rr_fuse_node_make(fuse, &handle, &config->root);
	if (!fuse->root)
		return -RPCRDMA_ERR_NOMEM;
	fuse->watch.ready = fuse_ready;
	error = rr_loop_watch(fuse->loop, &fuse->watch, config->fd, RR_READABLE);
	fuse->watched = !error;
	return error;
}

int
rr_fuse_new(const struct rr_env *env, const struct rr_fuse_config *config, struct rr_fuse **fuse)
{
	struct rr_fuse *made = rr_alloc(env, sizeof(*made));
	int error;

	if (!made)
		return -RPCRDMA_ERR_NOMEM;
	made->env = env;
	made->config = *config;
	made->loop = config->vfs->loop;
	rr_list_init(&made->spare);
	rr_list_init(&made->throttled);
	rr_list_init(&made->behind_nodes);
	rr_timer_init(&made->age, fuse_age);
	error = fuse_make(made);
	if (error) {
		rr_fuse_free(made);
		return error;
	}
	*fuse = made;
	return 0;
}

/* Interrupts a request that is under way. Returns false where all are interrupted. */
static bool
fuse_interrupt_one(struct rr_fuse *fuse)
{
	for (uint32_t i = 0; fuse->requests.buckets && i <= fuse->requests.mask; i++) {
		for (struct rr_map_link *link = fuse->requests.buckets[i]; link; link = link->next) {
			if (rr_container(link, struct rr_fuse_request, link)->interrupted)
				continue;
			rr_fuse_interrupt(fuse, link->key);
			return true;
		}
	}
	return false;
}

/* Ends all requests, and all that is behind. */
static void
fuse_cancel(struct rr_fuse *fuse)
{
	while (fuse_interrupt_one(fuse))
		;
	rr_fuse_behind_cancel(fuse);
	while ((fuse->under_way > 0 || !rr_list_empty(&fuse->behind_nodes)) &&
		rr_loop_turn(fuse->loop, -1) >= 0) {
		while (fuse_interrupt_one(fuse))
			;
		rr_fuse_behind_cancel(fuse);
	}
}

/* Closes the files that the kernel has not released, and ends their locks. */
static void
fuse_close(struct rr_fuse *fuse)
{
	for (uint32_t i = 0; fuse->nodes.by_number.buckets && i <= fuse->nodes.by_number.mask; i++)
		for (struct rr_map_link *link = fuse->nodes.by_number.buckets[i]; link; link = link->next)
			rr_fuse_unlock_all(rr_container(link, struct rr_fuse_node, by_number));
	for (uint32_t i = 0; fuse->files.map.buckets && i <= fuse->files.map.mask; i++)
		while (fuse->files.map.buckets[i])
			rr_fuse_file_close(
				rr_container(fuse->files.map.buckets[i], struct rr_fuse_file, link));
}

void
rr_fuse_free(struct rr_fuse *fuse)
{
	if (fuse->watched)
		rr_loop_unwatch(fuse->loop, &fuse->watch);
	fuse->ends = true;
	rr_loop_disarm(fuse->loop, &fuse->age);
	fuse_cancel(fuse);
	fuse_close(fuse);
	/* Silly names may be removed still. */
	fuse_cancel(fuse);
	rr_crew_free(fuse->notifier);
	for (struct rr_list *link = rr_list_pop(&fuse->spare); link; link = rr_list_pop(&fuse->spare))
		rr_free(fuse->env, rr_container(link, struct rr_fuse_request, waiting));
	rr_fuse_nodes_end(&fuse->nodes);
	rr_map_free(&fuse->requests, fuse->env);
	rr_map_free(&fuse->files.map, fuse->env);
	rr_free(fuse->env, fuse->buffer);
	rr_free(fuse->env, fuse);
}

bool
rr_fuse_drain(struct rr_fuse *fuse)
{
	return !rr_fuse_behind_look(fuse, true);
}

void
rr_fuse_counters(const struct rr_fuse *fuse, struct rr_fuse_counters *counters)
{
	*counters = fuse->counters;
	counters->nodes = fuse->nodes.count;
	counters->behind = fuse->behind;
}
