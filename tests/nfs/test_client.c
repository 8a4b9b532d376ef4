/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_test.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "nfs/client_private.h"

/* This tests the NFS client against a fake server. */

static struct rr_text text;

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
	assert_non_null(strstr(text.text, "sec=krb5"));
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

/* The connection stays open, so that nothing but the silence ends the call. */
static void
a_server_that_falls_silent_is_given_up(void **state)
{
	uint64_t before;

	(void)state;
	nfs = fake_must_open(fake, "/export");
	fake->silent = true;
	before = fake->stage.now;
	assert_int_equal(rr_nfs_getattr(nfs, rr_nfs_root(nfs), &object), -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(rpcrdma_nfs_error(nfs), "no answer to NFSPROC3_GETATTR"));
	assert_in_range(fake->stage.now - before, 60 * RR_SECOND, 120 * RR_SECOND);
}

static void
interruption_ends_every_wait(void **state)
{
	(void)state;
	nfs = fake_must_open(fake, "/export");
	fake->interrupt = true;
	fake->jukebox = UINT32_MAX;
	assert_int_equal(rr_nfs_walk(nfs, "", true, &object), -RPCRDMA_ERR_CANCELLED);
	assert_string_equal(rpcrdma_nfs_error(nfs), "interrupted");
	rpcrdma_nfs_close(nfs);
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
	assert_int_equal(rpcrdma_nfs_remove(nfs, rr_nfs_root(nfs), "file", NULL), 0);
	rr_server_free(fake->server);
	fake->server = NULL;
	before = fake->stage.now;
	assert_true(rpcrdma_nfs_remove(nfs, rr_nfs_root(nfs), "file", NULL) < 0);
	assert_in_range(fake->stage.now - before, 0, 6 * RR_SECOND);
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
	assert_int_equal(object.type, RPCRDMA_NFS_DIRECTORY);
	assert_int_equal(rr_nfs_walk(nfs, "//a/b//file", true, &object), 0);
	assert_int_equal(object.length, 7);
	assert_int_equal(rr_nfs_walk(nfs, "absolute/b/up", true, &object), 0);
	assert_int_equal(object.length, 7);
	assert_int_equal(rr_nfs_walk(nfs, "to-root/relative/file", true, &object), 0);
	assert_int_equal(object.length, 7);
}

static void
the_last_link_is_followed_only_where_asked_or_before_a_slash(void **state)
{
	(void)state;
	fake_add(fake, 0, "a", NF3DIR);
	fake_link(fake, 0, "link", "a");
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "link", false, &object), 0);
	assert_int_equal(object.type, RPCRDMA_NFS_SYMLINK);
	assert_int_equal(rr_nfs_walk(nfs, "link", true, &object), 0);
	assert_int_equal(object.type, RPCRDMA_NFS_DIRECTORY);
	assert_int_equal(rr_nfs_walk(nfs, "link/", false, &object), 0);
	assert_int_equal(object.type, RPCRDMA_NFS_DIRECTORY);
}

