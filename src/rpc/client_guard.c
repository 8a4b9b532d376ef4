/* SPDX-License-Identifier: BSD-3-Clause */
/* The additions of flavors with contexts (struct rr_auth_guard) to the two messages of a call: a credential
 * and a verifier of each transmission, wrapped arguments, and a reply that proves to be the server's. */
#include "rpc/client_private.h"

int
rr_call_guard(struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;
	const struct rr_auth *auth = client->auth;
	int error;

	if (call->auth_call.context)
		auth->guard->end(&call->auth_call);
	call->auth_call = (struct rr_auth_call){ .guarded = call->guarded };
	call->unsealed.size = 0;
	error = auth->guard->begin(auth, call->program, &call->auth_call);
	client->places = !call->auth_call.wraps;
	if (error < 0)
		return rr_fail(&client->text, error, "%s: %s: %s has no context for the call", client->peer,
			call->program->procedures[call->proc].name, auth->name);
	return error;
}

/* Writes wrapped arguments, or leaves it to a thread to protect them. Returns false if they cannot be
 * protected. */
static bool
guard_wrap(struct rr_call *call, struct rpcrdma_xdr_writer *writer)
{
	const struct rr_auth *auth = call->client->auth;
	void (*put)(struct rpcrdma_xdr_writer *, const void *) =
		call->program->procedures[call->proc].put_args;
	struct rr_auth_span span;

	if (!auth->crew)
		return auth->guard->wrap(&call->auth_call, writer, put, call->args);
	auth->guard->lay(&call->auth_call, writer, put, call->args, &span);
	if (writer->failed || span.size < RR_AUTH_LARGE)
		return writer->failed || auth->guard->protect(&call->auth_call, writer->start, &span);
	call->unsealed = span;
	return true;
}

void
rr_call_put_guarded(struct rr_call *call, struct rpcrdma_xdr_writer *writer)
{
	struct rr_call_header header = { .xid = call->transaction.xid,
		.prog = call->program->prog,
		.vers = call->program->vers,
		.proc = call->proc };
	const struct rr_auth *auth = call->client->auth;
	const struct rpcrdma_procedure *procedure = &call->program->procedures[call->proc];
	struct rpcrdma_xdr_writer part;
	uint8_t body[RR_AUTH_BODY_MAX];
	struct rpcrdma_bytes front;

	rpcrdma_xdr_writer_init(&part, body, sizeof(body), NULL, 0);
	auth->guard->put(&call->auth_call, &part);
	header.cred = (struct rr_opaque_auth){ auth->flavor, { body, (uint32_t)rpcrdma_xdr_length(&part) } };
	rr_rpc_put_call_front(writer, &header);
	front = (struct rpcrdma_bytes){ writer->start, (uint32_t)rpcrdma_xdr_length(writer) };
	if (part.failed || writer->failed) {
		rpcrdma_xdr_writer_fail(writer);
		return;
	}
	rpcrdma_xdr_writer_init(&part, body, sizeof(body), NULL, 0);
	header.verf.flavor = auth->guard->sign(&call->auth_call, front, &part);
	header.verf.body = (struct rpcrdma_bytes){ body, (uint32_t)rpcrdma_xdr_length(&part) };
	rr_rpc_put_auth(writer, &header.verf);
	if (!call->auth_call.wraps && procedure->put_args)
		procedure->put_args(writer, call->args);
	if (part.failed || (call->auth_call.wraps && !guard_wrap(call, writer)))
		rpcrdma_xdr_writer_fail(writer);
}

/* RFC 2203, 5.3.3.1: "the sequence number algorithm requires that the client increment the sequence number
 * even if it is retrying a request with the same RPC transaction identifier." As a call is sent once on each
 * connection, a reply is one to the last number. */
