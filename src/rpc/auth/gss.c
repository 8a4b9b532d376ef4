/* SPDX-License-Identifier: BSD-3-Clause */
/* RPCSEC_GSS (RFC 2203, RFC 7861), as far as it is needed to pass messages on: whether a message has items
 * that may be placed. */
#include "rpc/auth.h"

enum { VERSION_1 = 1, VERSION_3 = 3, PROC_DATA = 0, SERVICE_NONE = 1 };

/* Tells whether data items of a call with this RPCSEC_GSS credential, and those of its reply, may travel
 * apart from the stream: only if gss_proc is RPCSEC_GSS_DATA and the service is rpc_gss_svc_none. RFC 8166,
 * 8.2.2.3: "a sender MUST NOT reduce a Payload stream when RPCSEC_GSS integrity or encryption services are
 * in use." RFC 2203, 5.3.1 and 5.3.3: the other services change arguments and results. RFC 8166, 8.2.2:
 * "control messages exchanged as part of establishing or destroying a security context" "MUST NOT be
 * reduced". */
static bool
gss_may_place(struct rpcrdma_bytes cred)
{
	const struct rpcrdma_message body = { .stream = cred.data, .length = cred.length };
	struct rpcrdma_xdr_reader reader;
	uint32_t version, procedure, service;

	rpcrdma_xdr_reader_init(&reader, &body, NULL);
	version = rpcrdma_get_u32(&reader);
	procedure = rpcrdma_get_u32(&reader);
	rpcrdma_get_u32(&reader); /* seq_num */
	service = rpcrdma_get_u32(&reader);
	return !reader.failed && version >= VERSION_1 && version <= VERSION_3 && procedure == PROC_DATA &&
	       service == SERVICE_NONE;
}

const struct rr_auth rr_auth_gss = {
	.flavor = RR_RPCSEC_GSS,
	.name = "RPCSEC_GSS",
	.call_adds = 2 * (RR_AUTH_FIXED + RR_AUTH_BODY_MAX),
	/* RFC 8166, 8.2.2.2: "needs to provide for a maximum size RPCSEC_GSS verifier when allocating reply
	 * buffers and Reply chunks." */
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.may_place = gss_may_place,
};
