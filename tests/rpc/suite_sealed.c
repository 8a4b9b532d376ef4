/* SPDX-License-Identifier: BSD-3-Clause */
/* A flavor with contexts at both ends (sealed.h): what RFC 2203 wants of the layers around RPCSEC_GSS. */
#include "rpc/client_private.h"
#include "sealed.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 20 };

/* The flavor at both ends, and the world's. */
struct seal {
	struct sealed_server server;
	struct sealed_client client;
	const struct rr_auth *auths[2];
};

/* Makes a context by a call of procedure 0 of this program. */
static void
establish(struct world *world, struct seal *seal, const char *name, uint32_t prog)
{
	struct rpcrdma_program program = sealed_program(prog, 1);
	struct sealed_name sent = { "" };
	struct call *call = call_new(ECHO_NULL);

	snprintf(sent.text, sizeof(sent.text), "%s", name);
	call->base.program = &program;
	call->base.args = &sent;
	assert_int_equal(call_run(world, call), 0);
	assert_true(sealed_complete(&seal->client, name, call->result.number));
	call_free(call);
}

/* Replaces the world's server and client by ones that know this flavor alone. They have no context. */
static struct seal *
seal_new(struct world *world, enum sealed_service service)
{
	struct seal *seal = calloc(1, sizeof(*seal));
	struct rr_client_config config;

	assert_non_null(seal);
	sealed_server_init(&seal->server);
	sealed_client_init(&seal->client, service);
	seal->auths[0] = &seal->server.auth;
	rr_client_free(world->client);
	world_kill_server(world);
	world->server_config.auths = seal->auths;
	world->server_config.reply_max = LARGE + 64;
	world_start_server(world);
	world_client_config(world, &config);
	config.auth = &seal->client.auth;
	world->client = world_connect(world, &config);
	return seal;
}

/* The same, with a context of alice. */
static struct seal *
seal_of_alice(struct world *world, enum sealed_service service)
{
	struct seal *seal = seal_new(world, service);

	establish(world, seal, "alice@HERE", 77);
	return seal;
}

/* Ends client and server before the flavor: no context is held any more. */
static void
seal_free(struct world *world, struct seal *seal)
{
	rr_client_free(world->client);
	world_kill_server(world);
	world->client = NULL;
	world_settle(world);
	assert_int_equal(seal->client.context.holders, 0);
	for (uint32_t i = 0; i < SEALED_CONTEXTS; i++)
		assert_int_equal(seal->server.contexts[i].holders, 0);
	free(seal);
}

/* Makes a call of a procedure that takes and returns a number. */
static struct call *
number_new(uint32_t procedure, uint32_t number)
{
	struct call *call = call_new(procedure);

	call->args.number = number;
	return call;
}

static void
assert_called(struct world *world, uint32_t number)
{
	struct call *call = number_new(ECHO_LATER, number);

	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(call->result.number, number);
	call_free(call);
}

/* A call that fails with this error and text, and is not executed. */
static void
assert_refused(struct world *world, int error, const char *why)
{
	uint32_t handled = world->handled;
	struct call *call = number_new(ECHO_LATER, 5);

	assert_int_equal(call_run(world, call), error);
	assert_non_null(strstr(rr_client_error(world->client), why));
	assert_int_equal(world->handled, handled);
	call_free(call);
}

/* A call that gets no answer, and is not executed. */
static void
assert_discarded(struct world *world, struct seal *seal)
{
	uint32_t handled = world->handled, discarded = seal->server.discarded;
	struct call *call = number_new(ECHO_LATER, 5);

	call->base.timeout = RR_SECOND;
	call_start(world, call);
	world_until(world, seal->server.discarded == discarded + 1);
	world_pass(world, RR_SECOND);
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	assert_int_equal(world->handled, handled);
	call_free(call);
}

/* 5.2: a context is made by a call that the flavor answers, whatever program it names: here, one that nobody
 * serves. Then calls of all sizes are guarded, and who asks is the principal of the context. */
