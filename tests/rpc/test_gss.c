/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of RPCSEC_GSS, by RFC 2203, with a realm of Kerberos that gss.py starts. Sections are those of the
 * RFC. */
#include "fabric/iwarp/iwarp.h"
#include "kerb.h"
#include "rpc/auth/gss_client.h"
#include "rpc/auth/gss_server.h"
#include "rpc/client_private.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 20, PROG = 77 };

struct gss {
	struct rr_gss_shared *shared;
	struct rr_gss_server *server;
	struct kerb client;
};

/* Sends a token, and takes the answer. Returns the error of the call. */
static int
send_token(struct world *world, struct kerb *kerb, struct rpcrdma_bytes token)
{
	struct rpcrdma_program program = kerb_program(PROG);
	struct rr_gss_init_arg arg = { token };
	struct call *call = call_new(ECHO_NULL);
	int error;

	call->base.program = &program;
	call->base.args = &arg;
	call->base.result = &kerb;
	error = call_run(world, call);
	call_free(call);
	return error;
}

/* Makes a context. */
static void
establish(struct world *world, struct kerb *kerb)
{
	struct rpcrdma_bytes token = kerb_token(kerb);

	assert_int_equal(send_token(world, kerb, token), 0);
	free((void *)(uintptr_t)token.data);
	assert_int_equal(kerb->major, RR_GSS_COMPLETE);
	assert_int_equal(kerb->handle_length, RR_GSS_HANDLE);
	assert_int_equal(kerb->window, RR_GSS_WINDOW);
	assert_true(kerb_complete(kerb));
}

