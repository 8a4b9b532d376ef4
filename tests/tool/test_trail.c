/* SPDX-License-Identifier: BSD-3-Clause */
/* Directory trees on a server that have no end. */
#include "../nfs/fake.h"

#include <string.h>

#include "tool/cp/cp.h"

/* ---- Functions that cp/tree.c needs of the rest of cp: files are not copied, failures are counted ---- */

static struct {
	uint32_t count;
	char last[256];
} failures;

int
rr_cp_fail_because(struct rr_cp *cp, struct rr_side *side, const char *why)
{
	(void)cp;
	(void)side;
	failures.count++;
	snprintf(failures.last, sizeof(failures.last), "%s", why);
	return -1;
}

int
rr_cp_fail(struct rr_cp *cp, struct rr_side *side)
{
	return rr_cp_fail_because(cp, side, side->text.text);
}

int
rr_tool_usage(const struct rr_tool *tool, const char *format, ...)
{
	(void)tool;
	(void)format;
	return 2;
}

bool
rr_tool_interrupted(void *ctx)
{
	(void)ctx;
	return false;
}

int
rr_cp_file(struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info,
	const struct rr_directory *to, const char *to_name)
{
	(void)cp;
	(void)from;
	(void)name;
	(void)info;
	(void)to;
	(void)to_name;
	return 0;
}

int
rr_cp_link(struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info,
	const struct rr_directory *to, const char *to_name)
{
	return rr_cp_file(cp, from, name, info, to, to_name);
}

bool
rr_cp_small(struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info,
	const struct rr_directory *to)
{
	(void)cp;
	(void)from;
	(void)name;
	(void)info;
	(void)to;
	return true;
}

void
rr_cp_small_end(struct rr_cp *cp, const struct rr_directory *to)
{
	(void)cp;
	(void)to;
}

int
rr_cp_archive_link(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *to_name)
{
	(void)cp;
	(void)info;
	(void)to;
	(void)to_name;
	return 1;
}

void
rr_cp_archive_note(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *to_name)
{
	(void)cp;
	(void)info;
	(void)to;
	(void)to_name;
}

int
rr_cp_lists_read(struct rr_cp *cp, const struct rr_directory *object, struct rr_info *info)
{
	(void)cp, (void)object, (void)info;
	return 0;
}

int
rr_cp_lists_write(
	struct rr_cp *cp, const struct rr_directory *object, const struct rr_info *info, bool may_have)
{
	(void)cp, (void)object, (void)info, (void)may_have;
	return 0;
}

int
rr_cp_lists_enter(struct rr_cp *cp, const struct rr_directory *object, bool made)
{
	(void)cp, (void)object, (void)made;
	return 0;
}

bool
rr_cp_lists_differ_here(struct rr_cp *cp, const struct rr_directory *from, struct rr_info *info,
	const struct rr_directory *to, const struct rr_info *there)
{
	(void)cp, (void)from, (void)info, (void)to, (void)there;
	return false;
}

int
rr_cp_archive_xattrs(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *to)
{
	(void)cp;
	(void)from;
	(void)to;
	return 0;
}

bool
rr_cp_sync_same(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	(void)cp;
	(void)pair;
	return false;
}

int
rr_cp_sync_clear(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	(void)cp;
	(void)pair;
	return 0;
}

void
rr_cp_sync_remove(struct rr_cp *cp, struct rr_directory *to, const struct rr_catalog *catalog)
{
	(void)cp;
	(void)to;
	(void)catalog;
}

void
rr_cp_times_check(struct rr_cp *copy, const struct rr_info *info)
{
	(void)copy, (void)info;
}

bool
rr_cp_times_same(struct rr_cp *cp, const struct rr_directory *to, const struct rr_info *info,
	const struct rr_info *there)
{
	(void)cp;
	(void)to;
	(void)info;
	(void)there;
	return true;
}

void
rr_cp_say_done(struct rr_cp *copy, const char *action)
{
	(void)copy;
	(void)action;
}

bool
rr_cp_sync_say(const struct rr_cp *cp, const char *action)
{
	(void)cp;
	(void)action;
	return false;
}

