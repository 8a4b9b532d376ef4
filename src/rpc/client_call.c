/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of a client, from rr_client_call() to done(). */
#include "base/checked.h"
#include "base/probe.h"
#include "rpc/client_private.h"

/* Removes the call from the client's lists, cancels it at the carrier, stops its timer and frees its buffer.
 * Does not call done(). */
void
rr_call_withdraw(struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;

	if (call->sent && client->carrier)
		rr_carrier_cancel(client->carrier, &call->transaction);
	call->sent = false;
	rr_loop_disarm(client->engine->loop, &call->timer);
	client->load -= !rr_list_empty(&call->link);
	rr_list_remove(&call->link);
	if (call->auth_call.context)
		rr_call_let_go(call);
	rr_call_free_buffer(call);
}

/* Adds the time that the call took to the latencies of its procedure, and passes the time to the tracing
 * probe call_done. */
static void
call_count_time(const struct rr_call *call, int error)
{
	uint64_t took = rr_loop_clock(call->client->engine->loop) - call->started;

	RR_PROBE(call_done, call->client->peer, call->transaction.xid, call->program->prog,
		call->program->vers, call->proc, took, error);
	rr_latency_add(&call->history->latency, took, error < 0);
}

/* Ends the call, and calls its done() last. If the call failed, notes in the root which client has the error
 * text, for rr_client_error(). After done(), this function must not touch the call or the client: the caller
 * may have used the call again, or freed the call or the client. */
static void
call_finish(struct rr_call *call, int error)
{
	struct rpcrdma_client *client = call->client;

	rr_call_withdraw(call);
	if (error < 0)
		client->root->failed = client != client->root ? client : NULL;
	if (call->history)
		call_count_time(call, error);
	call->done(call, error);
}

void
rr_call_end(struct rr_call *call, int error)
{
	struct rpcrdma_client *client = call->client;

	call->error = error;
	rr_loop_disarm(client->engine->loop, &call->timer);
	rr_list_remove(&call->link);
	rr_list_append(&client->ending, &call->link);
	rr_loop_defer(client->engine->loop, &client->task);
}

void
rr_client_run_ending(struct rr_task *task)
{
	struct rpcrdma_client *client = rr_container(task, struct rpcrdma_client, task);
	uint32_t count = 0;

	/* Only the calls that are in the list now end in this run of the task: calls that end because of a
	 * done() are left for the next run. */
	rr_list_for_each (link, &client->ending)
		count++;
	while (count-- > 0 && !rr_list_empty(&client->ending)) {
		struct rr_call *call = rr_container(client->ending.next, struct rr_call, link);

		call_finish(call, call->error);
	}
}

/* Lets a call go on whose timeout has passed, where that is counted from the last answer to any call of the
 * connection (call->silence). Returns false where the call is to end. */
static bool
call_goes_on(struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;
	uint64_t silent = rr_loop_now(client->engine->loop) -
			  (client->heard > call->started ? client->heard : call->started);

	if (!call->silence || (call->sent && silent >= call->timeout))
		return false;
	rr_loop_arm(client->engine->loop, &call->timer, call->sent ? call->timeout - silent : call->timeout);
	return true;
}

/* Is called when a call got no answer within its timeout: ends the call with -RPCRDMA_ERR_TIMEDOUT. */
static void
call_expired(struct rr_timer *timer)
{
	struct rr_call *call = rr_container(timer, struct rr_call, timer);
	struct rpcrdma_client *client = call->client;

	if (call_goes_on(call))
		return;
	rr_fail(&client->text, 0, "%s: no answer to %s within %llu ms", client->peer, rr_call_name(call),
		(unsigned long long)(call->timeout / RR_MILLISECOND));
	call_finish(call, -RPCRDMA_ERR_TIMEDOUT);
}

/* Is called when the carrier is done with the transaction: decodes the reply and ends the call. If the
 * connection was lost, puts the call among those that wait for a connection instead. */
static void
call_answered(struct rr_transaction *transaction, int error)
{
	struct rr_call *call = rr_container(transaction, struct rr_call, transaction);
	struct rpcrdma_client *client = call->client;

	call->sent = false;
	if (error == -RPCRDMA_ERR_DISCONNECTED) {
		/* The call is sent again, or fails, when the carrier reports its end. */
		call->auth_call.again = true;
		rr_list_remove(&call->link);
		rr_list_append(&client->waiting, &call->link);
		return;
	}
	/* The connection was of use, also if the call failed: a later loss of the connection is not counted
	 * against the calls that wait then (connect_count_losses()). */
	client->answered = true;
	client->heard = rr_loop_now(client->engine->loop);
	call->placed = transaction->placed;
	call->pulled = transaction->pulled;
	if (call->history && error == 0)
		call->history->reply = transaction->reply.length;
	if (error < 0)
		rr_fail(&client->text, error, "%s: %s: %s", client->peer, rr_call_name(call),
			rpcrdma_strerror(error));
	else
		error = rr_call_decode(call);
	if (error == RR_CALL_LOST)
		rr_call_begin_again(call);
	else if (error == RR_CALL_OPENING)
		rr_call_open_later(call);
	else
		call_finish(call, error);
}

void
rr_call_opened(struct rr_call *call, int error)
{
	call_finish(call, error);
}

void
rr_call_send(struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;

	rr_list_remove(&call->link);
	rr_list_append(&client->outstanding, &call->link);
	call->sent = true;
	rr_carrier_call(client->carrier, &call->transaction);
}