/* Replaces the world's server and client by ones of RPCSEC_GSS. There is no context yet. */
static struct gss *
gss_new(struct world *world, enum rr_gss_service service)
{
	struct gss *gss = calloc(1, sizeof(*gss));
	struct rr_client_config config;
	struct rr_text why;

	if (rr_gss_shared_new(&rr_env_system, NULL, &gss->shared, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(rr_gss_server_new(world->stage.engine, gss->shared, &gss->server, &why), 0);
	kerb_init(&gss->client, service);
	rr_client_free(world->client);
	world_kill_server(world);
	world->server_config.auths = gss->server->auths;
	world->server_config.crew = gss->server->crew;
	world->server_config.reply_max = LARGE + 4096;
	world_start_server(world);
	world_client_config(world, &config);
	config.auth = &gss->client.auth;
	world->client = world_connect(world, &config);
	return gss;
}

static struct gss *
gss_of_daemon(struct world *world, enum rr_gss_service service)
{
	struct gss *gss = gss_new(world, service);

	establish(world, &gss->client);
	return gss;
}

static void
gss_free(struct world *world, struct gss *gss)
{
	rr_client_free(world->client);
	world_kill_server(world);
	world->client = NULL;
	world_settle(world);
	kerb_end(&gss->client);
	rr_gss_server_free(gss->server);
	rr_gss_shared_free(gss->shared);
	free(gss);
}

static struct call *
number_new(uint32_t procedure, uint32_t number)
{
	struct call *call = call_new(procedure);

	call->args.number = number;
	return call;
}

static void
assert_called(struct world *world)
{
	struct call *call = number_new(ECHO_LATER, 5);

	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(call->result.number, 5);
	call_free(call);
}

/* A call that is denied for this reason (a part of the client's text), and is not executed. */
static void
assert_refused(struct world *world, int error, const char *why)
{
	uint32_t handled = world->handled;
	struct call *call = number_new(ECHO_LATER, 5);

	assert_int_equal(call_run(world, call), error);
	if (!strstr(rr_client_error(world->client), why))
		fail_msg("'%s' is not in: %s", why, rr_client_error(world->client));
	assert_int_equal(world->handled, handled);
	call_free(call);
}

/* A call that gets no answer, and is not executed; the connection lives on. */
static void
assert_discarded(struct world *world)
{
	uint32_t handled = world->handled;
	struct call *call = number_new(ECHO_LATER, 5);

	call->base.timeout = RR_SECOND;
	call_start(world, call);
	world_pass(world, RR_SECOND / 2);
	world_pass(world, RR_SECOND);
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	assert_int_equal(world->handled, handled);
	call_free(call);
}

/* ---- Messages ---- */

/* Of all sizes: those from 16 KiB on are work for the crew. */
static void
guard_messages(struct world *world, enum rr_gss_service service, enum rr_caller_protection protection)
{
	static const uint32_t lengths[] = { 0, 1, 900, 4096, 8193, 16384, 65537, LARGE };
	struct gss *gss = gss_of_daemon(world, service);
	struct rpcrdma_counters counters;

	assert_int_equal(world->handled, 0);
	world_warm_up(world);
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
	assert_int_equal(world->caller.flavor, RR_RPCSEC_GSS);
	assert_int_equal(world->caller.protection, protection);
	assert_string_equal(world->caller.principal, "daemon@REALM.TEST");
	assert_true(world->caller.named);
	assert_int_equal(world->caller.uid, 1);
	assert_int_equal(world->caller.gid, 1);
	/* RFC 8166, 8.2.2.3: "a sender MUST NOT reduce a Payload stream when RPCSEC_GSS integrity or
	 * encryption services are in use." */
	rr_client_counters(world->client, &counters);
	assert_int_equal(counters.read_chunks > 0, world_provider && service == RR_GSS_SVC_NONE);
	assert_int_equal(counters.write_chunks > 0, world_provider && service == RR_GSS_SVC_NONE);
	gss_free(world, gss);
}

static void
krb5_places_data(void **state)
{
	guard_messages(*state, RR_GSS_SVC_NONE, RR_CALLER_OPEN);
}

static void
krb5i_guards_messages_against_changes(void **state)
{
	guard_messages(*state, RR_GSS_SVC_INTEGRITY, RR_CALLER_INTEGRITY);
}

static void
krb5p_guards_messages_against_readers(void **state)
{
	guard_messages(*state, RR_GSS_SVC_PRIVACY, RR_CALLER_PRIVACY);
}

/* 5.3.3.4.2, 5.3.3.4.3: arguments that were changed get GARBAGE_ARGS, and are not executed. */
static void
flip_arguments(struct world *world, enum rr_gss_service service)
{
	struct gss *gss = gss_of_daemon(world, service);
	struct call *call = number_new(ECHO_LATER, 5);
	uint32_t octets, arguments;

	assert_int_equal(call_run(world, call), 0);
	octets = call->base.transaction.call.length;
	arguments = octets - 4 - rr_gss_context_sizes(gss->client.context).mic - 8 - 4;
	if (service == RR_GSS_SVC_PRIVACY)
		arguments = octets - 4 - rr_gss_context_sizes(gss->client.context).header -
			    rr_gss_context_sizes(gss->client.context).trailer - 8;
	for (uint32_t bit = 8 * arguments; bit < 8 * octets; bit += 3) {
		gss->client.flip = bit;
		call->done = false;
		assert_int_equal(call_run(world, call), -RPCRDMA_ERR_GARBAGE_ARGS);
	}
	assert_int_equal(world->handled, 1);
	gss->client.flip = 0;
	call->done = false;
	assert_int_equal(call_run(world, call), 0);
	call_free(call);
	/* So does a large one, which the crew looks at. */
	call = blob_new(LARGE, false);
	gss->client.flip = 8 * (LARGE / 2) + 1;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_GARBAGE_ARGS);
	call_free(call);
	gss_free(world, gss);
}

static void
no_changed_bit_of_signed_arguments_is_accepted(void **state)
{
	flip_arguments(*state, RR_GSS_SVC_INTEGRITY);
}

static void
no_changed_bit_of_encrypted_arguments_is_accepted(void **state)
{
	flip_arguments(*state, RR_GSS_SVC_PRIVACY);
}

/* 5.3.3.1: "if the sequence number embedded in the request body is different from the sequence number in the
 * credential." */
static void
another_number_inside_is_garbage(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_PRIVACY);

	gss->client.inside = 1;
	assert_refused(world, -RPCRDMA_ERR_GARBAGE_ARGS, "could not decode the arguments");
	gss->client.inside = 0;
	assert_called(world);
	gss_free(world, gss);
}

