/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages of flavors with contexts: a thread of the flavor's crew protects the arguments of a call in
 * their buffer before the call is sent, or opens the results in a copy of the reply. Meanwhile the call is in
 * the list `working`.
 *
 * The work owns the copy. If the call ends before the thread is done, the work also gets the call's buffer
 * and its hold of the context, and the loop frees all of it when the thread is done; the client may be gone
 * by then. */
#include "base/crew.h"
#include "rpc/client_private.h"

struct rr_call_work {
	struct rr_crew_job job;
	struct rr_crew *crew;
	const struct rr_env *env;
	const struct rr_auth_guard *guard;
	struct rr_call *call;          /* NULL: it has ended */
	struct rr_auth_call auth_call; /* that of the call */
	uint8_t *message;              /* with arguments to be protected; NULL: results are opened */
	struct rr_auth_span span;      /* of the message */
	struct rr_call_buffer *buffer; /* of a call that has ended, with the message */
	struct rpcrdma_message results;
	bool good;
	uint8_t copy[]; /* of the results */
};

/* In a thread. */
static bool
work_run(struct rr_crew_job *job, void *member)
{
	struct rr_call_work *work = rr_container(job, struct rr_call_work, job);

	(void)member;
	work->good = work->message ? work->guard->protect(&work->auth_call, work->message, &work->span)
				   : work->guard->unwrap(&work->auth_call, &work->results);
	return true;
}

static void
work_free_orphan(struct rr_call_work *work)
{
	work->guard->end(&work->auth_call);
	rr_free(work->env, work->buffer);
	rr_free(work->env, work);
}

/* The arguments are protected: the call is sent. */
static void
work_sealed(struct rr_call *call, bool good)
{
	if (good)
		rr_call_submit(call);
	else
		rr_call_end(call, rr_fail(&call->client->text, -RPCRDMA_ERR_SYSTEM,
					  "%s: the arguments of %s cannot be protected", call->client->peer,
					  rr_call_name(call)));
}

/* The results are opened: the call ends with them. They lie in memory of the flavor, or in the work. */
static void
work_opened(struct rr_call *call, struct rr_call_work *work)
{
	struct rpcrdma_xdr_reader reader;
	int error;

	call->auth_call.memory = work->auth_call.memory;
	if (!work->good) {
		rr_free(work->env, work);
		rr_call_opened(call, rr_fail(&call->client->text, -RPCRDMA_ERR_PEER,
					     "%s: the results of %s are not what the server has wrapped",
					     call->client->peer, rr_call_name(call)));
		return;
	}
	error = rr_call_take_results(call, &work->results, &reader);
	call->client->answered_copy = work;
	rr_call_opened(call, error < 0 ? error : rr_call_decode_results(call, &reader));
}

static void
work_done(struct rr_crew_job *job)
{
	struct rr_call_work *work = rr_container(job, struct rr_call_work, job);
	struct rr_call *call = work->call;

	if (!call) {
		work_free_orphan(work);
		return;
	}
	call->work = NULL;
	rr_list_remove(&call->link);
	if (!work->message) {
		work_opened(call, work);
		return;
	}
	work_sealed(call, work->good);
	rr_free(work->env, work);
}

/* Makes the work of a call, with room for so many octets. */
static struct rr_call_work *
work_new(struct rr_call *call, size_t size)
{
	const struct rr_auth *auth = call->client->auth;
	const struct rr_env *env = call->client->engine->env;
	struct rr_call_work *work = rr_alloc(env, sizeof(*work) + size);

	if (!work)
		return NULL;
	work->job = (struct rr_crew_job){ .run = work_run, .done = work_done };
	work->crew = auth->crew;
	work->env = env;
	work->guard = auth->guard;
	work->call = call;
	work->auth_call = call->auth_call;
	work->auth_call.apart = true;
	return work;
}

/* Gives the work to the crew; the call goes into the list. */
static void
work_begin(struct rr_call_work *work)
{
	struct rr_call *call = work->call;

	call->work = work;
	rr_list_append(&call->client->working, &call->link);
	rr_crew_add(work->crew, &work->job);
}

void
rr_call_seal(struct rr_call *call)
{
	struct rr_call_buffer *buffer = call->buffer;
	struct rr_call_work *work = work_new(call, 0);

	if (!work) {
		rr_call_end(call, rr_fail(&call->client->text, -RPCRDMA_ERR_NOMEM, "no memory for a call"));
		return;
	}
	work->message = buffer->data;
	work->span = call->unsealed;
	work_begin(work);
}

void
rr_call_open_later(struct rr_call *call)
{
	const struct rpcrdma_message *results = &call->transaction.reply;
	struct rr_call_work *work = work_new(call, results->length);

	if (!work) {
		rr_call_opened(
			call, rr_fail(&call->client->text, -RPCRDMA_ERR_NOMEM, "no memory for a reply"));
		return;
	}
	memcpy(work->copy, results->stream, results->length);
	work->results = (struct rpcrdma_message){ .stream = work->copy, .length = results->length };
	rr_list_remove(&call->link);
	work_begin(work);
}

/* The call ends or is cancelled while a thread works on its message: what the thread uses is freed later. */
static void
work_orphan(struct rr_call *call)
{
	struct rr_call_work *work = call->work;

	call->work = NULL;
	work->call = NULL;
	if (work->message) {
		work->buffer = call->buffer;
		call->buffer = NULL;
	}
	call->auth_call.context = NULL;
	/* The loop calls work_done() also if no thread has begun. */
	rr_crew_cancel(work->crew, &work->job);
}

void
rr_call_let_go(struct rr_call *call)
{
	if (call->work)
		work_orphan(call);
	else
		call->client->auth->guard->end(&call->auth_call);
}
