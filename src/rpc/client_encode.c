/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the two messages of a call. The call's message is written into a buffer that the call
 * owns until its end; marked arguments stay in the caller's memory. */
#include <string.h>

#include "base/checked.h"
#include "rpc/client_private.h"
#include "rpc/expect.h"

enum {
	BUFFER_USUAL = 4096, /* large enough for most calls */
	BUFFER_KEPT = 65536, /* larger buffers are not kept for reuse */
	BUFFER_GROWTH = 8    /* how many times larger the next buffer is, if the call does not fit */
};

const char *
rr_call_name(const struct rr_call *call)
{
	return call->program->procedures[call->proc].name;
}

/* Returns the largest of the free buffers, or NULL if no buffer is free. */
static struct rr_call_buffer *
encode_largest_free(const struct rpcrdma_client *client)
{
	return rr_list_empty(&client->buffers)
		       ? NULL
		       : rr_container(client->buffers.next, struct rr_call_buffer, link);
}

/* Returns a buffer of at least size octets, from the client's free buffers if these are large enough. Returns
 * NULL if there is no memory. */
static struct rr_call_buffer *
encode_new_buffer(const struct rpcrdma_client *client, uint32_t size)
{
	struct rr_call_buffer *buffer = encode_largest_free(client);

	if (buffer && buffer->size >= size) {
		rr_list_remove(&buffer->link);
		return buffer;
	}
	size = size < BUFFER_USUAL ? BUFFER_USUAL : size;
	buffer = rr_alloc(client->engine->env, sizeof(*buffer) + size);
	if (!buffer)
		return NULL;
	rr_list_init(&buffer->link);
	buffer->size = size;
	return buffer;
}

void
rr_call_free_buffer(struct rr_call *call)
{
	struct rr_call_buffer *buffer = call->buffer, *largest = encode_largest_free(call->client);

	call->buffer = NULL;
	if (!buffer)
		return;
	if (buffer->size <= BUFFER_KEPT && (!largest || buffer->size >= largest->size))
		rr_list_prepend(&call->client->buffers, &buffer->link);
	else if (buffer->size <= BUFFER_KEPT)
		rr_list_append(&call->client->buffers, &buffer->link);
	else
		rr_free(call->client->engine->env, buffer);
}

void
rr_client_free_buffers(struct rpcrdma_client *client)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&client->buffers)))
		rr_free(client->engine->env, rr_container(link, struct rr_call_buffer, link));
}

/* Returns the credential of a call that has a user of its own. Its octets lie in the client, until the next
 * such call. */
static __attribute__((noinline)) struct rr_opaque_auth
encode_user(const struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message written;

	rpcrdma_xdr_writer_init(&writer, client->user_body, sizeof(client->user_body), NULL, 0);
	client->auth->put(&writer, call->user);
	written = rpcrdma_xdr_written(&writer);
	return (struct rr_opaque_auth){ client->auth->flavor, { written.stream, written.length } };
}

/* Encodes the call's header and arguments into its buffer. Returns false if the buffer is too small, or the
 * arguments break their schema. */
static bool
encode_write_call(struct rr_call *call, const struct rpcrdma_procedure *procedure)
{
	struct rr_call_buffer *buffer = call->buffer;
	struct rpcrdma_xdr_writer writer;
	const struct rr_call_header header = {
		.xid = call->transaction.xid,
		.rpcvers = RR_RPC_VERSION,
		.prog = call->program->prog,
		.vers = call->program->vers,
		.proc = call->proc,
		.cred = call->user && !call->client->auth->guard ? encode_user(call) : call->client->cred,
	};

	rpcrdma_xdr_writer_init(
		&writer, buffer->data, buffer->size, call->items, call->client->places ? RR_CALL_ITEMS : 0);
	if (call->auth_call.context) {
		rr_call_put_guarded(call, &writer);
	} else {
		rr_rpc_put_call(&writer, &header);
		if (procedure->put_args)
			procedure->put_args(&writer, call->args);
	}
	if (writer.failed)
		return false;
	call->transaction.call = rpcrdma_xdr_written(&writer);
	return true;
}

/* Takes a buffer for the call and encodes the call into it, with larger and larger buffers until the call
 * fits. Returns 0, or an error with its text. */
