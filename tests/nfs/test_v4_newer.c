/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what only version 4.2 has: holes, and copies within a server. */
#include "fake4.h"

#include <stdio.h>
#include <string.h>

#include "nfs/client_private.h"

static struct fake4 *fake;
static struct rpcrdma_nfs *nfs;
static struct rpcrdma_nfs_handle from, to;
static uint64_t found;

static int
setup(void **state)
{
	(void)state;
	fake = fake4_new();
	nfs = fake4_must_open(fake);
	from = (struct rpcrdma_nfs_handle){ 4, "from" };
	to = (struct rpcrdma_nfs_handle){ 4, "to__" };
	found = 12345;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rpcrdma_nfs_close(nfs);
	fake4_free(fake);
	return 0;
}

/* ---- SEEK ---- */

static void
data_and_holes_are_found(void **state)
{
	(void)state;
	fake->seek = (seek_res4){ .sr_offset = 5000 };
	assert_int_equal(rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_DATA, 5000, &found, NULL), 0);
	assert_int_equal(found, 5000);
	fake->seek = (seek_res4){ .sr_eof = true, .sr_offset = 7000 };
	assert_int_equal(rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_HOLE, 5000, &found, NULL), 0);
	assert_int_equal(found, 7000);
}

/* RFC 7862, 15.11.3: "If the server cannot find a corresponding sa_what, then the status will still be
 * NFS4_OK, but sr_eof would be TRUE." */
static void
where_there_is_no_data_any_more_servers_say_so_in_two_ways(void **state)
{
	(void)state;
	fake->seek = (seek_res4){ .sr_eof = true, .sr_offset = 7000 };
	assert_int_equal(
		rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_DATA, 5000, &found, NULL), RPCRDMA_NFS_NXIO);
	fake4_refuse(fake, OP_SEEK, NFS4ERR_NXIO, 1);
	assert_int_equal(
		rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_DATA, 5000, &found, NULL), RPCRDMA_NFS_NXIO);
	assert_int_equal(found, 12345);
}

static void
what_is_found_is_not_in_front_of_where_it_is_looked_for(void **state)
{
	(void)state;
	fake->seek = (seek_res4){ .sr_offset = 4999 };
	assert_int_equal(
		rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_HOLE, 5000, &found, NULL), -RPCRDMA_ERR_PEER);
	assert_int_equal(
		rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_DATA, 5000, &found, NULL), -RPCRDMA_ERR_PEER);
}

/* ---- COPY ---- */

static struct rpcrdma_nfs_range
range_of(uint64_t length)
{
	return (struct rpcrdma_nfs_range){ .size = sizeof(struct rpcrdma_nfs_range),
		.from = from,
		.to = to,
		.from_offset = 100,
		.to_offset = 900,
		.length = length };
}

static int
copy(uint64_t length, struct rpcrdma_nfs_range *range)
{
	*range = range_of(length);
	return rpcrdma_nfs_copy(nfs, range, NULL);
}

static void
a_copy_goes_on_where_the_server_stopped(void **state)
{
	struct rpcrdma_nfs_range range;

	(void)state;
	fake->copy_most = 300000;
	assert_int_equal(copy(1000000, &range), 0);
	assert_int_equal(range.copied, 1000000);
	assert_int_equal(range.stored, RPCRDMA_NFS_UNSTABLE);
	assert_false(range.verifier_changed);
	assert_int_equal(fake->calls[OP_COPY], 4);
	assert_int_equal(fake->copied.ca_src_offset, 100 + 900000);
	assert_int_equal(fake->copied.ca_dst_offset, 900 + 900000);
	assert_int_equal(fake->copied.ca_count, 100000);
	/* Only the target was opened. */
	assert_int_equal(fake->calls[OP_OPEN], 1);
}

static void
a_server_that_restarts_in_a_copy_is_noticed(void **state)
{
	struct rpcrdma_nfs_range range;

	(void)state;
	fake->copy_most = 300000;
	fake->verifier_step = 1;
	assert_int_equal(copy(1000000, &range), 0);
	assert_true(range.verifier_changed);
}

static void
files_that_the_server_forgot_are_opened_again(void **state)
{
	struct rpcrdma_nfs_range range;

	(void)state;
	fake4_refuse(fake, OP_COPY, NFS4ERR_BAD_STATEID, 3);
	assert_int_equal(copy(1000, &range), 0);
	assert_int_equal(range.copied, 1000);
	assert_int_equal(fake->calls[OP_OPEN], 4);
}

/* RFC 7862, 15.2.3: "the client has required that the copy protocol selected MUST perform a synchronous copy"
 */
static void
a_copy_that_is_not_as_it_was_asked_for_is_taken_for_a_refusal(void **state)
{
	struct rpcrdma_nfs_range range;

	(void)state;
	fake->copy_later = true;
	assert_int_equal(copy(1000, &range), RPCRDMA_NFS_NOTSUPP);
	fake->copy_later = false;
	fake->copy_anyhow = true;
	assert_int_equal(copy(1000, &range), RPCRDMA_NFS_NOTSUPP);
	assert_int_equal(range.copied, 0);
}

