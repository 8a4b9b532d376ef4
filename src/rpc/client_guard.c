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
	call->auth_call = (struct rr_auth_call){ 0 };
	error = auth->guard->begin(auth, call->program, &call->auth_call);
	client->places = !call->auth_call.wraps;
	if (error < 0)
		return rr_fail(&client->text, error, "%s: %s: %s has no context for the call", client->peer,
			call->program->procedures[call->proc].name, auth->name);
	return 0;
}

void
rr_call_let_go(struct rr_call *call)
{
	call->client->auth->guard->end(&call->auth_call);
}

void
rr_call_put_guarded(const struct rr_call *call, struct rpcrdma_xdr_writer *writer)
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
	if (part.failed || (call->auth_call.wraps && !auth->guard->wrap(&call->auth_call, writer,
							     procedure->put_args, call->args)))
		rpcrdma_xdr_writer_fail(writer);
}

/* Encodes the call again, with another number. RFC 2203, 5.3.3.1: "the client increment the sequence number
 * even if it is retrying a request with the same RPC transaction identifier." As a call is sent once on each
 * connection, a reply is one to the last number. */
static int
guard_encode_again(struct rr_call *call)
{
	struct rr_call_buffer *buffer = call->buffer;
	struct rpcrdma_xdr_writer writer;
	int error = rr_call_guard(call);

	if (error < 0)
		return error;
	rpcrdma_xdr_writer_init(
		&writer, buffer->data, buffer->size, call->items, call->client->places ? RR_CALL_ITEMS : 0);
	rr_call_put_guarded(call, &writer);
	if (writer.failed)
		return rr_fail(&call->client->text, -RPCRDMA_ERR_LIMIT,
			"%s: %s does not fit its memory again", call->client->peer, rr_call_name(call));
	call->transaction.call = rpcrdma_xdr_written(&writer);
	return 0;
}

void
rr_client_encode_again(struct rpcrdma_client *client)
{
	rr_list_for_each (link, &client->waiting) {
		struct rr_call *call = rr_container(link, struct rr_call, link);
		int error = call->auth_call.again ? guard_encode_again(call) : 0;

		call->auth_call.again = false;
		if (error < 0)
			rr_call_end(call, error);
	}
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
	int error = 0;

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
	if (reader->items < reader->items_end || !guard->unwrap(&call->auth_call, &results))
		return rr_fail(&client->text, -RPCRDMA_ERR_PEER,
			"%s: the results of %s are not what the server has wrapped", client->peer,
			rr_call_name(call));
	if (call->keep)
		error = rr_call_keep_reply(call, &results);
	rpcrdma_xdr_reader_init(reader, &results, reader->arena);
	/* The results may lie in memory of the flavor, and are valid until done() has returned. */
	if (client->answered_call.context)
		guard->end(&client->answered_call);
	client->answered_call = call->auth_call;
	call->auth_call.context = NULL;
	return error;
}