/* ---- Numbers ---- */

/* 5.3.3.1 */
static void
a_number_counts_once(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_INTEGRITY);

	gss->client.number = 5000;
	assert_called(world);
	gss->client.number = 5000;
	assert_discarded(world);
	/* The last number in the window has not come yet; the one before it is out of the window. */
	gss->client.number = 5000 - RR_GSS_WINDOW + 1;
	assert_called(world);
	gss->client.number = 5000 - RR_GSS_WINDOW;
	assert_discarded(world);
	gss->client.number = 6000;
	/* More than any server's credits: each dropped call has given its own back. */
	for (int i = 0; i < 300; i++)
		assert_called(world);
	gss_free(world, gss);
}

/* 7.2.1: "An attacker cannot coax the server into raising the sequence number beyond the range the legitimate
 * client is aware of" */
static void
a_wrong_checksum_moves_nothing(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_NONE);

	gss->client.number = 0x7fffffff;
	gss->client.bad_mic = true;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	gss->client.bad_mic = false;
	gss->client.number = 5;
	assert_called(world);
	gss_free(world, gss);
}

/* 5.3.3.3: "When the client's sequence number exceeds the maximum the server will allow" */
static void
a_number_beyond_all_is_a_problem_of_the_context(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_NONE);

	gss->client.number = RR_GSS_MAXSEQ;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "cannot go on with the context");
	gss_free(world, gss);
}

/* 5.3.3.1: "the client increment the sequence number even if it is retrying a request": the call is executed
 * once, and the second reply is wrapped for the second number. */
static void
a_repeated_call_with_a_new_number_gets_the_same_answer(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_PRIVACY);
	struct call *call = number_new(ECHO_TALLY, 5);
	uint32_t number;

	world->striking = true;
	number = gss->client.number;
	call_start(world, call);
	world_pass_until(world, call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(gss->client.number, number + 2);
	assert_int_equal(call->result.number, 5);
	assert_int_equal(world->tally, 5);
	assert_int_equal(rr_drc_hits(world->drc), 1);
	call_free(call);
	gss_free(world, gss);
}

/* ---- Contexts ---- */

/* 5.3.3.3: "there may not be a context corresponding to its handle. The server rejects the request, with the
 * reason RPCSEC_GSS_CREDPROBLEM" */
static void
a_handle_that_is_not_known_is_a_problem_of_the_credential(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_INTEGRITY);

	for (uint32_t bit = 0; bit < 8 * RR_GSS_HANDLE; bit++) {
		gss->client.handle[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
		gss->client.handle[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	gss->client.handle_length = RR_GSS_HANDLE - 1;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	gss->client.handle_length = RR_GSS_HANDLE_MAX;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	gss->client.handle_length = 0;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	gss->client.handle_length = RR_GSS_HANDLE;
	assert_called(world);
	gss_free(world, gss);
}

/* 5.4 */
static void
a_context_is_destroyed_by_its_client(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_INTEGRITY);

	assert_int_equal(rr_gss_table_count(gss->shared->table), 1);
	gss->client.proc = RR_GSS_DESTROY;
	assert_int_equal(send_token(world, &gss->client, (struct rpcrdma_bytes){ 0 }), 0);
	assert_int_equal(rr_gss_table_count(gss->shared->table), 0);
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	gss->client.proc = RR_GSS_INIT;
	establish(world, &gss->client);
	assert_called(world);
	gss_free(world, gss);
}

/* 5.3.3.3: "illegal control procedure, or an illegal service, the appropriate auth_stat status is
 * AUTH_BADCRED"; 5.2.3.2: another version is AUTH_REJECTEDCRED. */
static void
what_is_illegal_is_refused(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_INTEGRITY);

	gss->client.service = 4;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "credential");
	gss->client.service = RR_GSS_SVC_INTEGRITY;
	gss->client.version = 2;
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "credential");
	gss->client.version = 0;
	gss->client.proc_always = true;
	for (gss->client.proc = RR_GSS_INIT; gss->client.proc < 6; gss->client.proc++)
		assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "credential");
	gss->client.proc_always = false;
	assert_called(world);
	gss_free(world, gss);
}