static void
an_export_that_is_named_with_a_slash_at_its_end_has_absolute_links(void **state)
{
	(void)state;
	fake->export = "/export/";
	fake_add(fake, 0, "a", NF3DIR);
	fake_link(fake, 0, "absolute", "/export/a");
	fake_link(fake, 0, "to-root", "/export");
	fake_link(fake, 0, "beside", "/exported");
	nfs = fake_must_open(fake, "/export/");
	assert_string_equal(rr_nfs_export(nfs), "/export/");
	assert_int_equal(rr_nfs_walk(nfs, "to-root/absolute", true, &object), 0);
	assert_int_equal(object.type, RPCRDMA_NFS_DIRECTORY);
	assert_int_equal(rr_nfs_walk(nfs, "beside", true, &object), -RPCRDMA_ERR_NOTSUP);
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
	assert_string_equal(rpcrdma_nfs_error(nfs), "no such file or directory (NFS3ERR_NOENT)");
	assert_int_equal(rr_nfs_walk(nfs, "file/x", true, &object), NFS3ERR_NOTDIR);
	assert_int_equal(rr_nfs_walk(nfs, "loop", true, &object), -RPCRDMA_ERR_LIMIT);
	assert_int_equal(rr_nfs_walk(nfs, "out", true, &object), -RPCRDMA_ERR_NOTSUP);
	assert_non_null(strstr(rpcrdma_nfs_error(nfs), "/etc/passwd"));
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
	assert_int_equal(object.length, 5);
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
count_entry(void *ctx, const struct rpcrdma_nfs_entry *entry)
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

static void
a_cookie_that_comes_twice_ends_the_reading(void **state)
{
	(void)state;
	add_files(7);
	nfs = fake_must_open(fake, "/export");
	fake->entry_most = 3;
	fake->lie = FAKE_COOKIE_SAME;
	assert_int_equal(list(), -RPCRDMA_ERR_PEER);
	assert_true(fake->calls[NFSPROC3_READDIRPLUS] < 3);
	fake->lie = FAKE_COOKIE_CIRCLE;
	assert_int_equal(list(), -RPCRDMA_ERR_PEER);
	assert_true(fake->calls[NFSPROC3_READDIRPLUS] < 20);
	assert_non_null(strstr(rpcrdma_nfs_error(nfs), "circle"));
}

/* The server returns new cookies without end, so only the number of entries shows that something is wrong. */
static void
a_directory_of_entries_without_number_is_given_up(void **state)
{
	(void)state;
	add_files(7);
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(nfs->entries_max, RR_NFS_ENTRIES);
	nfs->entries_max = 1000;
	assert_int_equal(list(), 0);
	fake->lie = FAKE_COOKIE_GROWING;
	assert_int_equal(list(), -RPCRDMA_ERR_LIMIT);
	assert_in_range(seen, 900, 1000);
}

static int
walk_each(void *ctx, const struct rpcrdma_nfs_entry *entry)
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
	const struct rpcrdma_nfs_handle *root;
	struct rpcrdma_nfs_changes none = { .size = sizeof(none) };

	(void)state;
	fake_file(fake, 0, "old", 0);
	fake_file(fake, 0, "doomed", 0);
	nfs = fake_must_open(fake, "/export");
	root = rr_nfs_root(nfs);
	fake->crash_at = NFSPROC3_CREATE;
	assert_int_equal(rpcrdma_nfs_create(nfs, root, "file", &none, &object, NULL), 0);
	fake->crash_at = NFSPROC3_MKDIR;
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, root, "directory", &none, &object, NULL), 0);
	fake->crash_at = NFSPROC3_SYMLINK;
	assert_int_equal(rpcrdma_nfs_symlink(nfs, root, "link", "target", &object, NULL), 0);
	fake->crash_at = NFSPROC3_RENAME;
	assert_int_equal(rpcrdma_nfs_rename(nfs, root, "old", root, "new", NULL), 0);
	fake->crash_at = NFSPROC3_REMOVE;
	assert_int_equal(rpcrdma_nfs_remove(nfs, root, "doomed", NULL), 0);
	assert_int_equal(rr_client_reconnects(rr_nfs_rpc(nfs)), 5);
	assert_int_equal(fake->calls[NFSPROC3_CREATE], 2);
}

/* Not only a file can have further names. */
static void
a_further_name_whose_answer_was_lost_is_made_once(void **state)
{
	static const char *const names[] = { "file", "symlink", "fifo" };
	const struct rpcrdma_nfs_handle *root;
	char name[32];

	(void)state;
	fake_file(fake, 0, "file", 0);
	fake_link(fake, 0, "symlink", "target");
	fake_add(fake, 0, "fifo", NF3FIFO);
	fake_file(fake, 0, "other", 0);
	nfs = fake_must_open(fake, "/export");
	root = rr_nfs_root(nfs);
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "second-%s", names[i]);
		assert_int_equal(rr_nfs_walk(nfs, names[i], false, &object), 0);
		fake->crash_at = NFSPROC3_LINK;
		assert_int_equal(rpcrdma_nfs_link(nfs, &object.handle, root, name, NULL), 0);
		assert_int_equal(fake->crash_at, UINT32_MAX);
	}
	/* The name is that of another file of the same type. */
	assert_int_equal(rr_nfs_walk(nfs, "file", false, &object), 0);
	rr_loop_arm(fake->stage.loop, &fake->crash, 0);
	assert_int_equal(rpcrdma_nfs_link(nfs, &object.handle, root, "other", NULL), NFS3ERR_EXIST);
	assert_int_equal(rr_client_reconnects(rr_nfs_rpc(nfs)), 4);
	assert_string_equal(rpcrdma_nfs_error(nfs), "it exists already (NFS3ERR_EXIST)");
}

