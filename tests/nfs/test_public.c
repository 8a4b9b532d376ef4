/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_test.h"
#include "nfs/client_private.h"

#include <rpcrdma/nfs.h>
#include <stdio.h>
#include <string.h>

/* This tests the public functions of the NFS client, with and without waiting, against a fake server. */

enum { SIZE = 100000 };

static struct rpcrdma_nfs_handle root;

static void
open_export(void)
{
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rpcrdma_nfs_root(nfs, &root, NULL), 0);
}

static struct rpcrdma_nfs_object
look_up(const char *name)
{
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };

	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, name, &found, NULL), 0);
	return found;
}

/* ---- What then->done() has to say ---- */

struct outcome {
	bool over;
	int error;
	uint32_t count;
};

static void
note(void *ctx, int error)
{
	struct outcome *outcome = ctx;

	outcome->over = true;
	outcome->error = error;
	outcome->count++;
}

static int
wait_for(struct outcome *outcome)
{
	while (!outcome->over)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_int_equal(outcome->count, 1);
	return outcome->error;
}

/* ---- Names ---- */

static void
an_object_is_looked_up_with_its_attributes(void **state)
{
	struct rpcrdma_nfs_object again = { .size = sizeof(again) };

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	object = (struct rpcrdma_nfs_object){ 0 };
	again = look_up("file");
	assert_int_equal(again.type, RPCRDMA_NFS_FILE);
	assert_int_equal(again.length, SIZE);
	assert_int_equal(rpcrdma_nfs_stat(nfs, &again.handle, &again, NULL), 0);
	assert_int_equal(again.length, SIZE);
}

static void
attributes_are_asked_for_where_lookup_has_no_attributes(void **state)
{
	(void)state;
	fake_file(fake, 0, "file", SIZE);
	fake->no_attributes = true;
	open_export();
	assert_int_equal(look_up("file").length, SIZE);
}

static void
what_the_server_refuses_is_a_positive_status_with_a_text(void **state)
{
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };

	(void)state;
	open_export();
	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, "none", &found, NULL), RPCRDMA_NFS_NOENT);
	assert_non_null(strstr(rpcrdma_nfs_error(nfs), "no such file"));
}

static void
a_server_that_asks_to_come_back_is_asked_again(void **state)
{
	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	fake->jukebox = 3;
	assert_int_equal(look_up("file").length, SIZE);
	assert_int_equal(fake->calls[NFSPROC3_LOOKUP], 4);
}

static int
count_entry(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	uint32_t *count = ctx;

	assert_true(strcmp(entry->name, "file") == 0 || strcmp(entry->name, "link") == 0);
	assert_true(!entry->object || entry->object->size == sizeof(*entry->object));
	++*count;
	return 0;
}

static int
end_list(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	(void)ctx;
	(void)entry;
	return 42;
}

