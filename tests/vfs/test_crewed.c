/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider that does its operations in threads (crewed.h): a provider of two objects, which are numbers. */
#include "../test.h"

#include <semaphore.h>
#include <string.h>

#include "vfs/crewed.h"

struct rr_vfs_open {
	struct rr_crewed_open base;
};

struct job {
	struct rr_crewed_job base;
	uint64_t numbers[2];
};

/* The steps that threads took, in their order: a letter each. */
static char taken[64];
static atomic_uint step_count, closed, freed;
static enum rr_vfs_status find_fails, run_fails;
static sem_t may_write; /* a write waits for it */

static void
step(char letter)
{
	taken[atomic_fetch_add(&step_count, 1)] = letter;
}

/* A handle is the number of the object, as one octet; 0 is no object. */
static enum rr_vfs_status
note(struct rr_crewed_job *job, int index, const struct rr_vfs_object *object, uint64_t *key)
{
	struct job *own = (struct job *)job;

	if (job->opens[index])
		own->numbers[index] = rr_reservation(job->opens[index])->file.number;
	else
		own->numbers[index] = *(const uint8_t *)object->handle.data;
	*key = own->numbers[index];
	return own->numbers[index] == 0 ? RR_VFS_BAD_HANDLE : RR_VFS_OK;
}

static enum rr_vfs_status
begin(struct rr_crewed_job *job)
{
	(void)job;
	step('b');
	return RR_VFS_OK;
}

static void
end(struct rr_crewed_job *job)
{
	(void)job;
	step('e');
}

static enum rr_vfs_status
find(struct rr_crewed_job *job, int index)
{
	(void)job;
	step(index == 0 ? 'f' : 'g');
	return find_fails;
}

static enum rr_vfs_status
run(struct rr_crewed_job *job)
{
	const struct rr_vfs_entry entry = { .name = { "name", 4 }, .cookie = 1 };

	step('r');
	if (job->operation == RR_VFS_OP_READ) {
		struct rr_vfs_read *read = rr_container(job->call, struct rr_vfs_read, call);

		memset(read->data, 'x', read->size);
		read->length = read->size;
	}
	if (job->operation == RR_VFS_OP_WRITE)
		sem_wait(&may_write);
	if (job->operation == RR_VFS_OP_READDIR)
		assert_true(rr_gather_add(job->gather, &entry));
	return run_fails;
}

static enum rr_vfs_status
store(struct rr_crewed_job *job, int index)
{
	(void)job;
	step(index == 0 ? 's' : 't');
	return RR_VFS_OK;
}

static enum rr_vfs_status
attributes(struct rr_crewed_job *job, int index, struct rr_vfs_attributes *found)
{
	found->size = ((struct job *)job)->numbers[index];
	return RR_VFS_OK;
}

static void
close_file(struct rr_vfs_open *open)
{
	(void)open;
	closed++;
}

static void
free_open(struct rr_vfs_open *open)
{
	(void)open;
	assert_int_equal(closed, freed + 1);
	freed++;
}

static const struct rr_crewed_steps steps = {
	.job_size = sizeof(struct job),
	.note = note,
	.begin = begin,
	.end = end,
	.find = find,
	.run = run,
	.store = store,
	.attributes = attributes,
	.close_file = close_file,
	.free_open = free_open,
};

static const struct rr_vfs_ops ops = {
	.name = "numbers", .begin = rr_crewed_begin, .cancel = rr_crewed_cancel, .close = rr_crewed_close
};

static struct rr_crewed crewed;
static struct rr_vfs *const vfs = &crewed.vfs;
static struct rr_reserve reserve;
static struct rr_vfs_caller caller;
static uint32_t ended;

static void
done(struct rr_vfs_call *call)
{
	(void)call;
	ended++;
}

#define CALL                                                                                                 \
	{                                                                                                    \
		.caller = &caller, .done = done                                                              \
	}
#define OBJECT(number)                                                                                       \
	{                                                                                                    \
		.handle = { &(const uint8_t){ number }, 1 }                                                  \
	}

