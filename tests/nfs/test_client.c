/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The NFS client against a server that does what each test wants. */

static struct fake *fake;
static struct rr_nfs *nfs;
static struct rr_text text;
static struct rr_nfs_object object;

static int
setup(void **state)
{
	(void)state;
	fake = fake_new();
	nfs = NULL;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rr_nfs_close(nfs);
	fake_free(fake);
	return 0;
}

/* ---- Mounting ---- */

static void
what_is_above_the_path_is_mounted_and_the_rest_kept(void **state)
{
	(void)state;
	nfs = fake_must_open(fake, "/export/a//b/");
	assert_string_equal(rr_nfs_export(nfs), "/export");
	assert_string_equal(rr_nfs_rest(nfs), "/a//b/");
	assert_int_equal(fake->mounts, 3);
}

static void
the_root_can_be_an_export(void **state)
{
	(void)state;
	fake->export = "/";
	nfs = fake_must_open(fake, "/a");
	assert_string_equal(rr_nfs_export(nfs), "/");
	assert_string_equal(rr_nfs_rest(nfs), "a");
}

static void
an_unknown_export_is_refused_with_a_list_of_those_there_are(void **state)
{
	(void)state;
	fake_serve(fake);
	assert_int_equal(fake_open(fake, "/other/x", &nfs, &text), NFS3ERR_NOENT);
	assert_non_null(strstr(text.text, "no export of the path /other/x"));
	assert_non_null(strstr(text.text, "it exports /export"));
}

static void
a_refusal_of_permission_says_so(void **state)
{
	(void)state;
	fake->refusal = NFS3ERR_ACCES;
	fake_serve(fake);
	assert_int_equal(fake_open(fake, "/other", &nfs, &text), NFS3ERR_ACCES);
	assert_non_null(strstr(text.text, "permission denied"));
}

static void
a_refusal_of_permission_above_says_more_than_that_there_is_nothing(void **state)
{
	(void)state;
	fake->refusal_above = NFS3ERR_ACCES;
	fake_serve(fake);
	assert_int_equal(fake_open(fake, "/other/x", &nfs, &text), NFS3ERR_ACCES);
	assert_non_null(strstr(text.text, "permission denied"));
}

static void
a_flavor_that_is_not_to_be_had_is_named(void **state)
{
	(void)state;
	fake->flavor = 390003;
	fake_serve(fake);
	assert_int_equal(fake_open(fake, "/export", &nfs, &text), -RPCRDMA_ERR_RPC_DENIED);
	assert_non_null(strstr(text.text, "390003"));
}

static void
mount_is_asked_over_tcp_where_the_connection_has_none(void **state)
{
	(void)state;
	fake->mount_apart = true;
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(fake->mounts, 1);
}

static void
nobody_there_is_an_error_that_says_where(void **state)
{
	(void)state;
	((struct sockaddr_in *)&fake->address)->sin_port = htons(9);
	assert_int_equal(fake_open(fake, "/export", &nfs, &text), -RPCRDMA_ERR_REFUSED);
	assert_non_null(strstr(text.text, "127.0.0.1:9"));
}

static void
a_silent_server_is_given_up(void **state)
{
	(void)state;
	fake->silent = true;
	fake_serve(fake);
	assert_int_equal(fake_open(fake, "/export", &nfs, &text), -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(text.text, "127.0.0.1"));
}

static void
interruption_ends_every_wait(void **state)
{
	(void)state;
	nfs = fake_must_open(fake, "/export");
	fake->interrupt = true;
	fake->jukebox = UINT32_MAX;
	assert_int_equal(rr_nfs_walk(nfs, "", true, &object), -RPCRDMA_ERR_CANCELLED);
	assert_string_equal(rr_nfs_error(nfs), "interrupted");
	rr_nfs_close(nfs);
	nfs = NULL;
	fake->silent = true;
	assert_int_equal(fake_open(fake, "/export", &nfs, &text), -RPCRDMA_ERR_CANCELLED);
	assert_string_equal(text.text, "interrupted");
}