/* 5.2.3.1: "If gss_major is not one of GSS_S_COMPLETE or GSS_S_CONTINUE_NEEDED, the context setup has failed;
 * in this case handle and gss_token must be set to NULL by the server." */
static void
assert_failed(const struct kerb *kerb)
{
	assert_true(kerb->major >> 16 != 0);
	assert_int_equal(kerb->handle_length, 0);
	assert_int_equal(kerb->token_length, 0);
	assert_int_equal(kerb->verifier_length, 0);
}

static void
a_token_that_is_none_makes_no_context(void **state)
{
	struct world *world = *state;
	struct gss *gss = gss_new(world, RR_GSS_SVC_NONE);
	struct rpcrdma_bytes token = kerb_token(&gss->client);
	uint8_t *octets = (uint8_t *)(uintptr_t)token.data;
	uint32_t taken = 0;

	assert_int_equal(send_token(world, &gss->client, (struct rpcrdma_bytes){ octets, 0 }),
		-RPCRDMA_ERR_GARBAGE_ARGS);
	for (uint32_t at = 0; at < token.length; at += 1 + token.length / 40) {
		octets[at] ^= 0x11;
		assert_int_equal(send_token(world, &gss->client, token), 0);
		octets[at] ^= 0x11;
		/* Some octets of a ticket are for the client alone: who changes those changes nothing. */
		if (gss->client.major == RR_GSS_COMPLETE)
			taken++;
		else
			assert_failed(&gss->client);
	}
	assert_true(taken <= 1);
	assert_int_equal(rr_gss_table_count(gss->shared->table), taken);
	/* It is taken once: the library keeps what it has seen. */
	assert_int_equal(send_token(world, &gss->client, token), 0);
	assert_int_equal(gss->client.major == RR_GSS_COMPLETE, taken == 0);
	assert_int_equal(send_token(world, &gss->client, token), 0);
	assert_failed(&gss->client);
	assert_int_equal(rr_gss_table_count(gss->shared->table), 1);
	free(octets);
	gss_free(world, gss);
}

/* Changes the client's context for another one. */
static void
swap(struct kerb *kerb, struct kerb *other)
{
	struct kerb copy = *kerb;

	kerb->context = other->context;
	memcpy(kerb->handle, other->handle, sizeof(kerb->handle));
	other->context = copy.context;
	memcpy(other->handle, copy.handle, sizeof(copy.handle));
}

/* A principal at one address has so many contexts; that of the longest silence goes first. */
static void
a_storm_of_contexts_harms_its_principal_alone(void **state)
{
	const uint32_t most = rr_gss_bounds_default.principal;
	struct world *world = *state;
	struct gss *gss = gss_of_daemon(world, RR_GSS_SVC_NONE);
	struct kerb used = { 0 };

	swap(&gss->client, &used);
	for (uint32_t i = 1; i < 2 * most; i++) {
		establish(world, &gss->client);
		/* A context that is used stays. */
		swap(&gss->client, &used);
		assert_called(world);
		swap(&gss->client, &used);
		assert_true(rr_gss_table_count(gss->shared->table) <= most);
	}
	assert_int_equal(rr_gss_table_count(gss->shared->table), most);
	for (uint32_t i = 0; i < most; i++)
		establish(world, &gss->client);
	assert_called(world);
	swap(&gss->client, &used);
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	assert_int_equal(rr_gss_table_count(gss->shared->table), most);
	rr_gss_context_free(used.context);
	gss_free(world, gss);
}

