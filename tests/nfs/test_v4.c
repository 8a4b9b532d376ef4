/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests the client of version 4: its session, its small files by one COMPOUND each, and its paths. */
#include "reader4.h"

#include <string.h>

#include "nfs/client_private.h"

/* ---- The session ---- */

static void
a_session_is_made_and_ended(void **state)
{
	(void)state;
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 1);
	assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], 1);
	assert_int_equal(reader.fake->calls[OP_RECLAIM_COMPLETE], 1);
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->calls[OP_DESTROY_SESSION], 1);
	assert_int_equal(reader.fake->calls[OP_DESTROY_CLIENTID], 1);
}

static void
a_minor_version_that_is_not_there_is_said(void **state)
{
	struct rr_text text;

	(void)state;
	reader.fake->minor_max = 1;
	assert_int_equal(
		fake4_open(reader.fake, RR_NFS_VERSION_42, &reader.nfs, &text), -RPCRDMA_ERR_PROG_MISMATCH);
	assert_non_null(strstr(text.text, "4.2"));
	assert_int_equal(fake4_open(reader.fake, RR_NFS_VERSION_41, &reader.nfs, &text), 0);
}

static void
a_path_is_walked_once_while_the_highest_version_is_found(void **state)
{
	struct rr_text text;

	(void)state;
	reader.fake->path = "/file";
	assert_int_equal(fake4_open(reader.fake, RR_NFS_VERSION_ANY, &reader.nfs, &text), 0);
	assert_int_equal(reader.fake->calls[OP_LOOKUP], 1);
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 1);
}

/* The server of this test does not have version 3, so the client goes back to version 4, with another
 * session. */
static void
only_a_path_whose_first_name_is_missing_is_looked_for_with_version_3(void **state)
{
	struct rr_text text;

	(void)state;
	reader.fake->path = "/missing/file";
	assert_int_equal(fake4_open(reader.fake, RR_NFS_VERSION_ANY, &reader.nfs, &text), 0);
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 2);
	rpcrdma_nfs_close(reader.nfs);
	reader.fake->path = "/file/missing";
	assert_int_equal(fake4_open(reader.fake, RR_NFS_VERSION_ANY, &reader.nfs, &text), 0);
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 3);
}

static void
a_file_is_opened_once_and_closed_at_the_end(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_OPEN], 1);
	assert_int_equal(reader.fake->opens, 1);
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->opens, 0);
}

/* The loop closes a file that is not used any more, without further calls. */
static void
a_file_that_is_not_used_is_closed(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	while (reader.fake->opens > 0)
		assert_true(rr_loop_turn(reader.fake->stage.engine->loop, -1) >= 0);
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_OPEN], 2);
}

static void
no_more_slots_are_used_than_there_are(void **state)
{
	struct reader4_piece pieces[16];

	(void)state;
	reader4_open();
	for (uint32_t i = 0; i < 16; i++)
		reader4_start(&pieces[i], 1000 * i, 1000);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(reader4_end(&pieces[i]), 0);
	assert_memory_equal(reader.data, reader.fake->data, 16000);
	assert_int_equal(reader.fake->calls[OP_OPEN], 1);
	assert_true(reader.fake->highest < FAKE4_SLOTS);
}

/* RFC 8881, 18.46.3: "the highest slot ID for which the client has a request outstanding" */
static void
all_of_64_slots_are_used(void **state)
{
	struct reader4_piece pieces[FAKE4_SLOTS_MAX + 1];

	(void)state;
	reader.fake->slots = FAKE4_SLOTS_MAX;
	reader4_open();
	for (uint32_t i = 0; i <= FAKE4_SLOTS_MAX; i++)
		reader4_start(&pieces[i], 1000 * i, 1000);
	for (uint32_t i = 0; i <= FAKE4_SLOTS_MAX; i++)
		assert_int_equal(reader4_end(&pieces[i]), 0);
	assert_memory_equal(reader.data, reader.fake->data, 1000 * (FAKE4_SLOTS_MAX + 1));
	assert_int_equal(reader.fake->highest, FAKE4_SLOTS_MAX - 1);
	assert_true(reader.fake->beside > 0);
}

/* RFC 8881, 8.3: "a COMPOUND consisting of a single SEQUENCE operation will suffice" */
static void
the_lease_is_renewed_while_nothing_is_asked(void **state)
{
	uint32_t before;

	(void)state;
	reader4_open();
	before = reader.fake->calls[OP_SEQUENCE];
	while (reader.fake->calls[OP_SEQUENCE] < before + 2)
		assert_true(rr_loop_turn(reader.fake->stage.engine->loop, -1) >= 0);
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 1);
}