static void
guard_messages(struct world *world, enum sealed_service service)
{
	static const uint32_t lengths[] = { 0, 1, 900, 4096, 8193, 65537, LARGE };
	struct seal *seal = seal_of_alice(world, service);
	struct rpcrdma_counters counters;

	assert_int_equal(seal->server.made, 1);
	assert_int_equal(world->handled, 0);
	world_warm_up(world); /* a call without arguments and results */
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct call *call = blob_new(lengths[i], true);

		call_run(world, call);
		assert_blob(call);
		call_free(call);
		call = fetch_new(lengths[i]);
		call_run(world, call);
		assert_blob(call);
		call_free(call);
	}
	assert_int_equal(world->caller.flavor, SEALED_FLAVOR);
	assert_int_equal((int)world->caller.protection, (int)service);
	assert_string_equal(world->caller.principal, "alice@HERE");
	/* RFC 8166, 8.2.2.3: what is wrapped is not reduced. */
	rr_client_counters(world->client, &counters);
	assert_int_equal(counters.read_chunks > 0, world_provider && service == SEALED_PLAIN);
	assert_int_equal(counters.write_chunks > 0, world_provider && service == SEALED_PLAIN);
	seal_free(world, seal);
}

static void
messages_are_guarded_by_their_headers(void **state)
{
	guard_messages(*state, SEALED_PLAIN);
}

static void
messages_are_guarded_against_changes(void **state)
{
	guard_messages(*state, SEALED_INTEGRITY);
}

static void
messages_are_guarded_against_readers(void **state)
{
	guard_messages(*state, SEALED_PRIVACY);
}

/* Any bit of a call from its program on: the header is guarded by the verifier, arguments by their checksum,
 * and what the server cannot accept it does not execute. 5.3.3.3, 5.3.3.4 */
static void
flip_calls(struct world *world, enum sealed_service service)
{
	enum { FROM = 12, CRED = RR_RPC_CALL_FIXED + RR_AUTH_FIXED, VERF = CRED + 12, ARGS = VERF + 8 + 16 };
	struct seal *seal = seal_of_alice(world, service);
	struct call *call = number_new(ECHO_LATER, 5);
	uint32_t octets;

	assert_int_equal(call_run(world, call), 0);
	octets = call->base.transaction.call.length;
	assert_int_equal(octets, ARGS + 4 + 4 + 4 + 4 + 16);
	for (uint32_t bit = 8 * FROM; bit < 8 * octets; bit++) {
		seal->client.flip = bit;
		call->done = false;
		assert_true(call_run(world, call) < 0);
		if (bit >= 8 * CRED && bit < 8 * VERF)
			assert_int_equal(call->error, -RPCRDMA_ERR_RPC_DENIED);
		if (bit >= 8 * ARGS)
			assert_int_equal(call->error, -RPCRDMA_ERR_GARBAGE_ARGS);
	}
	assert_int_equal(world->handled, 1);
	seal->client.flip = 0;
	call->done = false;
	assert_int_equal(call_run(world, call), 0);
	call_free(call);
	seal_free(world, seal);
}

static void
no_changed_bit_of_a_signed_call_is_accepted(void **state)
{
	flip_calls(*state, SEALED_INTEGRITY);
}

static void
no_changed_bit_of_an_encrypted_call_is_accepted(void **state)
{
	flip_calls(*state, SEALED_PRIVACY);
}

/* Any bit of a reply from its status on. */
static void
flip_replies(struct world *world, enum sealed_service service)
{
	enum {
		FROM = 8,
		RESULTS = RR_RPC_REPLY_FIXED + RR_AUTH_FIXED + 16,
		END = RESULTS + 4 + 4 + 4 + 4 + 16
	};
	struct seal *seal = seal_of_alice(world, service);
	struct call *call = number_new(ECHO_LATER, 5);

	assert_int_equal(call_run(world, call), 0);
	for (uint32_t bit = 8 * FROM; bit < 8 * END; bit++) {
		seal->server.flip = bit;
		call->done = false;
		assert_true(call_run(world, call) < 0);
		if (bit >= 8 * RESULTS)
			assert_int_equal(call->error, -RPCRDMA_ERR_PEER);
	}
	/* Behind the last octet there is nothing to be changed. */
	seal->server.flip = 8 * END;
	call->done = false;
	assert_int_equal(call_run(world, call), 0);
	call_free(call);
	seal_free(world, seal);
}

static void
no_changed_bit_of_a_signed_reply_is_accepted(void **state)
{
	flip_replies(*state, SEALED_INTEGRITY);
}

static void
no_changed_bit_of_an_encrypted_reply_is_accepted(void **state)
{
	flip_replies(*state, SEALED_PRIVACY);
}

/* 5.3.3.1: "If the server determines that it has already seen a sequence number within the window, the
 * request is silently discarded", and so is one below the window. */