static void
lies_about_what_was_copied_are_not_believed(void **state)
{
	struct rpcrdma_nfs_range range;

	(void)state;
	fake->copy_nothing = true;
	assert_int_equal(copy(1000, &range), -RPCRDMA_ERR_PEER);
	fake->copied_to = 0;
	fake->copy_nothing = false;
	fake->copy_more = true;
	assert_int_equal(copy(1000, &range), -RPCRDMA_ERR_PEER);
	fake->copied_to = 0;
	fake->copy_more = false;
	fake->copy_most = 1;
	assert_int_equal(copy(1000, &range), -RPCRDMA_ERR_PEER);
	assert_int_equal(range.copied, 1);
}

static void
a_clone_is_stored(void **state)
{
	struct rpcrdma_nfs_range range = range_of(0);

	(void)state;
	assert_int_equal(rpcrdma_nfs_clone(nfs, &range, NULL), 0);
	assert_int_equal(range.stored, RPCRDMA_NFS_FILE_SYNC);
	assert_int_equal(fake->calls[OP_COMMIT], 1);
	assert_int_equal(fake->cloned.cl_src_offset, 100);
	assert_int_equal(fake->cloned.cl_dst_offset, 900);
	assert_int_equal(fake->cloned.cl_count, 0);
	fake4_refuse(fake, OP_CLONE, NFS4ERR_NOTSUPP, 1);
	assert_int_equal(rpcrdma_nfs_clone(nfs, &range, NULL), RPCRDMA_NFS_NOTSUPP);
}

enum { COPIES = 200 };

static uint32_t copies_done;

static void
copy_done(void *ctx, int error)
{
	(void)ctx;
	assert_int_equal(error, 0);
	copies_done++;
}

/* Each target file is opened once, though there is no room for all of them at a time. */
static void
copies_of_more_files_than_can_be_open_all_end(void **state)
{
	static struct rpcrdma_nfs_range ranges[COPIES];
	const struct rpcrdma_nfs_then then = { .done = copy_done };

	(void)state;
	copies_done = 0;
	for (uint32_t i = 0; i < COPIES; i++) {
		ranges[i] = range_of(1000);
		ranges[i].from.length = ranges[i].to.length = (uint32_t)snprintf(
			(char *)ranges[i].from.data, RPCRDMA_NFS_HANDLE_MAX, "from%06u", i);
		memcpy(ranges[i].to.data, ranges[i].from.data, ranges[i].to.length);
		ranges[i].to.data[0] = 't';
		assert_int_equal(rpcrdma_nfs_copy(nfs, &ranges[i], &then), 0);
	}
	while (copies_done < COPIES)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_int_equal(fake->calls[OP_COPY], COPIES);
	assert_int_equal(fake->calls[OP_OPEN], COPIES);
}

enum { MADE = 500 };

/* As many calls are under way as there are slots, and each makes a file, which the server then has open. */
static void
files_that_are_made_are_all_closed_at_the_end(void **state)
{
	static struct rpcrdma_nfs_object objects[MADE];
	const struct rpcrdma_nfs_then then = { .done = copy_done };
	char name[16];

	(void)state;
	rpcrdma_nfs_close(nfs);
	fake->slots = FAKE4_SLOTS_MAX;
	nfs = fake4_must_open(fake);
	copies_done = 0;
	for (uint32_t i = 0; i < MADE; i++) {
		snprintf(name, sizeof(name), "file%06u", i);
		objects[i].size = sizeof(objects[i]);
		assert_int_equal(rpcrdma_nfs_create(nfs, &from, name, NULL, &objects[i], &then), 0);
	}
	while (copies_done < MADE)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_int_equal(fake->calls[OP_OPEN], MADE);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->opens, 0);
}

