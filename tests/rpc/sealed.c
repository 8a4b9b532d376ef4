/* SPDX-License-Identifier: BSD-3-Clause */
#include "sealed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rpcrdma/error.h>

#include "base/checked.h"
#include "base/endian.h"

/* gss_proc and the service of RFC 2203, in one word of the credential. */
enum { CREATE = 100, DESTROY = 101, WORDS = 3, BODY = 4 * WORDS, WRAPPED = 4 + 4 + 4 + RR_SIPHASH_TAG };

static const char letters[] = "sealed";

/* ---- The control procedure ---- */

static void
get_name(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct sealed_name *name = value;
	struct rpcrdma_bytes bytes = rpcrdma_get_bytes(reader, sizeof(name->text) - 1);

	memcpy(name->text, bytes.data ? bytes.data : "", bytes.length);
}

static void
put_name(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct sealed_name *name = value;

	rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ name->text, (uint32_t)strlen(name->text) },
		sizeof(name->text));
}

static void
get_handle(struct rpcrdma_xdr_reader *reader, void *value)
{
	*(uint32_t *)value = rpcrdma_get_u32(reader);
}

static void
put_handle(struct rpcrdma_xdr_writer *writer, const void *value)
{
	rpcrdma_put_u32(writer, *(const uint32_t *)value);
}

/* Procedure 1 is what no control message may name. */
static const struct rpcrdma_procedure procedures[] = { {
							       .name = "SEALED_CONTROL",
							       .args_size = sizeof(struct sealed_name),
							       .result_size = sizeof(uint32_t),
							       .args_min = 4,
							       .args_max = 4 + 32,
							       .result_min = 4,
							       .result_max = 4,
							       .get_args = get_name,
							       .put_args = put_name,
							       .get_result = get_handle,
							       .put_result = put_handle,
						       },
	{ .name = "SEALED_WRONG" } };

static const struct rpcrdma_program control = { "SEALED", 0, 0, 1, procedures, NULL };

struct rpcrdma_program
sealed_program(uint32_t prog, uint32_t vers)
{
	struct rpcrdma_program program = control;

	program.prog = prog;
	program.vers = vers;
	program.procedure_count = 2;
	return program;
}

/* ---- Verifiers, checksums and a cipher ---- */

static void
make_key(struct sealed_context *context, const char *name)
{
	uint8_t tag[RR_SIPHASH_TAG];
	uint8_t secret[RR_SIPHASH_KEY] = { 7 };

	memset(context->name, 0, sizeof(context->name));
	snprintf(context->name, sizeof(context->name), "%s", name);
	rr_siphash(secret, context->name, sizeof(context->name), tag);
	memcpy(context->key, tag, sizeof(context->key));
}

static void
hash(const struct sealed_context *context, const void *data, size_t size, uint8_t tag[RR_SIPHASH_TAG])
{
	rr_siphash(context->key, data, size, tag);
}

static void
hash_number(const struct rr_auth_call *call, uint8_t tag[RR_SIPHASH_TAG])
{
	uint8_t octets[4];

	rr_put_be32(octets, call->number);
	hash(call->context, octets, sizeof(octets), tag);
}

static bool
is_hash(const struct sealed_context *context, const void *data, size_t size, struct rpcrdma_bytes given)
{
	uint8_t tag[RR_SIPHASH_TAG];

	hash(context, data, size, tag);
	return given.length == sizeof(tag) && memcmp(given.data, tag, sizeof(tag)) == 0;
}

/* Encrypts or decrypts. */
static void
mix(const struct rr_auth_call *call, uint8_t *data, size_t size)
{
	uint8_t block[8], tag[RR_SIPHASH_TAG];

	for (size_t i = 0; i < size; i++) {
		if (i % sizeof(tag) == 0) {
			rr_put_be32(block, call->number);
			rr_put_be32(block + 4, (uint32_t)i);
			hash(call->context, block, sizeof(block), tag);
		}
		data[i] ^= tag[i % sizeof(tag)];
	}
}

