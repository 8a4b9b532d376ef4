/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CLIENT_PRIVATE_H
#define RR_RPC_CLIENT_PRIVATE_H

#include <rpcrdma/client.h>
#include <string.h>

#include "rpc/client.h"
#include "rpc/server_private.h"

/* An RPC client, as its files see it: client.c has its life and the functions that ask for its state,
 * client_call.c a call from rr_client_call() to its end, client_encode.c the call's two messages,
 * client_guard.c what flavors with contexts add to these, client_ready.c calls that wait for a context,
 * client_work.c messages on which threads work, client_connect.c the connection that is made, lost
 * and made again, client_back.c clients for the reverse direction, client_public.c and client_calls.c the
 * public functions.
 *
 * From rr_client_call() to its done(), a call is in exactly one list of its client: `waiting` for a
 * connection, `outstanding` at the carrier, or `ending`, from which the client's task calls done() with
 * call->error. With a flavor that has contexts, it may also be `unready`, without a context, or `working`
 * while a thread works on its message.
 *
 * A client over several connections has a client for each further connection, and is the root of these
 * clients. The root gives them their XIDs, keeps the statistics of all their calls, and knows which of them
 * had the last failure.
 *
 * A client for the reverse direction has no connection of its own: it is UP from the start, and FAILED when
 * the connection, which belongs to a server, ends. */
enum rr_client_state {
	RR_CLIENT_FIRST, /* the first attempt is under way */
	RR_CLIENT_UP,
	RR_CLIENT_IDLE,    /* the connection was lost while no call needed it: the next call makes it again */
	RR_CLIENT_BACKOFF, /* waits for the next attempt */
	RR_CLIENT_RETRYING, /* a further attempt is under way */
	RR_CLIENT_FAILED,   /* the client will not connect again */
	RR_CLIENT_STATES
};

/* The events of a client's connection. */
enum rr_client_event {
	RR_CLIENT_CONNECTED,
	RR_CLIENT_CLOSED,  /* the carrier ended, or could not be made */
	RR_CLIENT_CALL,    /* a call began to wait */
	RR_CLIENT_AGAIN,   /* the backoff is over */
	RR_CLIENT_GIVE_UP, /* config.retry has passed since a call began to wait */
	RR_CLIENT_EVENTS
};

/* The latencies of a program's calls, allocated with the first call. The program of the next call may be
 * another description of the same program, with another number of procedures. */
struct rr_client_program {
	uint32_t prog, vers, procedure_count;
	struct rr_history *histories; /* by procedure; NULL: the entry is free */
};

enum { RR_CLIENT_PROGRAMS = 4 };

/* An RPC client. */
struct rpcrdma_client {
	struct rpcrdma_engine *engine;
	struct rr_client_config config;
	char peer[RR_ADDRESS_TEXT];
	/* The client itself; of a client for a further connection, the client that made it. */
	struct rpcrdma_client *root;
	struct rpcrdma_client **more; /* of a root: the clients for its further connections */
	uint32_t more_count;
	uint32_t load; /* calls on this connection, or waiting for it */
	/* Of a root: the further client whose call failed last; NULL: a call of the root's own connection. */
	struct rpcrdma_client *failed;
	const struct rr_auth *auth;
	/* Whether items may be placed directly. With a flavor that has contexts: of the call that was encoded
	 * last. */
	bool places;
	struct rr_opaque_auth cred;
	uint8_t cred_body[RR_AUTH_BODY_MAX]; /* the memory of cred */
	uint8_t user_body[RR_AUTH_BODY_MAX]; /* the same of a call that has a user of its own */

	enum rr_client_state state;
	struct rr_carrier *carrier; /* in FIRST, UP, RETRYING; else NULL */
	int error;                  /* why the last connection ended, or could not be made */
	struct rr_text text;
	/* backoff: until the next attempt to connect; deadline: until the calls that wait fail
	 * (config.retry). */
	struct rr_timer backoff, deadline;
	uint64_t delay; /* ns before the next attempt; half of it is random */
	bool answered;  /* a call was answered on this connection */
	uint64_t heard; /* ns, rr_loop_now(): of the last answer, or of the beginning of the connection */
	uint32_t reconnects;
	bool warned; /* of the root: a warning has said that the server cannot be reached again */
	struct rpcrdma_negotiated negotiated; /* of the last connection, while there is no connection */
	struct rpcrdma_counters past;         /* of the connections that have ended */
	struct rr_client_program programs[RR_CLIENT_PROGRAMS];

