/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes calls of RPCSEC_GSS, in the order of RFC 2203, 5.3.3.1: the credential, the handle, the checksum of
 * the header, and then the sequence number; and protects their replies. */
#include "rpc/auth/gss_server.h"

#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "rpc/auth/gss_body.h"

/* The most threads of a crew: half of them may wait for a directory of users, and a host has at most
 * RR_GSS_CREATIONS_HOST of these, so that others find one. Jobs that compute have no more threads than there
 * are processors, and two in any case. */
enum { SERVER_THREADS = 64 };

/* ---- Calls ---- */

/* RFC 2203, 5.2.2: "The proc is always set to NULLPROC (zero)." "In the first creation request, the handle
 * field is NULL". "All creation requests have the NULL verifier". Kerberos needs one request: no handle is
 * ever given out for a second one. 5.2.3.2: CREDPROBLEM and CTXPROBLEM are no answers to these requests. */
static int
gss_take_creation(
	const struct rr_call_header *call, const struct rr_gss_cred *cred, struct rpcrdma_request *request)
{
	enum rr_auth_stat stat;

	if (call->proc != 0 || (cred->proc == RR_GSS_INIT && cred->handle.length > 0))
		return RR_AUTH_BADCRED;
	if (cred->proc == RR_GSS_CONTINUE_INIT)
		return RR_AUTH_REJECTEDCRED;
	stat = rr_auth_null_verifier(call);
	if (stat != RR_AUTH_OK)
		return stat;
	request->caller = (struct rr_caller){ .flavor = RR_RPCSEC_GSS };
	request->header += RR_GSS_MIC_MAX;
	return RR_AUTH_CONTROL;
}

/* Says in request->caller who asks. */
static void
gss_tell_caller(struct rpcrdma_request *request, const struct rr_gss_entry *entry, uint32_t service)
{
	static const enum rr_caller_protection protections[] = { [RR_GSS_SVC_NONE] = RR_CALLER_OPEN,
		[RR_GSS_SVC_INTEGRITY] = RR_CALLER_INTEGRITY,
		[RR_GSS_SVC_PRIVACY] = RR_CALLER_PRIVACY };

	request->caller = (struct rr_caller){ .flavor = RR_RPCSEC_GSS,
		.protection = protections[service],
		.named = entry->user.known,
		.uid = entry->user.uid,
		.gid = entry->user.gid,
		.group_count = entry->user.group_count,
		.groups = entry->user.groups,
		.principal = entry->principal };
}

/* Checks the verifier and the sequence number of a call of this context. RFC 2203, 5.3.3.3: where the
 * checksum is wrong, "the server rejects the request and returns an auth_stat of RPCSEC_GSS_CREDPROBLEM";
 * "When the client's sequence number exceeds the maximum the server will allow", or "if security credentials
 * become stale while in use", RPCSEC_GSS_CTXPROBLEM. The window moves only behind all these checks. */
static int
gss_check_call(const struct rr_call_header *call, const struct rr_gss_cred *cred,
	const struct rpcrdma_request *request, struct rr_gss_entry *entry)
{
	const struct rr_exchange *exchange = request->exchange;
	const struct rpcrdma_bytes front = rr_rpc_call_front(exchange->call.stream, call);
	const struct rpcrdma_bytes mic = call->verf.body;

	if (call->verf.flavor != RR_RPCSEC_GSS)
		return RR_AUTH_BADVERF;
	if (!rr_gss_verify(entry->context, RR_GSS_LOOP, front.data, front.length, mic.data, mic.length))
		return RR_RPCSEC_GSS_CREDPROBLEM;
	if (cred->seq_num > RR_GSS_MAXSEQ || rr_gss_table_ended(entry))
		return RR_RPCSEC_GSS_CTXPROBLEM;
	if (cred->service == RR_GSS_SVC_PRIVACY && rr_gss_context_sizes(entry->context).header == 0)
		return RR_AUTH_TOOWEAK;
	if (!exchange->taken && !rr_gss_table_take(entry, cred->seq_num))
		return RR_AUTH_SILENT;
	return RR_AUTH_OK;
}