static void
a_delegation_that_nobody_wanted_is_returned(void **state)
{
	(void)state;
	reader.fake->delegates = true;
	reader4_open();
	reader4_assert_whole();
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->calls[OP_DELEGRETURN], 1);
}

/* ---- Small files: one COMPOUND each ---- */

static int
read_once(void)
{
	struct reader4_piece piece = { .io = { .file = &reader.object.handle,
					       .data = reader.data,
					       .length = FAKE4_SIZE,
					       .once = true,
					       .done = reader4_done } };

	piece.io.ctx = &piece;
	memset(reader.data, 0, sizeof(reader.data));
	rr_nfs_read(reader.nfs, &piece.io);
	return reader4_end(&piece);
}

/* RFC 8881, 16.2.3.1.2: the COMPOUND uses the current stateid for READ and CLOSE after OPEN. */
static void
a_small_file_is_opened_and_read_and_closed_by_one_call(void **state)
{
	uint32_t before;

	(void)state;
	reader4_open();
	before = reader.fake->calls[OP_SEQUENCE];
	assert_int_equal(read_once(), 0);
	assert_memory_equal(reader.data, reader.fake->data, FAKE4_SIZE);
	assert_int_equal(reader.fake->calls[OP_SEQUENCE], before + 1);
	assert_int_equal(reader.fake->calls[OP_CLOSE], 1);
	assert_int_equal(reader.fake->opens, 0);
}

static void
a_small_file_that_cannot_be_read_is_closed_all_the_same(void **state)
{
	(void)state;
	reader4_open();
	fake4_refuse(reader.fake, OP_READ, NFS4ERR_IO, 1);
	assert_int_equal(read_once(), NFS3ERR_IO);
	fake4_refuse(reader.fake, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(read_once(), NFS3ERR_ACCES);
	assert_int_equal(reader.fake->opens, 1);
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->opens, 0);
}

static void
a_server_without_current_stateids_reads_small_files_as_others(void **state)
{
	(void)state;
	reader4_open();
	fake4_refuse(reader.fake, OP_READ, NFS4ERR_BAD_STATEID, 1);
	assert_int_equal(read_once(), 0);
	assert_memory_equal(reader.data, reader.fake->data, FAKE4_SIZE);
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->opens, 0);
}

static void
small_files_survive_a_restart_and_a_lost_session(void **state)
{
	(void)state;
	reader4_open();
	fake4_refuse(reader.fake, OP_READ, NFS4ERR_IO, 1);
	assert_int_equal(read_once(), NFS3ERR_IO); /* this open waits to be closed */
	reader.fake->lost = true;
	assert_int_equal(read_once(), 0);
	fake4_refuse(reader.fake, OP_SEQUENCE, NFS4ERR_BADSESSION, 1);
	assert_int_equal(read_once(), 0);
	fake4_refuse(reader.fake, OP_READ, NFS4ERR_RETRY_UNCACHED_REP, 1);
	assert_int_equal(read_once(), 0);
	assert_memory_equal(reader.data, reader.fake->data, FAKE4_SIZE);
	assert_int_equal(reader.fake->reclaims, 0);
}

static void
a_delegation_of_a_small_file_is_returned(void **state)
{
	(void)state;
	reader.fake->delegates = true;
	reader4_open();
	assert_int_equal(read_once(), 0);
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->calls[OP_DELEGRETURN], 1);
}

static int
put_file(bool *made)
{
	const struct rpcrdma_nfs_changes changes = {
		.size = sizeof(changes), .set_mode = true, .mode = 0640
	};
	struct rpcrdma_nfs_whole put = { .size = sizeof(put),
		.directory = *rr_nfs_root(reader.nfs),
		.temporary = "temporary",
		.name = "name",
		.changes = &changes,
		.data = reader.data,
		.length = 1000 };
	int error = rpcrdma_nfs_put(reader.nfs, &put, NULL);

	*made = put.made;
	return error;
}

static void
a_small_file_is_made_and_written_and_renamed_by_one_call(void **state)
{
	uint32_t before;
	bool made;

	(void)state;
	reader.nfs = fake4_must_open(reader.fake);
	before = reader.fake->calls[OP_SEQUENCE];
	assert_int_equal(put_file(&made), 0);
	assert_int_equal(reader.fake->calls[OP_SEQUENCE], before + 1);
	assert_int_equal(reader.fake->calls[OP_WRITE], 1);
	assert_int_equal(reader.fake->calls[OP_SETATTR], 1);
	assert_int_equal(reader.fake->calls[OP_RENAME], 1);
	assert_int_equal(reader.fake->calls[OP_CLOSE], 1);
	assert_int_equal(reader.fake->opens, 0);
}