static int
encode_fill_buffer(struct rr_call *call, const struct rpcrdma_procedure *procedure)
{
	struct rpcrdma_client *client = call->client;
	uint64_t max = client->engine->config.message_max, size = BUFFER_USUAL;

	/* An item that stays in the stream may be as large as a message. */
	if (client->places && procedure->args_max < max)
		max = procedure->args_max;
	max += RR_RPC_CALL_FIXED + client->auth->call_adds;
	for (;; size = rr_min(size * BUFFER_GROWTH, max)) {
		call->buffer = encode_new_buffer(client, (uint32_t)size);
		if (!call->buffer)
			return rr_fail(&client->text, -RPCRDMA_ERR_NOMEM, "no memory for a call");
		if (encode_write_call(call, procedure))
			return 0;
		rr_call_free_buffer(call);
		if (size >= max)
			return rr_fail(&client->text, -RPCRDMA_ERR_INVAL,
				"%s: the arguments break their schema (a bound, or an octet string whose "
				"pointer is NULL), or "
				"need more than %u octets",
				rr_call_name(call), (unsigned)max);
	}
}

/* Returns the most octets that the results can have in the stream. The results that go into sinks (the
 * caller's memory for them) do not count. If the results have no bound, returns the octets that the largest
 * message leaves for them. */
static uint32_t
encode_results_max(const struct rr_call *call, const struct rpcrdma_procedure *procedure)
{
	uint32_t max = call->reply_max ? call->reply_max : procedure->result_max;
	uint64_t left = call->client->engine->config.message_max;

	if (max != RPCRDMA_XDR_UNBOUNDED)
		return max;
	left -= rr_min(RR_RPC_REPLY_FIXED + call->client->auth->reply_adds, left);
	for (uint32_t i = 0; i < call->sink_count; i++)
		left -= rr_min((uint64_t)call->sinks[i].length + rr_pad(call->sinks[i].length), left);
	return (uint32_t)left;
}

/* Returns how many octets the reply is expected to have at least: by this number the carrier decides whether
 * to offer a Reply chunk (rr_expect_least()). call->transaction.reply_max must be set before. */
static uint32_t
encode_least_reply(const struct rr_call *call, const struct rpcrdma_procedure *procedure)
{
	const uint32_t header = RR_RPC_REPLY_FIXED + RR_AUTH_FIXED;
	bool is_known = call->reply_max > 0 || procedure->result_max != RPCRDMA_XDR_UNBOUNDED;
	const struct rr_expected expected = {
		.min = call->reply_min ? call->reply_min : procedure->result_min,
		.max = is_known ? call->transaction.reply_max : RPCRDMA_XDR_UNBOUNDED,
		.last = call->history ? call->history->reply : 0,
		.often_large = call->often_large,
		.whole = !call->client->places && call->sink_count > 0,
	};
	uint32_t least = rr_expect_least(&expected);

	return (uint32_t)rr_min((uint64_t)least + header, call->transaction.reply_max);
}

/* Sets in the transaction how large the reply may be: the most and the least octets of its stream, and the
 * sinks (memory for results that RDMA places). If the flavor forbids that results are placed, adds the octets
 * of the sinks to the stream's instead. Returns false if the sum overflows. */
static bool
expect_reply(struct rr_call *call, const struct rpcrdma_procedure *procedure)
{
	const struct rpcrdma_client *client = call->client;
	struct rr_transaction *transaction = &call->transaction;
	uint32_t *octets = &transaction->reply_max;

	if (!rr_add_u32(encode_results_max(call, procedure), RR_RPC_REPLY_FIXED + client->auth->reply_adds,
		    octets) ||
		(call->guarded && !rr_add_u32(*octets, client->auth->guarded_adds, octets)))
		return false;
	for (uint32_t i = 0; i < call->sink_count; i++) {
		uint32_t length = call->sinks[i].length;

		if (client->places) {
			transaction->sinks[transaction->sink_count++] = call->sinks[i];
			continue;
		}
		if (!rr_add_u32(*octets, rr_pad(length), octets) || !rr_add_u32(*octets, length, octets))
			return false;
	}
	transaction->reply_min = encode_least_reply(call, procedure);
	return true;
}

