/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_GSS_H
#define RR_WIRE_GSS_H

#include "wire/rpc.h"

/* RPCSEC_GSS version 1 (RFC 2203): the bodies of its credentials, what is exchanged to create a context, and
 * the bodies into which arguments and results are wrapped. */

/* RFC 2203, 5: "#define MAXSEQ 0x80000000". */
#define RR_GSS_MAXSEQ UINT32_C(0x80000000)

enum { RR_GSS_VERSION = 1 };
enum rr_gss_proc { RR_GSS_DATA = 0, RR_GSS_INIT = 1, RR_GSS_CONTINUE_INIT = 2, RR_GSS_DESTROY = 3 };
enum rr_gss_service { RR_GSS_SVC_NONE = 1, RR_GSS_SVC_INTEGRITY = 2, RR_GSS_SVC_PRIVACY = 3 };

enum {
	RR_GSS_CRED_FIXED = 5 * 4, /* octets of a credential's body beside the handle */
	RR_GSS_HANDLE_MAX = RR_AUTH_BODY_MAX - RR_GSS_CRED_FIXED
};

/* The pseudo-flavors by which MOUNT and tools name a service of Kerberos: RFC 2623, 2.2.2. */
enum { RR_FLAVOR_KRB5 = 390003, RR_FLAVOR_KRB5I = 390004, RR_FLAVOR_KRB5P = 390005 };

/* struct rpc_gss_cred_t. Version, procedure and service may be any numbers: what is wrong with them is the
 * server's to say. */
struct rr_gss_cred {
	uint32_t version, proc, seq_num, service;
	struct rpcrdma_bytes handle;
};

/* Reads the body of a credential. Returns false if its length does not fit its members. Of another version
 * than RR_GSS_VERSION, only the version is read, and the result is true: RFC 2203, 5, has a union there. */
bool rr_gss_get_cred(struct rpcrdma_bytes body, struct rr_gss_cred *cred);
/* Writes the body of a credential of version 1. */
void rr_gss_put_cred(struct rpcrdma_xdr_writer *writer, const struct rr_gss_cred *cred);

/* struct rpc_gss_init_arg and struct rpc_gss_init_res. The bytes refer to the message. The functions have the
 * types of codecs of a procedure. */
struct rr_gss_init_arg {
	struct rpcrdma_bytes token; /* at most RR_GSS_INIT_TOKEN_MAX octets */
};
struct rr_gss_init_res {
	struct rpcrdma_bytes handle;
	uint32_t major, minor, seq_window;
	struct rpcrdma_bytes token;
};
enum { RR_GSS_INIT_TOKEN_MAX = 65536 };

void rr_gss_get_init_arg(struct rpcrdma_xdr_reader *reader, void *value);
void rr_gss_put_init_arg(struct rpcrdma_xdr_writer *writer, const void *value);
void rr_gss_get_init_res(struct rpcrdma_xdr_reader *reader, void *value);
void rr_gss_put_init_res(struct rpcrdma_xdr_writer *writer, const void *value);

/* What a checksum or a seal is computed of: RFC 2203, 5.3.2.2: struct rpc_gss_data_t, the sequence number and
 * the arguments or results. */

/* Reads struct rpc_gss_integ_data, which must be the whole message. Returns false if it is not. data: all
 * that the checksum is of. */
bool rr_gss_get_integ(
	const struct rpcrdma_message *message, struct rpcrdma_bytes *data, struct rpcrdma_bytes *checksum);
/* Reads struct rpc_gss_priv_data, which must be the whole message. */
bool rr_gss_get_priv(const struct rpcrdma_message *message, struct rpcrdma_bytes *sealed);
/* Reads what was inside of either of them. Returns false if it is too short for its sequence number, or no
 * XDR, or has another number. body: the arguments or results. */
bool rr_gss_get_data(struct rpcrdma_bytes data, uint32_t seq_num, struct rpcrdma_bytes *body);

/* Write both in place. rr_gss_begin_data() writes a length to be filled in, `before` octets that are to be
 * filled in, and the sequence number; arguments or results follow. rr_gss_end_data() fills in the length of
 * all that was written since then. at: what rr_gss_begin_data() has returned, the place of that length. */
size_t rr_gss_begin_data(struct rpcrdma_xdr_writer *writer, uint32_t before, uint32_t seq_num);
void rr_gss_end_data(struct rpcrdma_xdr_writer *writer, size_t at);

#endif