	/* If the connection belongs to a server, the link in its list of clients; else in no list. */
	struct rr_server_back back;
	/* The next XID: all clients of a connection take theirs from the same place. */
	uint32_t own_xid, *xid;
	struct rr_list waiting, outstanding, ending, unready, working;
	struct rr_auth_waiter waiter; /* for a context, while calls are `unready` */
	struct rr_task task;
	struct rr_grave grave;
	struct rr_list buffers; /* free buffers */
	/* Of the last wrapped reply: both hold the memory of its results. */
	struct rr_auth_call answered_call;
	void *answered_copy;

	/* The public functions use what follows. */
	struct rpcrdma_server *served; /* the server for callbacks, if the client made it; else NULL */
	struct rr_secure *own_secure;  /* config.secure, if the client made it; else NULL */
	struct rr_list calls;          /* struct rpcrdma_call */
	struct rr_text refusal;        /* why a call or connection was refused before it was tried */
	const char *said;              /* the text of the last failure: refusal, or text */
	/* Whether a wait is to end, and the argument of that function; NULL: no wait ends by it. */
	bool (*interrupted)(void *ctx);
	void *interrupted_ctx;
};

/* A call of the public interface. It is in its client's list from the start to the end. When its done()
 * returned, it goes back to the engine's cache: a done() that frees the client leaves the memory of the
 * call in place. */
struct rpcrdma_call {
	struct rr_call base;
	struct rr_list link; /* in its client's calls */
	bool ended;          /* done() is under way or has returned */
	void (*done)(void *ctx, struct rpcrdma_call *call, int error);
	void *ctx;
};

/* client_calls.c: removes the call from the list that it is in, and returns its memory to the engine's cache,
 * from which later calls get theirs. */
void rr_call_put(struct rpcrdma_engine *engine, struct rpcrdma_call *call);

/* client_connect.c */
/* Calls the function that the table in client_connect.c has for the event in the client's state. */
void rr_client_event(struct rpcrdma_client *client, enum rr_client_event event);
/* Begins an attempt to connect. Returns 0, or an error; the client's text then says why. */
int rr_client_connect(struct rpcrdma_client *client);
/* Closes the client's carrier, if it has one, after keeping its counters. A carrier that belongs to a server
 * is not closed. */
void rr_client_disconnect(struct rpcrdma_client *client);
/* Prepares the timers of the client, and the first delay before an attempt to connect again. */
void rr_client_connect_init(struct rpcrdma_client *client);
/* client_connect.c: is called when the client's carrier has ended, with the error and the text of that end.
 * An end without an error (0) is noted as DISCONNECTED. */
void rr_client_closed(void *client, int error, const char *text);

/* client.c: makes a client without a carrier. Returns 0 or an error: INVAL or NOTSUP (the credential),
 * NOMEM. */
int rr_client_make(struct rpcrdma_engine *engine, const struct rr_client_config *config,
	struct rpcrdma_client **result, struct rr_text *text);

/* client_call.c */
/* Encodes a call that is in no list, and has it sent as soon as that is possible. */
void rr_call_begin(struct rr_call *call);
/* Has an encoded call sent: it waits for the connection, if that is not up. */
void rr_call_submit(struct rr_call *call);
/* Ends a call that was answered, and whose reply a thread has opened. */
void rr_call_opened(struct rr_call *call, int error);
/* Begins a call anew that the server has not taken, with another XID. */
RR_AUTH_APART void rr_call_begin_again(struct rr_call *call);
/* Hands a waiting call to the carrier. */
void rr_call_send(struct rr_call *call);
/* Has the client's task end the call with error. */
void rr_call_end(struct rr_call *call, int error);
/* Is the client's task: calls done() of the calls in `ending`. */
void rr_client_run_ending(struct rr_task *task);
/* Removes the call from all lists, the carrier and the timers, without calling done(). The memory of the call
 * then belongs to the caller. */
void rr_call_withdraw(struct rr_call *call);

/* client_encode.c */
/* Returns the name of the call's procedure. */
const char *rr_call_name(const struct rr_call *call);
/* What rr_call_encode() and rr_call_decode() return beside 0 and errors, with flavors that have contexts. */
enum rr_call_step {
	RR_CALL_UNREADY = RR_AUTH_UNREADY, /* there is no context for the call yet */
	RR_CALL_UNSEALED,                  /* a thread is to protect the arguments first: rr_call_seal() */
	RR_CALL_OPENING,                   /* a thread opens the results: rr_call_opened() is called later */
	RR_CALL_LOST                       /* the server does not know the context: rr_call_begin_again() */
};
/* Encodes the call into a buffer, and sets the message, the XID and the sizes of its transaction. Returns 0,
 * RR_CALL_UNREADY, RR_CALL_UNSEALED, or an error; the client's text then says why. */
