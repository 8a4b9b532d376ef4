/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of a client: it is made, lost, and made again. The client owns one carrier at a time, in
 * the states FIRST, UP and RETRYING. */
#include <inttypes.h>

#include "carrier/carrier.h"
#include "rpc/client_private.h"
#include "rpc/server.h"

/* The least and the most delay before an attempt to connect again. */
#define DELAY_MIN (50 * RR_MILLISECOND)
#define DELAY_MAX (2 * RR_SECOND)

/* If this many connections are lost one after another under a call, and no call was answered on them, the
 * call itself is at fault. */
enum { LOSSES_MAX = 5 };

/* ---- The carrier ---- */

static void
connect_connected(void *ctx)
{
	rr_client_event(ctx, RR_CLIENT_CONNECTED);
}

void
rr_client_closed(void *ctx, int error, const char *text)
{
	struct rpcrdma_client *client = ctx;

	client->error = error < 0 ? error : -RPCRDMA_ERR_DISCONNECTED;
	rr_fail(&client->text, 0, "%s", text);
	rr_client_event(client, RR_CLIENT_CLOSED);
}

/* Is called when the server calls this client, in the reverse direction: the server of callbacks serves the
 * call. */
static void
connect_called(void *ctx, struct rr_exchange *exchange)
{
	struct rpcrdma_client *client = ctx;

	rr_server_take(client->config.callbacks, exchange);
}

/* deaf: the client takes no calls from the server; hearing: config.callbacks serves them. */
static const struct rr_carrier_events deaf = { .connected = connect_connected, .closed = rr_client_closed },
				      hearing = { .connected = connect_connected,
					      .closed = rr_client_closed,
					      .call = connect_called };

int
rr_client_connect(struct rpcrdma_client *client)
{
	const struct rr_client_config *config = &client->config;
	const struct rr_carrier_place to = {
		.transport = config->transport,
		.address = (const struct sockaddr *)&config->address,
		.size = config->address_size,
		.secure = config->secure,
	};
	const struct rr_carrier_events *events = config->callbacks ? &hearing : &deaf;
	struct rr_text text;
	int error;

	client->answered = false;
	error = rr_carrier_connect(client->engine, &to, events, client, &client->carrier, &text);
	if (error < 0) {
		client->carrier = NULL;
		client->error = rr_fail(&client->text, error, "%s", text.text);
	}
	return error;
}

void
rr_client_disconnect(struct rpcrdma_client *client)
{
	if (!client->carrier)
		return;
	rr_carrier_negotiated(client->carrier, &client->negotiated);
	rr_counters_add(&client->past, &client->carrier->counters);
	/* The server of callbacks must know of the end before the carrier is closed, and again afterwards. */
	if (client->config.callbacks)
		rr_server_connection_ends(client->config.callbacks);
	/* A client in the list of a server's connection does not own the carrier: the server closes it. */
	if (rr_list_empty(&client->back.link))
		rr_carrier_close(client->carrier);
	if (client->config.callbacks)
		rr_server_connection_lost(client->config.callbacks);
	rr_list_remove(&client->back.link);
	/* A client of the reverse direction took its XIDs from the connection, which is gone. */
	client->xid = &client->root->own_xid;
	client->carrier = NULL;
}

/* ---- The actions in each state ---- */

static void
connect_set_state(struct rpcrdma_client *client, enum rr_client_state state)
{
	static const char *const names[RR_CLIENT_STATES] = { "first attempt", "up", "idle", "backoff",
		"retrying", "failed" };

	rr_log(client->engine->env, RR_LOG_DEBUG, "client of %s: %s, now %s", client->peer,
		names[client->state], names[state]);
	client->state = state;
}

/* Hands all calls that wait for the connection to the carrier, in order. */
static void
connect_send_waiting(struct rpcrdma_client *client)
{
	while (!rr_list_empty(&client->waiting))
		rr_call_send(rr_container(client->waiting.next, struct rr_call, link));
}

/* Gives the connection up for good: ends all calls that wait with the error, and sets the state in which
 * later calls fail at once. */
static void
connect_fail(struct rpcrdma_client *client)
{
	rr_client_disconnect(client);
	rr_loop_disarm(client->engine->loop, &client->backoff);
	rr_loop_disarm(client->engine->loop, &client->deadline);
	connect_set_state(client, RR_CLIENT_FAILED);
	rr_list_for_each (link, &client->waiting)
		rr_call_end(rr_container(link, struct rr_call, link), client->error);
}

