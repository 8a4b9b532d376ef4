/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ERRNO_H
#define RR_BASE_ERRNO_H

/* Returns the negative enum rpcrdma_error that stands for an errno of a connection, or -RPCRDMA_ERR_SYSTEM if
 * there is no such error. */
int rr_errno_error(int number);

#endif