static void
flip(struct rpcrdma_xdr_writer *writer, uint32_t bit)
{
	if (bit > 0 && !writer->failed && bit / 8 < rpcrdma_xdr_length(writer))
		writer->start[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void
wrap(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer, uint32_t inside,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	size_t at = rpcrdma_xdr_length(writer) + 4, length;
	uint8_t tag[RR_SIPHASH_TAG];

	rpcrdma_put_u32(writer, 0);
	rpcrdma_put_u32(writer, inside);
	if (put)
		put(writer, value);
	if (writer->failed)
		return;
	length = rpcrdma_xdr_length(writer) - at;
	rr_put_be32(writer->start + at - 4, (uint32_t)length);
	hash(call->context, writer->start + at, length, tag);
	if (call->service == SEALED_PRIVACY)
		mix(call, writer->start + at, length);
	rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ tag, sizeof(tag) }, sizeof(tag));
}

static bool
unwrap(struct rr_auth_call *call, struct rpcrdma_message *message)
{
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_bytes body, tag;
	const uint8_t *plain;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	body = rpcrdma_get_bytes(&reader, UINT32_MAX);
	tag = rpcrdma_get_bytes(&reader, RR_SIPHASH_TAG);
	if (!rpcrdma_xdr_done(&reader) || body.length < 4)
		return false;
	plain = body.data;
	if (call->service == SEALED_PRIVACY) {
		call->memory = malloc(body.length);
		if (!call->memory)
			return false;
		memcpy(call->memory, body.data, body.length);
		mix(call, call->memory, body.length);
		plain = call->memory;
	}
	if (!is_hash(call->context, plain, body.length, tag) || rr_get_be32(plain) != call->number)
		return false;
	*message = (struct rpcrdma_message){ .stream = plain + 4, .length = body.length - 4 };
	return true;
}

static void
end(struct rr_auth_call *call)
{
	struct sealed_context *context = call->context;

	free(call->memory);
	call->memory = call->context = NULL;
	if (--context->holders == 0 && context->forgotten)
		context->used = false;
}

static void
hold(struct rr_auth_call *call, struct sealed_context *context, uint32_t number, uint32_t service)
{
	context->holders++;
	call->context = context;
	call->number = number;
	call->service = service;
	call->wraps = service == SEALED_INTEGRITY || service == SEALED_PRIVACY;
	call->memory = NULL;
}

/* ---- The server ---- */

static bool
may_place(struct rpcrdma_bytes cred)
{
	return cred.length == BODY && rr_get_be32((const uint8_t *)cred.data + 8) == SEALED_PLAIN;
}

static struct sealed_context *
find(struct sealed_server *server, uint32_t handle)
{
	for (uint32_t i = 0; i < SEALED_CONTEXTS; i++) {
		struct sealed_context *context = &server->contexts[i];

		if (context->used && !context->forgotten && context->handle == handle)
			return context;
	}
	return NULL;
}

/* RFC 2203, 5.3.3.1: "the server is prepared to receive requests with sequence numbers in the range N through
 * (N - seq_window + 1)" */
static bool
is_new(struct sealed_context *context, uint32_t number)
{
	uint32_t behind = context->newest - number;

	if (number > context->newest) {
		uint32_t ahead = number - context->newest;

		context->seen = ahead < SEALED_WINDOW ? context->seen << ahead : 0;
		context->newest = number;
		behind = 0;
	}
	if (behind >= SEALED_WINDOW || context->seen >> behind & 1)
		return false;
	context->seen |= UINT64_C(1) << behind;
	return true;
}