int
rr_call_encode_again(struct rr_call *call)
{
	struct rr_call_buffer *buffer = call->buffer;
	struct rpcrdma_xdr_writer writer;
	int error = rr_call_guard(call);

	if (error != 0)
		return error;
	rpcrdma_xdr_writer_init(
		&writer, buffer->data, buffer->size, call->items, call->client->places ? RR_CALL_ITEMS : 0);
	rr_call_put_guarded(call, &writer);
	if (writer.failed)
		return rr_fail(&call->client->text, -RPCRDMA_ERR_LIMIT,
			"%s: %s does not fit its memory again", call->client->peer, rr_call_name(call));
	call->transaction.call = rpcrdma_xdr_written(&writer);
	return call->unsealed.size > 0 ? RR_CALL_UNSEALED : 0;
}

/* RFC 2203, 5.3.3.3, of both: "the client must refresh the context". */
bool
rr_call_is_lost(struct rr_call *call, const struct rr_reply_header *reply)
{
	enum { RENEWALS_MAX = 2 };
	const struct rr_auth_guard *guard = call->client->auth->guard;

	if (reply->reject_stat != RR_AUTH_ERROR || !guard->lose ||
		(reply->auth_stat != RR_RPCSEC_GSS_CREDPROBLEM &&
			reply->auth_stat != RR_RPCSEC_GSS_CTXPROBLEM))
		return false;
	return guard->lose(&call->auth_call) && call->renewals++ < RENEWALS_MAX;
}

void
rr_client_forget_answer(struct rpcrdma_client *client)
{
	if (client->answered_call.context)
		client->auth->guard->end(&client->answered_call);
	rr_free(client->engine->env, client->answered_copy);
	client->answered_copy = NULL;
}

int
rr_call_take_results(struct rr_call *call, struct rpcrdma_message *results, struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_client *client = call->client;
	int error = 0;

	if (call->keep)
		error = rr_call_keep_reply(call, results);
	rpcrdma_xdr_reader_init(reader, results, &call->arena);
	/* The results may lie in memory of the flavor, or in a copy, and are valid until done() has returned.
	 */
	rr_client_forget_answer(client);
	client->answered_call = call->auth_call;
	call->auth_call.context = NULL;
	return error;
}

int
rr_call_open_reply(struct rr_call *call, struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_client *client = call->client;
	const struct rr_auth_guard *guard = client->auth->guard;
	struct rpcrdma_message results = { .stream = reader->next,
		.length = (uint32_t)rpcrdma_xdr_left(reader) };
	struct rpcrdma_xdr_reader front;
	struct rr_opaque_auth verifier;
	bool later = client->auth->crew && results.length >= RR_AUTH_LARGE;

	/* The header was found to be right, but not kept: xid, REPLY, MSG_ACCEPTED, the verifier, the status.
	 */
	rpcrdma_xdr_reader_init(&front, &call->transaction.reply, NULL);
	for (int i = 0; i < 3; i++)
		rpcrdma_get_u32(&front);
	verifier.flavor = rpcrdma_get_u32(&front);
	verifier.body = rpcrdma_get_bytes(&front, RR_AUTH_BODY_MAX);
	/* RFC 2203, 5.3.3.2: "the checksum ... of the sequence number ... of the corresponding request" */
	if (!guard->check(&call->auth_call, &verifier))
		return rr_fail(&client->text, -RPCRDMA_ERR_PEER,
			"%s: the verifier of the reply to %s is not the server's", client->peer,
			rr_call_name(call));
	if (!call->auth_call.wraps || rpcrdma_get_u32(&front) != RR_SUCCESS)
		return 0;
	/* Nor may a server place items of what it wraps. */
	if (reader->items == reader->items_end && later) {
		call->transaction.reply = results;
		return RR_CALL_OPENING;
	}
	if (reader->items < reader->items_end || !guard->unwrap(&call->auth_call, &results))
		return rr_fail(&client->text, -RPCRDMA_ERR_PEER,
			"%s: the results of %s are not what the server has wrapped", client->peer,
			rr_call_name(call));
	return rr_call_take_results(call, &results, reader);
}
