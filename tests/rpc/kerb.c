/* SPDX-License-Identifier: BSD-3-Clause */
#include "kerb.h"

#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include <rpcrdma/error.h>

#include "base/endian.h"
#include "rpc/auth/gss_body.h"

/* ---- The control procedure ---- */

static void
get_answer(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct kerb *kerb = *(struct kerb **)value;
	struct rr_gss_init_res res = { .major = UINT32_MAX };

	if (rpcrdma_xdr_left(reader) == 0)
		return;
	rr_gss_get_init_res(reader, &res);
	assert_true(res.token.length <= sizeof(kerb->token));
	kerb->major = res.major;
	kerb->minor = res.minor;
	kerb->window = res.seq_window;
	kerb->handle_length = res.handle.length;
	kerb->token_length = res.token.length;
	if (res.handle.length > 0)
		memcpy(kerb->handle, res.handle.data, res.handle.length);
	if (res.token.length > 0)
		memcpy(kerb->token, res.token.data, res.token.length);
}

static void
put_token(struct rpcrdma_xdr_writer *writer, const void *value)
{
	if (((const struct rr_gss_init_arg *)value)->token.data)
		rr_gss_put_init_arg(writer, value);
}

static const struct rpcrdma_procedure procedures[] = { {
	.name = "KERB_CONTROL",
	.args_size = sizeof(struct rr_gss_init_arg),
	.result_size = sizeof(struct kerb *),
	.args_max = 4 + RR_GSS_INIT_TOKEN_MAX,
	.result_max = 4096,
	.get_result = get_answer,
	.put_args = put_token,
} };

struct rpcrdma_program
kerb_program(uint32_t prog)
{
	return (struct rpcrdma_program){ "KERB", prog, 1, 1, procedures, NULL };
}

/* ---- The guard ---- */

static struct kerb *
kerb_of(const struct rr_auth_call *call)
{
	return call->context;
}

/* The context of a call that makes a context is the client itself, as any call must have one. */
static int
begin(const struct rr_auth *auth, const struct rpcrdma_program *program, struct rr_auth_call *call)
{
	struct kerb *kerb = (struct kerb *)(uintptr_t)auth;
	bool control = program->procedures == procedures;

	kerb->held++;
	call->context = kerb;
	call->number = ++kerb->number;
	call->service = control ? 0 : kerb->service;
	call->wraps = !control && kerb->service != RR_GSS_SVC_NONE;
	call->memory = NULL;
	return 0;
}

static bool
creates(const struct rr_auth_call *call)
{
	return call->service == 0 && kerb_of(call)->proc != RR_GSS_DESTROY;
}

static void
put_credential(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *body)
{
	const struct kerb *kerb = kerb_of(call);
	bool control = call->service == 0;

	rpcrdma_put_u32(body, kerb->version ? kerb->version : RR_GSS_VERSION);
	rpcrdma_put_u32(body, control || kerb->proc_always ? kerb->proc : RR_GSS_DATA);
	rpcrdma_put_u32(body, call->number);
	rpcrdma_put_u32(body, kerb->service);
	rpcrdma_put_bytes(body,
		(struct rpcrdma_bytes){ kerb->handle, creates(call) ? 0 : kerb->handle_length },
		RR_GSS_HANDLE_MAX);
}

static uint32_t
sign(const struct rr_auth_call *call, struct rpcrdma_bytes front, struct rpcrdma_xdr_writer *body)
{
	const struct kerb *kerb = kerb_of(call);
	uint8_t mic[RR_GSS_MIC_MAX];

	if (creates(call))
		return RR_AUTH_NONE;
	assert_true(rr_gss_sign(kerb->context, RR_GSS_LOOP, front.data, front.length, mic));
	if (kerb->bad_mic)
		mic[RR_GSS_MIC_MAX > 20 ? 20 : 0] ^= 1;
	rpcrdma_put_fixed(body, mic, rr_gss_context_sizes(kerb->context).mic);
	return RR_RPCSEC_GSS;
}

static bool
check(struct rr_auth_call *call, const struct rr_opaque_auth *verifier)
{
	struct kerb *kerb = kerb_of(call);
	uint8_t number[4];

	if (creates(call)) {
		kerb->verifier_length = verifier->body.length;
		if (verifier->body.length > 0)
			memcpy(kerb->verifier, verifier->body.data, verifier->body.length);
		return true;
	}
	rr_put_be32(number, call->number);
	return verifier->flavor == RR_RPCSEC_GSS &&
	       rr_gss_verify(kerb->context, RR_GSS_LOOP, number, sizeof(number), verifier->body.data,
		       verifier->body.length);
}

