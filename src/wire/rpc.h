/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_RPC_H
#define RR_WIRE_RPC_H

#include <rpcrdma/xdr.h>

/* ONC RPC version 2 message headers (RFC 5531, section 9). */

enum { RR_RPC_VERSION = 2 };
enum rr_msg_type { RR_CALL = 0, RR_REPLY = 1 };
enum rr_reply_stat { RR_MSG_ACCEPTED = 0, RR_MSG_DENIED = 1 };
enum rr_accept_stat {
	RR_SUCCESS = 0,
	RR_PROG_UNAVAIL = 1,
	RR_PROG_MISMATCH = 2,
	RR_PROC_UNAVAIL = 3,
	RR_GARBAGE_ARGS = 4,
	RR_SYSTEM_ERR = 5
};
enum rr_reject_stat { RR_RPC_MISMATCH = 0, RR_AUTH_ERROR = 1 };
enum rr_auth_stat {
	RR_AUTH_OK = 0,
	RR_AUTH_BADCRED = 1,
	RR_AUTH_REJECTEDCRED = 2,
	RR_AUTH_BADVERF = 3,
	RR_AUTH_REJECTEDVERF = 4,
	RR_AUTH_TOOWEAK = 5,
	RR_RPCSEC_GSS_CREDPROBLEM = 13, /* RFC 2203, section 5.3.3.3 */
	RR_RPCSEC_GSS_CTXPROBLEM = 14
};
enum rr_auth_flavor {
	RR_AUTH_NONE = 0,
	RR_AUTH_SYS = 1,
	RR_AUTH_SHORT = 2,
	RR_RPCSEC_GSS = 6,
	RR_AUTH_TLS = 7
};

enum {
	RR_AUTH_BODY_MAX = 400, /* RFC 5531, section 8.2 */
	RR_AUTH_SYS_GIDS = 16,  /* RFC 5531, appendix A */
	RR_AUTH_SYS_NAME = 255,
	RR_AUTH_FIXED = 8,      /* octets of a credential or verifier before its body */
	RR_RPC_CALL_FIXED = 24, /* octets of a call before its arguments, without credential and verifier */
	RR_RPC_CALL_HEADER_MAX = RR_RPC_CALL_FIXED + 2 * (RR_AUTH_FIXED + RR_AUTH_BODY_MAX),
	RR_RPC_REPLY_FIXED = 16, /* octets of an accepted reply before its results, without verifier */
	RR_RPC_REPLY_HEADER_MAX = RR_RPC_REPLY_FIXED + RR_AUTH_FIXED + RR_AUTH_BODY_MAX
};

struct rr_opaque_auth {
	uint32_t flavor;
	struct rpcrdma_bytes body;
};

struct rr_call_header {
	uint32_t xid, rpcvers, prog, vers, proc;
	struct rr_opaque_auth cred, verf;
	enum rr_auth_stat auth_stat; /* RR_AUTH_OK, unless the credential or the verifier is too long */
};

struct rr_reply_header {
	uint32_t xid;
	enum rr_reply_stat reply_stat;
	struct rr_opaque_auth verf;      /* accepted */
	enum rr_accept_stat accept_stat; /* accepted */
	enum rr_reject_stat reject_stat; /* denied */
	enum rr_auth_stat auth_stat;     /* denied with RR_AUTH_ERROR */
	uint32_t low, high;              /* versions that the server has: PROG_MISMATCH, RPC_MISMATCH */
};

struct rr_auth_sys {
	uint32_t stamp, uid, gid, gid_count;
	uint32_t gids[RR_AUTH_SYS_GIDS];
	struct rpcrdma_bytes machine; /* the name of the client's host */
};

/* Reads a call header and leaves the reader at the arguments. Returns false, without a failure of the reader,
 * if the message is a REPLY, or a CALL of another RPC version. In the second case, call->rpcvers is not 2,
 * and the caller answers with RPC_MISMATCH. Returns false, and the reader fails, if a credential or verifier
 * is too long: call->auth_stat is then set, and the caller answers with AUTH_ERROR. If the reader fails
 * without an auth_stat, the header is not complete. */
bool rr_rpc_get_call(struct rpcrdma_xdr_reader *reader, struct rr_call_header *call);

/* Whether an item (data that came in a chunk) has its place in the header that rr_rpc_get_call() read. If
 * rr_rpc_get_call() failed, whether the message has any item. */
bool rr_rpc_header_is_reduced(const struct rpcrdma_xdr_reader *reader);

/* Writes a call header; its rpcvers is always 2, whatever call->rpcvers is. */
void rr_rpc_put_call(struct rpcrdma_xdr_writer *writer, const struct rr_call_header *call);

/* Writes the beginning of a call header, up to and including the credential: what the verifier that follows
 * may be computed from (RFC 2203, section 5.3.1). */
void rr_rpc_put_call_front(struct rpcrdma_xdr_writer *writer, const struct rr_call_header *call);
/* Returns that beginning of a call that rr_rpc_get_call() has read from stream. */
struct rpcrdma_bytes rr_rpc_call_front(const void *stream, const struct rr_call_header *call);

/* Writes a credential or verifier: its flavor, the length of its body, and the body. */
void rr_rpc_put_auth(struct rpcrdma_xdr_writer *writer, const struct rr_opaque_auth *auth);

/* Reads a reply header and leaves the reader at the results. Returns false if the message has no valid reply
 * header. Any number is accepted as auth_stat, since more of them may be assigned. */
bool rr_rpc_get_reply(struct rpcrdma_xdr_reader *reader, struct rr_reply_header *reply);
void rr_rpc_put_reply(struct rpcrdma_xdr_writer *writer, const struct rr_reply_header *reply);

/* Read and write the body of an AUTH_SYS credential. rr_auth_sys_get() returns false if body is too short or
 * too long, or exceeds a limit of AUTH_SYS. The writer fails if sys exceeds a limit of AUTH_SYS. */
bool rr_auth_sys_get(struct rpcrdma_bytes body, struct rr_auth_sys *sys);
void rr_auth_sys_put(struct rpcrdma_xdr_writer *writer, const struct rr_auth_sys *sys);

/* Reads the XID and the type (enum rr_msg_type) of a message, and nothing else. Returns false if the message
 * is shorter than 8 octets. */
bool rr_rpc_peek(const void *data, size_t size, uint32_t *xid, uint32_t *msg_type);

/* ---- Record marking over TCP (RFC 5531, section 11) ---- */

/* The size of a record mark, and its bit for the last fragment of a record. */
enum { RR_RECORD_MARK_SIZE = 4 };
#define RR_RECORD_LAST UINT32_C(0x80000000)

/* Returns the word that precedes a fragment of length octets of an RPC message on TCP. last: the fragment is
 * the last one of its message. */
static inline uint32_t
rr_record_mark(uint32_t length, bool last)
{
	return length | (last ? RR_RECORD_LAST : 0);
}

#endif