int
rr_call_encode(struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;
	const struct rpcrdma_program *program = call->program;
	const struct rpcrdma_procedure *procedure;
	int error;

	if (call->proc >= program->procedure_count || !program->procedures[call->proc].name)
		return rr_fail(&client->text, -RPCRDMA_ERR_INVAL, "%s has no procedure %u", program->name,
			call->proc);
	procedure = &program->procedures[call->proc];
	if (call->sink_count > RPCRDMA_SINKS_MAX)
		return rr_fail(&client->text, -RPCRDMA_ERR_INVAL,
			"%s: %u results to be placed are more than %d", procedure->name, call->sink_count,
			RPCRDMA_SINKS_MAX);
	error = client->auth->guard ? rr_call_guard(call) : 0;
	if (error != 0)
		return error;
	if (!expect_reply(call, procedure))
		return rr_fail(&client->text, -RPCRDMA_ERR_LIMIT, "%s: the reply would be too large",
			procedure->name);
	call->transaction.xid = (*client->xid)++;
	error = encode_fill_buffer(call, procedure);
	return error == 0 && client->auth->guard && call->unsealed.size > 0 ? RR_CALL_UNSEALED : error;
}

/* ---- The reply ---- */

/* Sets the client's text to the reason for which the server denied the call, and returns
 * -RPCRDMA_ERR_RPC_DENIED. */
static int
encode_denied(struct rr_call *call, const struct rr_reply_header *reply)
{
	static const char *const reasons[] = {
		[RR_AUTH_OK] = "gives no reason",
		[RR_AUTH_BADCRED] =
			"cannot read the credential; it may not take this flavor, or not so many groups",
		[RR_AUTH_REJECTEDCRED] =
			"does not take this flavor of credential; allow it there (AUTH_SYS: sec=sys)",
		[RR_AUTH_BADVERF] = "cannot read the verifier",
		[RR_AUTH_REJECTEDVERF] = "takes the verifier as expired or replayed",
		[RR_AUTH_TOOWEAK] = "wants more than this; allow sec=sys, this address and any port "
				    "(insecure) there, or use TLS if it demands that (xprtsec=tls or mtls)",
		[RR_RPCSEC_GSS_CREDPROBLEM] = "does not know the context of the call",
		[RR_RPCSEC_GSS_CTXPROBLEM] = "cannot go on with the context of the call",
	};
	struct rr_text *text = &call->client->text;
	const char *peer = call->client->peer;

	if (reply->reject_stat == RR_RPC_MISMATCH)
		return rr_fail(text, -RPCRDMA_ERR_RPC_DENIED, "%s speaks RPC versions %u to %u, not 2", peer,
			reply->low, reply->high);
	if (reply->auth_stat < sizeof(reasons) / sizeof(reasons[0]) && reasons[reply->auth_stat])
		return rr_fail(text, -RPCRDMA_ERR_RPC_DENIED, "%s: %s with %s denied: the server %s", peer,
			rr_call_name(call), call->client->auth->name, reasons[reply->auth_stat]);
	return rr_fail(text, -RPCRDMA_ERR_RPC_DENIED, "%s: %s with %s denied: authentication status %u", peer,
		rr_call_name(call), call->client->auth->name, reply->auth_stat);
}

/* Sets the client's text to the reason for which the server accepted the call but did not execute it, and
 * returns the error. */
static int
encode_not_executed(struct rr_call *call, const struct rr_reply_header *reply)
{
	struct rr_text *text = &call->client->text;
	const char *peer = call->client->peer;
	const struct rpcrdma_program *program = call->program;

	switch (reply->accept_stat) {
	case RR_PROG_UNAVAIL:
		return rr_fail(text, -RPCRDMA_ERR_PROG_UNAVAIL,
			"%s does not serve program %u (%s); is the port right?", peer, program->prog,
			program->name);
	case RR_PROG_MISMATCH:
		return rr_fail(text, -RPCRDMA_ERR_PROG_MISMATCH,
			"%s serves versions %u to %u of program %u, not %u (%s)", peer, reply->low,
			reply->high, program->prog, program->vers, program->name);
	case RR_PROC_UNAVAIL:
		return rr_fail(
			text, -RPCRDMA_ERR_PROC_UNAVAIL, "%s does not have %s", peer, rr_call_name(call));
	case RR_GARBAGE_ARGS:
		return rr_fail(text, -RPCRDMA_ERR_GARBAGE_ARGS, "%s could not decode the arguments of %s",
			peer, rr_call_name(call));
	default:
		return rr_fail(text, -RPCRDMA_ERR_RPC_SYSTEM,
			"%s: system error during %s; its log may say more", peer, rr_call_name(call));
	}
}

