/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that the server refuses, each with the error of RFC 5531, section 9, and a text that describes the
 * error. */
#include "suite.h"

#include <string.h>

static void
assert_text(struct world *world, const char *part)
{
	if (!strstr(rr_client_error(world->client), part))
		fail_msg("\"%s\" is not in: %s", part, rr_client_error(world->client));
}

/* Makes a call that the server fails in this way, and checks the error and its text at the client. */
static void
check_outcome(struct world *world, outcome how, int error, const char *part)
{
	struct call *call = call_new(ECHO_FAIL);

	call->args.fail = how;
	assert_int_equal(call_run(world, call), error);
	assert_text(world, part);
	call_free(call);
}

static void
a_handler_decides_how_a_call_ends(void **state)
{
	struct world *world = *state;

	check_outcome(world, OUTCOME_SYSTEM_ERR, -RPCRDMA_ERR_RPC_SYSTEM, "ECHO_FAIL");
	check_outcome(world, OUTCOME_GARBAGE_ARGS, -RPCRDMA_ERR_GARBAGE_ARGS, "could not decode");
	check_outcome(world, OUTCOME_PROC_UNAVAIL, -RPCRDMA_ERR_PROC_UNAVAIL, "does not have ECHO_FAIL");
	check_outcome(world, OUTCOME_TOO_WEAK, -RPCRDMA_ERR_RPC_DENIED, "wants more than this");
	check_outcome(world, OUTCOME_BAD_RESULT, -RPCRDMA_ERR_RPC_SYSTEM, "system error");
}

static void
an_unknown_program_is_unavailable(void **state)
{
	static const struct rpcrdma_procedure null = { .name = "OTHER_NULL" };
	static const struct rpcrdma_program other = { "OTHER_V1", 0x20001234, 1, 1, &null };
	struct call *call = call_new(0);

	call->base.program = &other;
	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_PROG_UNAVAIL);
	assert_text(*state, "536875572");
	call_free(call);
}

static void
another_version_is_answered_with_the_range_there_is(void **state)
{
	struct rpcrdma_program other = ECHO_V3_program;
	struct call *call = call_new(0);

	other.vers = 9;
	call->base.program = &other;
	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_PROG_MISMATCH);
	assert_text(*state, "versions 2 to 3");
	call_free(call);
}

static void
a_procedure_without_handler_is_unavailable(void **state)
{
	struct call *call = call_new(ECHO_UNHANDLED);

	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_PROC_UNAVAIL);
	call_free(call);
}

static void
a_procedure_beyond_the_last_is_unavailable(void **state)
{
	struct rpcrdma_procedure procedures[21] = { [20] = { .name = "ECHO_TWENTY" } };
	struct rpcrdma_program other = ECHO_V3_program;
	struct call *call = call_new(20);

	other.procedures = procedures;
	other.procedure_count = 21;
	call->base.program = &other;
	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_PROC_UNAVAIL);
	call->base.proc = 7; /* this is a procedure of the server's table, but not of its schema */
	procedures[7].name = "ECHO_SEVEN";
	call->done = false;
	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_PROC_UNAVAIL);
	call_free(call);
}

static void
put_two_words(struct rpcrdma_xdr_writer *writer, const void *value)
{
	(void)value;
	rpcrdma_put_u64(writer, 1);
}

/* The arguments have more or fewer octets than the schema, also for the procedure that takes no arguments.
 * RFC 8166, 4.5.2: a responder that "cannot parse the RPC arguments" answers with "status GARBAGE_ARGS". */
static void
arguments_must_be_consumed_exactly(void **state)
{
	struct rpcrdma_procedure procedures[ECHO_UNHANDLED + 1];
	struct rpcrdma_program other = ECHO_V3_program;
	struct world *world = *state;

	memcpy(procedures, other.procedures, sizeof(procedures));
	other.procedures = procedures;
	for (uint32_t proc = 0; proc <= ECHO_LATER; proc += ECHO_LATER) {
		for (int fewer = 0; fewer < 2; fewer++) {
			struct call *call = call_new(proc);

			if (proc == ECHO_NULL && fewer)
				procedures[proc].put_args = ECHO_V3_program.procedures[ECHO_LATER].put_args;
			else
				procedures[proc].put_args = fewer ? NULL : put_two_words;
			procedures[proc].args_max = 8;
			call->base.program = &other;
			assert_int_equal(call_run(world, call), -RPCRDMA_ERR_GARBAGE_ARGS);
			call_free(call);
		}
	}
	assert_int_equal(world->handled, 0);
}

static void
a_result_that_does_not_decode_is_an_error(void **state)
{
	struct rpcrdma_procedure procedures[ECHO_UNHANDLED + 1];
	struct rpcrdma_program other = ECHO_V3_program;
	struct call *call = call_new(ECHO_LATER);

	memcpy(procedures, other.procedures, sizeof(procedures));
	procedures[ECHO_LATER].get_result = NULL;
	other.procedures = procedures;
	call->base.program = &other;
	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_XDR);
	assert_text(*state, "ECHO_LATER");
	call_free(call);
}

static void
what_the_caller_did_wrong_is_an_error_from_the_loop(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(7);

	call_start(world, call);
	assert_false(call->done);
	world_until(world, call->done);
	assert_int_equal(call->error, -RPCRDMA_ERR_INVAL);
	call->base.proc = ECHO_ECHO;
	call->args.echo = (text){ call->arena, TEXT_MAX + 1 };
	call->done = false;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_INVAL);
	call_free(call);
}

/* The first call of a program makes the statistics of its procedures, and has none itself. */
static void
a_first_call_beyond_the_last_procedure_is_not_counted(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_V3_program.procedure_count);

	call_start(world, call);
	assert_null(call->base.history);
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_INVAL);
	call_free(call);
}

/* A result without a bound in the schema may be as large as messages are. */
static void
a_result_without_a_bound_needs_no_number(void **state)
{
	struct call *call = call_new(ECHO_COUNT);

	call->base.reply_max = 0;
	assert_int_equal(call_run(*state, call), 0);
	call_free(call);
}

static void
a_reply_that_does_not_fit_keep_is_an_error(void **state)
{
	struct call *call = call_new(ECHO_ECHO);

	call->args.echo = (text){ call->arena, 100 };
	call->base.keep_size = 100;
	assert_int_equal(call_run(*state, call), -RPCRDMA_ERR_LIMIT);
	call_free(call);
}

static void
without_keep_the_result_lives_until_done_returns(void **state)
{
	struct call *call = call_new(ECHO_LATER);

	call->base.keep = NULL;
	call->args.number = 5;
	assert_int_equal(call_run(*state, call), 0);
	assert_int_equal(call->result.number, 5);
	call_free(call);
}

int
suite_errors(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_handler_decides_how_a_call_ends),
		suite_test(an_unknown_program_is_unavailable),
		suite_test(another_version_is_answered_with_the_range_there_is),
		suite_test(a_procedure_without_handler_is_unavailable),
		suite_test(a_procedure_beyond_the_last_is_unavailable),
		suite_test(arguments_must_be_consumed_exactly),
		suite_test(a_result_that_does_not_decode_is_an_error),
		suite_test(what_the_caller_did_wrong_is_an_error_from_the_loop),
		suite_test(a_first_call_beyond_the_last_procedure_is_not_counted),
		suite_test(a_result_without_a_bound_needs_no_number),
		suite_test(a_reply_that_does_not_fit_keep_is_an_error),
		suite_test(without_keep_the_result_lives_until_done_returns),
	};

	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
