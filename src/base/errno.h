/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ERRNO_H
#define RR_BASE_ERRNO_H

/* The negative enum rpcrdma_error that an errno of a connection stands for; -RPCRDMA_ERR_SYSTEM for those
 * that have none of their own. */
int rr_errno_error(int number);

#endif