static void
a_number_counts_once(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_INTEGRITY);

	seal->client.number = 200;
	assert_called(world, 1);
	seal->client.number = 200;
	assert_discarded(world, seal);
	/* The last number in the window has not come yet; the one before it is out of the window. */
	seal->client.number = 200 - SEALED_WINDOW + 1;
	assert_called(world, 2);
	seal->client.number = 200 - SEALED_WINDOW;
	assert_discarded(world, seal);
	seal->client.number = 300;
	assert_called(world, 3);
	seal_free(world, seal);
}

/* 5.3.3.3: "When the client's sequence number exceeds the maximum the server will allow" */
static void
a_number_beyond_all_is_a_problem_of_the_context(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_PLAIN);

	seal->client.number = SEALED_NUMBER_MAX;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "cannot go on with the context");
	seal->client.number = 5;
	assert_called(world, 1);
	seal_free(world, seal);
}

/* 5.3.3.3: "the server may destroy a context prematurely" */
static void
a_context_that_is_not_known_is_a_problem_of_the_credential(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_PLAIN);

	seal->server.contexts[0].forgotten = true;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	establish(world, seal, "alice@HERE", 77);
	assert_called(world, 1);
	seal_free(world, seal);
}

/* 5.3.3.1: "if the sequence number embedded in the request body is different from the sequence number in the
 * credential." */
static void
another_number_inside_is_garbage(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_INTEGRITY);

	seal->client.inside = 1;
	assert_refused(world, -RPCRDMA_ERR_GARBAGE_ARGS, "could not decode the arguments");
	seal->client.inside = 0;
	assert_called(world, 1);
	seal_free(world, seal);
}

/* 5.3.3.2: every accepted reply has a verifier, which the client checks; a denied one has none. */
static void
what_fails_has_a_verifier_unless_it_is_denied(void **state)
{
	static const int errors[] = { [OUTCOME_SYSTEM_ERR] = -RPCRDMA_ERR_RPC_SYSTEM,
		[OUTCOME_GARBAGE_ARGS] = -RPCRDMA_ERR_GARBAGE_ARGS,
		[OUTCOME_PROC_UNAVAIL] = -RPCRDMA_ERR_PROC_UNAVAIL,
		[OUTCOME_TOO_WEAK] = -RPCRDMA_ERR_RPC_DENIED };
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_INTEGRITY);
	struct rpcrdma_program other = ECHO_V3_program;
	struct call *call = call_new(ECHO_FAIL);

	for (outcome i = OUTCOME_SYSTEM_ERR; i <= OUTCOME_TOO_WEAK; i++) {
		call->args.fail = i;
		call->done = false;
		assert_int_equal(call_run(world, call), errors[i]);
	}
	other.prog++;
	call->base.program = &other;
	call->done = false;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_PROG_UNAVAIL);
	other = ECHO_V3_program;
	other.vers = 9;
	call->done = false;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_PROG_MISMATCH);
	call_free(call);
	seal_free(world, seal);
}

/* 5.3.3.1: a call that is sent again has the same XID and another number. The duplicate request cache keeps
 * the result as it is, and its answer gets the verifier of the repetition. */
static void
repeat_call(struct world *world, enum sealed_service service)
{
	struct seal *seal = seal_of_alice(world, service);
	struct call *call = number_new(ECHO_TALLY, 5);
	uint32_t number;

	assert_called(world, 1);
	number = seal->client.number;
	world->striking = true;
	call_start(world, call);
	world_pass_until(world, call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(call->result.number, 5);
	assert_int_equal(world->tally, 5);
	assert_int_equal(rr_drc_hits(world->drc), 1);
	assert_int_equal(seal->client.number, number + 2);
	assert_int_equal(seal->server.discarded, 0);
	call_free(call);
	seal_free(world, seal);
}

static void
a_repeated_call_has_another_number(void **state)
{
	repeat_call(*state, SEALED_PLAIN);
}

static void
a_repeated_call_is_signed_anew(void **state)
{
	repeat_call(*state, SEALED_INTEGRITY);
}

static void
a_repeated_call_is_encrypted_anew(void **state)
{
	repeat_call(*state, SEALED_PRIVACY);
}

/* A call that waits for memory is decoded again later. It is no repetition of itself. */
static void
a_call_that_waited_for_memory_is_taken_again(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_PRIVACY);
	struct call *call = number_new(ECHO_LATER, 9);
	uint32_t taken = seal->server.taken;

	world_hold(world);
	call_start(world, call);
	world_until(world, seal->server.taken > taken);
	world_settle(world);
	assert_false(call->done);
	world_let_go(world);
	assert_int_equal(call_wait(world, call), 0);
	assert_int_equal(call->result.number, 9);
	assert_int_equal(seal->server.taken, taken + 2);
	assert_int_equal(seal->server.discarded, 0);
	call_free(call);
	seal_free(world, seal);
}

