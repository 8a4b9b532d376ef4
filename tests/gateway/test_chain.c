/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on their way from TCP over RDMA to TCP, and back. */
#include "chain.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/endian.h"
#include "ulb/nfs3.h"

enum { NFS = 100003, NLM = 100021, NFSACL = 100227, CALLBACK = 0x40000000, LARGE = 20000 };

/* RFC 2203, 5.3.1: version, gss_proc RPCSEC_GSS_DATA, seq_num, service, an empty context handle. */
static const uint8_t integrity[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 0 },
		     privacy[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 0 };

static struct rpcrdma_counters
server_side(const struct rr_gateway *gateway)
{
	struct rr_gateway_counters counters;

	rr_gateway_counters(gateway, &counters);
	return counters.server_side;
}

/* Makes a call whose protected body looks like the arguments of a WRITE. */
static struct message *
protected_call(uint32_t xid, uint32_t proc, const struct rr_opaque_auth *cred)
{
	struct message *call = call_message(xid, NFS, 3, proc, cred, LARGE);
	uint8_t *body = call->octets + call->length - LARGE;
	static const uint32_t words[] = { 8, 1, 2, 0, 0, LARGE - 32, UNSTABLE, LARGE - 32 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		rr_put_be32(body + 4 * i, words[i]);
	return call;
}

/* RFC 8166, 8.2.2.3: "a sender MUST NOT reduce a Payload stream when RPCSEC_GSS integrity or encryption
 * services are in use." The octets that look like the data of a WRITE belong to an opaque object here;
 * both sides get every octet, in long messages. */
static void
what_rpcsec_gss_protects_passes_whole(void **state)
{
	static const struct rr_opaque_auth creds[] = { { RR_RPCSEC_GSS, { integrity, sizeof(integrity) } },
		{ RR_RPCSEC_GSS, { privacy, sizeof(privacy) } } };
	static const uint32_t procedures[] = { NFSPROC3_WRITE, NFSPROC3_READ };
	struct chain *chain = *state;
	struct rpcrdma_counters counters;
	uint32_t xid = 100;

	for (int cred = 0; cred < 2; cred++) {
		for (int proc = 0; proc < 2; proc++, xid++) {
			pass_message(chain, chain->client, chain->server,
				protected_call(xid, procedures[proc], &creds[cred]));
			pass_message(chain, chain->server, chain->client, reply_message(xid, LARGE));
		}
	}
	counters = server_side(chain->near);
	assert_int_equal(counters.calls, 1 + 4);
	assert_int_equal(counters.long_calls, 4);
	assert_int_equal(counters.why_stream, 4);
	assert_int_equal(counters.why_arguments, 0);
	assert_int_equal(counters.write_chunks, 0);
	assert_int_equal(counters.long_replies + counters.provided_replies, 4);
}

/* ---- Callbacks ---- */

/* RFC 8167, 5.3: "When chunks are not implemented, RPC messages in the reverse direction are always sent
 * using a Short Message; therefore, they can be no larger than what can be sent inline" */
static void
callbacks_pass_in_both_sizes_that_fit_inline(void **state)
{
	static const uint32_t sizes[] = { 0, 4, 100, 900, 3000 };
	struct chain *chain = *state;

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		pass_message(chain, chain->server, chain->client,
			call_message(500 + i, CALLBACK, 1, 1, NULL, sizes[i]));
		pass_message(chain, chain->client, chain->server, reply_message(500 + i, sizes[i]));
	}
}

/* RFC 8167, 4.1: "RPC-over-RDMA credits work the same way in the reverse direction as they do in the
 * forward direction." RFC 8166, 3.3.3: "a Requester MUST NOT assume more than one credit is available and
 * MUST receive a valid reply from the Responder carrying the actual number of available credits". The
 * other callbacks wait in the gateway. */
static void
one_callback_passes_until_the_first_is_answered(void **state)
{
	enum { CALLBACKS = 3 };
	struct chain *chain = *state;
	struct message *callbacks[CALLBACKS];

	for (uint32_t i = 0; i < CALLBACKS; i++) {
		callbacks[i] = call_message(550 + i, CALLBACK, 1, 1, NULL, 100);
		send_message(chain, chain->server, callbacks[i]);
	}
	expect_message(chain, chain->client, callbacks[0]);
	expect_nothing(chain, chain->client);
	pass_message(chain, chain->client, chain->server, reply_message(550, 40));
	for (uint32_t i = 1; i < CALLBACKS; i++)
		expect_message(chain, chain->client, callbacks[i]);
	for (uint32_t i = 1; i < CALLBACKS; i++)
		pass_message(chain, chain->client, chain->server, reply_message(550 + i, 40));
}

/* Checks that the server gets the answer that its callback failed. */
static void
assert_failed(struct chain *chain, uint32_t xid)
{
	uint8_t reply[64];
	struct rpcrdma_message message = { .stream = reply };
	struct rpcrdma_xdr_reader reader;
	struct rr_reply_header header;

	message.length = (uint32_t)raw_receive(chain->world, chain->server, reply, sizeof(reply));
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_true(rr_rpc_get_reply(&reader, &header));
	assert_int_equal(header.xid, xid);
	assert_int_equal(header.accept_stat, RR_SYSTEM_ERR);
}

static void
send_and_free(struct chain *chain, int fd, struct message *message)
{
	send_message(chain, fd, message);
	free(message);
}