static void
a_directory_is_listed_and_a_link_read(void **state)
{
	char target[RPCRDMA_NFS_PATH_MAX + 1];
	struct rpcrdma_nfs_object link;
	uint32_t count = 0;

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	fake_link(fake, 0, "link", "file");
	open_export();
	assert_int_equal(rpcrdma_nfs_list(nfs, &root, count_entry, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(rpcrdma_nfs_list(nfs, &root, end_list, NULL), 42);
	link = look_up("link");
	assert_int_equal(link.type, RPCRDMA_NFS_SYMLINK);
	assert_int_equal(rpcrdma_nfs_readlink(nfs, &link.handle, target, sizeof(target), NULL), 0);
	assert_string_equal(target, "file");
	assert_int_equal(
		rpcrdma_nfs_readlink(nfs, &link.handle, target, strlen("file"), NULL), -RPCRDMA_ERR_LIMIT);
	assert_int_equal(rpcrdma_nfs_find(nfs, "/link", true, &link), 0);
	assert_int_equal(link.type, RPCRDMA_NFS_FILE);
}

/* ---- Changes ---- */

/* RFC 1813, 2.5: a time has "uint32 seconds". */
static void
version_3_refuses_times_that_it_does_not_hold(void **state)
{
	struct rpcrdma_nfs_changes changes = { .size = sizeof(changes), .set_modified = true };
	struct rpcrdma_nfs_object file = { .size = sizeof(file) };

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	file = look_up("file");
	changes.modified.seconds = UINT32_MAX;
	assert_int_equal(rpcrdma_nfs_change(nfs, &file.handle, &changes, NULL), 0);
	assert_int_equal(fake->calls[NFSPROC3_SETATTR], 1);
	changes.modified.seconds++;
	assert_int_equal(rpcrdma_nfs_change(nfs, &file.handle, &changes, NULL), -RPCRDMA_ERR_NOTSUP);
	assert_string_equal(
		rpcrdma_nfs_error(nfs), "NFS version 3 holds times from 1970 to 2106: use version 4.2");
	changes.set_accessed = true;
	changes.set_modified = false;
	changes.accessed.seconds = -1;
	assert_int_equal(rpcrdma_nfs_create(nfs, &root, "other", &changes, &file, NULL), -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(fake->calls[NFSPROC3_SETATTR] + fake->calls[NFSPROC3_CREATE], 1);
	assert_int_equal(look_up("file").modified.seconds, UINT32_MAX);
	assert_string_equal(look_up("file").owner, "");
}

static void
names_are_made_changed_renamed_and_removed(void **state)
{
	const struct rpcrdma_nfs_changes cut = { .size = sizeof(cut), .set_length = true, .length = 10 };
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };

	(void)state;
	open_export();
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, &root, "dir", NULL, &made, NULL), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_DIRECTORY);
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, &root, "dir", NULL, &made, NULL), RPCRDMA_NFS_EXIST);
	assert_int_equal(rpcrdma_nfs_create(nfs, &root, "file", NULL, &made, NULL), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_FILE);
	assert_int_equal(rpcrdma_nfs_change(nfs, &made.handle, &cut, NULL), 0);
	for (uint32_t i = 0; i < FAKE_OBJECTS; i++)
		assert_int_equal(fake->objects[i].set.size.set_it,
			fake->objects[i].used && strcmp(fake->objects[i].name, "file") == 0);
	assert_int_equal(rpcrdma_nfs_rename(nfs, &root, "file", &root, "other", NULL), 0);
	assert_int_equal(rpcrdma_nfs_remove(nfs, &root, "file", NULL), RPCRDMA_NFS_NOENT);
	assert_int_equal(rpcrdma_nfs_remove(nfs, &root, "other", NULL), 0);
	assert_int_equal(rpcrdma_nfs_rmdir(nfs, &root, "dir", NULL), 0);
}

static void
links_are_made(void **state)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };
	struct rpcrdma_nfs_handle file;
	char target[RPCRDMA_NFS_PATH_MAX + 1];

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	assert_int_equal(rpcrdma_nfs_symlink(nfs, &root, "soft", "some/where", &made, NULL), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_SYMLINK);
	assert_int_equal(rpcrdma_nfs_readlink(nfs, &made.handle, target, sizeof(target), NULL), 0);
	assert_string_equal(target, "some/where");
	assert_int_equal(rpcrdma_nfs_symlink(nfs, &root, "soft", "x", &made, NULL), RPCRDMA_NFS_EXIST);
	file = look_up("file").handle;
	assert_int_equal(rpcrdma_nfs_link(nfs, &file, &root, "hard", NULL), 0);
	assert_memory_equal(look_up("hard").handle.data, file.data, file.length);
	assert_int_equal(rpcrdma_nfs_link(nfs, &file, &root, "hard", NULL), RPCRDMA_NFS_EXIST);
}

static void
a_link_whose_answer_was_lost_is_made_once(void **state)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };
	struct rpcrdma_nfs_handle file, other;

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	fake_file(fake, 0, "other", SIZE);
	open_export();
	file = look_up("file").handle;
	other = look_up("other").handle;
	fake->crash_at = NFSPROC3_SYMLINK;
	assert_int_equal(rpcrdma_nfs_symlink(nfs, &root, "soft", "there", &made, NULL), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_SYMLINK);
	fake->crash_at = NFSPROC3_SYMLINK;
	assert_int_equal(rpcrdma_nfs_symlink(nfs, &root, "file", "there", &made, NULL), RPCRDMA_NFS_EXIST);
	fake->crash_at = NFSPROC3_LINK;
	assert_int_equal(rpcrdma_nfs_link(nfs, &file, &root, "hard", NULL), 0);
	fake->crash_at = NFSPROC3_LINK;
	assert_int_equal(rpcrdma_nfs_link(nfs, &other, &root, "hard", NULL), RPCRDMA_NFS_EXIST);
}

