/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the parts of RPCSEC_GSS messages: RFC 2203, section 5. */
#include "wire/gss.h"

#include "base/checked.h"
#include "base/endian.h"
#include "wire/room.h"

static struct rpcrdma_message
gss_message(struct rpcrdma_bytes bytes)
{
	return (struct rpcrdma_message){ .stream = bytes.data, .length = bytes.length };
}

/* ---- struct rpc_gss_cred_t: version gss_proc seq_num service handle<> ---- */

bool
rr_gss_get_cred(struct rpcrdma_bytes body, struct rr_gss_cred *cred)
{
	const struct rpcrdma_message message = gss_message(body);
	struct rpcrdma_xdr_reader reader;

	*cred = (struct rr_gss_cred){ 0 };
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	cred->version = rpcrdma_get_u32(&reader);
	if (cred->version != RR_GSS_VERSION)
		return !reader.failed;
	cred->proc = rpcrdma_get_u32(&reader);
	cred->seq_num = rpcrdma_get_u32(&reader);
	cred->service = rpcrdma_get_u32(&reader);
	cred->handle = rpcrdma_get_bytes(&reader, RR_GSS_HANDLE_MAX);
	return rpcrdma_xdr_done(&reader);
}

void
rr_gss_put_cred(struct rpcrdma_xdr_writer *writer, const struct rr_gss_cred *cred)
{
	rpcrdma_put_u32(writer, RR_GSS_VERSION);
	rpcrdma_put_u32(writer, cred->proc);
	rpcrdma_put_u32(writer, cred->seq_num);
	rpcrdma_put_u32(writer, cred->service);
	rpcrdma_put_bytes(writer, cred->handle, RR_GSS_HANDLE_MAX);
}

/* ---- struct rpc_gss_init_arg: gss_token<> ---- */

void
rr_gss_get_init_arg(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_gss_init_arg *arg = value;

	arg->token = rpcrdma_get_bytes(reader, RR_GSS_INIT_TOKEN_MAX);
}

void
rr_gss_put_init_arg(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_gss_init_arg *arg = value;

	rpcrdma_put_bytes(writer, arg->token, RR_GSS_INIT_TOKEN_MAX);
}

/* ---- struct rpc_gss_init_res: handle<> gss_major gss_minor seq_window gss_token<> ---- */

void
rr_gss_get_init_res(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_gss_init_res *res = value;

	res->handle = rpcrdma_get_bytes(reader, RR_GSS_HANDLE_MAX);
	res->major = rpcrdma_get_u32(reader);
	res->minor = rpcrdma_get_u32(reader);
	res->seq_window = rpcrdma_get_u32(reader);
	res->token = rpcrdma_get_bytes(reader, RR_GSS_INIT_TOKEN_MAX);
}

void
rr_gss_put_init_res(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_gss_init_res *res = value;

	rpcrdma_put_bytes(writer, res->handle, RR_GSS_HANDLE_MAX);
	rpcrdma_put_u32(writer, res->major);
	rpcrdma_put_u32(writer, res->minor);
	rpcrdma_put_u32(writer, res->seq_window);
	rpcrdma_put_bytes(writer, res->token, RR_GSS_INIT_TOKEN_MAX);
}

/* ---- struct rpc_gss_integ_data: databody_integ<> checksum<> ---- */

bool
rr_gss_get_integ(
	const struct rpcrdma_message *message, struct rpcrdma_bytes *data, struct rpcrdma_bytes *checksum)
{
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	*data = rpcrdma_get_bytes(&reader, UINT32_MAX);
	*checksum = rpcrdma_get_bytes(&reader, UINT32_MAX);
	return rpcrdma_xdr_done(&reader);
}

/* ---- struct rpc_gss_priv_data: databody_priv<> ---- */

bool
rr_gss_get_priv(const struct rpcrdma_message *message, struct rpcrdma_bytes *sealed)
{
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	*sealed = rpcrdma_get_bytes(&reader, UINT32_MAX);
	return rpcrdma_xdr_done(&reader);
}

/* ---- struct rpc_gss_data_t: seq_num arg ---- */

/* RFC 2203, 5.3.2.2: "seq_num must have the same value as in the credential." What the opaque data hold is
 * XDR, so its octets are a multiple of four. */
bool
rr_gss_get_data(struct rpcrdma_bytes data, uint32_t seq_num, struct rpcrdma_bytes *body)
{
	const uint8_t *octets = data.data;

	if (data.length < 4 || data.length % 4 != 0 || rr_get_be32(octets) != seq_num)
		return false;
	*body = (struct rpcrdma_bytes){ octets + 4, data.length - 4 };
	return true;
}

size_t
rr_gss_begin_data(struct rpcrdma_xdr_writer *writer, uint32_t before, uint32_t seq_num)
{
	size_t at = rpcrdma_xdr_length(writer);

	rpcrdma_put_u32(writer, 0);
	rr_xdr_room(writer, before);
	rpcrdma_put_u32(writer, seq_num);
	return at;
}

void
rr_gss_end_data(struct rpcrdma_xdr_writer *writer, size_t at)
{
	if (!writer->failed)
		rr_put_be32(writer->start + at, (uint32_t)(rpcrdma_xdr_length(writer) - at - 4));
}
