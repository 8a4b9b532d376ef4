/* SPDX-License-Identifier: BSD-3-Clause */
/* The context of a client: a thread makes a token (base/gss/initiate.h), a call takes it to the server, and
 * so on until both ends have the keys (RFC 2203, 5.2). Everything but the thread's job runs in the loop.
 *
 * A context belongs to the flavor while it is that of new calls, and to each call that holds it. The job owns
 * the initiator and the tokens until its done(). */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "carrier/engine.h"
#include "rpc/auth/gss_body.h"
#include "rpc/auth/gss_client_private.h"

void
rr_gss_held_drop(struct gss_held *held)
{
	if (!held || --held->holders > 0)
		return;
	rr_gss_context_free(held->keys);
	rr_free(held->gss->engine->env, held);
}

/* ---- The end of making a context ---- */

/* Frees what was used to make a context. */
static void
client_clear(struct rr_gss_client *gss)
{
	rr_gss_initiator_free(gss->initiator);
	gss->initiator = NULL;
	rr_gss_held_drop(gss->making);
	gss->making = NULL;
	rr_gss_context_free(gss->made);
	gss->made = NULL;
	rr_gss_token_free(&gss->in);
	rr_gss_token_free(&gss->out);
	gss->refused = false;
}

/* Lets all that wait go on: with a context, or with an error. Those who wait again meanwhile wait for the
 * next time. */
static void
client_notify(struct rr_gss_client *gss, int error)
{
	const struct rr_text text = gss->text;
	struct rr_list waiters, *link;

	rr_list_init(&waiters);
	while ((link = rr_list_pop(&gss->waiters)))
		rr_list_append(&waiters, link);
	while ((link = rr_list_pop(&waiters))) {
		struct rr_auth_waiter *waiter = rr_container(link, struct rr_auth_waiter, link);

		waiter->ready(waiter, error, text.text);
	}
}

static void
client_fail(struct rr_gss_client *gss, int error)
{
	client_clear(gss);
	client_notify(gss, error);
}

/* Notes how much the context adds to calls and replies, now that it is known. */
static void
client_measure(struct rr_gss_client *gss)
{
	const struct gss_held *held = gss->current;
	uint32_t mic = rr_gss_context_sizes(held->keys).mic;
	uint32_t adds = rr_gss_body_adds(held->keys, gss->service),
		 verifier = RR_AUTH_FIXED + mic + rr_pad(mic);

	gss->auth.call_adds = RR_AUTH_FIXED + RR_GSS_CRED_FIXED + held->handle_length +
			      rr_pad(held->handle_length) + verifier + adds;
	gss->auth.reply_adds = verifier + adds;
	gss->auth.guarded_adds =
		gss->service == RR_GSS_SVC_NONE ? rr_gss_body_adds(held->keys, RR_GSS_SVC_INTEGRITY) : 0;
}

/* Makes the context that was made that of new calls, if the server has proved that it has the same keys. RFC
 * 2203, 5.2.3.1: "the verifier's (the verf element in the response) flavor field is set to RPCSEC_GSS, and
 * the body field set to the checksum of the seq_window (in network order)." */
static void
client_complete(struct rr_gss_client *gss)
{
	struct gss_held *held = gss->making;

	held->keys = gss->made;
	gss->made = NULL;
	if (!rr_gss_held_proves(
		    held, held->window, held->verifier_flavor, held->verifier, held->verifier_length)) {
		client_fail(gss, rr_fail(&gss->text, -RPCRDMA_ERR_PEER,
					 "the server's answer to RPCSEC_GSS_INIT is not signed by its key"));
		return;
	}
	strcpy(gss->principal, rr_gss_initiator_name(gss->initiator));
	gss->auth.principal = gss->principal;
	held->number = held->outstanding_count = 0;
	gss->making = NULL;
	client_clear(gss);
	gss->current = held;
	client_measure(gss);
	client_notify(gss, 0);
}

/* ---- The call ---- */