/* RFC 8881, 18.32.3: "The server MAY write fewer bytes than requested by the client". */
static void
a_small_file_that_is_not_whole_is_not_renamed(void **state)
{
	static const struct {
		uint32_t op;
		nfsstat4 status;
		uint32_t opens;
		bool made;
	} refusals[] = {
		{ OP_SAVEFH, NFS4ERR_IO, 0, false },
		{ OP_OPEN, NFS4ERR_EXIST, 0, false },
		{ OP_WRITE, NFS4ERR_NOSPC, 1, true },
		{ OP_VERIFY, NFS4ERR_NOT_SAME, 1, true },
		{ OP_SETATTR, NFS4ERR_PERM, 1, true },
		{ OP_CLOSE, NFS4ERR_IO, 1, true },
		{ OP_RESTOREFH, NFS4ERR_STALE, 0, true },
		{ OP_RENAME, NFS4ERR_EXIST, 0, true },
	};
	bool made;

	(void)state;
	for (uint32_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		reader.nfs = fake4_must_open(reader.fake);
		fake4_refuse(reader.fake, refusals[i].op, refusals[i].status, 1);
		assert_int_equal(put_file(&made), refusals[i].status);
		assert_int_equal(made, refusals[i].made);
		assert_int_equal(reader.fake->opens, refusals[i].opens);
		rpcrdma_nfs_close(reader.nfs);
		reader.nfs = NULL;
		assert_int_equal(reader.fake->opens, 0);
	}
	assert_int_equal(reader.fake->calls[OP_RENAME], 1);
}

static void
a_busy_server_makes_a_small_file_later(void **state)
{
	bool made;

	(void)state;
	reader.nfs = fake4_must_open(reader.fake);
	fake4_refuse(reader.fake, OP_SAVEFH, NFS4ERR_DELAY, 1);
	assert_int_equal(put_file(&made), 0);
	assert_int_equal(reader.fake->calls[OP_RENAME], 1);
}

static void
a_session_of_few_operations_does_not_make_whole_files(void **state)
{
	bool made;

	(void)state;
	reader.fake->operations = 10;
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(put_file(&made), -RPCRDMA_ERR_NOTSUP);
	assert_false(made);
	assert_int_equal(reader.fake->calls[OP_OPEN], 0);
}

/* The longest COMPOUND that the client cannot do without is that of REMOVE, with six operations. */
static void
a_session_of_six_operations_is_enough(void **state)
{
	struct rr_text text;

	(void)state;
	reader.fake->operations = 5;
	assert_int_equal(fake4_open(reader.fake, RR_NFS_VERSION_42, &reader.nfs, &text), -RPCRDMA_ERR_PEER);
	reader.fake->operations = 6;
	reader4_open();
	reader4_assert_whole();
	assert_int_equal(read_once(), 0);
	assert_int_equal(rpcrdma_nfs_remove(reader.nfs, rr_nfs_root(reader.nfs), "file", NULL), 0);
	assert_int_equal(reader.fake->calls[OP_REMOVE], 1);
}

/* ---- Paths ---- */

static uint32_t
calls_of_walk(const char *path, int error)
{
	uint32_t before = reader.fake->calls[OP_SEQUENCE];

	assert_int_equal(rr_nfs_walk(reader.nfs, path, true, &reader.object), error);
	return reader.fake->calls[OP_SEQUENCE] - before;
}

/* RFC 8881, 2.3: "multi-component look up requests can be constructed by combining multiple LOOKUP
 * operations." */
static void
a_path_is_looked_up_by_one_call(void **state)
{
	(void)state;
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(calls_of_walk("/aaaa/bbbb//cccc/dddd/eeee/ffff/gggg/file", 0), 1);
	assert_int_equal(reader.object.type, RPCRDMA_NFS_FILE);
	assert_int_equal(calls_of_walk("/", 0), 1);
	assert_int_equal(reader.object.type, RPCRDMA_NFS_DIRECTORY);
	/* The missing name is found by a walk name by name: the first name is not a directory here. */
	assert_int_equal(calls_of_walk("aaaa/missing/file", NFS3ERR_NOTDIR), 2);
	assert_int_equal(calls_of_walk("missing/file", NFS3ERR_NOENT), 2);
	assert_string_equal(rpcrdma_nfs_error(reader.nfs), "no such file or directory (NFS4ERR_NOENT)");
}

/* Looks up the file, whose owner the server sends in these words: with LOOKUP as with GETATTR. */
static const struct rpcrdma_nfs_object *
file_of(const char *user, uint32_t length)
{
	struct rpcrdma_nfs_object again = { .size = sizeof(again) };

	reader.fake->user = (struct rpcrdma_bytes){ user, length };
	assert_int_equal(rr_nfs_walk(reader.nfs, "file", true, &reader.object), 0);
	assert_int_equal(rpcrdma_nfs_stat(reader.nfs, &reader.object.handle, &again, NULL), 0);
	assert_string_equal(again.owner, reader.object.owner);
	assert_string_equal(again.group, reader.object.group);
	return &reader.object;
}

