/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of RPCSEC_GSS at a client: RFC 2203, section 5.3. */
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "carrier/engine.h"
#include "rpc/auth/gss_body.h"
#include "rpc/auth/gss_client_private.h"

/* The service of a call that is a control message, in struct rr_auth_call. */
enum { GUARD_CONTROL = 0 };

const struct rpcrdma_procedure rr_gss_control_init = {
	.name = "RPCSEC_GSS_INIT",
	.args_size = sizeof(struct rr_gss_init_arg),
	.result_size = sizeof(struct rr_gss_init_res),
	.args_min = 4,
	.args_max = 4 + RR_GSS_TOKEN_MAX,
	.result_min = 4 + 3 * 4 + 4,
	.result_max = 4 + RR_GSS_HANDLE_MAX + 3 * 4 + 4 + GSS_ANSWER_TOKEN_MAX,
	.put_args = rr_gss_put_init_arg,
	.get_result = rr_gss_get_init_res,
};

/* RFC 2203, 5.4: "the procedure specified in the header is NULLPROC, and there are no procedure arguments."
 */
const struct rpcrdma_procedure rr_gss_control_destroy = { .name = "RPCSEC_GSS_DESTROY" };

static struct gss_held *
guard_context(const struct rr_auth_call *call)
{
	return call->context;
}

bool
rr_gss_held_is_full(const struct gss_held *held)
{
	return held->outstanding_count >= rr_min(held->window, GSS_OUTSTANDING) ||
	       (held->outstanding_count > 0 && held->number + 1 - held->outstanding[0] >= held->window);
}

/* The call with this number was answered, or ends without an answer. Those that wait for room go on, if there
 * is some now. */
static void
guard_settle(struct gss_held *held, uint32_t number)
{
	uint32_t at = held->outstanding_count;

	while (at > 0 && held->outstanding[at - 1] > number)
		at--;
	if (at == 0 || held->outstanding[at - 1] != number)
		return;
	memmove(&held->outstanding[at - 1], &held->outstanding[at],
		(held->outstanding_count - at) * sizeof(held->outstanding[0]));
	held->outstanding_count--;
	if (held->gss->current == held && !rr_list_empty(&held->gss->waiters))
		rr_loop_defer(held->gss->engine->loop, &held->gss->room);
}

static void
guard_hold(struct rr_auth_call *call, struct gss_held *held, uint32_t service)
{
	held->holders++;
	call->context = held;
	call->number = ++held->number;
	call->service = service;
	call->wraps = service == RR_GSS_SVC_INTEGRITY || service == RR_GSS_SVC_PRIVACY;
	call->memory = NULL;
	call->apart = false;
	if (held->outstanding_count < GSS_OUTSTANDING)
		held->outstanding[held->outstanding_count++] = call->number;
}

/* Tells whether new calls may use the context. RFC 2203, 5.3.1: "The seq_num field can start at any value
 * below MAXSEQ, and must be incremented (by one or more) for successive requests." */
static bool
guard_is_usable(const struct gss_held *held)
{
	return held && held->number + 1 < RR_GSS_MAXSEQ && !rr_gss_context_expired(held->keys);
}

static int
guard_begin(const struct rr_auth *auth, const struct rpcrdma_program *program, struct rr_auth_call *call)
{
	struct rr_gss_client *gss = gss_of(auth);

	if (program->procedures == &rr_gss_control_init) {
		guard_hold(call, gss->making, GUARD_CONTROL);
		return 0;
	}
	if (program->procedures == &rr_gss_control_destroy && gss->current) {
		guard_hold(call, gss->current, GUARD_CONTROL);
		return 0;
	}
	if (gss->current && !guard_is_usable(gss->current)) {
		rr_gss_held_drop(gss->current);
		gss->current = NULL;
	}
	if (!gss->current || rr_gss_held_is_full(gss->current))
		return RR_AUTH_UNREADY;
	guard_hold(call, gss->current,
		call->guarded && gss->service == RR_GSS_SVC_NONE ? RR_GSS_SVC_INTEGRITY : gss->service);
	return 0;
}

static void
guard_put(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *body)
{
	const struct gss_held *held = guard_context(call);
	bool control = call->service == GUARD_CONTROL, making = control && held->proc != RR_GSS_DESTROY;
	const struct rr_gss_cred cred = { .version = RR_GSS_VERSION,
		.proc = control ? held->proc : RR_GSS_DATA,
		/* RFC 2203, 5.2.2: "the seq_num and service fields are undefined and both must be ignored by
		 * the server." */
		.seq_num = making ? 0 : call->number,
		.service = control ? RR_GSS_SVC_NONE : call->service,
		.handle = { held->handle, held->handle_length } };

	rr_gss_put_cred(body, &cred);
}

