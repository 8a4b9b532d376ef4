/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_FAKE_PRIVATE_H
#define RR_TESTS_NFS_FAKE_PRIVATE_H

#include "fake.h"

/* The handlers by number of the procedure; ctx is the fake. */
extern rpcrdma_handler *const fake_handlers[], *const fake_mount_handlers[];
const struct rpcrdma_program *fake_mount_program(void);

#endif
