/* SPDX-License-Identifier: BSD-3-Clause */
/* The work for one handle does not grow with the depth of its object. */
#include "folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH = 400 };

static uint32_t opened, names; /* by openat2(2): files, and names in their paths */

/* Stands before that of the C library, and counts what openat2(2) walks. As that one, it takes six arguments
 * on whether the caller gave them or not, which AddressSanitizer would call a read beyond the caller's stack.
 */
__attribute__((no_sanitize("address"))) long
syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list list;
	long a[6];

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat2) {
		opened++;
		names++;
		for (const char *at = (const char *)a[1]; (at = strchr(at, '/')); at++)
			names++;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Makes directories that lie in each other, as a client does, and stores their handles. */
static void
make_deep(struct folder *folder, struct rr_vfs_handle handles[DEPTH])
{
	struct rr_object at = walk_to(folder, "");

	for (int i = 0; i < DEPTH; i++) {
		struct rr_object next;
		char name[16];

		snprintf(name, sizeof(name), "d%04d", i);
		assert_int_equal(mkdirat(at.fd, name, 0755), 0);
		assert_int_equal(rr_tree_lookup(folder->tree, &at, bytes_of(name), &next), RR_VFS_OK);
		rr_tree_handle(folder->tree, &next, &handles[i]);
		rr_object_put(folder->tree, &at);
		at = next;
	}
	rr_object_put(folder->tree, &at);
}

/* Returns how many names were walked to find the object of a handle, in a thread that must not wait where
 * hurries is true. */
static uint32_t
names_of(struct folder *folder, const struct rr_vfs_handle *handle, bool hurries, bool *done)
{
	struct rr_object object;

	opened = names = 0;
	folder->tree->waits = false; /* the crew has a tree of its own, which never hurried */
	if (hurries)
		assert_true(rr_tree_hurry(folder->tree, false));
	if (resolve(folder, handle, &object) == RR_VFS_OK)
		rr_object_put(folder->tree, &object);
	*done = hurries ? rr_tree_hurried(folder->tree) : true;
	return names;
}

static void
a_thread_that_must_not_wait_walks_few_names(void **state)
{
	static struct rr_vfs_handle handles[DEPTH];
	struct folder *folder = *state;
	bool done;

	make_deep(folder, handles);
	folder->now += 2 * RR_SECOND;
	/* Nothing above the object is believed any more: this is left to another thread. */
	assert_int_equal(names_of(folder, &handles[DEPTH - 1], true, &done), 0);
	assert_false(done);
	/* That thread walks the path once, and then all directories on it are believed. */
	assert_in_range(names_of(folder, &handles[DEPTH - 1], false, &done), DEPTH, DEPTH + 2);
	for (int i = 0; i < DEPTH; i++)
		assert_in_range(names_of(folder, &handles[i], true, &done), 0, RR_TREE_NEAR);
	assert_leads_to(folder, &handles[1], "pub/d0000/d0001");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_thread_that_must_not_wait_walks_few_names, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