static void client_step(struct rr_gss_client *gss);

/* Notes the error of a server that refuses the token. If it says why by a token of its own, a thread looks at
 * that. */
static void
client_refused(struct rr_gss_client *gss)
{
	struct rr_text why;

	rr_gss_refusal(gss->major, gss->minor, &why);
	rr_fail(&gss->text, 0, "the server does not take the ticket for nfs@%.60s: %.120s", gss->host,
		why.text);
	if (gss->in.length == 0) {
		client_fail(gss, -RPCRDMA_ERR_RPC_DENIED);
		return;
	}
	gss->refused = true;
	client_step(gss);
}

/* Copies what an answer brought for the context. Returns false if it is not well formed, or too large. */
static bool
client_take_answer(struct rr_gss_client *gss)
{
	const struct rr_gss_init_res *result = &gss->result;
	struct gss_held *held = gss->making;

	gss->major = result->major;
	gss->minor = result->minor;
	if (result->handle.length > sizeof(held->handle))
		return false;
	held->handle_length = result->handle.length;
	if (held->handle_length > 0)
		memcpy(held->handle, result->handle.data, held->handle_length);
	held->window = result->seq_window;
	rr_gss_token_free(&gss->in);
	if (result->token.length == 0)
		return true;
	gss->in.data = malloc(result->token.length);
	if (!gss->in.data)
		return false;
	memcpy(gss->in.data, result->token.data, result->token.length);
	gss->in.length = result->token.length;
	return true;
}

/* Called when the server has answered, or has not. */
static void
client_answered(struct rr_call *call, int error)
{
	struct rr_gss_client *gss = call->ctx;

	gss->calls = false;
	rr_gss_token_free(&gss->out);
	if (error < 0) {
		client_fail(gss, rr_fail(&gss->text, error, "%s", rr_client_error(call->client)));
		return;
	}
	if (!client_take_answer(gss)) {
		client_fail(gss, rr_fail(&gss->text, -RPCRDMA_ERR_PEER,
					 "the server's answer to RPCSEC_GSS_INIT is not well formed"));
		return;
	}
	if (gss->major != RR_GSS_COMPLETE && gss->major != RR_GSS_CONTINUE_NEEDED)
		client_refused(gss);
	else if (gss->major == RR_GSS_COMPLETE && gss->made && gss->in.length == 0)
		client_complete(gss);
	else if (gss->making->handle_length == 0 || gss->making->window == 0 || gss->made)
		client_fail(
			gss, rr_fail(&gss->text, -RPCRDMA_ERR_PEER,
				     "the server's answer to RPCSEC_GSS_INIT has no handle or no window"));
	else
		client_step(gss);
}

/* Sends the token to the server. RFC 2203, 5.2.2: "the proc field of the call_body structure is set to
 * NULLPROC". */
static void
client_call(struct rr_gss_client *gss)
{
	const struct rr_auth_waiter *first = rr_container(gss->waiters.next, struct rr_auth_waiter, link);

	gss->making->proc = gss->rounds == 1 ? RR_GSS_INIT : RR_GSS_CONTINUE_INIT;
	gss->program = (struct rpcrdma_program){ .name = "RPCSEC_GSS",
		.prog = first->prog,
		.vers = first->vers,
		.procedure_count = 1,
		.procedures = &rr_gss_control_init };
	gss->args.token = (struct rpcrdma_bytes){ gss->out.data, (uint32_t)gss->out.length };
	gss->call = (struct rr_call){ .program = &gss->program,
		.args = &gss->args,
		.result = &gss->result,
		.keep = gss->keep,
		.keep_size = sizeof(gss->keep),
		.timeout = gss->timeout,
		.done = client_answered,
		.ctx = gss };
	gss->calls = true;
	rr_client_call(first->client, &gss->call);
}

/* ---- The thread ---- */