/* Takes a call of a context. RFC 2203, 5.3.3.3: "illegal control procedure, or an illegal service, the
 * appropriate auth_stat status is AUTH_BADCRED"; "there may not be a context corresponding to its handle. The
 * server rejects the request, with the reason RPCSEC_GSS_CREDPROBLEM". */
static int
gss_take_call(
	const struct rr_call_header *call, const struct rr_gss_cred *cred, struct rpcrdma_request *request)
{
	const struct rr_gss_server *gss = (const struct rr_gss_server *)request->auth;
	bool destroys = cred->proc == RR_GSS_DESTROY;
	struct rr_auth_call *kept = &request->auth_call;
	struct rr_gss_entry *entry;
	struct rr_gss_sizes sizes;
	int taken;

	if (cred->service < RR_GSS_SVC_NONE || cred->service > RR_GSS_SVC_PRIVACY ||
		(destroys && call->proc != 0))
		return RR_AUTH_BADCRED;
	entry = rr_gss_table_find(gss->shared->table, cred->handle.data, cred->handle.length);
	if (!entry)
		return RR_RPCSEC_GSS_CREDPROBLEM;
	taken = gss_check_call(call, cred, request, entry);
	if (taken == RR_RPCSEC_GSS_CTXPROBLEM)
		rr_gss_table_forget(entry);
	if (taken != RR_AUTH_OK) {
		rr_gss_table_release(entry);
		return taken;
	}
	*kept = (struct rr_auth_call){ .context = entry,
		.wraps = !destroys && cred->service != RR_GSS_SVC_NONE,
		.number = cred->seq_num,
		.service = cred->service };
	sizes = rr_gss_context_sizes(entry->context);
	request->header += sizes.mic + rr_pad(sizes.mic);
	if (kept->wraps)
		request->header += rr_gss_body_adds(entry->context, cred->service);
	gss_tell_caller(request, entry, cred->service);
	return destroys ? RR_AUTH_CONTROL : RR_AUTH_OK;
}

/* RFC 2203, 5.3.3.3: "a problem with the credential, such a bad length, illegal control procedure": BADCRED.
 * 5.2.3.2: if "the RPCSEC_GSS version number in the credential is not supported on the server", the status is
 * AUTH_REJECTEDCRED. */
static int
gss_take(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	struct rr_gss_cred cred;

	if (!rr_gss_get_cred(call->cred.body, &cred))
		return RR_AUTH_BADCRED;
	if (cred.version != RR_GSS_VERSION)
		return RR_AUTH_REJECTEDCRED;
	switch (cred.proc) {
	case RR_GSS_INIT:
	case RR_GSS_CONTINUE_INIT: return gss_take_creation(call, &cred, request);
	case RR_GSS_DATA:
	case RR_GSS_DESTROY: return gss_take_call(call, &cred, request);
	default: return RR_AUTH_BADCRED;
	}
}

/* ---- Replies ---- */

/* RFC 2203, 5.3.3.2: "the body field set to the checksum (the output of GSS_GetMIC()) of the sequence number
 * (in network order) of the corresponding request." 5.3.3.4.1: "a failure results in an RPC response with a
 * reply status of MSG_DENIED, reject status of AUTH_ERROR and an auth status of RPCSEC_GSS_CTXPROBLEM." */
static enum rr_auth_stat
gss_answer(const struct rr_auth_call *call, struct rr_opaque_auth *verifier, uint8_t body[RR_AUTH_BODY_MAX])
{
	const struct rr_gss_entry *entry = call->context;
	uint8_t number[4];

	rr_put_be32(number, call->number);
	if (!rr_gss_sign(entry->context, RR_GSS_LOOP, number, sizeof(number), body))
		return RR_RPCSEC_GSS_CTXPROBLEM;
	*verifier =
		(struct rr_opaque_auth){ RR_RPCSEC_GSS, { body, rr_gss_context_sizes(entry->context).mic } };
	return RR_AUTH_OK;
}