static bool
wrap(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	const struct kerb *kerb = kerb_of(call);
	const struct rr_gss_body body = { kerb->context, RR_GSS_LOOP, call->service,
		call->number + kerb->inside };
	bool wrapped = rr_gss_body_wrap(&body, writer, put, value);

	if (kerb->flip && !writer->failed && kerb->flip / 8 < rpcrdma_xdr_length(writer))
		writer->start[kerb->flip / 8] ^= (uint8_t)(1u << kerb->flip % 8);
	return wrapped;
}

static bool
unwrap(struct rr_auth_call *call, struct rpcrdma_message *message)
{
	const struct rr_gss_body body = { kerb_of(call)->context, RR_GSS_LOOP, call->service, call->number };

	return rr_gss_body_unwrap(&body, &rr_env_system, message, &call->memory);
}

static void
end(struct rr_auth_call *call)
{
	kerb_of(call)->held--;
	rr_free(&rr_env_system, call->memory);
	call->memory = call->context = NULL;
}

static const struct rr_auth_guard guard = { .begin = begin,
	.put = put_credential,
	.sign = sign,
	.check = check,
	.wrap = wrap,
	.unwrap = unwrap,
	.end = end };

/* ---- Contexts ---- */

void
kerb_init(struct kerb *kerb, uint32_t service)
{
	struct rr_text text;

	assert_int_equal(rr_gss_library_load(&text), 0);
	memset(kerb, 0, sizeof(*kerb));
	kerb->service = service;
	kerb->proc = RR_GSS_INIT;
	kerb->auth = (struct rr_auth){
		.flavor = RR_RPCSEC_GSS,
		.name = "RPCSEC_GSS",
		.call_adds = 2 * (RR_AUTH_FIXED + RR_AUTH_BODY_MAX) + 128,
		.reply_adds = RR_AUTH_FIXED + RR_GSS_MIC_MAX + 128,
		.guard = &guard,
	};
}

void
kerb_end(struct kerb *kerb)
{
	uint32_t minor;

	assert_int_equal(kerb->held, 0);
	rr_gss_context_free(kerb->context);
	kerb->context = NULL;
	if (kerb->making)
		rr_gss_library.gss_delete_sec_context(&minor, &kerb->making, GSS_C_NO_BUFFER);
}

/* Goes on with the context, with a token of the server. Returns the major status. */
static uint32_t
go_on(struct kerb *kerb, gss_buffer_desc *input, gss_buffer_desc *output)
{
	const struct rr_gss_library *library = &rr_gss_library;
	gss_buffer_desc text = { strlen("nfs@localhost"), (void *)(uintptr_t) "nfs@localhost" };
	gss_name_t name;
	uint32_t minor, major;

	assert_int_equal(library->gss_import_name(&minor, &text, library->name_type_service, &name), 0);
	major = library->gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &kerb->making, name, &rr_gss_krb5,
		GSS_C_MUTUAL_FLAG, 0, GSS_C_NO_CHANNEL_BINDINGS, input, NULL, output, NULL, NULL);
	if (GSS_ERROR(major)) {
		struct rr_text why;

		rr_gss_reason(major, minor, &why);
		print_message("%s\n", why.text);
	}
	library->gss_release_name(&minor, &name);
	return major;
}

struct rpcrdma_bytes
kerb_token(struct kerb *kerb)
{
	gss_buffer_desc output = GSS_C_EMPTY_BUFFER;
	uint32_t minor, length;
	void *copy;

	kerb->making = GSS_C_NO_CONTEXT;
	assert_int_equal(go_on(kerb, GSS_C_NO_BUFFER, &output), GSS_S_CONTINUE_NEEDED);
	copy = malloc(output.length);
	memcpy(copy, output.value, output.length);
	length = (uint32_t)output.length;
	rr_gss_library.gss_release_buffer(&minor, &output);
	return (struct rpcrdma_bytes){ copy, length };
}

bool
kerb_complete(struct kerb *kerb)
{
	gss_buffer_desc input = { kerb->token_length, kerb->token }, output = GSS_C_EMPTY_BUFFER;
	struct rr_text text;
	uint8_t window[4];

	if (kerb->major != RR_GSS_COMPLETE || go_on(kerb, &input, &output) != GSS_S_COMPLETE)
		return false;
	rr_gss_context_free(kerb->context);
	assert_int_equal(rr_gss_context_new(&kerb->making, rr_gss_clock() + 1000, &kerb->context, &text), 0);
	rr_put_be32(window, kerb->window);
	return rr_gss_verify(
		kerb->context, RR_GSS_LOOP, window, sizeof(window), kerb->verifier, kerb->verifier_length);
}
