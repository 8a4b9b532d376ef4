/* SPDX-License-Identifier: BSD-3-Clause */
/* The items that a gateway takes out of messages; it takes no items out if the credential forbids
 * placement. */
#include "../test.h"

#include <string.h>

#include "gateway/items.h"
#include "ulb/nfs3.h"
#include "wire/rpc.h"

enum { DATA = 5000 };

static const struct rr_gateway_config config;

/* A whole call of an NFSv3 WRITE, with that credential. */
struct written {
	uint8_t stream[DATA + 1024];
	struct rpcrdma_message message;
};

/* Writes an NFSv3 WRITE with this credential. */
static void
write_call(struct written *written, const struct rr_opaque_auth *cred)
{
	static const uint8_t data[DATA] = { 1, 2, 3 };
	const struct rr_call_header header = {
		.xid = 7, .prog = 100003, .vers = 3, .proc = NFSPROC3_WRITE, .cred = *cred
	};
	const WRITE3args args = { .file.data = { data, 8 }, .count = DATA, .data = { data, DATA } };
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, written->stream, sizeof(written->stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rr_ulb_find(100003, 3)->procedures[NFSPROC3_WRITE].put_args(&writer, &args);
	assert_false(writer.failed);
	written->message = rpcrdma_xdr_written(&writer);
}

/* Returns how many items are taken out of the call. */
static uint32_t
taken(struct rr_known *known, const struct written *written)
{
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	struct rpcrdma_message out;
	uint8_t scratch[1024];

	rr_known_read(known, &config, &written->message);
	rr_items_take(known, RR_ITEMS_CALL, &written->message,
		&(struct rr_items_room){ scratch, sizeof(scratch), items }, &out);
	return out.item_count;
}

/* Returns how many items are taken out of a WRITE whose credential has this flavor and these words. */
static uint32_t
taken_under(uint32_t flavor, const uint32_t *words, uint32_t count)
{
	uint8_t body[RR_AUTH_BODY_MAX];
	struct rpcrdma_xdr_writer writer;
	struct rr_opaque_auth cred = { flavor, { body, count * 4 } };
	struct written written;
	struct rr_known known;

	rpcrdma_xdr_writer_init(&writer, body, sizeof(body), NULL, 0);
	for (uint32_t i = 0; i < count; i++)
		rpcrdma_put_u32(&writer, words[i]);
	write_call(&written, &cred);
	return taken(&known, &written);
}

static void
data_is_placed_where_the_credential_allows_it(void **state)
{
	static const uint32_t sys[5], service_none[] = { 1, 0, 9, 1, 0 };

	(void)state;
	assert_int_equal(taken_under(RR_AUTH_NONE, NULL, 0), 1);
	assert_int_equal(taken_under(RR_AUTH_SYS, sys, 5), 1);
	assert_int_equal(taken_under(RR_RPCSEC_GSS, service_none, 5), 1);
}

/* RFC 8166, 8.2.2.3: "a sender MUST NOT reduce a Payload stream when RPCSEC_GSS integrity or encryption
 * services are in use." */
static void
what_is_protected_travels_whole(void **state)
{
	static const uint32_t integrity[] = { 1, 0, 9, 2, 0 }, privacy[] = { 1, 0, 9, 3, 0 };

	(void)state;
	assert_int_equal(taken_under(RR_RPCSEC_GSS, integrity, 5), 0);
	assert_int_equal(taken_under(RR_RPCSEC_GSS, privacy, 5), 0);
	assert_int_equal(taken_under(390004, NULL, 0), 0);
}

/* Estimates the reply to a call under that credential; returns how many items are taken out of the call. */
static uint32_t
expect(const struct rr_opaque_auth *cred, struct rr_transaction *transaction)
{
	struct rr_exchange exchange = { .stream_room = 100000 };
	struct written written;
	struct rr_known known;
	uint32_t count;

	write_call(&written, cred);
	count = taken(&known, &written);
	exchange.call = written.message;
	rr_items_expect(&known, &exchange, 1 << 20, transaction);
	return count;
}

/* The size of the reply is not known then: it has all the room that the exchange can convey, and no Write
 * chunk. */
static void
the_reply_to_a_protected_call_is_expected_whole(void **state)
{
	static const uint8_t integrity[20] = { [3] = 1, [11] = 9, [15] = 2 };
	struct rr_opaque_auth cred = { RR_RPCSEC_GSS, { integrity, sizeof(integrity) } };
	struct rr_transaction transaction = { 0 };

	(void)state;
	assert_int_equal(expect(&cred, &transaction), 0);
	assert_int_equal(transaction.sink_count, 0);
	assert_int_equal(transaction.reply_max, 100000);
}

static void
the_reply_to_another_has_room_for_the_verifier_of_the_flavor(void **state)
{
	const struct rr_opaque_auth cred = { RR_AUTH_NONE, { NULL, 0 } };
	const struct rpcrdma_procedure *write = &rr_ulb_find(100003, 3)->procedures[NFSPROC3_WRITE];
	struct rr_transaction transaction = { 0 };

	(void)state;
	expect(&cred, &transaction);
	assert_int_equal(transaction.reply_max, 16 + 8 + 400 + write->result_max);
}

/* Estimates the reply to a READDIRPLUS, or a GETATTR, of NFS version 3. */
static struct rr_transaction
expect_of(uint32_t proc)
{
	static const uint8_t handle[8];
	const struct rr_call_header header = { .xid = 7, .prog = 100003, .vers = 3, .proc = proc };
	const READDIRPLUS3args list = { .dir.data = { handle, 8 }, .dircount = 8000, .maxcount = 32768 };
	const GETATTR3args get = { .object.data = { handle, 8 } };
	struct rr_exchange exchange = { .stream_room = 100000 };
	struct rr_transaction transaction = { 0 };
	struct rpcrdma_xdr_writer writer;
	uint8_t stream[256];
	struct rr_known known;

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rr_ulb_find(100003, 3)->procedures[proc].put_args(
		&writer, proc == NFSPROC3_GETATTR ? (const void *)&get : &list);
	exchange.call = rpcrdma_xdr_written(&writer);
	rr_known_read(&known, &config, &exchange.call);
	rr_items_expect(&known, &exchange, 1 << 20, &transaction);
	return transaction;
}

/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2: "The actual size of a READDIR reply is often
 * unpredictable but is frequently large." The gateway estimates as a client of this project does
 * (rpc/expect.h). */
static void
a_list_of_a_directory_is_taken_for_large(void **state)
{
	(void)state;
	assert_true(expect_of(NFSPROC3_READDIRPLUS).reply_min > 32768);
	assert_true(expect_of(NFSPROC3_READDIRPLUS).reply_min <= expect_of(NFSPROC3_READDIRPLUS).reply_max);
	assert_true(expect_of(NFSPROC3_GETATTR).reply_min < 100);
}

/* Estimates the reply to a COMPOUND of READs with these counts of octets. */
static void
expect_reads(const uint32_t *counts, uint32_t count, uint32_t max, struct rr_transaction *transaction)
{
	static uint8_t stream[8192];
	const struct rr_call_header header = { .xid = 7, .prog = 100003, .vers = 4, .proc = 1 };
	struct rr_exchange exchange = { .stream_room = UINT32_MAX };
	struct rpcrdma_xdr_writer writer;
	struct rr_known known;

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rpcrdma_put_u32(&writer, 0);
	rpcrdma_put_u32(&writer, 0);
	rpcrdma_put_u32(&writer, count);
	for (uint32_t i = 0; i < count; i++) {
		rpcrdma_put_u32(&writer, 25);
		for (int j = 0; j < 6; j++)
			rpcrdma_put_u32(&writer, 0);
		rpcrdma_put_u32(&writer, counts[i]);
	}
	assert_false(writer.failed);
	exchange.call = rpcrdma_xdr_written(&writer);
	rr_known_read(&known, &config, &exchange.call);
	*transaction = (struct rr_transaction){ 0 };
	rr_items_expect(&known, &exchange, max, transaction);
}

/* Each result has room in which the server can return it, shortened if need be. */
static void
results_that_exceed_a_message_together_share_it(void **state)
{
	static const uint32_t equal[] = { 3 << 20, 3 << 20 }, small[] = { 1000, 3 << 20, 3 << 20 };
	enum { MAX = 1 << 20 };
	struct rr_transaction transaction;

	(void)state;
	expect_reads(equal, 2, MAX, &transaction);
	assert_int_equal(transaction.sink_count, 2);
	assert_int_equal(transaction.sinks[0].length, transaction.sinks[1].length);
	assert_in_range(transaction.sinks[0].length, MAX / 2 - 1000, MAX / 2);
	assert_true(transaction.reply_max + transaction.sinks[0].length + transaction.sinks[1].length <= MAX);
	expect_reads(small, 3, MAX, &transaction);
	assert_int_equal(transaction.sinks[0].length, 1000);
	assert_int_equal(transaction.sinks[1].length, transaction.sinks[2].length);
	assert_in_range(transaction.sinks[1].length, MAX / 2 - 1500, MAX / 2 - 500);
}

/* The size of the reply to a COMPOUND of many READs is known: the results past the last sink are in its
 * stream. */
static void
results_past_the_last_sink_are_of_the_stream(void **state)
{
	enum { MAX = 1 << 20 };
	uint32_t counts[64];
	struct rr_transaction few, many;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		counts[i] = 1001;
	expect_reads(counts, RPCRDMA_SINKS_MAX, MAX, &few);
	for (uint32_t n = RPCRDMA_SINKS_MAX + 1; n <= 64; n++) {
		expect_reads(counts, n, MAX, &many);
		assert_int_equal(many.sink_count, RPCRDMA_SINKS_MAX);
		assert_int_equal(many.reply_max - few.reply_max, (n - RPCRDMA_SINKS_MAX) * (16 + 1004));
	}
}

/* Some servers return more entries than the counts of READDIRPLUS allow. */
static void
lists_have_room_beyond_what_was_asked_for(void **state)
{
	static uint8_t stream[1024];
	const struct rr_call_header header = {
		.xid = 7, .prog = 100003, .vers = 3, .proc = NFSPROC3_READDIRPLUS
	};
	const READDIRPLUS3args args = { .dir.data = { stream, 8 }, .dircount = 100, .maxcount = 100 };
	struct rr_exchange exchange = { .stream_room = UINT32_MAX };
	struct rr_transaction transaction = { 0 };
	struct rpcrdma_xdr_writer writer;
	struct rr_known known;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	xdr_put_READDIRPLUS3args(&writer, &args);
	assert_false(writer.failed);
	exchange.call = rpcrdma_xdr_written(&writer);
	rr_known_read(&known, &config, &exchange.call);
	rr_items_expect(&known, &exchange, 1 << 20, &transaction);
	assert_in_range(transaction.reply_max, 65536, 67000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_placed_where_the_credential_allows_it),
		cmocka_unit_test(what_is_protected_travels_whole),
		cmocka_unit_test(the_reply_to_a_protected_call_is_expected_whole),
		cmocka_unit_test(a_list_of_a_directory_is_taken_for_large),
		cmocka_unit_test(the_reply_to_another_has_room_for_the_verifier_of_the_flavor),
		cmocka_unit_test(results_that_exceed_a_message_together_share_it),
		cmocka_unit_test(results_past_the_last_sink_are_of_the_stream),
		cmocka_unit_test(lists_have_room_beyond_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
