/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of a CLIENT. The calling thread holds the client's lock and encodes the call into the client's
 * buffer. Then it turns the engine's loop until the reply comes, the time is over or the call is aborted.
 * It decodes the reply in the place where it lies. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tirpc/tirpc.h"

enum { CALL_REFRESHES = 2, CALL_SECONDS_MAX = 100000000 };

/* A call under way. */
struct call {
	struct rr_tirpc_client *client;
	rpcproc_t proc;
	xdrproc_t xargs, xresult;
	void *args, *result;
	uint64_t deadline;
	struct rr_transaction transaction;
	bool started; /* the call was handed to the connection */
	bool done;
	int error;        /* of the transaction */
	bool may_refresh; /* the server did not accept the credential */
	struct rpc_msg reply;
};

/* Stores the status and the errno in the client's error, for clnt_geterr(). Returns the status. */
static enum clnt_stat
call_fail(struct rr_tirpc_client *client, enum clnt_stat status, int number)
{
	client->error = (struct rpc_err){ .re_status = status };
	client->error.re_errno = number;
	return status;
}

/* ---- The call's message ---- */

/* Encodes the call into the client's buffer: the header (RFC 5531, section 9), then credential, verifier and
 * arguments, which the authenticator encodes. Stores the number of encoded octets in *length. Returns false
 * if the message does not fit or cannot be encoded. */
static bool
call_write(struct call *call, uint32_t *length)
{
	const struct rr_tirpc_client *client = call->client;
	AUTH *auth = client->handle.cl_auth;
	uint32_t words[] = { client->xid, CALL, RPC_MSG_VERSION, client->prog, client->vers,
		(uint32_t)call->proc };
	bool good = true;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)client->buffer, client->buffer_size, XDR_ENCODE);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		good = good && xdr_uint32_t(&xdrs, &words[i]);
	good = good && AUTH_MARSHALL(auth, &xdrs) && AUTH_WRAP(auth, &xdrs, call->xargs, call->args);
	*length = xdr_getpos(&xdrs);
	return good;
}

/* Makes the client's buffer larger. Returns false if there is no memory. */
static bool
call_grow(struct rr_tirpc_client *client, uint32_t size)
{
	uint8_t *larger = realloc(client->buffer, size);

	if (!larger)
		return false;
	client->buffer = larger;
	client->buffer_size = size;
	return true;
}

/* Encodes the call with a new XID into the client's buffer, which grows until the message fits. Stores the
 * length of the message in *length. Returns RPC_SUCCESS, or the status of the failure. */
static enum clnt_stat
call_encode(struct call *call, uint32_t *length)
{
	struct rr_tirpc_client *client = call->client;
	const uint32_t max = client->engine->config.message_max;

	client->xid++;
	if (client->buffer_size == 0 && !call_grow(client, RR_TIRPC_BUFFER))
		return call_fail(client, RPC_SYSTEMERROR, ENOMEM);
	while (!call_write(call, length)) {
		uint64_t size = (uint64_t)client->buffer_size * RR_TIRPC_GROWTH;

		if (client->buffer_size >= max)
			return call_fail(client, RPC_CANTENCODEARGS, EMSGSIZE);
		if (!call_grow(client, size < max ? (uint32_t)size : max))
			return call_fail(client, RPC_SYSTEMERROR, ENOMEM);
	}
	return RPC_SUCCESS;
}

/* ---- The reply ---- */

/* Called if the server has accepted and executed the call (RFC 5531, section 9: SUCCESS): checks the verifier
 * of the reply and decodes its results. Stores a failure in the client's error. */
static void
call_take_results(struct call *call, XDR *xdrs)
{
	struct rpc_err *error = &call->client->error;
	AUTH *auth = call->client->handle.cl_auth;

	if (!AUTH_VALIDATE(auth, &call->reply.acpted_rply.ar_verf)) {
		error->re_status = RPC_AUTHERROR;
		error->re_why = AUTH_INVALIDRESP;
	} else if (call->xresult && !AUTH_UNWRAP(auth, xdrs, call->xresult, call->result)) {
		error->re_status = RPC_CANTDECODERES;
	}
}

