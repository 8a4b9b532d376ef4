/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of a message that a gateway lets travel apart, and the Write chunks that they get. */
#include "../test.h"
#include "../words.h"

#include <stdio.h>
#include <string.h>

#include "gateway/items.h"
#include "ulb/nfs42.h"
#include "wire/rpc.h"

enum { XID = 7, NFS = 100003, ROOM = 4096 };

static uint8_t stream[ROOM], scratch[ROOM];
static struct rpcrdma_item items[RR_MESSAGE_ITEMS];
static struct rpcrdma_message out;
static const struct rr_gateway_config config;

static void
put_opaque(const char *data, uint32_t length)
{
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ data, length }, UINT32_MAX);
}

static struct rpcrdma_message
written(void)
{
	assert_false(writer.failed);
	return rpcrdma_xdr_written(&writer);
}

/* ---- Calls ---- */

/* RFC 2203, 5.3.1: version, procedure, sequence number, service, context. */
struct gss {
	uint32_t version, procedure, service;
};

/* Starts a COMPOUND call, under RPCSEC_GSS if there is gss. */
static void
begin_call(const struct gss *gss)
{
	uint8_t body[400];
	struct rpcrdma_xdr_writer cred;
	struct rr_call_header header = { .xid = XID, .prog = NFS, .vers = 4, .proc = NFSPROC4_COMPOUND };
	struct rpcrdma_message message;

	rpcrdma_xdr_writer_init(&cred, body, sizeof(body), NULL, 0);
	if (gss) {
		rpcrdma_put_u32(&cred, gss->version);
		rpcrdma_put_u32(&cred, gss->procedure);
		rpcrdma_put_u32(&cred, 1);
		rpcrdma_put_u32(&cred, gss->service);
		rpcrdma_put_bytes(&cred, (struct rpcrdma_bytes){ "context", 7 }, 8);
		message = rpcrdma_xdr_written(&cred);
		header.cred = (struct rr_opaque_auth){ RR_RPCSEC_GSS, { message.stream, message.length } };
		header.verf = (struct rr_opaque_auth){ RR_RPCSEC_GSS, { "a checksum of some length", 24 } };
	}
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
}

/* Writes PUTFH, WRITE of length octets, and GETATTR. */
static void
put_write(uint32_t length)
{
	static const char data[1000] = "what is written";

	put(0);
	put(1);
	put(3);
	put(OP_PUTFH);
	put_opaque("a file handle", 13);
	put(OP_WRITE);
	put_zeroes(7);
	put_opaque(data, length);
	put(OP_GETATTR);
	put(1);
	put(1);
}

/* Returns how many items the gateway takes out of the call. */
static uint32_t
items_of_call(void)
{
	const struct rpcrdma_message in = written();
	struct rr_known known;

	rr_known_read(&known, &config, &in);
	rr_items_take(
		&known, RR_ITEMS_CALL, &in, &(struct rr_items_room){ scratch, sizeof(scratch), items }, &out);
	return out.item_count;
}

/* RFC 8166, 3.4.2: "All other XDR data items MUST NOT be reduced." 6.1: "Senders MUST NOT reduce data
 * items that are not DDP-eligible." RFC 8267, 6.1, lists the eligible items.
 * draft-ietf-nfsv4-rfc5667bis-01, 4: no "Read chunk that corresponds with any other XDR data item". */
static void
of_a_call_the_data_of_write_alone_travels_apart(void **state)
{
	struct rpcrdma_message in;

	(void)state;
	begin_call(NULL);
	put_write(333);
	in = written();
	assert_int_equal(items_of_call(), 1);
	assert_int_equal(items[0].length, 333);
	assert_string_equal(items[0].data, "what is written");
	/* The rest of the stream is there: only 333 octets and their roundup padding are gone. */
	assert_int_equal(out.length, in.length - 336);
	assert_memory_equal(out.stream, in.stream, items[0].offset);
	assert_memory_equal((const uint8_t *)out.stream + items[0].offset,
		(const uint8_t *)in.stream + items[0].offset + 336, out.length - items[0].offset);
}

/* RFC 8166, 8.2.2: "data items that are part of RPCSEC_GSS authentication material" "MUST NOT be reduced":
 * the octets in front of the arguments stay in the stream. With the service that only authenticates, the
 * data of a WRITE may travel apart. */