/* RFC 1813, 2.6: "Fileid is a number which uniquely identifies the file within its file system". A server may
 * give two handles of one file. */
static void
a_link_whose_answer_was_lost_is_known_by_another_handle(void **state)
{
	struct rpcrdma_nfs_handle file, other;

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	fake_file(fake, 0, "other", SIZE);
	open_export();
	file = look_up("file").handle;
	other = look_up("other").handle;
	fake->other_handles = true;
	fake->crash_at = NFSPROC3_LINK;
	assert_int_equal(rpcrdma_nfs_link(nfs, &file, &root, "hard", NULL), 0);
	fake->crash_at = NFSPROC3_LINK;
	assert_int_equal(rpcrdma_nfs_link(nfs, &other, &root, "hard", NULL), RPCRDMA_NFS_EXIST);
}

static void
a_file_system_says_its_size(void **state)
{
	struct rpcrdma_nfs_space space = { .size = sizeof(space) }, small = { .size = 8 };

	(void)state;
	open_export();
	assert_int_equal(rpcrdma_nfs_statfs(nfs, &root, &space, NULL), 0);
	assert_true(space.total == UINT64_MAX && space.free == 2 && space.available == 1);
	assert_true(space.files == 6 && space.files_free == 5 && space.files_left == 4);
	assert_int_equal(rpcrdma_nfs_statfs(nfs, &root, &small, NULL), -RPCRDMA_ERR_INVAL);
}

static void
an_answer_that_was_lost_does_not_make_a_failure_of_a_success(void **state)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };

	(void)state;
	open_export();
	fake->crash_at = NFSPROC3_MKDIR;
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, &root, "dir", NULL, &made, NULL), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_DIRECTORY);
	fake->crash_at = NFSPROC3_CREATE;
	assert_int_equal(rpcrdma_nfs_create(nfs, &root, "file", NULL, &made, NULL), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_FILE);
	fake->crash_at = NFSPROC3_RENAME;
	assert_int_equal(rpcrdma_nfs_rename(nfs, &root, "file", &root, "new", NULL), 0);
	fake->crash_at = NFSPROC3_REMOVE;
	assert_int_equal(rpcrdma_nfs_remove(nfs, &root, "new", NULL), 0);
	fake->crash_at = NFSPROC3_RMDIR;
	assert_int_equal(rpcrdma_nfs_rmdir(nfs, &root, "dir", NULL), 0);
}

/* The server executes the call and restarts, is busy when the call comes again, and then refuses it. */
static void
an_answer_that_was_lost_before_the_server_was_busy_does_not_make_a_failure(void **state)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };
	struct outcome outcome = { 0 };
	const struct rpcrdma_nfs_then then = { note, &outcome };

	(void)state;
	open_export();
	fake->crash_at = NFSPROC3_MKDIR;
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, &root, "dir", NULL, &made, &then), 0);
	while (fake->crash_at != UINT32_MAX)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	fake->jukebox = 1;
	assert_int_equal(wait_for(&outcome), 0);
	assert_int_equal(made.type, RPCRDMA_NFS_DIRECTORY);
	assert_int_equal(fake->calls[NFSPROC3_MKDIR], 3);
}

static void
a_failure_stays_one_where_the_connection_was_lost(void **state)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	fake->crash_at = NFSPROC3_MKDIR;
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, &root, "file", NULL, &made, NULL), RPCRDMA_NFS_EXIST);
	fake->crash_at = NFSPROC3_RENAME;
	assert_int_equal(rpcrdma_nfs_rename(nfs, &root, "none", &root, "new", NULL), RPCRDMA_NFS_NOENT);
}

/* ---- File data ---- */

