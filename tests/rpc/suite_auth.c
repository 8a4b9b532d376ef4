/* SPDX-License-Identifier: BSD-3-Clause */
/* The effects of a flavor of authentication on client and server, shown with a flavor that forbids
 * placement. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static bool
never(struct rpcrdma_bytes cred)
{
	(void)cred;
	return false;
}

static void
put_word(struct rpcrdma_xdr_writer *writer, const struct rpcrdma_auth_sys *user)
{
	rpcrdma_put_u32(writer, user->uid);
}

static int
take_word(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	request->caller = (struct rr_caller){ .flavor = call->cred.flavor };
	return call->cred.body.length == sizeof(uint32_t) ? RR_AUTH_OK : RR_AUTH_BADCRED;
}

static const struct rr_auth whole = {
	.flavor = (enum rr_auth_flavor)12345,
	.name = "AUTH_WHOLE",
	.call_adds = 2 * RR_AUTH_FIXED + sizeof(uint32_t),
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.answer_adds = RR_AUTH_FIXED,
	.may_place = never,
	.put = put_word,
	.take = take_word,
};

static const struct rr_auth *const only_whole[] = { &whole, NULL };

enum { LARGE = 1 << 20 };

/* Has client and server use the flavor. */
static void
use_whole(struct world *world)
{
	struct rr_client_config config;

	rr_client_free(world->client);
	world_kill_server(world);
	world->server_config.auths = only_whole;
	world->server_config.reply_max = LARGE + 64;
	world_start_server(world);
	world_client_config(world, &config);
	config.auth = &whole;
	world->client = world_connect(world, &config);
}

static void
check_blob(struct world *world, struct call *call)
{
	call_run(world, call);
	assert_blob(call);
	assert_int_equal(call->base.transaction.sink_count, 0);
	call_free(call);
}

/* RFC 8166, 8.2.2.3: "Effectively, no data item is DDP-eligible in this situation, and Chunked Messages
 * cannot be used." Instead "a Requester provides both a Read list and a Reply chunk in the same RPC-over-RDMA
 * header to convey a Long Call and provision a receptacle for a Long Reply." */
static void
under_a_flavor_that_forbids_placement_messages_travel_whole(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 900, 4096, 8193, 65537, LARGE };
	struct world *world = *state;
	struct rpcrdma_counters counters;

	use_whole(world);
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		check_blob(world, blob_new(lengths[i], true));
		check_blob(world, fetch_new(lengths[i]));
	}
	assert_int_equal(world->handled, 14);
	rr_client_counters(world->client, &counters);
	assert_int_equal(counters.read_chunks, 0);
	assert_int_equal(counters.write_chunks, 0);
	assert_int_equal(counters.long_calls > 0, world_provider != NULL);
	assert_int_equal(counters.long_replies > 0, world_provider != NULL);
}

/* The same calls with the usual flavor have chunks. */
static void
under_one_that_allows_it_items_are_placed(void **state)
{
	struct world *world = *state;
	struct call *call = blob_new(LARGE, true);
	struct rpcrdma_counters counters;

	call_run(world, call);
	assert_blob(call);
	assert_int_equal(call->base.transaction.sink_count, 1);
	call_free(call);
	rr_client_counters(world->client, &counters);
	assert_int_equal(counters.read_chunks > 0, world_provider != NULL);
	assert_int_equal(counters.write_chunks > 0, world_provider != NULL);
}

/* A result that may not be placed has the room of the stream, and the server takes no more memory for it
 * than reply_max. */
static void
the_room_for_a_result_is_that_of_its_stream(void **state)
{
	struct world *world = *state;
	struct call *call = fetch_new(LARGE);

	use_whole(world);
	assert_int_equal(call_run(world, call), 0);
	/* The Reply chunk has room for the largest verifier; reply_max is less than that. */
	assert_int_equal(world->item_room, LARGE + 64 + RR_RPC_REPLY_FIXED + RR_AUTH_FIXED - RR_BESIDE_ITEM);
	call_free(call);
}

static bool
always(struct rpcrdma_bytes cred)
{
	(void)cred;
	return true;
}

/* RFC 8166, 8.2.2.3: "a sender MUST NOT reduce a Payload stream", whatever chunks the requester offers. */
static void
a_server_places_nothing_even_where_a_write_chunk_waits(void **state)
{
	enum { SINK = 8000 };
	struct world *world = *state;
	struct rr_auth careless = whole;
	struct rr_client_config config;
	struct rpcrdma_counters counters;
	struct call *call = fetch_new(100);

	careless.may_place = always;
	use_whole(world);
	rr_client_free(world->client);
	world_client_config(world, &config);
	config.auth = &careless;
	world->client = world_connect(world, &config);
	call->sink = realloc(call->sink, SINK);
	call->base.sinks[0] = (struct rpcrdma_sink){ call->sink, SINK };
	/* By section 6.1, a client that offered a Write chunk reports that it was not used. */
	assert_int_equal(call_run(world, call), world_provider ? -RPCRDMA_ERR_PEER : 0);
	rr_server_counters(world->server, &counters);
	assert_int_equal(counters.write_chunks, 0);
	call_free(call);
}

static void
a_server_takes_only_the_flavors_that_it_was_given(void **state)
{
	struct world *world = *state;
	struct rr_client_config config;
	struct call *call = call_new(ECHO_ECHO);

	use_whole(world);
	rr_client_free(world->client);
	world_client_config(world, &config);
	world->client = world_connect(world, &config);
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_RPC_DENIED);
	assert_non_null(strstr(rr_client_error(world->client), "AUTH_SYS denied: the server does not take"));
	assert_int_equal(world->handled, 0);
	call_free(call);
}

static void
what_a_flavor_says_of_a_credential_is_the_answer(void **state)
{
	struct world *world = *state;
	struct rr_auth odd = whole;
	struct rr_client_config config;
	struct call *call = call_new(ECHO_ECHO);

	odd.put = rr_auth_sys.put; /* its credential has more octets than take_word() wants */
	use_whole(world);
	rr_client_free(world->client);
	world_client_config(world, &config);
	config.auth = &odd;
	world->client = world_connect(world, &config);
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_RPC_DENIED);
	assert_non_null(strstr(rr_client_error(world->client), "cannot read the credential"));
	call_free(call);
}

static void
a_client_has_only_flavors_with_credentials(void **state)
{
	struct world *world = *state;
	struct rr_client_config config;
	struct rpcrdma_client *client;
	struct rr_text why;

	world_client_config(world, &config);
	config.auth = &rr_auth_gss;
	assert_int_equal(rr_client_new(world->stage.engine, &config, &client, &why), -RPCRDMA_ERR_NOTSUP);
	assert_non_null(strstr(why.text, "RPCSEC_GSS"));
}

int
suite_auth(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(under_a_flavor_that_forbids_placement_messages_travel_whole),
		suite_test(under_one_that_allows_it_items_are_placed),
		suite_test(the_room_for_a_result_is_that_of_its_stream),
		suite_test(a_server_places_nothing_even_where_a_write_chunk_waits),
		suite_test(a_server_takes_only_the_flavors_that_it_was_given),
		suite_test(what_a_flavor_says_of_a_credential_is_the_answer),
		suite_test(a_client_has_only_flavors_with_credentials),
	};

	return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