/* Sets the text for a result that does not decode, and returns the error. room: octets of the call's arena.
 */
static int
encode_bad_result(const struct rr_call *call, const struct rpcrdma_xdr_reader *reader, size_t room)
{
	struct rr_text *text = &call->client->text;
	const char *peer = call->client->peer;

	if (reader->starved && room == 0)
		return rr_fail(text, -RPCRDMA_ERR_XDR,
			"%s: the result of %s has arrays, lists or optional data, for which the call has no "
			"arena",
			peer, rr_call_name(call));
	if (reader->starved)
		return rr_fail(text, -RPCRDMA_ERR_XDR,
			"%s: the result of %s has arrays, lists or optional data that need a larger arena "
			"than %zu "
			"octets",
			peer, rr_call_name(call), room);
	return rr_fail(
		text, -RPCRDMA_ERR_XDR, "%s: the result of %s does not decode", peer, rr_call_name(call));
}

/* Prepares the reader for the results of a reply: reads the header, has the flavor check and unwrap the reply
 * if it does so, and copies what is to be kept. Returns 0, or an error if the reply has no results, or not
 * those of the server. */
static int
encode_open_reply(struct rr_call *call, struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_message message = call->transaction.reply;
	struct rr_reply_header header;
	int error = 0;

	/* Of wrapped results, rr_call_open_reply() keeps what they are. */
	if (call->keep && !(call->auth_call.context && call->auth_call.wraps))
		error = rr_call_keep_reply(call, &message);
	if (error < 0)
		return error;
	rpcrdma_xdr_reader_init(reader, &message, &call->arena);
	if (!rr_rpc_get_reply(reader, &header))
		return rr_fail(&call->client->text, -RPCRDMA_ERR_XDR,
			"%s: the reply to %s has no valid RPC header", call->client->peer,
			rr_call_name(call));
	if (header.reply_stat == RR_MSG_DENIED)
		return call->auth_call.context && rr_call_is_lost(call, &header)
			       ? RR_CALL_LOST
			       : encode_denied(call, &header);
	if (call->auth_call.context)
		error = rr_call_open_reply(call, reader);
	if (error != 0)
		return error;
	return header.accept_stat == RR_SUCCESS ? 0 : encode_not_executed(call, &header);
}

int
rr_call_decode(struct rr_call *call)
{
	struct rpcrdma_xdr_reader reader;
	int error = encode_open_reply(call, &reader);

	return error != 0 ? error : rr_call_decode_results(call, &reader);
}

int
rr_call_decode_results(struct rr_call *call, struct rpcrdma_xdr_reader *reader)
{
	const size_t room = (size_t)(call->arena.end - call->arena.next);
	const struct rpcrdma_procedure *procedure = &call->program->procedures[call->proc];

	if (procedure->get_result)
		procedure->get_result(reader, call->result);
	/* RFC 8166, 6.1: it is a violation if "A Responder reduces a non-DDP-eligible result data item. The
	 * Requester MUST terminate the pending RPC transaction and report an appropriate permanent error":
	 * such an item is left over after decoding. */
	if (!rpcrdma_xdr_done(reader))
		return encode_bad_result(call, reader, room);
	/* It is a violation, too, if "A Responder does not reduce a DDP-eligible result data item into an
	 * available Write chunk": a chunk came back empty (unused), and an item was in the stream (inlined).
	 */
	if (call->transaction.unused > 0 && reader->inlined > 0)
		return rr_fail(&call->client->text, -RPCRDMA_ERR_PEER,
			"%s: the result of %s came beside the memory that was offered for it",
			call->client->peer, rr_call_name(call));
	return 0;
}
