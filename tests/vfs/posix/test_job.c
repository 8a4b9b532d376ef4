/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what a job of the provider holds while it is under way, and what it leaves behind. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "folder.h"
#include "vfs/posix/posix_private.h"

/* Where the device of an object is in a handle: behind the version, the depth and the export. */
enum { DEVICE_AT = 6 };

/* Counts what is brought to stable storage. */
static atomic_uint stored;

int
fsync(int fd)
{
	(void)fd;
	stored++;
	return 0;
}

int
syncfs(int fd)
{
	return fsync(fd);
}

/* The thread that closes the descriptor watched_fd, and waits as long as close_waits is true. */
static atomic_int closer, watched_fd = -1;
static atomic_bool close_waits;

int
close(int fd)
{
	if (fd == watched_fd) {
		closer = gettid();
		while (close_waits)
			usleep(1000);
	}
	return (int)syscall(SYS_close, fd);
}

/* The tree of this thread, which would have to wait from the second getdents64(2) on; or NULL. */
static _Thread_local struct rr_tree *waiting;
static atomic_uint lists;

ssize_t
getdents64(int fd, void *buffer, size_t size)
{
	struct rr_tree *tree = waiting;

	if (tree && lists++ > 0)
		rr_tree_may_wait(tree);
	return syscall(SYS_getdents64, fd, buffer, size);
}

struct world {
	struct folder *folder;
	struct rr_loop *loop;
	struct rr_posix_shared *shared;
	struct rr_posix *posix;
	struct rr_vfs_handle file;
};

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	void *folder;
	struct rr_vfs *vfs;

	assert_non_null(world);
	assert_int_equal(folder_setup(&folder), 0);
	world->folder = folder;
	folder_file(world->folder, "pub/f", "text");
	world->file = handle_of(world->folder, "f");
	world->folder->config.workers = 1;
	world->loop = rr_loop_new(&rr_env_system);
	assert_non_null(world->loop);
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &world->shared), 0);
	assert_int_equal(rr_posix_new(&rr_env_system, world->loop, &world->folder->config, world->shared,
				 &vfs, &world->folder->text),
		0);
	world->posix = rr_container(vfs, struct rr_posix, vfs);
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;
	void *folder = world->folder;

	rr_vfs_destroy(&world->posix->vfs);
	rr_posix_shared_free(world->shared);
	rr_loop_free(world->loop);
	folder_teardown(&folder);
	free(world);
	return 0;
}

static bool has_ended;

static void
note_end(struct rr_vfs_call *call)
{
	(void)call;
	has_ended = true;
}

/* Prepares a call for the server's own user. */
static struct rr_vfs_call
call_for_test(void)
{
	static struct rr_vfs_caller caller;

	caller = (struct rr_vfs_caller){ .uid = geteuid(), .gid = getegid() };
	has_ended = false;
	return (struct rr_vfs_call){ .caller = &caller, .done = note_end };
}

/* Does an operation that is always a job, and returns its status. */
static enum rr_vfs_status
seek_in(struct world *world, const struct rr_vfs_handle *handle)
{
	struct rr_vfs_seek seek = { .call = call_for_test(),
		.object.handle = { handle->data, handle->length } };

	assert_int_equal(rr_vfs_seek(&world->posix->vfs, &seek), RR_VFS_PENDING);
	turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	return seek.call.status;
}

/* A storer is a thread, and stays as long as the provider. */
static void
a_forged_handle_makes_no_storer(void **state)
{
	struct world *world = *state;

	for (uint8_t device = 1; device < 2 * RR_POSIX_STORERS; device++) {
		struct rr_vfs_handle forged = world->file;

		forged.data[DEVICE_AT] = device;
		assert_int_equal(seek_in(world, &forged), RR_VFS_BAD_HANDLE);
	}
	assert_int_equal(world->posix->storer_count, 0);
	assert_int_equal(seek_in(world, &world->file), RR_VFS_OK);
	assert_int_equal(world->posix->storer_count, 1);
}

