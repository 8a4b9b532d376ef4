/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ERRNO_H
#define RR_BASE_ERRNO_H

/* Returns the negative enum rpcrdma_error for number, an errno of an operation on a connection. If no error
 * stands for number, returns -RPCRDMA_ERR_SYSTEM. */
int rr_errno_error(int number);

#endif