/* Tells whether a call is denied as its context has ended. */
static bool
has_ended(struct world *world)
{
	struct call *call = number_new(ECHO_LATER, 5);
	int error = call_run(world, call);

	call_free(call);
	if (error == 0)
		return false;
	assert_int_equal(error, -RPCRDMA_ERR_RPC_DENIED);
	assert_non_null(strstr(rr_client_error(world->client), "cannot go on with the context"));
	return true;
}

/* 5.3.3.3: "if security credentials become stale while in use (due to ticket expiry in the case of the
 * Kerberos V5 mechanism, for example), the failures which result cause the RPCSEC_GSS_CTXPROBLEM reason to be
 * returned." The ticket, and the realm that lets clocks differ by little, are those of gss.py. */
static void
a_context_ends_with_its_ticket(void **state)
{
	char *usual = strdup(getenv("KRB5_CONFIG")), *tickets = strdup(getenv("KRB5CCNAME"));
	struct world *world = *state;
	struct gss *gss;

	setenv("KRB5_CONFIG", getenv("BRIEF_CONFIG"), 1);
	setenv("KRB5CCNAME", getenv("BRIEF_TICKETS"), 1);
	assert_int_equal(system(getenv("BRIEF_KINIT")), 0);
	gss = gss_of_daemon(world, RR_GSS_SVC_INTEGRITY);
	setenv("KRB5_CONFIG", usual, 1);
	setenv("KRB5CCNAME", tickets, 1);
	world_until(world, has_ended(world));
	assert_int_equal(rr_gss_table_count(gss->shared->table), 0);
	assert_refused(world, -RPCRDMA_ERR_RPC_DENIED, "does not know the context");
	establish(world, &gss->client);
	assert_called(world);
	gss_free(world, gss);
	free(usual);
	free(tickets);
}

/* ---- The project's own client ---- */

/* Has the server forget all contexts, as one does that starts anew. The server is killed already. */
static void
forget_contexts(struct world *world, struct gss *gss)
{
	struct rr_text why;

	rr_gss_server_free(gss->server);
	rr_gss_shared_free(gss->shared);
	assert_int_equal(rr_gss_shared_new(&rr_env_system, NULL, &gss->shared, &why), 0);
	assert_int_equal(rr_gss_server_new(world->stage.engine, gss->shared, &gss->server, &why), 0);
	world->server_config.auths = gss->server->auths;
	world->server_config.crew = gss->server->crew;
}

/* 5.3.3.3: "the client must refresh the context - that is, reestablish it after destroying the old one - and
 * try the request again." Also when more calls are under way than one context carries, so that some wait for
 * room in the context that is gone. */
static void
all_calls_go_on_with_a_new_context(void **state)
{
	enum { CALLS = 200 };
	struct world *world = *state;
	struct gss *gss = gss_new(world, RR_GSS_SVC_INTEGRITY);
	struct rr_gss_client_config own = {
		.engine = world->stage.engine, .host = "localhost", .service = RR_GSS_SVC_INTEGRITY
	};
	struct rr_client_config config;
	struct rr_gss_client *client;
	struct call *calls[CALLS];
	struct rr_text why;

	rr_client_free(world->client);
	world_client_config(world, &config);
	assert_int_equal(rr_gss_client_new(&own, &client, &why), 0);
	config.auth = rr_gss_client_auth(client);
	config.retry = 60 * RR_SECOND;
	world->client = world_connect(world, &config);
	assert_called(world);
	world_kill_server(world);
	for (uint32_t i = 0; i < CALLS; i++) {
		calls[i] = number_new(ECHO_LATER, i);
		call_start(world, calls[i]);
	}
	world_settle(world);
	forget_contexts(world, gss);
	world_start_server(world);
	for (uint32_t i = 0; i < CALLS; i++) {
		world_pass_until(world, calls[i]->done);
		assert_int_equal(calls[i]->error, 0);
		assert_int_equal(calls[i]->result.number, i);
		call_free(calls[i]);
	}
	gss_free(world, gss);
	rr_gss_client_free(client);
}