static void
cleaning_is_not_interrupted_but_limited(void **state)
{
	uint64_t before;

	(void)state;
	fake_file(fake, 0, "file", 0);
	nfs = fake_must_open(fake, "/export");
	fake->interrupt = true;
	rr_nfs_cleaning(nfs, true);
	assert_int_equal(rr_nfs_remove(nfs, rr_nfs_root(nfs), "file"), 0);
	rr_server_free(fake->server);
	fake->server = NULL;
	before = fake->now;
	assert_true(rr_nfs_remove(nfs, rr_nfs_root(nfs), "file") < 0);
	assert_in_range(fake->now - before, 0, 6 * RR_SECOND);
}

static void
limits_of_no_use_are_refused(void **state)
{
	(void)state;
	fake->rtmax = 0;
	fake_serve(fake);
	assert_int_equal(fake_open(fake, "/export", &nfs, &text), -RPCRDMA_ERR_PEER);
}

/* ---- Paths ---- */

static void
paths_are_walked_and_links_on_the_way_followed(void **state)
{
	uint32_t a = fake_add(fake, 0, "a", NF3DIR), b = fake_add(fake, a, "b", NF3DIR);

	(void)state;
	fake_file(fake, b, "file", 7);
	fake_link(fake, 0, "relative", "a/./b");
	fake_link(fake, b, "up", "../../relative/file");
	fake_link(fake, 0, "absolute", "/export/a");
	fake_link(fake, 0, "to-root", "/export");
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "", true, &object), 0);
	assert_int_equal(object.attributes.type, NF3DIR);
	assert_int_equal(rr_nfs_walk(nfs, "//a/b//file", true, &object), 0);
	assert_int_equal(object.attributes.size, 7);
	assert_int_equal(rr_nfs_walk(nfs, "absolute/b/up", true, &object), 0);
	assert_int_equal(object.attributes.size, 7);
	assert_int_equal(rr_nfs_walk(nfs, "to-root/relative/file", true, &object), 0);
	assert_int_equal(object.attributes.size, 7);
}

static void
the_last_link_is_followed_only_where_asked_or_before_a_slash(void **state)
{
	(void)state;
	fake_add(fake, 0, "a", NF3DIR);
	fake_link(fake, 0, "link", "a");
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "link", false, &object), 0);
	assert_int_equal(object.attributes.type, NF3LNK);
	assert_int_equal(rr_nfs_walk(nfs, "link", true, &object), 0);
	assert_int_equal(object.attributes.type, NF3DIR);
	assert_int_equal(rr_nfs_walk(nfs, "link/", false, &object), 0);
	assert_int_equal(object.attributes.type, NF3DIR);
}

static void
walks_that_lead_nowhere_fail(void **state)
{
	char name[300];

	(void)state;
	fake_file(fake, 0, "file", 0);
	fake_link(fake, 0, "loop", "loop");
	fake_link(fake, 0, "out", "/etc/passwd");
	fake_link(fake, 0, "beside", "/exported");
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "none", true, &object), NFS3ERR_NOENT);
	assert_string_equal(rr_nfs_error(nfs), "no such file or directory (NFS3ERR_NOENT)");
	assert_int_equal(rr_nfs_walk(nfs, "file/x", true, &object), NFS3ERR_NOTDIR);
	assert_int_equal(rr_nfs_walk(nfs, "loop", true, &object), -RPCRDMA_ERR_LIMIT);
	assert_int_equal(rr_nfs_walk(nfs, "out", true, &object), -RPCRDMA_ERR_NOTSUP);
	assert_non_null(strstr(rr_nfs_error(nfs), "/etc/passwd"));
	assert_int_equal(rr_nfs_walk(nfs, "beside", true, &object), -RPCRDMA_ERR_NOTSUP);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(rr_nfs_walk(nfs, name, true, &object), NFS3ERR_NAMETOOLONG);
}

static void
attributes_that_lookup_leaves_out_are_asked_for(void **state)
{
	(void)state;
	fake_file(fake, 0, "file", 5);
	fake->no_attributes = true;
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), 0);
	assert_int_equal(object.attributes.size, 5);
}

static void
an_empty_handle_is_refused(void **state)
{
	(void)state;
	fake_file(fake, 0, "file", 5);
	nfs = fake_must_open(fake, "/export");
	fake->lie = FAKE_EMPTY_HANDLE;
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), -RPCRDMA_ERR_PEER);
}