static int
setup(void **state)
{
	(void)state;
	memset(taken, 0, sizeof(taken));
	step_count = closed = freed = 0;
	ended = 0;
	find_fails = run_fails = RR_VFS_OK;
	caller = (struct rr_vfs_caller){ 0 };
	memset(&reserve, 0, sizeof(reserve));
	rr_reserve_init(&reserve);
	crewed = (struct rr_crewed){ .env = &rr_env_system, .steps = &steps };
	crewed.vfs = (struct rr_vfs){ .ops = &ops, .loop = rr_loop_new(&rr_env_system), .reserve = &reserve };
	return rr_crewed_start(&crewed, 1);
}

static int
teardown(void **state)
{
	(void)state;
	assert_int_equal(vfs->counters.under_way, 0);
	rr_crewed_stop(&crewed);
	rr_loop_free(vfs->loop);
	rr_reserve_free(&reserve);
	return 0;
}

static void
wait_for(uint32_t count)
{
	turn_until(ended == count && vfs->counters.under_way == 0, rr_loop_turn(vfs->loop, RR_SECOND));
}

/* Both directories are found, stored and known afterwards. The same one twice is stored once. */
static void
an_operation_takes_its_steps_in_order(void **state)
{
	struct rr_vfs_rename rename = { .call = CALL, .from = OBJECT(3), .to = OBJECT(4) };

	(void)state;
	assert_int_equal(rr_vfs_rename(vfs, &rename), RR_VFS_PENDING);
	wait_for(1);
	assert_int_equal(rename.call.status, RR_VFS_OK);
	assert_string_equal(taken, "bfgrste");
	assert_true(rename.from_change.after.valid && rename.to_change.after.valid);
	assert_int_equal(rename.from_change.after.attributes.size, 3);
	assert_int_equal(rename.to_change.after.attributes.size, 4);
	rename.to = rename.from;
	assert_int_equal(rr_vfs_rename(vfs, &rename), RR_VFS_PENDING);
	wait_for(2);
	assert_string_equal(taken, "bfgrstebfgrse");
}

static void
what_fails_is_not_stored_and_attributes_are_known(void **state)
{
	struct rr_vfs_remove remove = { .call = CALL, .directory = OBJECT(3) };

	(void)state;
	run_fails = RR_VFS_NOENT;
	rr_vfs_remove(vfs, &remove);
	wait_for(1);
	assert_int_equal(remove.call.status, RR_VFS_NOENT);
	assert_string_equal(taken, "bfre");
	assert_true(remove.directory_change.after.valid);
	find_fails = RR_VFS_STALE;
	rr_vfs_remove(vfs, &remove);
	wait_for(2);
	assert_int_equal(remove.call.status, RR_VFS_STALE);
	assert_string_equal(taken, "bfrebfe");
	assert_false(remove.directory_change.after.valid);
}

static void
what_is_refused_is_not_done(void **state)
{
	struct rr_vfs_remove remove = { .call = CALL, .directory = OBJECT(3) };

	(void)state;
	caller.read_only = true;
	rr_vfs_remove(vfs, &remove);
	wait_for(1);
	assert_int_equal(remove.call.status, RR_VFS_ROFS);
	assert_string_equal(taken, "bfe");
	assert_true(remove.directory_change.after.valid);
}

static void
a_bad_handle_ends_the_operation_at_once(void **state)
{
	struct rr_vfs_getattr getattr = { .call = CALL, .object = OBJECT(0) };

	(void)state;
	assert_int_equal(rr_vfs_getattr(vfs, &getattr), RR_VFS_BAD_HANDLE);
	assert_int_equal(ended, 0);
}

static char room[4];

static void *
memory(struct rr_vfs_read *read, uint32_t size)
{
	assert_int_equal(size, 8);
	if (!read->eof)
		return NULL;
	read->size = sizeof(room);
	return room;
}

