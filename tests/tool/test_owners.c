/* SPDX-License-Identifier: BSD-3-Clause */
/* Users and groups whom a server names: the numbers that they have here. */
#include "../test.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>

#include "tool/owners.h"

static void
names_of_this_domain_have_numbers(void **state)
{
	static struct rr_owners owners = { .domain = "example.org" };
	const struct group *group = getgrgid(0);
	char name[RPCRDMA_NFS_OWNER_MAX + 1];

	(void)state;
	assert_int_equal(rr_owners_number(&owners, "root@example.org", false), 0);
	assert_int_equal(rr_owners_number(&owners, "root@EXAMPLE.Org", false), 0);
	snprintf(name, sizeof(name), "%s@example.org", group->gr_name);
	assert_int_equal(rr_owners_number(&owners, name, true), 0);
	/* From the memory. */
	assert_int_equal(rr_owners_number(&owners, name, true), 0);
}

/* Nobody gets what belongs to somebody else. */
static void
other_names_have_none(void **state)
{
	static struct rr_owners owners = { .domain = "example.org" };

	(void)state;
	assert_int_equal(rr_owners_number(&owners, "root@example.com", false), RR_OWNERS_NOBODY);
	assert_int_equal(rr_owners_number(&owners, "root", false), RR_OWNERS_NOBODY);
	assert_int_equal(rr_owners_number(&owners, "@example.org", false), RR_OWNERS_NOBODY);
	assert_int_equal(rr_owners_number(&owners, "no such user@example.org", false), RR_OWNERS_NOBODY);
	assert_int_equal(rr_owners_number(&owners, "no such user@example.org", true), RR_OWNERS_NOBODY);
	owners = (struct rr_owners){ .asked = true };
	assert_int_equal(rr_owners_number(&owners, "root@example.org", false), RR_OWNERS_NOBODY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_this_domain_have_numbers),
		cmocka_unit_test(other_names_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