bool
rr_cp_same_attributes(struct rr_cp *cp, const struct rr_directory *to, const struct rr_info *info,
	const struct rr_info *there)
{
	(void)cp;
	(void)to;
	(void)info;
	(void)there;
	return true;
}

/* ---- Copies ---- */

/* Both sides are on the server. The root is copied into its directory 1, which is an entry of another
 * directory. */
static struct fake *fake;
static struct rr_cp cp;
static struct rr_directory root;

static int
setup(void **state)
{
	(void)state;
	fake = fake_new();
	memset(&failures, 0, sizeof(failures));
	memset(&cp, 0, sizeof(cp));
	cp.recursive = true;
	cp.from.ops = cp.to.ops = &rr_side_remote;
	cp.from.nfs = cp.to.nfs = fake_must_open(fake, "/export");
	root.handle = *rr_nfs_root(cp.from.nfs);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rpcrdma_nfs_close(cp.from.nfs);
	fake_free(fake);
	return 0;
}

static void
copy_root(void)
{
	struct rr_info target;

	assert_int_equal(cp.to.ops->find(&cp.to, "target", false, &target), 0);
	assert_int_equal(target.kind, RR_KIND_DIRECTORY);
	rr_cp_contents(&cp, &root, &(struct rr_directory){ .fd = -1, .handle = target.handle });
}

static void
make_tree(void)
{
	uint32_t a = fake_add(fake, 0, "a", NF3DIR);

	fake_add(fake, 0, "target", NF3DIR);
	fake_add(fake, fake_add(fake, a, "b", NF3DIR), "c", NF3DIR);
}

static void
a_directory_that_contains_itself_is_an_error(void **state)
{
	struct rr_info target;
	uint32_t a;

	(void)state;
	a = fake_add(fake, 0, "a", NF3DIR);
	fake_add(fake, 0, "target", NF3DIR);
	assert_int_equal(cp.from.ops->find(&cp.from, "a", false, &target), 0);
	root.handle = target.handle;
	assert_null(rr_trail_enter(&cp.trail, target.fsid, target.fileid));
	fake->objects[a].parent = a;
	copy_root();
	assert_int_equal(failures.count, 1);
	assert_non_null(strstr(failures.last, "a directory loop"));
	assert_int_equal(cp.trail.depth, 1);
}

static void
a_tree_without_end_ends_the_whole_copy(void **state)
{
	(void)state;
	make_tree();
	cp.trail.entries = RR_TRAIL_ENTRIES_MAX - 2;
	copy_root();
	/* The root has two entries, so the third one, which is in "a", is above the limit. */
	assert_int_equal(failures.count, 1);
	assert_non_null(strstr(failures.last, "100 million"));
	assert_true(cp.stop);
}

/* The names of all directories on the way are in memory at the same time. */
static void
names_on_the_way_are_bounded_together(void **state)
{
	const uint64_t before =
		RR_CATALOG_MAX - sizeof(struct rr_catalog_entry) - sizeof("b") - RR_CATALOG_OBJECT;
	struct rr_info a;

	(void)state;
	make_tree();
	assert_int_equal(cp.from.ops->find(&cp.from, "a", false, &a), 0);
	root.handle = a.handle;
	cp.trail.octets = before;
	copy_root();
	/* There is room for the name of "b" in "a", but not for that of "c" in "b", too. */
	assert_int_equal(failures.count, 1);
	assert_non_null(strstr(failures.last, "a limit would be exceeded"));
	assert_int_equal(cp.trail.octets, before);
}

/* Of three files, two are excluded; the pattern "a/" is for directories alone. */
static void
excluded_files_are_not_expected_by_the_progress(void **state)
{
	(void)state;
	fake_add(fake, 0, "target", NF3DIR);
	fake_file(fake, 0, "a", 1000);
	fake_file(fake, 0, "b", 1000);
	fake_file(fake, 0, "c", 1000);
	cp.progress.enabled = true;
	cp.excludes = (struct rr_excludes){ .patterns = { "/b", "c", "a/", "target/" }, .count = 4 };
	copy_root();
	assert_int_equal(cp.progress.expected, 1000);
	assert_string_equal(cp.path, "");
}

/* ---- Two looks at a directory that changes meanwhile ---- */

/* The directory changes between each of the first `changing` looks. Its number at the destination is
 * `number`. */