/* Is called when the connection is up: counts it if a connection was lost before, stops the deadline, and
 * sends the calls that wait. */
static void
connect_up(struct rpcrdma_client *client)
{
	if (client->state == RR_CLIENT_RETRYING)
		client->reconnects++;
	client->root->warned = false;
	rr_loop_disarm(client->engine->loop, &client->deadline);
	client->heard = rr_loop_now(client->engine->loop);
	connect_set_state(client, RR_CLIENT_UP);
	if (client->auth->guard)
		rr_client_encode_again(client);
	connect_send_waiting(client);
}

/* Closes the connection, and starts the delay before the next attempt to connect. Half of the delay is
 * random, so that many clients of a server do not return at the same moment. */
static void
connect_back_off(struct rpcrdma_client *client)
{
	uint64_t half = client->delay / 2;

	rr_client_disconnect(client);
	connect_set_state(client, RR_CLIENT_BACKOFF);
	rr_loop_arm(client->engine->loop, &client->backoff, half + rr_random_u64(client->engine->env) % half);
	client->delay = client->delay * 2 < DELAY_MAX ? client->delay * 2 : DELAY_MAX;
}

/* Begins to connect again. If that fails at once, reacts as to a connection that ended. */
static void
connect_attempt(struct rpcrdma_client *client)
{
	connect_set_state(client, RR_CLIENT_RETRYING);
	if (rr_client_connect(client) < 0)
		rr_client_event(client, RR_CLIENT_CLOSED);
}

/* Is called when a connection was lost. If the connection answered a call, only sets the delay before the
 * next attempt back to the least. Otherwise counts the loss for each call that waits, and ends the calls with
 * LOSSES_MAX losses: a call that causes the loss of its connection must not be repeated without end. */
static void
connect_count_losses(struct rpcrdma_client *client)
{
	if (client->answered) {
		client->delay = DELAY_MIN;
		return;
	}
	rr_list_for_each (link, &client->waiting) {
		struct rr_call *call = rr_container(link, struct rr_call, link);

		if (++call->losses < LOSSES_MAX)
			continue;
		rr_fail(&client->text, 0, "%s: the connection was lost %u times under %s, without any answer",
			client->peer, call->losses, rr_call_name(call));
		rr_call_end(call, -RPCRDMA_ERR_DISCONNECTED);
	}
}

/* Starts the time (config.retry) after which the calls that wait for a connection fail. If config.retry is 0,
 * no time is started. */
static void
connect_begin_deadline(struct rpcrdma_client *client)
{
	if (client->config.retry > 0)
		rr_loop_arm(client->engine->loop, &client->deadline, client->config.retry);
}

/* Connects again at once, without a delay: the server closed the connection because it was asked for
 * RPC-over-RDMA version 2, so the next attempt does not ask for version 2. */
static void
connect_without_version_2(struct rpcrdma_client *client)
{
	rr_client_disconnect(client);
	connect_begin_deadline(client);
	connect_attempt(client);
}

/* Closes the lost connection. No attempt to connect follows until the next call. */
static void
connect_rest(struct rpcrdma_client *client)
{
	rr_client_disconnect(client);
	rr_loop_disarm(client->engine->loop, &client->deadline);
	connect_set_state(client, RR_CLIENT_IDLE);
}

/* Acts on a connection that is lost or could not be made again. If calls wait, or the server may call,
 * connects again after a delay; otherwise connects again only for the next call. RFC 8167, 5.4:
 * "forward-direction Requesters SHOULD maintain a transport connection as long as there is the possibility
 * that the connection peer can send reverse-direction requests." The server "is forced to wait for the ONC
 * RPC client to re-establish a transport connection". */
static void
connect_make_again(struct rpcrdma_client *client)
{
	if (client->config.callbacks || !rr_list_empty(&client->waiting))
		connect_back_off(client);
	else
		connect_rest(client);
}

/* Tells whether the server has refused the connection after it seemed to be up, as a server does that refuses
 * the client's certificate (RFC 8446, 4.4.2: the client learns that only after its own end of the handshake).
 * To try again would bring the same refusal. */
static bool
connect_is_refused(const struct rpcrdma_client *client)
{
	return client->error == -RPCRDMA_ERR_REJECTED && !client->answered;
}

/* Acts on the loss of a connection that was up. If the server does not use version 2 and calls wait, connects
 * again at once without it. Otherwise gives the connection up if config.retry is 0, else has it made
 * again. */