/* 5.4: a context is destroyed by a control message. A request that is kept holds it until its answer. */
static void
a_request_keeps_its_context(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_INTEGRITY);
	struct rpcrdma_program program = sealed_program(ECHO_PROGRAM, ECHO_V3);
	struct sealed_name name = { "" };
	struct call *kept = number_new(ECHO_TALLY, 5), *call = call_new(ECHO_NULL);

	assert_called(world, 1);
	world->keeping = true;
	call_start(world, kept);
	world_until(world, world->kept_count == 1);
	seal->client.destroys = true;
	call->base.program = &program;
	call->base.args = &name;
	assert_int_equal(call_run(world, call), 0);
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	assert_true(seal->server.contexts[0].used);
	world_answer_kept(world);
	assert_int_equal(call_wait(world, kept), 0);
	assert_int_equal(kept->result.number, 5);
	world_settle(world);
	assert_false(seal->server.contexts[0].used);
	call_free(kept);
	call_free(call);
	seal_free(world, seal);
}

/* 5.3.3.4.1: a verifier that cannot be made; 5.3.3.4.4: results that cannot be wrapped: "a failure results in
 * no RPC response being sent." */
static void
what_cannot_be_guarded_is_not_sent(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_of_alice(world, SEALED_INTEGRITY);
	struct call *call = number_new(ECHO_LATER, 5);

	assert_called(world, 1);
	seal->server.unable = true;
	call->base.timeout = RR_SECOND;
	call_start(world, call);
	world_until(world, world->handled == 2);
	world_pass(world, RR_SECOND);
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	seal->server.unable = false;
	assert_called(world, 2);
	establish(world, seal, "nobody", 77);
	call->done = false;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_RPC_DENIED);
	assert_non_null(strstr(rr_client_error(world->client), "cannot go on with the context"));
	call_free(call);
	seal_free(world, seal);
}

static void
without_a_context_there_are_only_control_messages(void **state)
{
	struct world *world = *state;
	struct seal *seal = seal_new(world, SEALED_INTEGRITY);
	struct rpcrdma_program program = sealed_program(ECHO_PROGRAM, ECHO_V3);
	struct call *call = call_new(ECHO_NULL);
	struct sealed_name name = { "eve" };

	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "sealed has no context for the call");
	call->base.program = &program;
	call->base.args = &name;
	/* RFC 2203, 5.3.3.3: "illegal control procedure" */
	call->base.proc = 1;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_RPC_DENIED);
	assert_non_null(strstr(rr_client_error(world->client), "cannot read the credential"));
	call->base.proc = 0;
	for (uint32_t i = 0; i <= SEALED_CONTEXTS; i++) {
		call->done = false;
		assert_int_equal(call_run(world, call), i < SEALED_CONTEXTS ? 0 : -RPCRDMA_ERR_RPC_SYSTEM);
	}
	/* An answer that is not the server's makes no context. */
	assert_false(sealed_complete(&seal->client, "alice@HERE", 1));
	call_free(call);
	seal_free(world, seal);
}

int
suite_sealed(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(messages_are_guarded_by_their_headers),
		suite_test(messages_are_guarded_against_changes),
		suite_test(messages_are_guarded_against_readers),
		suite_test(no_changed_bit_of_a_signed_call_is_accepted),
		suite_test(no_changed_bit_of_an_encrypted_call_is_accepted),
		suite_test(no_changed_bit_of_a_signed_reply_is_accepted),
		suite_test(no_changed_bit_of_an_encrypted_reply_is_accepted),
		suite_test(a_number_counts_once),
		suite_test(a_number_beyond_all_is_a_problem_of_the_context),
		suite_test(a_context_that_is_not_known_is_a_problem_of_the_credential),
		suite_test(another_number_inside_is_garbage),
		suite_test(what_fails_has_a_verifier_unless_it_is_denied),
		suite_test(a_repeated_call_has_another_number),
		suite_test(a_repeated_call_is_signed_anew),
		suite_test(a_repeated_call_is_encrypted_anew),
		suite_test(a_call_that_waited_for_memory_is_taken_again),
		suite_test(a_request_keeps_its_context),
		suite_test(what_cannot_be_guarded_is_not_sent),
		suite_test(without_a_context_there_are_only_control_messages),
	};

	return cmocka_run_group_tests_name("sealed", tests, NULL, NULL);
}