/* eof says, in this test only, whether there is memory. */
static void
the_memory_of_a_read_comes_before_a_thread_begins(void **state)
{
	struct rr_vfs_read read = { .call = CALL, .object = OBJECT(3), .size = 8, .memory = memory };

	(void)state;
	assert_int_equal(rr_vfs_read(vfs, &read), RR_VFS_NO_BUFFER);
	read.eof = true;
	assert_int_equal(rr_vfs_read(vfs, &read), RR_VFS_PENDING);
	assert_ptr_equal(read.data, room);
	wait_for(1);
	assert_int_equal(read.length, sizeof(room));
	assert_memory_equal(room, "xxxx", sizeof(room));
}

static bool
take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	(void)readdir;
	assert_int_equal(entry->name.length, 4);
	return true;
}

static void
entries_are_taken_in_the_thread_of_the_loop(void **state)
{
	struct rr_vfs_readdir readdir = { .call = CALL, .directory = OBJECT(3), .take = take };

	(void)state;
	rr_vfs_readdir(vfs, &readdir);
	assert_int_equal(readdir.count, 0);
	wait_for(1);
	assert_int_equal(readdir.count, 1);
	run_fails = RR_VFS_IO;
	rr_vfs_readdir(vfs, &readdir);
	wait_for(2);
	assert_int_equal(readdir.count, 0);
}

/* There is one thread. It waits in a write, and has begun no commit. */
static void
what_no_thread_has_begun_can_be_cancelled(void **state)
{
	struct rr_vfs_commit commits[2] = { { .call = CALL, .object = OBJECT(3) },
		{ .call = CALL, .object = OBJECT(3) } };
	struct rr_vfs_write write = { .call = CALL, .object = OBJECT(3) };

	(void)state;
	sem_init(&may_write, 0, 0);
	rr_vfs_write(vfs, &write);
	for (int i = 0; i < 2; i++)
		rr_vfs_commit(vfs, &commits[i]);
	rr_vfs_cancel(vfs, &commits[0].call);
	sem_post(&may_write);
	wait_for(3);
	assert_int_equal(write.call.status, RR_VFS_OK);
	assert_int_equal(commits[0].call.status, RR_VFS_CANCELLED);
	assert_int_equal(commits[1].call.status, RR_VFS_OK);
	assert_int_equal(vfs->counters.cancelled, 1);
	assert_string_equal(taken, "bfrebfre");
	sem_destroy(&may_write);
}

/* The file is closed by a thread, after the last operation on the open. */
static void
an_open_lasts_as_long_as_it_is_used(void **state)
{
	struct rr_vfs_open open = { .base = { .holders = 1 } };
	const struct rr_vfs_opening opening = { .access = RR_VFS_SHARE_READ };
	struct rr_vfs_getattr getattr = { .call = CALL, .object = { .open = &open } };
	struct rr_vfs_lock lock = { .call = CALL, .open = &open };
	struct rr_vfs_call call = CALL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rr_reserve_open(&reserve, &opening, (struct rr_reserve_file){ 0, 7 },
					 &open.base.reservation),
			RR_VFS_OK);
		open.base.holders = 1;
		if (i == 0)
			rr_vfs_getattr(vfs, &getattr);
		else
			rr_vfs_lock(vfs, &lock);
		assert_int_equal(open.base.holders, 2);
		assert_int_equal(rr_vfs_close(vfs, &open, &call), RR_VFS_OK);
		turn_until(
			freed == i + 1u && vfs->counters.under_way == 0, rr_loop_turn(vfs->loop, RR_SECOND));
	}
	assert_int_equal(ended, 2);
	open.base.holders = 1;
	reserve.opens = 1;
	assert_int_equal(rr_vfs_close(vfs, &open, &call), RR_VFS_PENDING);
	wait_for(3);
	assert_int_equal(call.status, RR_VFS_OK);
	assert_int_equal(freed, 3);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(an_operation_takes_its_steps_in_order),
		TEST(what_fails_is_not_stored_and_attributes_are_known),
		TEST(what_is_refused_is_not_done),
		TEST(a_bad_handle_ends_the_operation_at_once),
		TEST(the_memory_of_a_read_comes_before_a_thread_begins),
		TEST(entries_are_taken_in_the_thread_of_the_loop),
		TEST(what_no_thread_has_begun_can_be_cancelled),
		TEST(an_open_lasts_as_long_as_it_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