/* ---- Directories ---- */

static uint32_t seen, known;

static int
count_entry(void *ctx, const struct rr_nfs_entry *entry)
{
	(void)ctx;
	assert_string_not_equal(entry->name, ".");
	seen++;
	known += entry->object != NULL;
	return 0;
}

static int
list(void)
{
	seen = known = 0;
	return rr_nfs_readdir(nfs, rr_nfs_root(nfs), count_entry, NULL);
}

static void
add_files(uint32_t count)
{
	char name[32];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "entry-%u", i);
		fake_add(fake, 0, name, NF3DIR);
	}
}

static void
directories_are_read_to_the_end_in_any_portions(void **state)
{
	(void)state;
	add_files(20);
	nfs = fake_must_open(fake, "/export");
	for (fake->entry_most = 1; fake->entry_most <= 24; fake->entry_most++) {
		assert_int_equal(list(), 0);
		assert_int_equal(seen, 20);
		assert_int_equal(known, 20);
	}
}

static void
readdir_serves_where_there_is_no_readdirplus(void **state)
{
	(void)state;
	add_files(20);
	fake->no_readdirplus = true;
	fake->entry_most = 7;
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(list(), 0);
	assert_int_equal(list(), 0);
	assert_int_equal(seen, 20);
	assert_int_equal(known, 0);
	assert_int_equal(fake->calls[NFSPROC3_READDIRPLUS], 1);
}

static void
entries_without_handle_or_attributes_are_unknown(void **state)
{
	(void)state;
	add_files(3);
	nfs = fake_must_open(fake, "/export");
	fake->no_handles = true;
	assert_int_equal(list(), 0);
	assert_int_equal(seen, 3);
	assert_int_equal(known, 0);
	fake->no_handles = false;
	fake->no_attributes = true;
	assert_int_equal(list(), 0);
	assert_int_equal(known, 0);
}

static void
names_that_lead_elsewhere_are_not_believed(void **state)
{
	static const char *const names[] = { "../x", "/etc", "a/b", "" };

	(void)state;
	nfs = fake_must_open(fake, "/export");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t number = fake_add(fake, 0, names[i], NF3REG);

		assert_int_equal(list(), -RPCRDMA_ERR_PEER);
		fake->objects[number].used = false;
	}
}

static void
a_directory_without_end_is_given_up(void **state)
{
	(void)state;
	add_files(3);
	nfs = fake_must_open(fake, "/export");
	fake->lie = FAKE_DIRECTORY_ENDLESS;
	assert_int_equal(list(), -RPCRDMA_ERR_PEER);
}

static int
walk_each(void *ctx, const struct rr_nfs_entry *entry)
{
	char name[300];

	(void)ctx;
	assert_int_equal(rr_nfs_walk(nfs, entry->name, true, &object), 0);
	snprintf(name, sizeof(name), "entry-%u", seen++);
	assert_string_equal(entry->name, name);
	return seen == 5 ? 77 : 0;
}

static void
each_entry_may_call_the_client_and_end_the_reading(void **state)
{
	(void)state;
	add_files(10);
	nfs = fake_must_open(fake, "/export");
	seen = 0;
	assert_int_equal(rr_nfs_readdir(nfs, rr_nfs_root(nfs), walk_each, NULL), 77);
}

/* ---- Waiting for answers ---- */

static void
jukebox_is_waited_out(void **state)
{
	(void)state;
	fake_file(fake, 0, "file", 1);
	nfs = fake_must_open(fake, "/export");
	fake->jukebox = 3;
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), 0);
	fake->jukebox = UINT32_MAX;
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), NFS3ERR_JUKEBOX);
}

