/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_ERROR_H
#define RPCRDMA_ERROR_H

#include <rpcrdma/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The errors. Functions of this library return 0, or one of these as a negative number. Where a handle keeps
 * a text (rpcrdma_..._error()), that text says what failed, on which peer, and what to do about it.
 */
enum rpcrdma_error {
	RPCRDMA_OK = 0,
	RPCRDMA_ERR_NOMEM,        /* no memory */
	RPCRDMA_ERR_INVAL,        /* the caller's argument is wrong */
	RPCRDMA_ERR_LIMIT,        /* a bound of this side would be exceeded */
	RPCRDMA_ERR_SYSTEM,       /* a system call failed; the text has its errno */
	RPCRDMA_ERR_NOTSUP,       /* not supported by this side or by the provider */
	RPCRDMA_ERR_ADDRESS,      /* the address or host name cannot be resolved */
	RPCRDMA_ERR_REFUSED,      /* no program listens at that address and port */
	RPCRDMA_ERR_UNREACHABLE,  /* no route to the peer */
	RPCRDMA_ERR_REJECTED,     /* the peer speaks the protocol and declined the connection */
	RPCRDMA_ERR_TIMEDOUT,     /* no answer in time */
	RPCRDMA_ERR_PEER,         /* the peer sent something that breaks the protocol */
	RPCRDMA_ERR_DISCONNECTED, /* the connection is gone */
	RPCRDMA_ERR_CANCELLED,    /* the caller ended the operation */
	RPCRDMA_ERR_ACCESS,       /* remote access outside a registered region or its rights */
	RPCRDMA_ERR_VERS,         /* the peer does not speak this version (RFC 8166, ERR_VERS) */
	RPCRDMA_ERR_CHUNK, /* the peer could not use the transport header or its chunks: ERR_CHUNK (RFC 8166),
			      and in version 2 RDMA_ERR_BAD_HEADER or RDMA_ERR_INVAL_OPTION */
	RPCRDMA_ERR_RPC_DENIED,    /* RPC: MSG_DENIED (RFC 5531, section 9) */
	RPCRDMA_ERR_PROG_UNAVAIL,  /* RPC: the server does not have this program */
	RPCRDMA_ERR_PROG_MISMATCH, /* RPC: the server has another version of the program */
	RPCRDMA_ERR_PROC_UNAVAIL,  /* RPC: the program has no such procedure */
	RPCRDMA_ERR_GARBAGE_ARGS,  /* RPC: the server could not decode the arguments */
	RPCRDMA_ERR_RPC_SYSTEM,    /* RPC: SYSTEM_ERR, the server is in trouble */
	RPCRDMA_ERR_XDR,           /* a message does not decode as its schema says */
	RPCRDMA_ERR_COUNT          /* the number of errors; not an error */
};

/* Returns a short English text for error, which is 0 or negative, as functions return it. The text is never
 * NULL. Any thread may call it. */
RPCRDMA_API const char *rpcrdma_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