/* Decodes the reply, with its results if there are any, and sets the client's error. Sets call->may_refresh
 * if the server rejected the credentials or the verifier failed: the call may then be made again with
 * refreshed credentials. */
static void
call_decode(struct call *call)
{
	struct rr_tirpc_client *client = call->client;
	const struct rpcrdma_message *message = &call->transaction.reply;
	struct rpc_msg *reply = &call->reply;
	union {
		const void *from;
		char *stream; /* XDR only reads the memory */
	} memory = { message->stream };
	XDR xdrs;

	*reply = (struct rpc_msg){ .rm_direction = REPLY };
	reply->acpted_rply.ar_results.proc = rr_tirpc_nothing;
	client->error = (struct rpc_err){ .re_status = RPC_SUCCESS };
	xdrmem_create(&xdrs, memory.stream, message->length, XDR_DECODE);
	/* This client has no memory for data items apart from the stream: a reply with them is wrong. */
	if (message->item_count > 0 || !xdr_replymsg(&xdrs, reply)) {
		client->error.re_status = RPC_CANTDECODERES;
	} else {
		_seterr_reply(reply, &client->error);
		if (client->error.re_status == RPC_SUCCESS)
			call_take_results(call, &xdrs);
		call->may_refresh = client->error.re_status == RPC_AUTHERROR;
	}
	/* xdr_replymsg() has allocated the body of the verifier. */
	if (reply->rm_reply.rp_stat == MSG_ACCEPTED && reply->acpted_rply.ar_verf.oa_base) {
		xdrs.x_op = XDR_FREE;
		(void)xdr_opaque_auth(&xdrs, &reply->acpted_rply.ar_verf);
	}
}

/* Called by the carrier when the call has ended: decodes the reply at once, as it is valid only until this
 * function returns. */
static void
call_done(struct rr_transaction *transaction, int error)
{
	struct call *call = transaction->ctx;

	call->done = true;
	call->error = error;
	if (error == 0)
		call_decode(call);
}

/* ---- Between call and reply ---- */

/* Sends the call by the client's carrier. The call's message of length octets is in the client's buffer. */
static void
call_start(struct call *call, uint32_t length)
{
	struct rr_tirpc_client *client = call->client;

	call->done = false;
	call->transaction = (struct rr_transaction){
		.xid = client->xid,
		.call = { .stream = client->buffer, .length = length },
		.reply_max = client->engine->config.message_max,
		.done = call_done,
		.ctx = call,
	};
	call->started = true;
	rr_carrier_call(client->carrier, &call->transaction);
}

/* Turns the loop until the call has ended, the connection is lost, the time of the call is over, or another
 * thread aborts the call. If once is true, turns the loop only once. If the call has not ended then, cancels
 * it and returns false. Returns true if the call has ended or the connection is lost. */
static bool
call_wait(struct call *call, bool once)
{
	struct rr_tirpc_client *client = call->client;

	do {
		rr_tirpc_turn(client, call->deadline);
	} while (!call->done && !once && client->carrier && !atomic_load(&client->aborted) &&
		 rr_now(client->engine->env) < call->deadline);
	if (!call->done && client->carrier)
		rr_carrier_cancel(client->carrier, &call->transaction);
	return call->done || !client->carrier;
}

/* Returns the status of a call that ended without a reply, and sets it in the client's error. */
static enum clnt_stat
call_lost(struct call *call)
{
	int error = call->done ? call->error : call->client->lost;

	if (error == -RPCRDMA_ERR_NOMEM || error == -RPCRDMA_ERR_SYSTEM)
		return call_fail(call->client, RPC_SYSTEMERROR, rr_tirpc_errno(error));
	if (error == -RPCRDMA_ERR_LIMIT || error == -RPCRDMA_ERR_INVAL)
		return call_fail(call->client, RPC_CANTSEND, EMSGSIZE);
	return call_fail(call->client, RPC_CANTRECV, rr_tirpc_errno(error));
}

/* Called if a call was not sent because the connection could not be made: returns the status for this error
 * of the attempt, and stores the status in the client's error. */