static void
what_was_done_before_the_answer_was_lost_counts_as_done(void **state)
{
	const struct rr_nfs_handle *root;
	sattr3 none = { 0 };

	(void)state;
	fake_file(fake, 0, "old", 0);
	fake_file(fake, 0, "doomed", 0);
	nfs = fake_must_open(fake, "/export");
	root = rr_nfs_root(nfs);
	fake->crash_at = NFSPROC3_CREATE;
	assert_int_equal(rr_nfs_create(nfs, root, "file", true, &none, &object), 0);
	fake->crash_at = NFSPROC3_MKDIR;
	assert_int_equal(rr_nfs_mkdir(nfs, root, "directory", &none, &object), 0);
	fake->crash_at = NFSPROC3_SYMLINK;
	assert_int_equal(rr_nfs_symlink(nfs, root, "link", "target"), 0);
	fake->crash_at = NFSPROC3_RENAME;
	assert_int_equal(rr_nfs_rename(nfs, root, "old", root, "new"), 0);
	fake->crash_at = NFSPROC3_REMOVE;
	assert_int_equal(rr_nfs_remove(nfs, root, "doomed"), 0);
	assert_int_equal(rr_client_reconnects(rr_nfs_rpc(nfs)), 5);
	assert_int_equal(fake->calls[NFSPROC3_CREATE], 2);
}

static void
what_was_there_before_is_no_success(void **state)
{
	const struct rr_nfs_handle *root;
	sattr3 none = { 0 };

	(void)state;
	fake_file(fake, 0, "file", 0);
	nfs = fake_must_open(fake, "/export");
	root = rr_nfs_root(nfs);
	assert_int_equal(rr_nfs_create(nfs, root, "file", true, &none, &object), NFS3ERR_EXIST);
	assert_int_equal(rr_nfs_mkdir(nfs, root, "file", &none, &object), NFS3ERR_EXIST);
	assert_int_equal(rr_nfs_symlink(nfs, root, "file", "x"), NFS3ERR_EXIST);
	assert_int_equal(rr_nfs_remove(nfs, root, "none"), NFS3ERR_NOENT);
	assert_int_equal(rr_nfs_rename(nfs, root, "none", root, "file"), NFS3ERR_NOENT);
}

static void
created_objects_are_looked_up_where_the_answer_leaves_them_open(void **state)
{
	sattr3 none = { 0 };

	(void)state;
	nfs = fake_must_open(fake, "/export");
	fake->no_handles = true;
	assert_int_equal(rr_nfs_create(nfs, rr_nfs_root(nfs), "file", true, &none, &object), 0);
	assert_int_equal(object.attributes.type, NF3REG);
	assert_int_equal(object.handle.length, 4);
}

/* ---- File data ---- */

struct result {
	bool done;
	int error;
};

static void
io_done(struct rr_nfs_io *io, int error)
{
	struct result *result = io->ctx;

	result->done = true;
	result->error = error;
}

static int
move(struct rr_nfs_io *io, void (*start)(struct rr_nfs *nfs, struct rr_nfs_io *io))
{
	struct result result = { 0 };

	io->file = &object.handle;
	io->done = io_done;
	io->ctx = &result;
	start(nfs, io);
	assert_false(result.done);
	while (!result.done)
		assert_true(rr_loop_turn(fake->engine->loop, -1) >= 0);
	return result.error;
}

static uint8_t data[FAKE_FILE_MAX];

static void
open_file(uint64_t size)
{
	fake_file(fake, 0, "file", size);
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), 0);
}

static void
assert_octets(const struct rr_nfs_io *io)
{
	for (uint32_t i = 0; i < io->moved; i++)
		if (data[i] != fake_octet(io->offset + i))
			fail_msg("octet %u of the piece at %llu is wrong", i, (unsigned long long)io->offset);
}

static void
pieces_of_every_kind_of_size_are_read(void **state)
{
	static const uint32_t lengths[] = { 1, 3, 4, 1000, 4000, 4096, 5001, 100000, 1 << 20, 3000001 };
	struct rr_nfs_io io = { .data = data };

	(void)state;
	fake->rtmax = 300000;
	open_file(3000001);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		io.offset = 3000001 - lengths[i];
		io.length = lengths[i];
		memset(data, 0, sizeof(data));
		assert_int_equal(move(&io, rr_nfs_read), 0);
		assert_int_equal(io.moved, lengths[i]);
		assert_true(io.eof);
		assert_octets(&io);
	}
}