static void
data_goes_there_and_back(void **state)
{
	static uint8_t data[SIZE], back[SIZE + 1];
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };
	struct rpcrdma_nfs_io io = { .size = sizeof(io), .data = data, .length = SIZE };
	uint8_t verifier[RPCRDMA_NFS_VERIFIER];

	(void)state;
	for (uint32_t i = 0; i < SIZE; i++)
		data[i] = fake_octet(i);
	fake->wtmax = fake->rtmax = 4096;
	open_export();
	assert_int_equal(rpcrdma_nfs_create(nfs, &root, "file", NULL, &made, NULL), 0);
	io.file = made.handle;
	assert_int_equal(rpcrdma_nfs_write(nfs, &io, NULL), 0);
	assert_int_equal(io.moved, SIZE);
	assert_int_equal(rpcrdma_nfs_commit(nfs, &made.handle, verifier, NULL), 0);
	assert_memory_equal(verifier, io.verifier, sizeof(verifier));
	io.data = back;
	io.length = sizeof(back);
	assert_int_equal(rpcrdma_nfs_read(nfs, &io, NULL), 0);
	assert_int_equal(io.moved, SIZE);
	assert_true(io.eof);
	assert_memory_equal(data, back, SIZE);
}

/* Version 3 has no call that makes a whole file. */
static void
a_whole_file_is_put_over_version_4_alone(void **state)
{
	struct rpcrdma_nfs_whole put = { .size = sizeof(put),
		.directory = root,
		.temporary = "temporary",
		.name = "name",
		.data = "text",
		.length = 4,
		.made = true };

	(void)state;
	open_export();
	assert_int_equal(rpcrdma_nfs_put(nfs, NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_put(nfs, &put, NULL), -RPCRDMA_ERR_NOTSUP);
	put.size--;
	assert_int_equal(rpcrdma_nfs_put(nfs, &put, NULL), -RPCRDMA_ERR_INVAL);
}

/* ---- Operations that are not waited for ---- */

static void
many_operations_are_under_way_at_a_time(void **state)
{
	enum { COUNT = 32 };
	struct rpcrdma_nfs_object found[COUNT];
	struct outcome outcomes[COUNT] = { 0 };
	char name[16];

	(void)state;
	fake_file(fake, 0, "name-0", SIZE);
	open_export();
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct rpcrdma_nfs_then then = { note, &outcomes[i] };

		found[i].size = sizeof(found[i]);
		snprintf(name, sizeof(name), "name-%u", i % 2);
		assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, name, &found[i], &then), 0);
		memset(name, 'x', sizeof(name)); /* the client copies a name at once */
	}
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(wait_for(&outcomes[i]), i % 2 ? RPCRDMA_NFS_NOENT : 0);
	assert_int_equal(found[0].length, SIZE);
}

static void
closing_cancels_what_is_under_way(void **state)
{
	static uint8_t data[SIZE];
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };
	struct rpcrdma_nfs_io io = { .size = sizeof(io), .data = data, .length = SIZE };
	struct outcome outcome = { 0 };
	const struct rpcrdma_nfs_then then = { note, &outcome };

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	io.file = look_up("file").handle;
	fake->jukebox = 1; /* one call has to be repeated later */
	assert_int_equal(rpcrdma_nfs_stat(nfs, &io.file, &found, &then), 0);
	while (fake->jukebox)
		rr_loop_turn(fake->stage.engine->loop, -1);
	assert_int_equal(rpcrdma_nfs_read(nfs, &io, &then), 0);
	assert_int_equal(rpcrdma_nfs_stat(nfs, &root, &found, &then), 0);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	for (uint32_t i = 0; i < 1000; i++)
		rr_loop_turn(fake->stage.engine->loop, 0);
	assert_int_equal(outcome.count, 0);
}

/* One call waits to be repeated, one is under way, and one of another caller goes on. */
static void
single_operations_are_cancelled(void **state)
{
	static uint8_t data[SIZE];
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };
	struct rpcrdma_nfs_io io = { .size = sizeof(io), .data = data, .length = SIZE };
	struct outcome cancelled = { 0 }, other = { 0 };
	const struct rpcrdma_nfs_then then = { note, &cancelled }, goes_on = { note, &other };

	(void)state;
	fake_file(fake, 0, "file", SIZE);
	open_export();
	io.file = look_up("file").handle;
	fake->jukebox = 1; /* one call has to be repeated later */
	assert_int_equal(rpcrdma_nfs_stat(nfs, &io.file, &found, &then), 0);
	while (fake->jukebox)
		rr_loop_turn(fake->stage.engine->loop, -1);
	assert_int_equal(rpcrdma_nfs_read(nfs, &io, &then), 0);
	assert_int_equal(rpcrdma_nfs_stat(nfs, &root, &found, &goes_on), 0);
	rpcrdma_nfs_cancel(nfs, &then);
	while (other.count == 0)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_int_equal(other.error, 0);
	assert_int_equal(cancelled.count, 0);
	/* Nothing is left of them; the client still works. */
	assert_true(rr_list_empty(&nfs->pending));
	rpcrdma_nfs_cancel(nfs, &then);
	rpcrdma_nfs_cancel(NULL, &then);
	rpcrdma_nfs_cancel(nfs, NULL);
	assert_int_equal(look_up("file").length, SIZE);
}