static void
what_authenticates_stays_in_the_stream(void **state)
{
	const struct gss gss = { 1, 0, 1 };
	struct rpcrdma_message in;

	(void)state;
	begin_call(&gss);
	put_write(333);
	in = written();
	assert_int_equal(items_of_call(), 1);
	assert_string_equal(items[0].data, "what is written");
	assert_memory_equal(out.stream, in.stream, items[0].offset);
}

/* RFC 8166, 8.2.2: "control messages exchanged as part of establishing or destroying a security context"
 * "MUST NOT be reduced". */
static void
what_makes_a_context_travels_whole(void **state)
{
	static const struct gss wrapped[] = {
		{ 1, 0, 4 }, /* an unknown service */
		{ 1, 1, 1 }, /* INIT */
		{ 1, 2, 1 }, /* CONTINUE_INIT */
		{ 1, 3, 1 }, /* DESTROY */
		{ 4, 0, 1 }, /* an unknown version */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrapped) / sizeof(*wrapped); i++) {
		begin_call(&wrapped[i]);
		put_write(333);
		assert_int_equal(items_of_call(), 0);
		assert_ptr_equal(out.stream, stream);
		assert_int_equal(out.length, rpcrdma_xdr_length(&writer));
	}
}

/* ---- Replies ---- */

/* Starts the reply to a COMPOUND with this many operations. */
static void
begin_reply(uint32_t operations)
{
	struct rr_reply_header header = { .xid = XID };

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_reply(&writer, &header);
	put(0);
	put(0);
	put(operations);
}

static void
put_read(const char *data)
{
	put(OP_READ);
	put(NFS4_OK);
	put(1);
	put_opaque(data, (uint32_t)strlen(data));
}

static void
put_readlink(const char *path)
{
	put(OP_READLINK);
	put(NFS4_OK);
	put_opaque(path, (uint32_t)strlen(path));
}

/* Writes the result of a READ operation without data. */
static void
put_failure(void)
{
	put(OP_READLINK);
	put(NFS4ERR_INVAL);
}

static void
put_putfh(void)
{
	put(OP_PUTFH);
	put(NFS4_OK);
}

static uint32_t client_chunks; /* Write chunks that came with the call, in which the reply can travel */

/* Takes the items out of a reply to a client that offered this many chunks. */
static enum rr_walk_answer
take(enum rr_items_use use, const struct rpcrdma_message *in, uint32_t chunk_count)
{
	const struct rr_known known = { .proc = NFSPROC4_COMPOUND,
		.program = rr_ulb_find(NFS, 4),
		.sinks = { 100, 100, 100, 100 },
		.chunk_count = chunk_count,
		.write_chunks = client_chunks };

	return rr_items_take(
		&known, use, in, &(struct rr_items_room){ scratch, sizeof(scratch), items }, &out);
}

static enum rr_walk_answer
take_reply(enum rr_items_use use, uint32_t chunk_count)
{
	const struct rpcrdma_message in = written();

	return take(use, &in, chunk_count);
}

static void
items_of_reply(uint32_t chunks)
{
	client_chunks = chunks;
	assert_int_equal(take_reply(RR_ITEMS_REPLY_RDMA, 0), RR_WALKED);
}

static void
assert_item(uint32_t i, const char *data)
{
	assert_true(i < out.item_count);
	assert_int_equal(items[i].length, strlen(data));
	assert_memory_equal(items[i].data, data, strlen(data));
}

/* RFC 8267, 6.4.1: "The first chunk in the Write list MUST be used by the first READ operation in an NFS
 * version 4 COMPOUND procedure. The next Write chunk is used by the next READ operation, and so on." Item
 * i of a reply is for Write chunk i. */
static void
each_read_has_the_chunk_of_its_place(void **state)
{
	(void)state;
	begin_reply(6);
	put_putfh();
	put_read("the first");
	put_putfh();
	put_readlink("a/link");
	put_putfh();
	put_read("the third one");
	items_of_reply(3);
	assert_int_equal(out.item_count, 3);
	assert_item(0, "the first");
	assert_item(1, "a/link");
	assert_item(2, "the third one");
}

/* RFC 8267, 6.4.1: "If an NFS version 4 client has provided a matching non-empty Write chunk, then the
 * corresponding READ operation MUST return its DDP-eligible data item using that chunk": this holds for
 * the last READ, too. Those "that have no matching Write chunk MUST return their results inline." */