static void
large_reads_are_placed_by_rdma_write(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 1 << 20 };
	struct rr_counters counters;

	(void)state;
	open_file(1 << 20);
	assert_int_equal(move(&io, rr_nfs_read), 0);
	rr_client_counters(rr_nfs_rpc(nfs), &counters);
	assert_true(counters.octets_rdma_write >= 1 << 20);
	assert_octets(&io);
}

static void
short_reads_are_continued_to_the_end_of_the_file(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 100000 };

	(void)state;
	open_file(50000);
	fake->read_most = 777;
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_int_equal(io.moved, 50000);
	assert_true(io.eof);
	assert_octets(&io);
}

static void
reading_behind_the_end_gives_nothing_and_the_end(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 10, .offset = 100 };

	(void)state;
	open_file(100);
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_int_equal(io.moved, 0);
	assert_true(io.eof);
}

static void
reads_wait_a_jukebox_out(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 10 };

	(void)state;
	open_file(100);
	fake->jukebox = 2;
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_octets(&io);
}

static void
lies_about_data_are_not_believed(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 100 };

	(void)state;
	open_file(1000);
	fake->lie = FAKE_READ_COUNT;
	assert_int_equal(move(&io, rr_nfs_read), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_READ_NOTHING;
	assert_int_equal(move(&io, rr_nfs_read), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_READ_TOO_MUCH;
	memset(data, 0, sizeof(data));
	assert_true(move(&io, rr_nfs_read) < 0);
	assert_int_equal(data[100], 0);
	fake->lie = FAKE_WRITE_NOTHING;
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_WRITE_TOO_MUCH;
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_WRITE_LESS_STABLE;
	io.stable = FILE_SYNC;
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
}

static void
a_cancelled_piece_is_left_alone(void **state)
{
	struct result result = { 0 };
	struct rr_nfs_io io = { .data = data, .length = 1 << 20, .done = io_done, .ctx = &result };

	(void)state;
	open_file(1 << 20);
	io.file = &object.handle;
	rr_nfs_read(nfs, &io);
	rr_nfs_io_cancel(&io);
	rr_nfs_io_cancel(&io);
	memset(data, 0, 4096);
	for (int i = 0; i < 100; i++)
		rr_loop_turn(fake->engine->loop, 0);
	assert_false(result.done);
	assert_int_equal(data[4095], 0);
	fake->jukebox = 1;
	rr_nfs_read(nfs, &io);
	while (fake->jukebox > 0)
		rr_loop_turn(fake->engine->loop, 0);
	rr_nfs_io_cancel(&io);
	assert_int_equal(move(&io, rr_nfs_read), 0);
}

static void
what_is_written_arrives_in_any_portions(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 200001, .offset = 1000 };
	const struct fake_object *file = &fake->objects[1];
	uint8_t verifier[NFS3_WRITEVERFSIZE];

	(void)state;
	fake->wtmax = 65536;
	fake->write_most = 10001;
	open_file(0);
	for (uint32_t i = 0; i < io.length; i++)
		data[i] = fake_octet(i);
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_int_equal(io.moved, io.length);
	assert_int_equal(io.committed, UNSTABLE);
	assert_false(io.verifier_changed);
	assert_int_equal(file->size, 201001);
	assert_memory_equal(file->data + 1000, data, io.length);
	assert_int_equal(rr_nfs_commit(nfs, &object.handle, verifier), 0);
	assert_memory_equal(verifier, io.verifier, sizeof(verifier));
	assert_int_equal(file->stable, 201001);
}

/* RFC 1813, section 3.3.7: the server "will not destroy any data without changing the value of verf". */
static void
a_restart_within_a_piece_shows(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 30000 };

	(void)state;
	fake->write_most = 10000;
	open_file(0);
	fake->verifier_step = 1;
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_true(io.verifier_changed);
	assert_int_equal(io.verifier[0], 2);
	fake->verifier_step = 0;
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_false(io.verifier_changed);
}

static void
the_least_stable_part_counts(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 10000, .stable = DATA_SYNC };

	(void)state;
	open_file(0);
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_int_equal(io.committed, DATA_SYNC);
	fake->committed = FILE_SYNC;
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_int_equal(io.committed, FILE_SYNC);
}

