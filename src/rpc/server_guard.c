/* SPDX-License-Identifier: BSD-3-Clause */
/* The additions of flavors with contexts (struct rr_auth_guard) to calls and replies: arguments that are
 * unwrapped, replies with a verifier and wrapped results, and replies of the duplicate request cache, which
 * are kept as they are without the flavor, and get a verifier of their own for each repetition. */
#include <string.h>

#include "base/endian.h"
#include "rpc/server_private.h"

bool
rr_block_unwrap(struct rr_block *block, struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_request *request = &block->request;

	/* RFC 8166, 8.2.2.3: "a sender MUST NOT reduce a Payload stream when RPCSEC_GSS integrity or
	 * encryption services are in use." */
	if (reader->failed || reader->items < reader->items_end)
		return false;
	block->plain = (struct rpcrdma_message){ .stream = reader->next,
		.length = (uint32_t)rpcrdma_xdr_left(reader) };
	if (!request->auth->guard->unwrap(&request->auth_call, &block->plain))
		return false;
	rpcrdma_xdr_reader_init(reader, &block->plain, reader->arena);
	return true;
}

/* Gives the reply, as it is without the flavor, to the duplicate request cache. Writes it to block->small,
 * where no reply lies yet. */
static void
guard_keep(struct rr_block *block, const struct rr_reply_header *header,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value))
{
	struct rpcrdma_message message;
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, block->small, RR_REPLY_SMALL, NULL, 0);
	rr_rpc_put_reply(&writer, header);
	if (put)
		put(&writer, block->request.result);
	message = rpcrdma_xdr_written(&writer);
	rr_drc_end(block->request.server->config.drc, &block->once, writer.failed ? NULL : &message);
	block->once_open = false;
}

/* Writes the results, wrapped. If they are large, and there is a crew for that, leaves the rest of the work
 * to it: block->span. Returns false if they cannot be wrapped. */
static bool
guard_wrap(struct rr_block *block, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	const struct rpcrdma_request *request = &block->request;
	const struct rr_auth_guard *guard = request->auth->guard;
	struct rr_auth_span span;

	if (!request->server->config.crew || !guard->lay)
		return guard->wrap(&request->auth_call, writer, put, value);
	guard->lay(&request->auth_call, writer, put, value, &span);
	if (writer->failed)
		return true;
	if (span.size < RR_AUTH_LARGE)
		return guard->protect(&request->auth_call, writer->start, &span);
	block->span = span;
	return true;
}

/* Writes a reply with a verifier, and the results, wrapped or not. Returns false if the flavor cannot wrap
 * them. */
static bool
guard_write(struct rr_block *block, const struct rr_reply_header *header, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	const struct rpcrdma_request *request = &block->request;
	const struct rr_auth_guard *guard = request->auth->guard;
	struct rr_reply_header full = *header;
	uint8_t body[RR_AUTH_BODY_MAX];
	enum rr_auth_stat stat = RR_AUTH_OK;

	if (full.reply_stat == RR_MSG_ACCEPTED)
		stat = guard->answer(&request->auth_call, &full.verf, body);
	if (stat != RR_AUTH_OK)
		full = (struct rr_reply_header){ .xid = header->xid,
			.reply_stat = RR_MSG_DENIED,
			.reject_stat = RR_AUTH_ERROR,
			.auth_stat = stat };
	rr_rpc_put_reply(writer, &full);
	if (full.reply_stat != RR_MSG_ACCEPTED || full.accept_stat != RR_SUCCESS)
		return true;
	if (request->auth_call.wraps)
		return guard_wrap(block, writer, put, value);
	if (put)
		put(writer, value);
	return true;
}

void
rr_block_put_guarded(struct rr_block *block, const struct rr_reply_header *header,
	struct rpcrdma_xdr_writer *writer, void (*put)(struct rpcrdma_xdr_writer *writer, const void *value))
{
	/* The reply may be written to block->small, so what is kept is written there before. */
	if (block->once_open)
		guard_keep(block, header, put);
	block->span.size = 0;
	block->unwrappable = !guard_write(block, header, writer, put, block->request.result);
	if (block->unwrappable)
		rpcrdma_xdr_writer_fail(writer);
}

/* Writes the results of a kept reply, whose octets are *value. */
static void
guard_put_kept(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rpcrdma_bytes *results = value;

	rpcrdma_put_fixed(writer, results->data, results->length);
}

uint32_t
rr_block_guard_again(struct rr_block *block, uint32_t length)
{
	enum { FRONT = RR_RPC_REPLY_FIXED + RR_AUTH_FIXED };
	uint8_t kept[RR_DRC_REPLY_MAX];
	struct rr_reply_header header = { .xid = block->request.exchange->xid };
	struct rpcrdma_bytes results;
	struct rpcrdma_xdr_writer writer;

	memcpy(kept, block->small, length);
	/* Where its handler denied the call, the reply has no verifier. */
	if (length < FRONT || rr_get_be32(kept + 8) != RR_MSG_ACCEPTED)
		return length;
	header.accept_stat = rr_get_be32(kept + FRONT - 4);
	results = (struct rpcrdma_bytes){ kept + FRONT, length - FRONT };
	rpcrdma_xdr_writer_init(&writer, block->small, RR_REPLY_SMALL, NULL, 0);
	if (!guard_write(block, &header, &writer, guard_put_kept, &results) || writer.failed)
		return 0;
	return (uint32_t)rpcrdma_xdr_length(&writer);
}

void
rr_block_let_go(struct rr_block *block)
{
	block->request.auth->guard->end(&block->request.auth_call);
	block->request.auth_call = (struct rr_auth_call){ 0 };
	block->unwrappable = false;
	block->span.size = 0;
}