static bool
client_run(struct rr_crew_job *job, void *member)
{
	struct rr_gss_client *gss = rr_container(job, struct rr_gss_client, job);

	(void)member;
	if (!gss->initiator)
		gss->error = rr_gss_initiator_new("nfs", gss->host, &gss->initiator, &gss->text);
	if (gss->error == 0)
		gss->error = rr_gss_initiate(
			gss->initiator, gss->in.data, gss->in.length, &gss->out, &gss->made, &gss->text);
	return true;
}

/* Called when a thread has made a token, or found out why there is none. */
static void
client_stepped(struct rr_crew_job *job)
{
	struct rr_gss_client *gss = rr_container(job, struct rr_gss_client, job);
	int error = gss->error;

	gss->at_work = false;
	rr_gss_token_free(&gss->in);
	if (gss->refused && error == 0)
		error = -RPCRDMA_ERR_RPC_DENIED;
	if (rr_list_empty(&gss->waiters))
		client_clear(gss);
	else if (error < 0)
		client_fail(gss, error);
	else if (gss->made && gss->major == RR_GSS_COMPLETE && gss->out.length == 0)
		client_complete(gss);
	else if (gss->rounds++ < GSS_ROUNDS && gss->out.length > 0)
		client_call(gss);
	else
		client_fail(gss, rr_fail(&gss->text, -RPCRDMA_ERR_PEER,
					 "the context with nfs@%.100s is not made in %d messages", gss->host,
					 GSS_ROUNDS));
}

static void
client_step(struct rr_gss_client *gss)
{
	gss->error = 0;
	gss->job = (struct rr_crew_job){ .run = client_run, .done = client_stepped };
	gss->at_work = true;
	rr_crew_add(gss->crew, &gss->job);
}

/* Begins to make a context. */
static void
client_begin(struct rr_gss_client *gss)
{
	gss->making = rr_alloc(gss->engine->env, sizeof(*gss->making));
	if (!gss->making) {
		client_fail(gss, rr_fail(&gss->text, -RPCRDMA_ERR_NOMEM, "no memory for a context"));
		return;
	}
	gss->making->gss = gss;
	gss->making->holders = 1;
	gss->rounds = 0;
	gss->major = RR_GSS_CONTINUE_NEEDED;
	client_step(gss);
}

/* ---- Who waits ---- */

void
rr_gss_client_prepare(const struct rr_auth *auth, struct rr_auth_waiter *waiter)
{
	struct rr_gss_client *gss = gss_of(auth);

	if (rr_list_empty(&waiter->link))
		rr_list_append(&gss->waiters, &waiter->link);
	/* A client that has waited for room in the context waits for a new one since the server has denied
	 * the old one: nothing else begins to make it. */
	if (!gss->current && !gss->at_work && !gss->calls)
		rr_loop_defer(gss->engine->loop, &gss->room);
}

/* Runs when the current context has room for calls, or when a context is to be made. */
static void
client_room(struct rr_task *task)
{
	struct rr_gss_client *gss = rr_container(task, struct rr_gss_client, room);

	if (gss->current && !rr_gss_held_is_full(gss->current))
		client_notify(gss, 0);
	else if (gss->current)
		return;
	else if (!rr_list_empty(&gss->waiters) && !gss->at_work && !gss->calls)
		client_begin(gss);
}

void
rr_gss_client_init(struct rr_gss_client *gss)
{
	rr_list_init(&gss->waiters);
	rr_task_init(&gss->room, client_room);
}

void
rr_gss_client_forget(const struct rr_auth *auth, struct rr_auth_waiter *waiter)
{
	struct rr_gss_client *gss = gss_of(auth);

	rr_list_remove(&waiter->link);
	if (!gss->calls || gss->call.client != waiter->client)
		return;
	/* The server may have taken the token, and takes none twice: another client begins anew. */
	rr_client_cancel(gss->call.client, &gss->call);
	gss->calls = false;
	client_clear(gss);
	if (!rr_list_empty(&gss->waiters))
		rr_loop_defer(gss->engine->loop, &gss->room);
}