int rr_call_encode(struct rr_call *call);
/* Decodes the reply in the transaction into call->result. Returns 0, RR_CALL_OPENING, RR_CALL_LOST, or an
 * error; the client's text then says why. */
int rr_call_decode(struct rr_call *call);
/* Decodes results, of which the reader reads. room: octets of the call's arena. */
int rr_call_decode_results(struct rr_call *call, struct rpcrdma_xdr_reader *reader);
/* Gives the buffer of the call back to its client, which keeps it for later calls unless it is large. Does
 * nothing if the call has no buffer. */
void rr_call_free_buffer(struct rr_call *call);
/* Frees the buffers that the client keeps. */
void rr_client_free_buffers(struct rpcrdma_client *client);

/* A buffer for the message of a call. Of the free buffers, the largest is the first: a call that does not fit
 * it finds no other, and takes a larger one from the environment. So there are never more buffers of a size
 * than calls of that size were under way at a time. */
struct rr_call_buffer {
	struct rr_list link; /* in client->buffers while it is free */
	uint32_t size;
	uint8_t data[];
};

/* client_guard.c: for calls of flavors with contexts (struct rr_auth_guard) */
/* Begins a transmission of the call. Returns 0, RR_CALL_UNREADY, or an error; the client's text then says
 * why. */
RR_AUTH_APART int rr_call_guard(struct rr_call *call);
/* Writes the call with its own credential and verifier, and with wrapped arguments if the flavor wraps them.
 * Sets call->unsealed, if a thread is to protect them. */
RR_AUTH_APART void rr_call_put_guarded(struct rr_call *call, struct rpcrdma_xdr_writer *writer);
/* Encodes a call again that was sent before, in the same memory, as its connection was lost. Returns what
 * rr_call_encode() does. */
RR_AUTH_APART int rr_call_encode_again(struct rr_call *call);
/* Checks the verifier of an accepted reply, whose results are next in reader. If the results are wrapped,
 * has rr_call_take_results() take them, or puts them into the transaction's reply for a thread. Returns what
 * rr_call_decode() does. */
RR_AUTH_APART int rr_call_open_reply(struct rr_call *call, struct rpcrdma_xdr_reader *reader);
/* Keeps unwrapped results, if the caller wants that, and has reader read them; their memory stays until the
 * next such reply. Returns 0, or an error; the client's text then says why. */
RR_AUTH_APART int rr_call_take_results(
	struct rr_call *call, struct rpcrdma_message *results, struct rpcrdma_xdr_reader *reader);
/* Frees what the last wrapped reply has left. */
RR_AUTH_APART void rr_client_forget_answer(struct rpcrdma_client *client);
/* Tells whether the server denied the call because of its context, so that it is to begin again. */
RR_AUTH_APART bool rr_call_is_lost(struct rr_call *call, const struct rr_reply_header *reply);

/* client_ready.c: calls of flavors with contexts that cannot be sent yet */
/* Prepares the client's waiter. */
void rr_client_ready_init(struct rpcrdma_client *client);
/* Goes on with a call that rr_call_encode() has not made ready to be sent, which is in no list. */
RR_AUTH_APART void rr_call_not_ready(struct rr_call *call, int step);
/* Encodes those of the waiting calls again that were sent before, as their connection was lost. A call that
 * cannot be encoded ends, or waits. */
RR_AUTH_APART void rr_client_encode_again(struct rpcrdma_client *client);

/* client_work.c: messages on which threads work */
/* Has a thread protect the arguments of an encoded call, which is in no list, and submits it then. */
RR_AUTH_APART void rr_call_seal(struct rr_call *call);
/* Has a thread open the wrapped results in the transaction's reply, of which it gets a copy, as their memory
 * is the carrier's; then rr_call_opened() is called. */
RR_AUTH_APART void rr_call_open_later(struct rr_call *call);
/* Lets the context of a call go that ends, and its message, if a thread works on that. */
RR_AUTH_APART void rr_call_let_go(struct rr_call *call);

/* Copies the stream of the reply in message to the buffer that the caller gave for that (call->keep), so that
 * results which point into the stream stay valid after the call. Returns -RPCRDMA_ERR_LIMIT if the buffer is
 * too small. */
static inline int
rr_call_keep_reply(struct rr_call *call, struct rpcrdma_message *message)
{
	if (message->length > call->keep_size)
		return rr_fail(&call->client->text, -RPCRDMA_ERR_LIMIT,
			"%s: the reply to %s has %u octets, room is for %u", call->client->peer,
			rr_call_name(call), message->length, call->keep_size);
	memcpy(call->keep, message->stream, message->length);
	message->stream = call->keep;
	return 0;
}

#endif