static void
connect_lost(struct rpcrdma_client *client)
{
	rr_log(client->engine->env, RR_LOG_INFO, "%s", client->text.text);
	connect_count_losses(client);
	if (client->error == -RPCRDMA_ERR_VERS && !rr_list_empty(&client->waiting)) {
		connect_without_version_2(client);
	} else if (client->config.retry == 0 || connect_is_refused(client)) {
		connect_fail(client);
	} else {
		connect_begin_deadline(client);
		connect_make_again(client);
	}
}

/* Warns, once in an outage, that calls wait for a server that cannot be reached: they may wait for minutes.
 */
static void
connect_warn(struct rpcrdma_client *client)
{
	if (client->root->warned || rr_list_empty(&client->waiting))
		return;
	client->root->warned = true;
	rr_log(client->engine->env, RR_LOG_WARNING,
		"the connection was lost: %s; it is tried again for %" PRIu64 " s", client->text.text,
		client->config.retry / RR_SECOND);
}

/* Acts on the failure of an attempt to make a lost connection again: gives the connection up if config.retry
 * is 0, else has it tried again. */
static void
connect_not_made_again(struct rpcrdma_client *client)
{
	if (client->config.retry == 0) {
		connect_fail(client);
		return;
	}
	connect_warn(client);
	connect_make_again(client);
}

/* Is called when the deadline (config.retry) is over: gives the connection up if calls wait. If no calls
 * wait, the attempts go on: the next call then has the whole of config.retry for itself. */
static void
connect_give_up(struct rpcrdma_client *client)
{
	if (!rr_list_empty(&client->waiting))
		connect_fail(client);
}

/* Is called when a call begins to wait for the connection: starts the deadline (config.retry), if no other
 * call waits. */
static void
connect_wanted(struct rpcrdma_client *client)
{
	/* The call is already in the list: it is the only one if the list's first element is its last. */
	if (client->waiting.next == client->waiting.prev)
		connect_begin_deadline(client);
}

/* Is called when a call comes while the connection is lost and no attempt is under way: starts the deadline
 * (config.retry), and begins an attempt to connect. */
static void
connect_wanted_again(struct rpcrdma_client *client)
{
	connect_begin_deadline(client);
	connect_attempt(client);
}

/* The action for a new call while the client makes its first attempt to connect: does nothing, as the call
 * waits for the outcome of that attempt. */
static void
connect_hold(struct rpcrdma_client *client)
{
	(void)client;
}

/* Logs an error. The state table names this function for the events that cannot come in a state. */
static void
connect_never(struct rpcrdma_client *client)
{
	rr_log(client->engine->env, RR_LOG_ERROR, "client of %s: an event that cannot be", client->peer);
}

/* Reacts to an event; the table has the action for each state and event. */
typedef void action(struct rpcrdma_client *client);

void
rr_client_event(struct rpcrdma_client *client, enum rr_client_event event)
{
	/* clang-format off */
	static action *const table[RR_CLIENT_STATES][RR_CLIENT_EVENTS] = {
		/*                       CONNECTED      CLOSED                  CALL                  AGAIN            GIVE_UP */
		[RR_CLIENT_FIRST] =    { connect_up,    connect_fail,           connect_hold,         connect_never,   connect_never },
		[RR_CLIENT_UP] =       { connect_never, connect_lost,           connect_send_waiting, connect_never,   connect_never },
		[RR_CLIENT_IDLE] =     { connect_never, connect_never,          connect_wanted_again, connect_never,   connect_never },
		[RR_CLIENT_BACKOFF] =  { connect_never, connect_never,          connect_wanted,       connect_attempt, connect_give_up },
		[RR_CLIENT_RETRYING] = { connect_up,    connect_not_made_again, connect_wanted,       connect_never,   connect_give_up },
		[RR_CLIENT_FAILED] =   { connect_never, connect_never,          connect_fail,         connect_never,   connect_never },
	};
	/* clang-format on */

	table[client->state][event](client);
}

static void
connect_backoff_over(struct rr_timer *timer)
{
	rr_client_event(rr_container(timer, struct rpcrdma_client, backoff), RR_CLIENT_AGAIN);
}

static void
connect_deadline_reached(struct rr_timer *timer)
{
	rr_client_event(rr_container(timer, struct rpcrdma_client, deadline), RR_CLIENT_GIVE_UP);
}

void
rr_client_connect_init(struct rpcrdma_client *client)
{
	client->delay = DELAY_MIN;
	rr_timer_init(&client->backoff, connect_backoff_over);
	rr_timer_init(&client->deadline, connect_deadline_reached);
}