static int
take(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	struct sealed_server *server = (struct sealed_server *)(uintptr_t)request->auth;
	const struct rpcrdma_bytes front = rr_rpc_call_front(request->exchange->call.stream, call);
	const uint8_t *words = call->cred.body.data;
	struct sealed_context *context;
	uint32_t number, service;

	if (call->cred.body.length != BODY)
		return RR_AUTH_BADCRED;
	number = rr_get_be32(words + 4);
	service = rr_get_be32(words + 8);
	if ((service > SEALED_PRIVACY && service != CREATE && service != DESTROY) ||
		(service > SEALED_PRIVACY && call->proc != 0))
		return RR_AUTH_BADCRED;
	if (service == CREATE)
		return rr_auth_null_verifier(call) == RR_AUTH_OK ? RR_AUTH_CONTROL : RR_AUTH_BADVERF;
	context = find(server, rr_get_be32(words));
	if (!context)
		return RR_RPCSEC_GSS_CREDPROBLEM;
	if (call->verf.flavor != SEALED_FLAVOR)
		return RR_AUTH_BADVERF;
	if (!is_hash(context, front.data, front.length, call->verf.body))
		return RR_RPCSEC_GSS_CREDPROBLEM;
	if (number > SEALED_NUMBER_MAX)
		return RR_RPCSEC_GSS_CTXPROBLEM;
	server->taken++;
	if (!request->exchange->taken && !is_new(context, number)) {
		server->discarded++;
		return RR_AUTH_SILENT;
	}
	hold(&request->auth_call, context, number, service);
	request->header += RR_SIPHASH_TAG + (request->auth_call.wraps ? WRAPPED : 0);
	request->caller = (struct rr_caller){ .flavor = (enum rr_auth_flavor)SEALED_FLAVOR,
		.protection = service == SEALED_PRIVACY     ? RR_CALLER_PRIVACY
			      : service == SEALED_INTEGRITY ? RR_CALLER_INTEGRITY
							    : RR_CALLER_OPEN,
		.named = true,
		.uid = 7,
		.principal = context->name };
	return service == DESTROY ? RR_AUTH_CONTROL : RR_AUTH_OK;
}

static enum rpcrdma_handled
handle_control(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct sealed_server *server = ctx;
	const struct sealed_name *name = args;
	struct sealed_context *context = request->auth_call.context;

	if (context) {
		context->forgotten = true;
		return RPCRDMA_HANDLED;
	}
	for (uint32_t i = 0; i < SEALED_CONTEXTS && !context; i++) {
		if (!server->contexts[i].used)
			context = &server->contexts[i];
	}
	if (!context)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	*context = (struct sealed_context){ .server = server, .used = true, .handle = ++server->made };
	make_key(context, name->text);
	/* RFC 2203, 5.2.3.1: the verifier of the reply is that of the window's size. */
	hold(&request->auth_call, context, SEALED_WINDOW, CREATE);
	*(uint32_t *)result = context->handle;
	return RPCRDMA_HANDLED;
}

static enum rr_auth_stat
answer(const struct rr_auth_call *call, struct rr_opaque_auth *verifier, uint8_t body[RR_AUTH_BODY_MAX])
{
	const struct sealed_context *context = call->context;

	/* The name "nobody" stands for a key that has gone. RFC 2203, 5.3.3.4.1 */
	if (strcmp(context->name, "nobody") == 0 && call->service != CREATE)
		return RR_RPCSEC_GSS_CTXPROBLEM;
	hash_number(call, body);
	*verifier = (struct rr_opaque_auth){ SEALED_FLAVOR, { body, RR_SIPHASH_TAG } };
	return RR_AUTH_OK;
}

static bool
wrap_results(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	const struct sealed_server *server = ((struct sealed_context *)call->context)->server;

	if (server->unable)
		return false;
	wrap(call, writer, call->number, put, value);
	flip(writer, server->flip);
	return true;
}

static rpcrdma_handler *const handlers[] = { handle_control };

static const struct rr_auth_guard server_guard = {
	.answer = answer, .wrap = wrap_results, .unwrap = unwrap, .end = end
};