static void
close_it(void *ctx, int error)
{
	note(ctx, error);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
}

static void
done_may_close_the_client(void **state)
{
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };
	struct outcome outcome = { 0 };
	const struct rpcrdma_nfs_then then = { close_it, &outcome };

	(void)state;
	open_export();
	assert_int_equal(rpcrdma_nfs_stat(nfs, &root, &found, &then), 0);
	assert_int_equal(wait_for(&outcome), 0);
}

static void
wait_inside(void *ctx, int error)
{
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };

	assert_int_equal(error, 0);
	note(ctx, rpcrdma_nfs_stat(nfs, &root, &found, NULL));
}

static void
nothing_is_waited_for_inside_a_callback(void **state)
{
	struct rpcrdma_nfs_object found = { .size = sizeof(found) };
	struct outcome outcome = { 0 };
	const struct rpcrdma_nfs_then then = { wait_inside, &outcome };

	(void)state;
	open_export();
	assert_int_equal(rpcrdma_nfs_stat(nfs, &root, &found, &then), 0);
	assert_int_equal(wait_for(&outcome), -RPCRDMA_ERR_INVAL);
}

static void
what_is_missing_is_refused(void **state)
{
	struct rpcrdma_nfs_object found = { .size = sizeof(found) }, small = { .size = 8 };
	struct rpcrdma_nfs_io io = { .size = sizeof(io) };
	const struct rpcrdma_nfs_then then = { NULL, NULL };
	char longest[RPCRDMA_NFS_NAME_MAX + 2], path[RPCRDMA_NFS_PATH_MAX + 2];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	open_export();
	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, NULL, &found, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, "", &found, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, "a/b", &found, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, longest, &found, NULL), RPCRDMA_NFS_NAMETOOLONG);
	assert_int_equal(rpcrdma_nfs_lookup(nfs, &root, "a", NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_stat(nfs, &root, &small, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_stat(nfs, &root, &found, &then), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_read(nfs, &io, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_read(NULL, &io, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_remove(NULL, &root, "a", NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_rename(nfs, &root, "a", NULL, "b", NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_link(nfs, NULL, &root, "a", NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_statfs(nfs, &root, NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_symlink(nfs, &root, "a", "", &found, NULL), -RPCRDMA_ERR_INVAL);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(rpcrdma_nfs_symlink(nfs, &root, "a", path, &found, NULL), RPCRDMA_NFS_NAMETOOLONG);
	assert_non_null(rpcrdma_nfs_error(NULL));
	rpcrdma_nfs_close(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(an_object_is_looked_up_with_its_attributes),
		fake_test(attributes_are_asked_for_where_lookup_has_no_attributes),
		fake_test(what_the_server_refuses_is_a_positive_status_with_a_text),
		fake_test(a_server_that_asks_to_come_back_is_asked_again),
		fake_test(a_directory_is_listed_and_a_link_read),
		fake_test(version_3_refuses_times_that_it_does_not_hold),
		fake_test(names_are_made_changed_renamed_and_removed),
		fake_test(links_are_made),
		fake_test(a_link_whose_answer_was_lost_is_made_once),
		fake_test(a_link_whose_answer_was_lost_is_known_by_another_handle),
		fake_test(a_file_system_says_its_size),
		fake_test(an_answer_that_was_lost_does_not_make_a_failure_of_a_success),
		fake_test(an_answer_that_was_lost_before_the_server_was_busy_does_not_make_a_failure),
		fake_test(a_failure_stays_one_where_the_connection_was_lost),
		fake_test(data_goes_there_and_back),
		fake_test(a_whole_file_is_put_over_version_4_alone),
		fake_test(many_operations_are_under_way_at_a_time),
		fake_test(closing_cancels_what_is_under_way),
		fake_test(single_operations_are_cancelled),
		fake_test(done_may_close_the_client),
		fake_test(nothing_is_waited_for_inside_a_callback),
		fake_test(what_is_missing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