static enum clnt_stat
call_unsent(struct rr_tirpc_client *client, int error)
{
	if (error == -RPCRDMA_ERR_TIMEDOUT)
		return call_fail(client, RPC_TIMEDOUT, ETIMEDOUT);
	if (error == -RPCRDMA_ERR_CANCELLED)
		return call_fail(client, RPC_INTR, EINTR);
	return call_fail(client, RPC_CANTSEND, rr_tirpc_errno(error));
}

/* Connects if necessary, sends the call and waits for its reply. Returns the status. Sends the call once more
 * if the server closed the connection because the client had asked for RPC-over-RDMA version 2: the server
 * has not executed the call, and the next connection does not ask for version 2. */
static enum clnt_stat
call_exchange(struct call *call, bool once)
{
	struct rr_tirpc_client *client = call->client;

	for (bool again = false;; again = true) {
		uint32_t length;
		enum clnt_stat status;
		int error = rr_tirpc_connect(client, call->deadline);

		call->started = false;
		if (error < 0)
			return call_unsent(client, error);
		status = call_encode(call, &length);
		if (status != RPC_SUCCESS)
			return status;
		call_start(call, length);
		if (!call_wait(call, once))
			return atomic_load(&client->aborted) ? call_fail(client, RPC_INTR, EINTR)
							     : call_fail(client, RPC_TIMEDOUT, ETIMEDOUT);
		if (call->done && call->error == 0)
			return client->error.re_status;
		/* The call failed. If the connection is still there, that was not because of version 2. */
		if (again || client->carrier || client->lost != -RPCRDMA_ERR_VERS)
			return call_lost(call);
	}
}

/* Makes the call. If the server rejects the credentials, refreshes them and makes the call again, at most
 * CALL_REFRESHES times. If once is true (the caller's timeout is 0), does not wait for the reply. Returns the
 * status of the last attempt. */
static enum clnt_stat
call_run(struct call *call, bool once)
{
	struct rr_tirpc_client *client = call->client;
	enum clnt_stat status;

	/* The server may have closed the connection since the last call: this turn takes note of it. */
	(void)rpcrdma_engine_turn(client->engine, 0);
	for (int refreshes = 0;; refreshes++) {
		call->may_refresh = false;
		status = call_exchange(call, once);
		if (!call->may_refresh || refreshes == CALL_REFRESHES ||
			!AUTH_REFRESH(client->handle.cl_auth, &call->reply))
			return status;
	}
}

/* Converts a time into nanoseconds. Returns 0 for negative times, and at most CALL_SECONDS_MAX seconds. */
static uint64_t
call_nanoseconds(const struct timeval *time)
{
	if (time->tv_sec < 0 || time->tv_usec < 0)
		return 0;
	if (time->tv_sec > CALL_SECONDS_MAX)
		return CALL_SECONDS_MAX * RR_SECOND;
	return (uint64_t)time->tv_sec * RR_SECOND + (uint64_t)time->tv_usec * RR_MICROSECOND;
}

/* clnt_call(): sends the call, waits for the reply and returns the status. Holds the client's lock meanwhile,
 * so that only one thread at a time uses the connection, and puts off a cancellation of this thread. If the
 * timeout is 0 and there is no result routine, only sends the call. */
enum clnt_stat
rr_tirpc_call(CLIENT *handle, rpcproc_t proc, xdrproc_t xargs, void *args, xdrproc_t xresult, void *result,
	struct timeval timeout)
{
	struct rr_tirpc_client *client = handle->cl_private;
	struct call call = { .client = client,
		.proc = proc,
		.xargs = xargs,
		.args = args,
		.xresult = xresult,
		.result = result };
	enum clnt_stat status;
	uint64_t limit;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&client->lock);
	atomic_store(&client->aborted, false);
	limit = call_nanoseconds(client->has_timeout ? &client->timeout : &timeout);
	call.deadline = rr_now(client->engine->env) + limit;
	/* As over TCP, a call without time and without a result routine is only sent: that its time is over
	 * is no error, unless the connection was lost and there was no time to make it again. */
	status = call_run(&call, limit == 0);
	if (limit == 0 && !xresult && call.started && status == RPC_TIMEDOUT)
		status = call_fail(client, RPC_SUCCESS, 0);
	pthread_mutex_unlock(&client->lock);
	pthread_setcancelstate(cancel, NULL);
	return status;
}