/* ---- The window ---- */

static void
a_window_takes_each_number_once(void **state)
{
	struct rr_gss_window window = { 0 };

	(void)state;
	assert_true(rr_gss_window_take(&window, 0));
	assert_false(rr_gss_window_take(&window, 0));
	for (uint32_t n = 3; n < 4000; n += 3) {
		assert_true(rr_gss_window_take(&window, n));
		assert_false(rr_gss_window_take(&window, n));
		assert_true(rr_gss_window_take(&window, n - 1));
	}
	/* 3999 is the newest: what is left out within the window is still taken, what is below is not. */
	assert_int_equal(window.newest, 3999);
	for (uint32_t n = 1; n < 4000; n += 3)
		assert_int_equal(rr_gss_window_take(&window, n), n > 3999 - RR_GSS_WINDOW);
	assert_true(rr_gss_window_take(&window, 3999 + RR_GSS_WINDOW));
	assert_false(rr_gss_window_take(&window, 3999));
	assert_true(rr_gss_window_take(&window, 4000));
	assert_true(rr_gss_window_take(&window, UINT32_MAX));
	assert_false(rr_gss_window_take(&window, UINT32_MAX));
	assert_true(rr_gss_window_take(&window, UINT32_MAX - 1));
	assert_false(rr_gss_window_take(&window, UINT32_MAX - RR_GSS_WINDOW));
}

/* ---- Keytabs ---- */

/* What is wrong with a keytab is said before a client finds out. */
static void
a_keytab_that_cannot_serve_is_named(void **state)
{
	struct rr_gss_shared *shared;
	struct rr_text why;

	(void)state;
	assert_int_equal(
		rr_gss_shared_new(&rr_env_system, "/nowhere/keytab", &shared, &why), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(why.text, "/nowhere/keytab cannot be read"));
	assert_non_null(strstr(why.text, "--keytab"));
	assert_int_equal(rr_gss_shared_new(&rr_env_system, getenv("DAEMON_KEYTAB"), &shared, &why),
		-RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(why.text, "has no key of nfs/HOST"));
}

static int
run(rr_fabric_new *provider)
{
	const struct CMUnitTest tests[] = {
		suite_test(krb5_places_data),
		suite_test(krb5i_guards_messages_against_changes),
		suite_test(krb5p_guards_messages_against_readers),
		suite_test(no_changed_bit_of_signed_arguments_is_accepted),
		suite_test(no_changed_bit_of_encrypted_arguments_is_accepted),
		suite_test(another_number_inside_is_garbage),
		suite_test(a_number_counts_once),
		suite_test(a_wrong_checksum_moves_nothing),
		suite_test(a_number_beyond_all_is_a_problem_of_the_context),
		suite_test(a_repeated_call_with_a_new_number_gets_the_same_answer),
		suite_test(a_handle_that_is_not_known_is_a_problem_of_the_credential),
		suite_test(a_context_is_destroyed_by_its_client),
		suite_test(what_is_illegal_is_refused),
		suite_test(a_token_that_is_none_makes_no_context),
		suite_test(a_storm_of_contexts_harms_its_principal_alone),
		suite_test(a_context_ends_with_its_ticket),
		suite_test(all_calls_go_on_with_a_new_context),
	};

	world_provider = provider;
	return cmocka_run_group_tests_name(provider ? "gss over RDMA" : "gss over TCP", tests, NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_takes_each_number_once),
		cmocka_unit_test(a_keytab_that_cannot_serve_is_named),
	};

	return run(NULL) + run(rr_iwarp_fabric_new) + cmocka_run_group_tests(tests, NULL, NULL);
}