static void
as_many_reads_as_there_are_chunks_are_placed(void **state)
{
	static const uint32_t counts[] = { 1, 4, 5, 16, 64 };
	char data[20];

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (uint32_t reads = counts[i] - 1; reads <= counts[i] + 2; reads++) {
			uint32_t placed = reads < counts[i] ? reads : counts[i];

			begin_reply(reads);
			for (uint32_t j = 0; j < reads; j++) {
				snprintf(data, sizeof(data), "read %02u", j);
				put_read(data);
			}
			items_of_reply(counts[i]);
			assert_int_equal(out.item_count, placed);
			for (uint32_t j = 0; j < placed; j++) {
				snprintf(data, sizeof(data), "read %02u", j);
				assert_item(j, data);
			}
			/* Each READ has seven octets and one octet of padding. */
			assert_int_equal(out.length + 8 * placed, rpcrdma_xdr_length(&writer));
		}
	}
}

/* RFC 8267, 6.4.1: "If a READ operation returns a union arm that does not contain a DDP-eligible result,
 * and the NFS version 4 client has provided a matching non-empty Write chunk, an NFS version 4 server MUST
 * return an empty Write chunk in that Write list position." An item without octets stands in that place. */
static void
a_read_without_data_leaves_its_chunk_empty(void **state)
{
	(void)state;
	begin_reply(3);
	put_failure();
	put_read("behind the failure");
	put_failure();
	items_of_reply(3);
	assert_int_equal(out.item_count, 2);
	assert_item(0, "");
	assert_item(1, "behind the failure");
}

/* RFC 8166, 6.1: "A Responder does not reduce a DDP-eligible result data item into an available Write
 * chunk." */
static void
results_beside_their_chunks_are_misplaced(void **state)
{
	(void)state;
	for (enum rr_items_use use = RR_ITEMS_REPLY_RDMA; use <= RR_ITEMS_REPLY_TCP; use++) {
		begin_reply(2);
		put_failure();
		put_read("behind the failure");
		assert_int_equal(take_reply(use, 0), RR_WALKED);
		assert_int_equal(take_reply(use, 1), RR_WALKED); /* the chunk of the failure */
		assert_int_equal(take_reply(use, 2), RR_WALK_MISPLACED);
	}
}

/* RFC 8267, 6.1, lists the DDP-eligible items: "Only the following": READ_PLUS is not in the list. It has
 * no chunk, and its data, in any number of pieces, stays in the stream. */
static void
the_chunk_behind_a_read_plus_is_that_of_the_next_read(void **state)
{
	static const struct rpcrdma_item first = { "data", 4, RPCRDMA_ITEM_NEXT };
	enum { PIECES = 100 };
	struct rpcrdma_message in;

	(void)state;
	for (enum rr_items_use use = RR_ITEMS_REPLY_RDMA; use <= RR_ITEMS_REPLY_TCP; use++) {
		begin_reply(2);
		put(OP_READ_PLUS);
		put(NFS4_OK);
		put(1);
		put(PIECES);
		for (uint32_t i = 0; i < PIECES; i++) {
			put(NFS4_CONTENT_DATA);
			put_zeroes(2);
			put_opaque("more", 4);
		}
		put(OP_READ);
		put(NFS4_OK);
		put(1);
		put(first.length);
		in = written();
		in.items = &first;
		in.item_count = 1;
		assert_int_equal(take(use, &in, 1), RR_WALKED);
		assert_int_equal(out.item_count, 1);
		assert_item(0, "data");
		assert_int_equal(items[0].offset, in.length);
		assert_int_equal(out.length, in.length);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_call_the_data_of_write_alone_travels_apart),
		cmocka_unit_test(what_authenticates_stays_in_the_stream),
		cmocka_unit_test(what_makes_a_context_travels_whole),
		cmocka_unit_test(each_read_has_the_chunk_of_its_place),
		cmocka_unit_test(as_many_reads_as_there_are_chunks_are_placed),
		cmocka_unit_test(a_read_without_data_leaves_its_chunk_empty),
		cmocka_unit_test(results_beside_their_chunks_are_misplaced),
		cmocka_unit_test(the_chunk_behind_a_read_plus_is_that_of_the_next_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