/* Allocates the histories (statistics) of all procedures of the program, and stores them in *made, a free
 * entry of the client's programs. Returns false if there is no memory. */
static bool
call_history_make(const struct rpcrdma_client *client, struct rr_client_program *made,
	const struct rpcrdma_program *program)
{
	made->histories =
		rr_alloc_array(client->engine->env, program->procedure_count, sizeof(*made->histories));
	if (!made->histories)
		return false;
	made->prog = program->prog;
	made->vers = program->vers;
	made->procedure_count = program->procedure_count;
	return true;
}

/* Returns the history (statistics) of the call's procedure. The first call of a program allocates the
 * histories of all its procedures. Returns NULL if there are too many programs, or no such procedure, or no
 * memory. */
static struct rr_history *
call_history_of(struct rpcrdma_client *client, const struct rr_call *call)
{
	for (uint32_t i = 0; i < RR_CLIENT_PROGRAMS; i++) {
		struct rr_client_program *known = &client->programs[i];

		if (!known->histories && !call_history_make(client, known, call->program))
			return NULL;
		if (known->prog == call->program->prog && known->vers == call->program->vers)
			return call->proc < known->procedure_count ? &known->histories[call->proc] : NULL;
	}
	return NULL;
}

/* Sets those members of the transaction that rr_call_encode() and the carrier do not set. The remaining
 * members are large, so they are not cleared for each call. */
static void
call_prepare_transaction(struct rr_transaction *transaction)
{
	transaction->done = call_answered;
	transaction->ctx = NULL;
	transaction->sink_count = 0;
	transaction->placed = transaction->pulled = transaction->unused = 0;
	transaction->reply_memory = transaction->pulled_memory = NULL;
	transaction->outbound = NULL;
	transaction->error = 0;
	rr_list_init(&transaction->link);
}

/* Tells whether a new call may go over the client's connection: the connection is up, or was lost while no
 * call needed it (it is then made again for the call). Returns false if calls wait for a lost connection, or
 * if the connection could not be made at all. */
static bool
call_may_go_over(const struct rpcrdma_client *client)
{
	return client->state == RR_CLIENT_UP || client->state == RR_CLIENT_IDLE;
}

/* Returns the client over whose connection the next call goes. Of the connections that may be used, it is the
 * one with the fewest calls. If no connection may be used, returns the given client. */
static struct rpcrdma_client *
call_choose_connection(struct rpcrdma_client *client)
{
	struct rpcrdma_client *best = client;
	bool ready = call_may_go_over(client);

	for (uint32_t i = 0; i < client->more_count; i++) {
		struct rpcrdma_client *further = client->more[i];

		if (call_may_go_over(further) && (!ready || further->load < best->load)) {
			best = further;
			ready = true;
		}
	}
	return best;
}

void
rr_call_submit(struct rr_call *call)
{
	rr_list_append(&call->client->waiting, &call->link);
	rr_client_event(call->client, RR_CLIENT_CALL);
}

void
rr_call_begin(struct rr_call *call)
{
	int step = rr_call_encode(call);

	if (step == 0)
		rr_call_submit(call);
	else
		rr_call_not_ready(call, step);
}

void
rr_call_begin_again(struct rr_call *call)
{
	rr_list_remove(&call->link);
	rr_call_free_buffer(call);
	call_prepare_transaction(&call->transaction);
	rr_call_begin(call);
}

void
rr_client_call(struct rpcrdma_client *client, struct rr_call *call)
{
	call->history = call_history_of(client, call);
	if (call->over)
		client = call->over;
	else if (client->more_count > 0)
		client = call_choose_connection(client);
	client->load++;
	call->started = rr_loop_now(client->engine->loop);
	call->client = client;
	call->buffer = NULL;
	call->sent = false;
	call->auth_call.context = NULL;
	call->work = NULL;
	call->renewals = 0;
	call->error = 0;
	call->losses = 0;
	call->placed = call->pulled = 0;
	rr_list_init(&call->link);
	rr_timer_init(&call->timer, call_expired);
	call_prepare_transaction(&call->transaction);
	if (call->timeout > 0)
		rr_loop_arm(client->engine->loop, &call->timer, call->timeout);
	rr_call_begin(call);
}

void
rr_client_cancel(struct rpcrdma_client *client, struct rr_call *call)
{
	(void)client;
	rr_call_withdraw(call);
}

/* The outcome of a call whose caller waits for it in rr_client_call_and_wait(). */
struct call_wait {
	bool done;
	int error;
};

static void
call_wait_done(struct rr_call *call, int error)
{
	struct call_wait *wait = call->ctx;

	wait->done = true;
	wait->error = error;
}

int
rr_client_call_and_wait(
	struct rpcrdma_client *client, struct rr_call *call, bool (*interrupted)(void *ctx), void *ctx)
{
	struct call_wait wait = { 0 };

	call->done = call_wait_done;
	call->ctx = &wait;
	rr_client_call(client, call);
	while (!wait.done) {
		int turned = rr_loop_turn(client->engine->loop, -1);

		if (wait.done)
			break;
		if (turned >= 0 && !(interrupted && interrupted(ctx)))
			continue;
		rr_client_cancel(client, call);
		client->failed = NULL;
		if (turned < 0)
			return rr_fail(&client->text, turned, "the event loop failed");
		return rr_fail(&client->text, -RPCRDMA_ERR_CANCELLED, "%s: cancelled", client->peer);
	}
	return wait.error;
}