/* The caller may close the open before the lock is there. */
static void
a_lock_holds_its_open(void **state)
{
	struct world *world = *state;
	struct rr_object object = walk_to(world->folder, "f");
	struct rr_vfs_lock lock = { .call = call_for_test(), .kind = RR_VFS_LOCK_READ, .length = 1 };
	int fd;

	assert_int_equal(rr_tree_open_apart(world->folder->tree, &object, O_RDONLY, &fd), RR_VFS_OK);
	lock.open = rr_posix_open_new(world->shared, &object, fd);
	assert_non_null(lock.open);
	lock.open->reservation.access = RR_VFS_SHARE_READ;
	rr_object_put(world->folder->tree, &object);
	assert_int_equal(rr_vfs_lock(&world->posix->vfs, &lock), RR_VFS_PENDING);
	assert_int_equal(lock.open->refs, 2);
	rr_vfs_close(&world->posix->vfs, lock.open, NULL);
	turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_int_equal(lock.call.status, RR_VFS_OK);
	turn_until(world->shared->open_count == 0, rr_loop_turn(world->loop, RR_SECOND));
}

/* The timer, which is armed for idle descriptors, is armed anew for a descriptor for writing. A COMMIT opens
 * no such descriptor. */
static void
a_descriptor_for_writing_is_closed_by_the_timer(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	const struct rr_vfs_object object = { .handle = { world->file.data, world->file.length } };
	struct rr_vfs_commit commit = { .object = object };
	struct rr_vfs_write write = { .object = object, .data = (const uint8_t *)"x", .length = 1 };

	commit.call = call_for_test();
	if (rr_vfs_commit(vfs, &commit) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_false(rr_tree_writes(world->posix->tree));
	/* A search for the file may have to end first. */
	turn_until(world->posix->delay > RR_NODE_WRITE_IDLE, rr_loop_turn(world->loop, RR_SECOND));
	write.call = call_for_test();
	if (rr_vfs_write(vfs, &write) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_true(rr_tree_writes(world->posix->tree));
	assert_true(world->posix->delay < RR_NODE_WRITE_IDLE);
	turn_until(!rr_tree_writes(world->posix->tree), rr_loop_turn(world->loop, RR_SECOND));
}

/* Opens the file, on a file system that the test treats as a disk. */
static struct rr_vfs_open *
open_file(struct world *world)
{
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_opening opening = { .call = call_for_test(),
		.object.handle = { world->file.data, world->file.length },
		.access = RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE };

	if (rr_vfs_open(vfs, &opening) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_non_null(opening.open);
	opening.open->memory = false;
	return opening.open;
}

/* close(2) may take long, whatever file system it is. */
static void
the_crew_closes_a_file(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_open *open = open_file(world);
	struct rr_vfs_call call = call_for_test();

	closer = 0;
	watched_fd = open->fd;
	assert_int_equal(rr_vfs_close(vfs, open, &call), RR_VFS_PENDING);
	rr_vfs_cancel(vfs, &call);
	assert_int_equal(world->posix->vfs.counters.under_way, 1);
	turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	watched_fd = -1;
	assert_int_equal(call.status, RR_VFS_OK);
	assert_int_equal(world->posix->vfs.counters.under_way, 0);
	assert_int_equal(world->shared->open_count, 0);
	assert_true(closer != 0 && closer != gettid());
}

/* A file in memory is closed at once while it has a name. Without a name, its memory is freed, which may take
 * long. */
static void
a_file_in_memory_is_closed_at_once_unless_that_frees_it(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_open *first = open_file(world), *second = open_file(world);
	struct rr_vfs_call call = call_for_test();

	first->memory = second->memory = true;
	assert_int_equal(rr_vfs_close(vfs, first, &call), RR_VFS_OK);
	assert_int_equal(world->shared->open_count, 1);
	folder_remove(world->folder, "pub/f");
	assert_int_equal(rr_vfs_close(vfs, second, &call), RR_VFS_PENDING);
	turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_int_equal(world->shared->open_count, 0);
}

/* Reads the file, and returns the descriptor that the tree keeps of its data. */
static int
read_file(struct world *world)
{
	struct rr_vfs *vfs = &world->posix->vfs;
	char data[4];
	struct rr_vfs_read read = { .call = call_for_test(),
		.object.handle = { world->file.data, world->file.length },
		.data = data,
		.size = sizeof(data) };

	if (rr_vfs_read(vfs, &read) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	rr_list_for_each (link, &world->posix->tree->core->nodes.open) {
		int fd = rr_container(link, struct rr_node, open)->data_fd[RR_NODE_READ];

		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* The descriptor that the tree keeps is closed because the file is removed, in a file system that does not
 * answer. All others go on, and so does the job that continues searches. */
static void
a_close_without_an_answer_keeps_nobody_waiting(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_remove remove = { .name = bytes_of("f") };
	struct rr_vfs_handle root;
	bool attends;

	world->posix->tree->core->roots[0].local = false;
	watched_fd = read_file(world);
	assert_true(watched_fd >= 0);
	rr_vfs_root(vfs, 0, &root);
	remove.directory.handle = (struct rpcrdma_bytes){ root.data, root.length };
	remove.call = call_for_test();
	closer = 0;
	close_waits = true;
	assert_int_equal(rr_vfs_remove(vfs, &remove), RR_VFS_PENDING);
	/* The turns are short: the job that begins a second later waits for the only thread. */
	turn_until(has_ended && closer != 0, rr_loop_turn(world->loop, 10 * RR_MILLISECOND));
	for (int i = 0; i < 200 && world->posix->attending; i++)
		rr_loop_turn(world->loop, 10 * RR_MILLISECOND);
	attends = world->posix->attending;
	close_waits = false;
	assert_false(attends);
	assert_int_equal(remove.call.status, RR_VFS_OK);
	assert_true(closer != gettid());
	watched_fd = -1;
}

/* Sees to it that the provider has no job of its own until the timer is armed again. */
static void
be_quiet(struct world *world)
{
	turn_until(!world->posix->attending, rr_loop_turn(world->loop, RR_SECOND));
	rr_loop_disarm(world->loop, &world->posix->timer);
}

/* Begins to write an octet of the file that is to be on stable storage, on a file system that the test treats
 * as a disk. */
static void
begin_write(struct world *world, struct rr_vfs_write *write)
{
	*write = (struct rr_vfs_write){ .call = call_for_test(),
		.object.handle = { world->file.data, world->file.length },
		.data = "x",
		.length = 1,
		.stable = RR_VFS_FILE_SYNC };
	world->posix->tree->core->roots[0].memory = false;
	assert_int_equal(rr_vfs_write(&world->posix->vfs, write), RR_VFS_PENDING);
}

static void
the_thread_that_makes_a_change_stores_it_where_nothing_else_is_under_way(void **state)
{
	struct world *world = *state;
	struct rr_vfs_write write;

	stored = 0;
	for (int i = 0; i < 3; i++) {
		be_quiet(world);
		begin_write(world, &write);
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
		assert_int_equal(write.call.status, RR_VFS_OK);
		assert_int_equal(write.committed, RR_VFS_FILE_SYNC);
	}
	assert_int_equal(stored, 3);
	assert_int_equal(world->posix->storer_count, 1);
	assert_int_equal(rr_storer_batches(world->posix->storers[0].storer), 0);
}

/* The second write waits for the only thread while that does the first one. */
static void
changes_of_several_calls_are_left_to_the_storer(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_open *open = open_file(world);
	struct rr_vfs_write first, second;

	be_quiet(world);
	closer = 0;
	close_waits = true;
	watched_fd = open->fd;
	assert_int_equal(rr_vfs_close(vfs, open, NULL), RR_VFS_PENDING);
	turn_until(closer != 0, rr_loop_turn(world->loop, RR_MILLISECOND));
	begin_write(world, &first);
	begin_write(world, &second);
	close_waits = false;
	turn_until(vfs->counters.under_way == 0, rr_loop_turn(world->loop, RR_SECOND));
	watched_fd = -1;
	assert_int_equal(first.call.status, RR_VFS_OK);
	assert_int_equal(second.call.status, RR_VFS_OK);
	assert_true(rr_storer_batches(world->posix->storers[0].storer) > 0);
}

/* Returns the kind of the lock (F_RDLCK, F_WRLCK or F_UNLCK) that keeps this open from locking octet 0. */
static int
lock_in_the_way(const struct rr_vfs_open *open)
{
	struct flock wanted = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	assert_int_equal(fcntl(open->fd, F_OFD_GETLK, &wanted), 0);
	return wanted.l_type;
}

/* vfs.h of close(): "Ends an open at once for the caller". A lock that others want after that does not have
 * to wait until a thread has closed the file. */
static void
locks_end_before_the_file_is_closed(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_open *first = open_file(world), *second = open_file(world);
	struct rr_vfs_lock lock = { .call = call_for_test(), .kind = RR_VFS_LOCK_WRITE, .length = 1 };
	int after;

	lock.open = first;
	assert_int_equal(rr_vfs_lock(vfs, &lock), RR_VFS_PENDING);
	turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_int_equal(lock.call.status, RR_VFS_OK);
	assert_int_equal(lock_in_the_way(second), F_WRLCK);
	close_waits = true;
	watched_fd = first->fd;
	assert_int_equal(rr_vfs_close(vfs, first, NULL), RR_VFS_PENDING);
	after = lock_in_the_way(second);
	close_waits = false;
	assert_int_equal(after, F_UNLCK);
	watched_fd = -1;
	rr_vfs_close(vfs, second, NULL);
	turn_until(world->shared->open_count == 0, rr_loop_turn(world->loop, RR_SECOND));
}

/* The caller's memory may contain anything before the call. */
static void
what_finds_no_object_says_that_it_has_no_attributes(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct rr_vfs_object none = { .handle = { "no handle", 9 } };
	struct rr_vfs_setattr setattr = { .object = none, .change = { .exact = true, .after.valid = true } };
	struct rr_vfs_access access = { .object = none, .object_after.valid = true };
	struct rr_vfs_readlink readlink = { .object = none, .object_after.valid = true };

	setattr.call = call_for_test();
	if (rr_vfs_setattr(vfs, &setattr) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_false(setattr.change.exact);
	assert_false(setattr.change.after.valid);
	access.call = call_for_test();
	if (rr_vfs_access(vfs, &access) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_false(access.object_after.valid);
	readlink.call = call_for_test();
	if (rr_vfs_readlink(vfs, &readlink) == RR_VFS_PENDING)
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_false(readlink.object_after.valid);
}

/* Makes a provider of the same tree without a crew and without a loop. */
static struct rr_vfs *
provider_without_a_crew(struct world *world, const struct rr_env *env)
{
	struct rr_vfs *vfs;

	assert_int_equal(
		rr_posix_new(env, NULL, &world->folder->config, world->shared, &vfs, &world->folder->text),
		0);
	return vfs;
}

/* Sets the mode of the file, and then a time with too many nanoseconds, which fails. The test treats the file
 * system as a disk, because nothing is stored in memory. */
static void
set_a_mode_and_no_time(struct world *world, struct rr_vfs *vfs)
{
	struct rr_vfs_setattr setattr = { .object.handle = { world->file.data, world->file.length },
		.set = { .mask = RR_VFS_SET_MODE | RR_VFS_SET_MODIFY_TIME,
			.mode = 0640,
			.modify_time.nanoseconds = UINT32_MAX } };
	enum rr_vfs_status status;

	rr_container(vfs, struct rr_posix, vfs)->tree->core->roots[0].memory = false;
	setattr.call = call_for_test();
	status = rr_vfs_setattr(vfs, &setattr);
	if (status == RR_VFS_PENDING) {
		turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
		status = setattr.call.status;
	}
	assert_int_equal(status, RR_VFS_INVAL);
	assert_int_equal(setattr.applied, RR_VFS_SET_MODE);
}

/* RFC 1813, 4.7: "any data associated with the request is now on stable storage". A setattr that fails tells
 * in "applied" which attributes it has set before that. */
static void
what_was_set_before_a_failure_is_stored(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = provider_without_a_crew(world, &rr_env_system);

	stored = 0;
	set_a_mode_and_no_time(world, &world->posix->vfs);
	assert_int_equal(stored, 1);
	set_a_mode_and_no_time(world, vfs);
	assert_int_equal(stored, 2);
	rr_vfs_destroy(vfs);
}

/* Memory for so many allocations. */
static uint32_t allocations_left;

static void *
scarce_realloc(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (size > 0 && allocations_left == 0)
		return NULL;
	allocations_left -= size > 0;
	return rr_env_system.realloc(NULL, old, size);
}

/* Makes the file "new" with memory for so many allocations. Returns the status. */
static enum rr_vfs_status
create_with_memory_for(struct rr_vfs *vfs, uint32_t allocations)
{
	struct rr_vfs_create create = { .name = bytes_of("new"), .type = RR_VFS_FILE, .how = RR_VFS_GUARDED };
	struct rr_vfs_handle root;
	enum rr_vfs_status status;

	rr_vfs_root(vfs, 0, &root);
	create.directory.handle = (struct rpcrdma_bytes){ root.data, root.length };
	create.call = call_for_test();
	allocations_left = allocations;
	status = rr_vfs_create(vfs, &create);
	allocations_left = UINT32_MAX;
	return status;
}

/* vfs.h: "when any other step fails, the object is removed again". A caller that tries again does not find
 * the file of its own first attempt. */
static void
a_file_without_memory_to_know_it_is_removed_again(void **state)
{
	struct world *world = *state;
	struct rr_env env = rr_env_system;
	enum rr_vfs_status status = RR_VFS_BUSY;
	struct rr_vfs *vfs;
	uint32_t busy = 0;

	env.realloc = scarce_realloc;
	allocations_left = UINT32_MAX;
	vfs = provider_without_a_crew(world, &env);
	/* Without any memory, the server does not take on the caller's identity: RR_VFS_FAULT. */
	for (uint32_t count = 0; status != RR_VFS_OK && count < 100; count++) {
		status = create_with_memory_for(vfs, count);
		assert_int_not_equal(status, RR_VFS_EXIST);
		busy += status == RR_VFS_BUSY;
	}
	assert_int_equal(status, RR_VFS_OK);
	assert_true(busy > 0);
	rr_vfs_destroy(vfs);
}

/* A listing, and how often it had each of the files. */
enum { LISTED = 200, LISTED_NAME = 100 };

struct listing {
	struct rr_vfs_readdir readdir;
	uint32_t seen[LISTED];
};

static bool
take_listed(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	struct listing *listing = rr_container(readdir, struct listing, readdir);

	if (entry->name.length == LISTED_NAME) {
		char text[LISTED_NAME + 1] = { 0 }; /* no zero ends the name */

		memcpy(text, entry->name.data, LISTED_NAME);
		listing->seen[atoi(text)]++;
	}
	return true;
}

/* vfs.h: "take() is called for one entry after the other". A listing that the loop's thread began, and that a
 * thread of the crew does from its beginning, as it would have waited, passes no entry twice. */
static void
a_listing_that_would_wait_midway_has_no_entry_twice(void **state)
{
	struct world *world = *state;
	struct rr_vfs *vfs = &world->posix->vfs;
	struct listing listing = { .readdir = { .call = call_for_test(),
					   .attributes = true,
					   .room = { { UINT32_MAX, 0 }, { UINT32_MAX, 0 } },
					   .take = take_listed } };
	struct rr_vfs_handle root;
	char path[LISTED_NAME + 8];

	for (int i = 0; i < LISTED; i++) {
		snprintf(path, sizeof(path), "pub/%0*d", LISTED_NAME, i);
		folder_file(world->folder, path, "");
	}
	world->posix->tree->core->roots[0].memory = true;
	rr_vfs_root(vfs, 0, &root);
	listing.readdir.directory.handle = (struct rpcrdma_bytes){ root.data, root.length };
	/* Nobody else has the lock of the tree, for which the loop's thread would not wait. */
	turn_until(world->posix->vfs.counters.under_way == 0 && !world->posix->attending &&
			   !rr_tree_has_work(world->posix->tree),
		rr_loop_turn(world->loop, RR_SECOND));
	waiting = world->posix->tree;
	lists = 0;
	assert_int_equal(rr_vfs_readdir(vfs, &listing.readdir), RR_VFS_PENDING);
	waiting = NULL;
	turn_until(has_ended, rr_loop_turn(world->loop, RR_SECOND));
	assert_int_equal(listing.readdir.call.status, RR_VFS_OK);
	assert_true(listing.readdir.eof);
	assert_true(lists > 1);
	for (int i = 0; i < LISTED; i++)
		assert_int_equal(listing.seen[i], 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_forged_handle_makes_no_storer),
		TEST(a_lock_holds_its_open),
		TEST(a_descriptor_for_writing_is_closed_by_the_timer),
		TEST(the_crew_closes_a_file),
		TEST(a_file_in_memory_is_closed_at_once_unless_that_frees_it),
		TEST(locks_end_before_the_file_is_closed),
		TEST(a_close_without_an_answer_keeps_nobody_waiting),
		TEST(the_thread_that_makes_a_change_stores_it_where_nothing_else_is_under_way),
		TEST(changes_of_several_calls_are_left_to_the_storer),
		TEST(what_finds_no_object_says_that_it_has_no_attributes),
		TEST(what_was_set_before_a_failure_is_stored),
		TEST(a_listing_that_would_wait_midway_has_no_entry_twice),
		TEST(a_file_without_memory_to_know_it_is_removed_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
