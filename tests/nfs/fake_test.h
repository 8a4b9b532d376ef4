/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_FAKE_TEST_H
#define RR_TESTS_NFS_FAKE_TEST_H

#include "fake.h"

/* The tests of the client share this: a server for each test, the client, and an object that the client
 * found. */
static struct fake *fake;
static struct rpcrdma_nfs *nfs;
static struct rpcrdma_nfs_object object = { .size = sizeof(object) };

static inline int
fake_setup(void **state)
{
	(void)state;
	fake = fake_new();
	nfs = NULL;
	object = (struct rpcrdma_nfs_object){ .size = sizeof(object) };
	return 0;
}

static inline int
fake_teardown(void **state)
{
	(void)state;
	rpcrdma_nfs_close(nfs);
	fake_free(fake);
	return 0;
}

#define fake_test(function) cmocka_unit_test_setup_teardown(function, fake_setup, fake_teardown)

#endif