/* RFC 8881, 5.9: "The owner and owner_group attributes ... are represented in terms of a UTF-8 string", which
 * may be that of a number. */
static void
users_are_numbers_or_names(void **state)
{
	static const char alice[] = "alice@example.org";
	char name[RPCRDMA_NFS_OWNER_MAX + 1];

	(void)state;
	memset(name, 'n', sizeof(name));
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(file_of(alice, sizeof(alice) - 1)->uid, RPCRDMA_NFS_NOBODY);
	assert_string_equal(reader.object.owner, alice);
	assert_int_equal(reader.object.gid, 1000);
	assert_string_equal(reader.object.group, "");
	assert_int_equal(file_of("4294967294", 10)->uid, 4294967294);
	assert_string_equal(reader.object.owner, "");
	assert_int_equal(file_of("4294967295", 10)->uid, RPCRDMA_NFS_NOBODY);
	assert_string_equal(reader.object.owner, "4294967295");
	assert_int_equal(strlen(file_of(name, sizeof(name) - 1)->owner), RPCRDMA_NFS_OWNER_MAX);
	/* What does not fit, or is no text, is left out. */
	assert_string_equal(file_of(name, sizeof(name))->owner, "");
	assert_string_equal(file_of("a\0b", 3)->owner, "");
	assert_int_equal(reader.object.uid, RPCRDMA_NFS_NOBODY);
}

/* A name that the root does not have could be that of an export: the root is listed once, to say which
 * exports there are. Here it is an export itself. */
static void
only_a_message_about_a_missing_name_lists_the_root(void **state)
{
	(void)state;
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(calls_of_walk("missing", NFS3ERR_NOENT), 1);
	assert_int_equal(calls_of_walk("missing/file", NFS3ERR_NOENT), 2);
	assert_int_equal(reader.fake->calls[OP_READDIR], 0);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(rr_nfs_explain(reader.nfs), "no such file or directory (NFS4ERR_NOENT)");
		assert_int_equal(reader.fake->calls[OP_READDIR], 1);
	}
}

/* The text of a later failure is not explained as if it were that of the missing name. */
static void
a_later_failure_is_not_explained_by_the_exports(void **state)
{
	(void)state;
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(calls_of_walk("missing", NFS3ERR_NOENT), 1);
	assert_int_equal(calls_of_walk("aaaa/missing/file", NFS3ERR_NOTDIR), 2);
	assert_string_equal(rr_nfs_explain(reader.nfs), "not a directory (NFS4ERR_NOTDIR)");
	assert_int_equal(reader.fake->calls[OP_READDIR], 0);
}

static void
a_path_takes_as_many_calls_as_the_session_makes_necessary(void **state)
{
	(void)state;
	reader.fake->operations = 7;
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(calls_of_walk("aaaa/bbbb/cccc/dddd/file", 0), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reader4_setup, reader4_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_is_made_and_ended),
		TEST(a_minor_version_that_is_not_there_is_said),
		TEST(a_path_is_walked_once_while_the_highest_version_is_found),
		TEST(only_a_path_whose_first_name_is_missing_is_looked_for_with_version_3),
		TEST(a_file_is_opened_once_and_closed_at_the_end),
		TEST(a_file_that_is_not_used_is_closed),
		TEST(no_more_slots_are_used_than_there_are),
		TEST(all_of_64_slots_are_used),
		TEST(the_lease_is_renewed_while_nothing_is_asked),
		TEST(a_delegation_that_nobody_wanted_is_returned),
		TEST(a_small_file_is_opened_and_read_and_closed_by_one_call),
		TEST(a_small_file_that_cannot_be_read_is_closed_all_the_same),
		TEST(a_server_without_current_stateids_reads_small_files_as_others),
		TEST(small_files_survive_a_restart_and_a_lost_session),
		TEST(a_delegation_of_a_small_file_is_returned),
		TEST(a_small_file_is_made_and_written_and_renamed_by_one_call),
		TEST(a_small_file_that_is_not_whole_is_not_renamed),
		TEST(a_busy_server_makes_a_small_file_later),
		TEST(a_session_of_few_operations_does_not_make_whole_files),
		TEST(a_session_of_six_operations_is_enough),
		TEST(a_path_is_looked_up_by_one_call),
		TEST(users_are_numbers_or_names),
		TEST(only_a_message_about_a_missing_name_lists_the_root),
		TEST(a_later_failure_is_not_explained_by_the_exports),
		TEST(a_path_takes_as_many_calls_as_the_session_makes_necessary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