static struct rr_gss_body
gss_body(const struct rr_auth_call *call)
{
	const struct rr_gss_entry *entry = call->context;

	return (struct rr_gss_body){ entry->context, call->apart ? RR_GSS_CREW : RR_GSS_LOOP, call->service,
		call->number };
}

static bool
gss_wrap(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	const struct rr_gss_body body = gss_body(call);

	return rr_gss_body_wrap(&body, writer, put, value);
}

static void
gss_lay(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value,
	struct rr_auth_span *span)
{
	const struct rr_gss_body body = gss_body(call);

	rr_gss_body_lay(&body, writer, put, value, span);
}

static bool
gss_protect(const struct rr_auth_call *call, uint8_t *message, const struct rr_auth_span *span)
{
	const struct rr_gss_body body = gss_body(call);

	return rr_gss_body_protect(&body, message, span);
}

static bool
gss_unwrap(struct rr_auth_call *call, struct rpcrdma_message *message)
{
	const struct rr_gss_entry *entry = call->context;
	const struct rr_gss_body body = gss_body(call);

	return rr_gss_body_unwrap(&body, entry->env, message, &call->memory);
}

static void
gss_end(struct rr_auth_call *call)
{
	struct rr_gss_entry *entry = call->context;

	rr_free(entry->env, call->memory);
	call->memory = call->context = NULL;
	rr_gss_table_release(entry);
}

static const struct rr_auth_guard gss_guard = { .answer = gss_answer,
	.wrap = gss_wrap,
	.lay = gss_lay,
	.protect = gss_protect,
	.unwrap = gss_unwrap,
	.end = gss_end };

/* ---- Making and freeing ---- */

int
rr_gss_shared_new(
	const struct rr_env *env, const char *keytab, struct rr_gss_shared **result, struct rr_text *text)
{
	struct rr_gss_shared *shared = rr_alloc(env, sizeof(*shared));
	int error;

	if (!shared)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	shared->env = env;
	error = rr_gss_acceptor_new(keytab, &shared->acceptor, text);
	if (!error && rr_gss_table_new(env, &rr_gss_bounds_default, &shared->table) < 0)
		error = rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	if (error) {
		rr_gss_shared_free(shared);
		return error;
	}
	*result = shared;
	return 0;
}

void
rr_gss_shared_free(struct rr_gss_shared *shared)
{
	if (!shared)
		return;
	rr_gss_table_free(shared->table);
	rr_gss_acceptor_free(shared->acceptor);
	rr_free(shared->env, shared);
}

int
rr_gss_server_new(struct rpcrdma_engine *engine, struct rr_gss_shared *shared, struct rr_gss_server **result,
	struct rr_text *text)
{
	static const struct rr_crew_config crew = { .max = SERVER_THREADS };
	struct rr_gss_server *gss = rr_alloc(engine->env, sizeof(*gss));
	int error;

	if (!gss)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	*gss = (struct rr_gss_server){ .shared = shared,
		.engine = engine,
		.control = { .program = &rr_gss_control_program,
			.handlers = rr_gss_control_handlers,
			.ctx = gss },
		.auth = rr_auth_gss,
		.auths = { &gss->auth, &rr_auth_sys, &rr_auth_none } };
	gss->auth.answer_adds = RR_AUTH_FIXED;
	gss->auth.take = gss_take;
	gss->auth.guard = &gss_guard;
	gss->auth.control = &gss->control;
	rr_list_init(&gss->creations);
	error = rr_crew_new(engine->env, engine->loop, &crew, &gss->crew);
	if (error < 0) {
		rr_free(engine->env, gss);
		return rr_fail(text, error, "no thread for Kerberos can be started");
	}
	*result = gss;
	return 0;
}

void
rr_gss_server_free(struct rr_gss_server *gss)
{
	if (!gss)
		return;
	rr_crew_free(gss->crew);
	rr_free(gss->engine->env, gss);
}
