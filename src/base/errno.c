/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/errno.h"

#include <errno.h>
#include <rpcrdma/error.h>

int
rr_errno_error(int number)
{
	switch (number) {
	case ENOMEM: return -RPCRDMA_ERR_NOMEM;
	case ECONNREFUSED: return -RPCRDMA_ERR_REFUSED;
	case ETIMEDOUT: return -RPCRDMA_ERR_TIMEDOUT;
	case ECONNRESET:
	case ECONNABORTED:
	case EPIPE: return -RPCRDMA_ERR_DISCONNECTED;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case EADDRNOTAVAIL:
	case ENODEV: return -RPCRDMA_ERR_UNREACHABLE;
	default: return -RPCRDMA_ERR_SYSTEM;
	}
}