static uint32_t
guard_sign(const struct rr_auth_call *call, struct rpcrdma_bytes front, struct rpcrdma_xdr_writer *body)
{
	const struct gss_held *held = guard_context(call);
	uint8_t mic[RR_GSS_MIC_MAX];

	/* RFC 2203, 5.2.2: "All creation requests have the NULL verifier (AUTH_NONE flavor with zero length
	 * opaque data)." */
	if (!held->keys)
		return RR_AUTH_NONE;
	/* RFC 2203, 5.3.1: "The checksum of the RPC header (up to and including the credential) is computed
	 * using the GSS_GetMIC() call" */
	if (!rr_gss_sign(held->keys, RR_GSS_LOOP, front.data, front.length, mic))
		rpcrdma_xdr_writer_fail(body);
	rpcrdma_put_fixed(body, mic, rr_gss_context_sizes(held->keys).mic);
	return RR_RPCSEC_GSS;
}

bool
rr_gss_held_proves(
	const struct gss_held *held, uint32_t number, uint32_t flavor, const void *mic, size_t size)
{
	uint8_t octets[4];

	rr_put_be32(octets, number);
	return flavor == RR_RPCSEC_GSS &&
	       rr_gss_verify(held->keys, RR_GSS_LOOP, octets, sizeof(octets), mic, size);
}

static bool
guard_check(struct rr_auth_call *call, const struct rr_opaque_auth *verifier)
{
	struct gss_held *held = guard_context(call);

	guard_settle(held, call->number);
	/* RFC 2203, 5.3.3.2: "the checksum (the output of GSS_GetMIC()) of the sequence number (in network
	 * order) of the corresponding request." */
	if (held->keys)
		return rr_gss_held_proves(
			held, call->number, verifier->flavor, verifier->body.data, verifier->body.length);
	/* The keys are not known yet: gss_client.c looks at it when they are. */
	held->verifier_flavor = verifier->flavor;
	held->verifier_length = (uint32_t)rr_min(verifier->body.length, sizeof(held->verifier));
	if (held->verifier_length > 0)
		memcpy(held->verifier, verifier->body.data, held->verifier_length);
	return true;
}

/* Describes what protects the call. */
static struct rr_gss_body
guard_body(const struct rr_auth_call *call)
{
	return (struct rr_gss_body){ .context = guard_context(call)->keys,
		.worker = call->apart ? RR_GSS_CREW : RR_GSS_LOOP,
		.service = call->service,
		.seq_num = call->number };
}

static bool
guard_wrap(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	const struct rr_gss_body body = guard_body(call);

	return rr_gss_body_wrap(&body, writer, put, value);
}

static void
guard_lay(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value,
	struct rr_auth_span *span)
{
	const struct rr_gss_body body = guard_body(call);

	rr_gss_body_lay(&body, writer, put, value, span);
}

static bool
guard_protect(const struct rr_auth_call *call, uint8_t *message, const struct rr_auth_span *span)
{
	const struct rr_gss_body body = guard_body(call);

	return rr_gss_body_protect(&body, message, span);
}

static bool
guard_unwrap(struct rr_auth_call *call, struct rpcrdma_message *message)
{
	const struct rr_gss_body body = guard_body(call);

	return rr_gss_body_unwrap(&body, guard_context(call)->gss->engine->env, message, &call->memory);
}

/* RFC 2203, 5.3.3.3: "the client must refresh the context - that is, reestablish it after destroying the old
 * one - and try the request again." The calls that hold the old one still get their answers by it. */
static bool
guard_lose(const struct rr_auth_call *call)
{
	struct gss_held *held = guard_context(call);
	struct rr_gss_client *gss = held->gss;

	if (gss->current == held) {
		gss->current = NULL;
		rr_gss_held_drop(held);
	}
	return call->service != GUARD_CONTROL;
}

static void
guard_end(struct rr_auth_call *call)
{
	struct gss_held *held = guard_context(call);

	rr_free(held->gss->engine->env, call->memory);
	call->memory = call->context = NULL;
	guard_settle(held, call->number);
	rr_gss_held_drop(held);
}

const struct rr_auth_guard rr_gss_client_guard = { .begin = guard_begin,
	.prepare = rr_gss_client_prepare,
	.forget = rr_gss_client_forget,
	.lose = guard_lose,
	.put = guard_put,
	.sign = guard_sign,
	.check = guard_check,
	.wrap = guard_wrap,
	.lay = guard_lay,
	.protect = guard_protect,
	.unwrap = guard_unwrap,
	.end = guard_end };
