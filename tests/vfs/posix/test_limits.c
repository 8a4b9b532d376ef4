/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of file systems. */
#include "folder.h"

#include <linux/magic.h>

#include "vfs/posix/posix_private.h"

/* RFC 1813, 3.3.19: "time_delta: The server time granularity. When setting a file time using SETATTR, the
 * server guarantees only to preserve times to this accuracy." */
static void
the_unit_of_times_is_that_of_the_file_system(void **state)
{
	static const struct {
		uint32_t type;
		bool born;
		struct rr_vfs_time delta;
	} rows[] = {
		{ MSDOS_SUPER_MAGIC, true, { 2, 0 } },
		{ EXT4_SUPER_MAGIC, true, { 0, 1 } },
		{ EXT4_SUPER_MAGIC, false, { 1, 0 } },
		{ 0x482b, true, { 1, 0 } },            /* HFS+ */
		{ 0x5346544e, true, { 0, 100 } },      /* NTFS */
		{ 0x2011bab0, true, { 0, 10000000 } }, /* exFAT */
		{ 0xff534d42, true, { 0, 100 } },      /* CIFS */
		{ TMPFS_MAGIC, true, { 0, 1 } },
		{ XFS_SUPER_MAGIC, false, { 0, 1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rr_vfs_time found = rr_posix_time_delta(rows[i].type, rows[i].born);

		assert_int_equal(found.seconds, rows[i].delta.seconds);
		assert_int_equal(found.nanoseconds, rows[i].delta.nanoseconds);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_unit_of_times_is_that_of_the_file_system) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