static void
what_was_there_before_is_no_success(void **state)
{
	const struct rpcrdma_nfs_handle *root;
	struct rpcrdma_nfs_changes none = { .size = sizeof(none) };

	(void)state;
	fake_file(fake, 0, "file", 0);
	nfs = fake_must_open(fake, "/export");
	root = rr_nfs_root(nfs);
	assert_int_equal(rpcrdma_nfs_create(nfs, root, "file", &none, &object, NULL), NFS3ERR_EXIST);
	assert_int_equal(rpcrdma_nfs_mkdir(nfs, root, "file", &none, &object, NULL), NFS3ERR_EXIST);
	assert_int_equal(rpcrdma_nfs_symlink(nfs, root, "file", "x", &object, NULL), NFS3ERR_EXIST);
	assert_int_equal(rpcrdma_nfs_remove(nfs, root, "none", NULL), NFS3ERR_NOENT);
	assert_int_equal(rpcrdma_nfs_rename(nfs, root, "none", root, "file", NULL), NFS3ERR_NOENT);
}

static void
created_objects_are_looked_up_where_the_answer_leaves_them_open(void **state)
{
	struct rpcrdma_nfs_changes none = { .size = sizeof(none) };

	(void)state;
	nfs = fake_must_open(fake, "/export");
	fake->no_handles = true;
	assert_int_equal(rpcrdma_nfs_create(nfs, rr_nfs_root(nfs), "file", &none, &object, NULL), 0);
	assert_int_equal(object.type, RPCRDMA_NFS_FILE);
	assert_int_equal(object.handle.length, 4);
}

/* A status has one number in both versions of NFS, and a name of its own in each: RFC 1813, 2.6, and RFC
 * 8881, 15.1. */
static void
a_status_has_the_name_of_version_4_where_there_is_one(void **state)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
		{ 0, "success (NFS4_OK)" },
		{ 13, "permission denied (NFS4ERR_ACCESS)" },
		{ 10008, "the server asks to come back later (NFS4ERR_DELAY)" },
		{ 71, "too many levels of remote in the path (NFS3ERR_REMOTE)" },
		{ 10002, "somebody else changed it meanwhile (NFS3ERR_NOT_SYNC)" },
		{ 10016, "the server wants another kind of authentication, or TLS (xprtsec=tls or mtls) "
			 "(NFS4ERR_WRONGSEC)" },
		{ 99999, "an error that NFS does not define" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(rpcrdma_nfs_status_text(rows[i].status), rows[i].text);
	nfs = fake_must_open(fake, "/export");
	assert_string_equal(rr_nfs_status_text(nfs, 13), "permission denied (NFS3ERR_ACCES)");
	assert_string_equal(rr_nfs_status_text(nfs, 10016),
		"the server wants another kind of authentication, or TLS "
		"(xprtsec=tls or mtls) (NFS4ERR_WRONGSEC)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(what_is_above_the_path_is_mounted_and_the_rest_kept),
		fake_test(the_root_can_be_an_export),
		fake_test(an_unknown_export_is_refused_with_a_list_of_those_there_are),
		fake_test(a_refusal_of_permission_says_so),
		fake_test(a_refusal_of_permission_above_says_more_than_that_there_is_nothing),
		fake_test(a_flavor_that_is_not_to_be_had_is_named),
		fake_test(mount_is_asked_over_tcp_where_the_connection_has_none),
		fake_test(nobody_there_is_an_error_that_says_where),
		fake_test(a_silent_server_is_given_up),
		fake_test(a_server_that_falls_silent_is_given_up),
		fake_test(interruption_ends_every_wait),
		fake_test(cleaning_is_not_interrupted_but_limited),
		fake_test(limits_of_no_use_are_refused),
		fake_test(paths_are_walked_and_links_on_the_way_followed),
		fake_test(the_last_link_is_followed_only_where_asked_or_before_a_slash),
		fake_test(an_export_that_is_named_with_a_slash_at_its_end_has_absolute_links),
		fake_test(a_status_has_the_name_of_version_4_where_there_is_one),
		fake_test(walks_that_lead_nowhere_fail),
		fake_test(attributes_that_lookup_leaves_out_are_asked_for),
		fake_test(an_empty_handle_is_refused),
		fake_test(directories_are_read_to_the_end_in_any_portions),
		fake_test(readdir_serves_where_there_is_no_readdirplus),
		fake_test(entries_without_handle_or_attributes_are_unknown),
		fake_test(names_that_lead_elsewhere_are_not_believed),
		fake_test(a_directory_without_end_is_given_up),
		fake_test(a_directory_of_entries_without_number_is_given_up),
		fake_test(a_cookie_that_comes_twice_ends_the_reading),
		fake_test(each_entry_may_call_the_client_and_end_the_reading),
		fake_test(jukebox_is_waited_out),
		fake_test(what_was_done_before_the_answer_was_lost_counts_as_done),
		fake_test(a_further_name_whose_answer_was_lost_is_made_once),
		fake_test(what_was_there_before_is_no_success),
		fake_test(created_objects_are_looked_up_where_the_answer_leaves_them_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