static void
a_callback_that_is_too_large_is_answered(void **state)
{
	struct chain *chain = *state;

	send_and_free(chain, chain->server, call_message(600, CALLBACK, 1, 1, NULL, LARGE));
	assert_failed(chain, 600);
	expect_nothing(chain, chain->client);
	pass_message(chain, chain->server, chain->client, call_message(601, CALLBACK, 1, 1, NULL, 8));
	send_and_free(chain, chain->client, reply_message(601, LARGE));
	assert_failed(chain, 601);
	pass_message(chain, chain->server, chain->client, call_message(602, CALLBACK, 1, 1, NULL, 8));
	pass_message(chain, chain->client, chain->server, reply_message(602, 8));
}

/* ---- Messages that are too large ---- */

enum { BEYOND = 3 << 20 }; /* octets: more than the gateways carry */

/* Checks that the client gets SYSTEM_ERR for that call. */
static void
expect_system_error(struct chain *chain, uint32_t xid)
{
	static const uint32_t rest[] = { RR_REPLY, RR_MSG_ACCEPTED, 0, 0, RR_SYSTEM_ERR };
	struct message *reply = reply_message(xid, 0);

	for (uint32_t i = 0; i < 5; i++)
		rr_put_be32(reply->octets + 4 + 4 * i, rest[i]);
	expect_message(chain, chain->client, reply);
}

static void
a_call_that_is_too_large_fails_alone(void **state)
{
	struct chain *chain = *state;

	pass_message(chain, chain->client, chain->server, call_message(800, NFS, 3, 0, NULL, 8));
	send_and_free(chain, chain->client, call_message(801, NFS, 3, NFSPROC3_WRITE, NULL, BEYOND));
	expect_system_error(chain, 801);
	pass_message(chain, chain->server, chain->client, reply_message(800, 8));
	pass_message(chain, chain->client, chain->server, call_message(802, NFS, 3, 0, NULL, 8));
	pass_message(chain, chain->server, chain->client, reply_message(802, 8));
}

static void
a_reply_that_is_too_large_fails_alone(void **state)
{
	struct chain *chain = *state;

	pass_message(chain, chain->client, chain->server, call_message(810, NFS, 3, 0, NULL, 8));
	pass_message(chain, chain->client, chain->server, call_message(811, NFS, 3, 0, NULL, 8));
	send_and_free(chain, chain->server, reply_message(811, BEYOND));
	expect_system_error(chain, 811);
	pass_message(chain, chain->server, chain->client, reply_message(810, 8));
	/* No call asked for this reply. */
	send_and_free(chain, chain->server, reply_message(812, BEYOND));
	pass_message(chain, chain->client, chain->server, call_message(813, NFS, 3, 0, NULL, 8));
	pass_message(chain, chain->server, chain->client, reply_message(813, 8));
}

/* ---- Programs ---- */

static void
programs_go_where_the_port_map_says(void **state)
{
	static const uint32_t programs[CHAIN_ROUTES] = { NLM, NFSACL }, versions[CHAIN_ROUTES] = { 4, 3 };
	int listeners[CHAIN_ROUTES], servers[CHAIN_ROUTES];
	struct chain *chain = chain_new(programs, listeners);

	(void)state;
	chain_connect(chain);
	for (uint32_t i = 0; i < CHAIN_ROUTES; i++) {
		struct message *call = call_message(700, programs[i], versions[i], 1, NULL, 40);

		send_message(chain, chain->client, call);
		servers[i] = raw_accept(chain->world, listeners[i]);
		expect_message(chain, servers[i], call);
	}
	/* The same XID is in use towards each server, and the answers come in another order. */
	pass_message(chain, chain->client, chain->server, call_message(700, NFS, 3, 1, NULL, 40));
	pass_message(chain, chain->server, chain->client, reply_message(700, 12));
	pass_message(chain, servers[1], chain->client, reply_message(700, 24));
	pass_message(chain, servers[0], chain->client, reply_message(700, 36));
	expect_nothing(chain, chain->client);
	for (uint32_t i = 0; i < CHAIN_ROUTES; i++) {
		close(listeners[i]);
		close(servers[i]);
	}
	chain_free(chain);
}

/* If a lock manager closes an idle connection, no other connection ends; the next call makes another
 * connection. */
static void
an_idle_route_may_be_closed(void **state)
{
	static const uint32_t programs[CHAIN_ROUTES] = { NLM, NFSACL };
	int listeners[CHAIN_ROUTES], lock_manager;
	struct chain *chain = chain_new(programs, listeners);

	(void)state;
	chain_connect(chain);
	for (uint32_t i = 0; i < 2; i++) {
		struct message *call = call_message(710 + i, NLM, 4, 1, NULL, 40);

		send_message(chain, chain->client, call);
		lock_manager = raw_accept(chain->world, listeners[0]);
		expect_message(chain, lock_manager, call);
		pass_message(chain, lock_manager, chain->client, reply_message(710 + i, 36));
		close(lock_manager);
		world_settle(chain->world);
	}
	pass_message(chain, chain->client, chain->server, call_message(720, NFS, 3, 1, NULL, 40));
	close(listeners[0]);
	close(listeners[1]);
	chain_free(chain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_rpcsec_gss_protects_passes_whole, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			callbacks_pass_in_both_sizes_that_fit_inline, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			one_callback_passes_until_the_first_is_answered, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_call_that_is_too_large_fails_alone, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_reply_that_is_too_large_fails_alone, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_callback_that_is_too_large_is_answered, chain_setup, chain_teardown),
		cmocka_unit_test(programs_go_where_the_port_map_says),
		cmocka_unit_test(an_idle_route_may_be_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