void
sealed_server_init(struct sealed_server *server)
{
	memset(server, 0, sizeof(*server));
	server->control = (struct rr_service){ &control, handlers, server };
	server->auth = (struct rr_auth){
		.flavor = (enum rr_auth_flavor)SEALED_FLAVOR,
		.name = letters,
		.answer_adds = RR_AUTH_FIXED,
		.may_place = may_place,
		.take = take,
		.guard = &server_guard,
		.control = &server->control,
	};
}

/* ---- The client ---- */

static struct sealed_client *
client_of(const struct rr_auth_call *call)
{
	return rr_container((struct sealed_context *)call->context, struct sealed_client, context);
}

static int
begin(const struct rr_auth *auth, const struct rpcrdma_program *program, struct rr_auth_call *call)
{
	struct sealed_client *client = (struct sealed_client *)(uintptr_t)auth;

	if (program->procedures == procedures)
		hold(call, &client->context, ++client->number, client->destroys ? DESTROY : CREATE);
	else if (client->context.used)
		hold(call, &client->context, ++client->number, client->service);
	return call->context ? 0 : -RPCRDMA_ERR_RPC_DENIED;
}

static void
put_credential(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *body)
{
	rpcrdma_put_u32(body, client_of(call)->context.handle);
	rpcrdma_put_u32(body, call->number);
	rpcrdma_put_u32(body, call->service);
}

static uint32_t
sign(const struct rr_auth_call *call, struct rpcrdma_bytes front, struct rpcrdma_xdr_writer *body)
{
	uint8_t tag[RR_SIPHASH_TAG];

	if (call->service == CREATE)
		return RR_AUTH_NONE;
	hash(call->context, front.data, front.length, tag);
	rpcrdma_put_fixed(body, tag, sizeof(tag));
	return SEALED_FLAVOR;
}

static bool
check(struct rr_auth_call *call, const struct rr_opaque_auth *verifier)
{
	struct sealed_context *context = call->context;
	uint8_t octets[4];

	/* There is no key yet: sealed_complete() looks at it. */
	if (call->service == CREATE) {
		context->verifier_length = (uint32_t)rr_min(verifier->body.length, RR_SIPHASH_TAG);
		memcpy(context->verifier.text, verifier->body.data ? verifier->body.data : "",
			context->verifier_length);
		return true;
	}
	rr_put_be32(octets, call->number);
	return verifier->flavor == SEALED_FLAVOR && is_hash(context, octets, sizeof(octets), verifier->body);
}

static bool
wrap_arguments(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	wrap(call, writer, call->number + client_of(call)->inside, put, value);
	flip(writer, client_of(call)->flip);
	return true;
}

static const struct rr_auth_guard client_guard = { .begin = begin,
	.put = put_credential,
	.sign = sign,
	.check = check,
	.wrap = wrap_arguments,
	.unwrap = unwrap,
	.end = end };

void
sealed_client_init(struct sealed_client *client, enum sealed_service service)
{
	memset(client, 0, sizeof(*client));
	client->service = service;
	client->auth = (struct rr_auth){
		.flavor = (enum rr_auth_flavor)SEALED_FLAVOR,
		.name = letters,
		.call_adds = 2 * RR_AUTH_FIXED + BODY + RR_SIPHASH_TAG + WRAPPED,
		.reply_adds = RR_AUTH_FIXED + RR_SIPHASH_TAG + WRAPPED,
		.guard = &client_guard,
	};
}

bool
sealed_complete(struct sealed_client *client, const char *name, uint32_t handle)
{
	struct sealed_context *context = &client->context;
	uint8_t octets[4];

	make_key(context, name);
	context->handle = handle;
	rr_put_be32(octets, SEALED_WINDOW);
	context->used = is_hash(context, octets, sizeof(octets),
		(struct rpcrdma_bytes){ context->verifier.text, context->verifier_length });
	return context->used;
}