static void
a_range_must_be_one_that_a_file_can_have(void **state)
{
	struct rpcrdma_nfs_range range = range_of(0);

	(void)state;
	assert_int_equal(rpcrdma_nfs_copy(nfs, &range, NULL), -RPCRDMA_ERR_INVAL);
	range.length = UINT64_MAX - 500;
	assert_int_equal(rpcrdma_nfs_copy(nfs, &range, NULL), -RPCRDMA_ERR_INVAL);
	range = range_of(1000);
	range.size = 8;
	assert_int_equal(rpcrdma_nfs_clone(nfs, &range, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(fake->calls[OP_OPEN], 0);
}

/* ---- Extended attributes ---- */

static void
values_and_names_have_the_room_that_they_need(void **state)
{
	xattrkey4 names[2] = { { "one", 3 }, { "three", 5 } };
	char data[20];
	struct rpcrdma_nfs_value value = { .data = data, .room = sizeof(data) };

	(void)state;
	fake->value = (struct rpcrdma_bytes){ "a value of 20 octets", 20 };
	assert_int_equal(rpcrdma_nfs_get_xattr(nfs, &from, "name", &value, NULL), 0);
	assert_int_equal(value.length, 20);
	assert_memory_equal(data, fake->value.data, 20);
	value.room = 19;
	assert_int_equal(rpcrdma_nfs_get_xattr(nfs, &from, "name", &value, NULL), -RPCRDMA_ERR_LIMIT);
	fake->names = (LISTXATTRS4resok){ .lxr_cookie = 77, .lxr_names = { 2, names } };
	assert_int_equal(rpcrdma_nfs_list_xattrs(nfs, &from, &value, NULL), -RPCRDMA_ERR_LIMIT);
	fake->names.lxr_eof = false;
	fake->calls[OP_LISTXATTRS] = 0;
	value.room = 20;
	assert_int_equal(rpcrdma_nfs_list_xattrs(nfs, &from, &value, NULL), 0);
	assert_int_equal(value.length, 20);
	assert_memory_equal(data, "one\0three\0one\0three", 20);
	assert_int_equal(fake->calls[OP_LISTXATTRS], 2);
}

static void
a_list_of_names_that_is_none_is_not_believed(void **state)
{
	xattrkey4 bad[] = { { "", 0 }, { "z\0ero", 5 } };
	char data[100];
	struct rpcrdma_nfs_value value = { .data = data, .room = sizeof(data) };

	(void)state;
	assert_int_equal(rpcrdma_nfs_list_xattrs(nfs, &from, &value, NULL), -RPCRDMA_ERR_PEER);
	for (uint32_t i = 0; i < 2; i++) {
		fake->calls[OP_LISTXATTRS] = 0;
		fake->names = (LISTXATTRS4resok){ .lxr_eof = true, .lxr_names = { 1, &bad[i] } };
		assert_int_equal(rpcrdma_nfs_list_xattrs(nfs, &from, &value, NULL), -RPCRDMA_ERR_PEER);
	}
	assert_int_equal(rpcrdma_nfs_get_xattr(nfs, &from, "", &value, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_nfs_set_xattr(nfs, &from, NULL, &value, NULL), -RPCRDMA_ERR_INVAL);
}

/* ---- Versions and servers ---- */

static void
older_versions_have_none_of_it(void **state)
{
	struct rpcrdma_nfs_range range = range_of(1000);
	struct rr_text text;

	(void)state;
	rpcrdma_nfs_close(nfs);
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_41, &nfs, &text), 0);
	assert_int_equal(
		rpcrdma_nfs_seek(nfs, &from, RPCRDMA_NFS_DATA, 0, &found, NULL), -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(rpcrdma_nfs_copy(nfs, &range, NULL), -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(rpcrdma_nfs_clone(nfs, &range, NULL), -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(fake->calls[OP_SEEK] + fake->calls[OP_COPY] + fake->calls[OP_CLONE], 0);
}

static bool
is_same_server(const char *major, enum rr_nfs_version version)
{
	struct rpcrdma_nfs *first, *second;
	struct rr_text text;
	bool same;

	fake->major = "server";
	first = fake4_must_open(fake);
	fake->major = major;
	assert_int_equal(fake4_open(fake, version, &second, &text), 0);
	same = rpcrdma_nfs_is_same_server(first, second);
	rpcrdma_nfs_close(second);
	rpcrdma_nfs_close(first);
	return same;
}

/* RFC 8881, 2.10.4: servers with equal IDs are one server. */
static void
servers_are_one_if_they_say_so(void **state)
{
	(void)state;
	assert_true(is_same_server("server", RR_NFS_VERSION_42));
	assert_false(is_same_server("serves", RR_NFS_VERSION_42));
	assert_false(is_same_server("serve", RR_NFS_VERSION_42));
	assert_false(is_same_server(NULL, RR_NFS_VERSION_42));
	assert_false(is_same_server("server", RR_NFS_VERSION_41));
	assert_false(rpcrdma_nfs_is_same_server(nfs, NULL));
	/* A server without an ID is not known to be the same server. */
	assert_false(rpcrdma_nfs_is_same_server(nfs, nfs));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(data_and_holes_are_found),
		TEST(where_there_is_no_data_any_more_servers_say_so_in_two_ways),
		TEST(what_is_found_is_not_in_front_of_where_it_is_looked_for),
		TEST(a_copy_goes_on_where_the_server_stopped),
		TEST(a_server_that_restarts_in_a_copy_is_noticed),
		TEST(files_that_the_server_forgot_are_opened_again),
		TEST(a_copy_that_is_not_as_it_was_asked_for_is_taken_for_a_refusal),
		TEST(lies_about_what_was_copied_are_not_believed),
		TEST(a_clone_is_stored),
		TEST(copies_of_more_files_than_can_be_open_all_end),
		TEST(files_that_are_made_are_all_closed_at_the_end),
		TEST(a_range_must_be_one_that_a_file_can_have),
		TEST(values_and_names_have_the_room_that_they_need),
		TEST(a_list_of_names_that_is_none_is_not_believed),
		TEST(older_versions_have_none_of_it),
		TEST(servers_are_one_if_they_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