static struct {
	uint64_t number;
	unsigned looks, changing;
} seen;

static void
see_directory(struct rr_info *info, uint64_t number)
{
	*info = (struct rr_info){ .kind = RR_KIND_DIRECTORY, .fileid = number };
	info->ctime.tv_nsec = seen.looks < seen.changing ? seen.looks : seen.changing;
	seen.looks++;
}

static int
look_at_changing(
	struct rr_side *side, const struct rr_directory *directory, const char *name, struct rr_info *info)
{
	(void)side;
	(void)directory;
	(void)name;
	see_directory(info, 7);
	return 0;
}

static int
find_changing(struct rr_side *side, const char *path, bool follow, struct rr_info *info)
{
	(void)side;
	assert_string_equal(path, "path");
	assert_true(follow);
	see_directory(info, seen.number);
	return 0;
}

/* Compares the directory, which has the number 7 at the source. Returns what rr_cp_same_directory() returns.
 */
static int
compare_changing(uint64_t number, unsigned changing)
{
	const struct rr_side_ops ops = { .look = look_at_changing, .find = find_changing };

	memset(&cp, 0, sizeof(cp));
	cp.from.ops = cp.to.ops = &ops;
	seen.number = number;
	seen.looks = 0;
	seen.changing = changing;
	return rr_cp_same_directory(&cp, &cp.from, &root, "name", "path");
}

static void
a_directory_that_changes_is_looked_at_again(void **state)
{
	(void)state;
	assert_int_equal(compare_changing(7, 0), 1);
	assert_int_equal(seen.looks, 2);
	assert_int_equal(compare_changing(7, 5), 1);
	assert_int_equal(seen.looks, 8);
	assert_int_equal(compare_changing(8, 5), 0);
	assert_int_equal(seen.looks, 2);
	assert_int_equal(compare_changing(7, 1000), 0);
	assert_int_equal(seen.looks, 32);
}

/* ---- The trail itself ---- */

static void
what_is_not_on_the_way_may_be_entered_again(void **state)
{
	const struct rpcrdma_nfs_filesystem one = { .minor = 1 }, two = { .minor = 2 };
	struct rr_trail trail = { .depth = 0 };

	(void)state;
	assert_null(rr_trail_enter(&trail, one, 2));
	assert_null(rr_trail_enter(&trail, one, 3));
	assert_non_null(rr_trail_enter(&trail, one, 2));
	assert_null(rr_trail_enter(&trail, two, 2)); /* on another file system */
	assert_non_null(rr_trail_enter(&trail, two, 2));
	rr_trail_leave(&trail);
	assert_null(rr_trail_enter(&trail, two, 2));
}

static void
levels_are_bounded(void **state)
{
	const struct rpcrdma_nfs_filesystem one = { 0 };
	struct rr_trail trail = { .depth = 0 };

	(void)state;
	for (uint64_t i = 0; i < RR_TRAIL_LEVELS; i++)
		assert_null(rr_trail_enter(&trail, one, i));
	assert_string_equal(
		rr_trail_enter(&trail, one, RR_TRAIL_LEVELS), "the directories are nested too deep");
	assert_int_equal(trail.depth, RR_TRAIL_LEVELS);
}

static void
entries_are_bounded(void **state)
{
	struct rr_trail trail = { .depth = 0 };

	(void)state;
	assert_null(rr_trail_count(&trail, RR_TRAIL_ENTRIES_MAX));
	assert_null(rr_trail_count(&trail, 0));
	assert_false(trail.endless);
	assert_non_null(rr_trail_count(&trail, 1));
	assert_true(trail.endless);
	assert_non_null(rr_trail_count(&trail, UINT64_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_directory_that_contains_itself_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(a_tree_without_end_ends_the_whole_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(names_on_the_way_are_bounded_together, setup, teardown),
		cmocka_unit_test_setup_teardown(
			excluded_files_are_not_expected_by_the_progress, setup, teardown),
		cmocka_unit_test(a_directory_that_changes_is_looked_at_again),
		cmocka_unit_test(what_is_not_on_the_way_may_be_entered_again),
		cmocka_unit_test(levels_are_bounded),
		cmocka_unit_test(entries_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
