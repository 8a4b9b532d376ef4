/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/error.h>

static const char *const texts[RPCRDMA_ERR_COUNT] = {
	[RPCRDMA_OK] = "success",
	[RPCRDMA_ERR_NOMEM] = "out of memory",
	[RPCRDMA_ERR_INVAL] = "invalid argument",
	[RPCRDMA_ERR_LIMIT] = "a limit would be exceeded",
	[RPCRDMA_ERR_SYSTEM] = "a system call failed",
	[RPCRDMA_ERR_NOTSUP] = "not supported",
	[RPCRDMA_ERR_ADDRESS] = "the address cannot be resolved",
	[RPCRDMA_ERR_REFUSED] = "connection refused",
	[RPCRDMA_ERR_UNREACHABLE] = "the peer cannot be reached",
	[RPCRDMA_ERR_REJECTED] = "the peer rejected the connection",
	[RPCRDMA_ERR_TIMEDOUT] = "timed out",
	[RPCRDMA_ERR_PEER] = "the peer broke the protocol",
	[RPCRDMA_ERR_DISCONNECTED] = "the connection was lost",
	[RPCRDMA_ERR_CANCELLED] = "cancelled",
	[RPCRDMA_ERR_ACCESS] = "remote access was refused",
	[RPCRDMA_ERR_VERS] = "the peer does not speak this version of RPC-over-RDMA",
	[RPCRDMA_ERR_CHUNK] = "the peer could not use the transport header of this call, or its chunks",
	[RPCRDMA_ERR_RPC_DENIED] = "the server denied the call",
	[RPCRDMA_ERR_PROG_UNAVAIL] = "the server does not have this program",
	[RPCRDMA_ERR_PROG_MISMATCH] = "the server does not have this version of the program",
	[RPCRDMA_ERR_PROC_UNAVAIL] = "the server does not have this procedure",
	[RPCRDMA_ERR_GARBAGE_ARGS] = "the server could not decode the arguments",
	[RPCRDMA_ERR_RPC_SYSTEM] = "the server reports a system error",
	[RPCRDMA_ERR_XDR] = "a message does not decode as its schema says",
};

const char *
rpcrdma_strerror(int error)
{
	if (error > 0 || error <= -RPCRDMA_ERR_COUNT)
		return "unknown error";
	return texts[-error];
}