static void
pieces_survive_a_restart_of_the_server(void **state)
{
	enum { PIECES = 4, LENGTH = 500000 };
	struct result results[PIECES] = { 0 };
	struct rr_nfs_io io[PIECES] = { 0 };
	uint32_t done = 0;

	(void)state;
	open_file((uint64_t)PIECES * LENGTH);
	fake->crash_at = NFSPROC3_READ;
	for (uint32_t i = 0; i < PIECES; i++) {
		io[i] = (struct rr_nfs_io){
			.file = &object.handle,
			.data = data + (size_t)i * LENGTH,
			.offset = (uint64_t)i * LENGTH,
			.length = LENGTH,
			.done = io_done,
			.ctx = &results[i],
		};
		rr_nfs_read(nfs, &io[i]);
	}
	while (done < PIECES) {
		assert_true(rr_loop_turn(fake->engine->loop, -1) >= 0);
		for (uint32_t i = done = 0; i < PIECES; i++)
			done += results[i].done;
	}
	for (uint32_t i = 0; i < PIECES; i++)
		assert_int_equal(results[i].error, 0);
	for (uint32_t i = 0; i < PIECES * LENGTH; i++)
		if (data[i] != fake_octet(i))
			fail_msg("octet %u is wrong", i);
	assert_int_equal(rr_client_reconnects(rr_nfs_rpc(nfs)), 1);
}

#define WITH_FAKE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FAKE(what_is_above_the_path_is_mounted_and_the_rest_kept),
		WITH_FAKE(the_root_can_be_an_export),
		WITH_FAKE(an_unknown_export_is_refused_with_a_list_of_those_there_are),
		WITH_FAKE(a_refusal_of_permission_says_so),
		WITH_FAKE(a_refusal_of_permission_above_says_more_than_that_there_is_nothing),
		WITH_FAKE(a_flavor_that_is_not_to_be_had_is_named),
		WITH_FAKE(mount_is_asked_over_tcp_where_the_connection_has_none),
		WITH_FAKE(nobody_there_is_an_error_that_says_where),
		WITH_FAKE(a_silent_server_is_given_up),
		WITH_FAKE(interruption_ends_every_wait),
		WITH_FAKE(cleaning_is_not_interrupted_but_limited),
		WITH_FAKE(limits_of_no_use_are_refused),
		WITH_FAKE(paths_are_walked_and_links_on_the_way_followed),
		WITH_FAKE(the_last_link_is_followed_only_where_asked_or_before_a_slash),
		WITH_FAKE(walks_that_lead_nowhere_fail),
		WITH_FAKE(attributes_that_lookup_leaves_out_are_asked_for),
		WITH_FAKE(an_empty_handle_is_refused),
		WITH_FAKE(directories_are_read_to_the_end_in_any_portions),
		WITH_FAKE(readdir_serves_where_there_is_no_readdirplus),
		WITH_FAKE(entries_without_handle_or_attributes_are_unknown),
		WITH_FAKE(names_that_lead_elsewhere_are_not_believed),
		WITH_FAKE(a_directory_without_end_is_given_up),
		WITH_FAKE(each_entry_may_call_the_client_and_end_the_reading),
		WITH_FAKE(jukebox_is_waited_out),
		WITH_FAKE(what_was_done_before_the_answer_was_lost_counts_as_done),
		WITH_FAKE(what_was_there_before_is_no_success),
		WITH_FAKE(created_objects_are_looked_up_where_the_answer_leaves_them_open),
		WITH_FAKE(pieces_of_every_kind_of_size_are_read),
		WITH_FAKE(large_reads_are_placed_by_rdma_write),
		WITH_FAKE(short_reads_are_continued_to_the_end_of_the_file),
		WITH_FAKE(reading_behind_the_end_gives_nothing_and_the_end),
		WITH_FAKE(reads_wait_a_jukebox_out),
		WITH_FAKE(lies_about_data_are_not_believed),
		WITH_FAKE(a_cancelled_piece_is_left_alone),
		WITH_FAKE(what_is_written_arrives_in_any_portions),
		WITH_FAKE(a_restart_within_a_piece_shows),
		WITH_FAKE(the_least_stable_part_counts),
		WITH_FAKE(pieces_survive_a_restart_of_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
