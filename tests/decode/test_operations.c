/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of COMPOUNDs that are read of messages, also where a message claims more than it has. */
#include "decode/operations.h"
#include "test.h"

#include "mutate.h"
#include "ulb/compound.h"
#include "ulb/nfs42.h"

enum { XID = 9, MEMORY = 4096 };

/* A message, and what it points to. */
static struct {
	uint8_t rpc[MEMORY];
	struct rr_read_segment read;
	struct rr_segment segment;
	struct rr_chunk write;
	struct rpcrdma_xdr_writer writer;
	struct rr_message message;
} made;

static void
begin(uint32_t prog, uint32_t vers, uint32_t proc)
{
	memset(&made, 0, sizeof(made));
	made.message.has_procedure = true;
	made.message.prog = prog;
	made.message.vers = vers;
	made.message.proc = proc;
	rpcrdma_xdr_writer_init(&made.writer, made.rpc, sizeof(made.rpc), NULL, 0);
}

/* Begins a call of COMPOUND that claims to have so many operations. */
static void
begin_call(uint32_t minor, uint32_t count)
{
	const struct rr_call_header call = {
		.xid = XID, .prog = NFS4_PROGRAM, .vers = NFS_V4, .proc = NFSPROC4_COMPOUND
	};

	begin(NFS4_PROGRAM, NFS_V4, NFSPROC4_COMPOUND);
	made.message.has_call = true;
	rr_rpc_put_call(&made.writer, &call);
	rpcrdma_put_bytes(&made.writer, (struct rpcrdma_bytes){ "tag", 3 }, 3);
	rpcrdma_put_u32(&made.writer, minor);
	rpcrdma_put_u32(&made.writer, count);
}

/* Begins a reply of COMPOUND or CB_COMPOUND that claims to have so many results. */
static void
begin_reply(uint32_t prog, uint32_t count)
{
	const struct rr_reply_header reply = { .xid = XID };

	begin(prog, prog == NFS4_PROGRAM ? NFS_V4 : NFS_CB, 1);
	made.message.has_reply = true;
	rr_rpc_put_reply(&made.writer, &reply);
	rpcrdma_put_u32(&made.writer, NFS4ERR_NOENT);
	rpcrdma_put_u32(&made.writer, 0); /* the tag */
	rpcrdma_put_u32(&made.writer, count);
}

static void
put_words(uint32_t count, ...)
{
	va_list words;

	va_start(words, count);
	for (uint32_t i = 0; i < count; i++)
		rpcrdma_put_u32(&made.writer, va_arg(words, uint32_t));
	va_end(words);
}

/* Reads the operations, and returns them as a text: "PUTFH LOOKUP=NFS4ERR_NOENT ...". */
static const char *
operations(void)
{
	static char text[2048];
	struct rr_operations read;
	size_t at = 0;

	assert_false(made.writer.failed);
	made.message.rpc = (struct rpcrdma_bytes){ made.rpc, (uint32_t)rpcrdma_xdr_length(&made.writer) };
	if (!rr_operations_read(&made.message, &read))
		return "none";
	text[0] = '\0';
	for (uint32_t i = 0; i < read.count; i++) {
		const char *name = rr_operation_name(&read, i);

		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "%s%s", at ? " " : "", name ? name : "unknown");
		if (read.list[i].has_status && read.list[i].status != NFS4_OK)
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "=%s", rr_operation_status_name(&read, i));
	}
	snprintf(text + at, sizeof(text) - at, "%s", read.is_whole ? "" : " ...");
	return text;
}

static void
operations_of_calls_are_read(void **state)
{
	(void)state;
	begin_call(2, 2);
	put_words(2, OP_PUTROOTFH, OP_GETFH);
	assert_string_equal(operations(), "PUTROOTFH GETFH");
	begin_call(1, 0);
	assert_string_equal(operations(), "");
	/* This minor version has operations that nobody here knows. */
	begin_call(3, 1);
	put_words(1, OP_GETFH);
	assert_string_equal(operations(), "none");
	begin_call(1, 3);
	put_words(3, OP_GETFH, 4711, OP_GETFH);
	assert_string_equal(operations(), "GETFH unknown ...");
	begin_call(1, 1);
	made.message.proc = NFSPROC4_NULL;
	assert_string_equal(operations(), "none");
}

/* A peer may claim any number of operations, and send as many as a message can have. */
static void
claims_do_not_count(void **state)
{
	static char wanted[1024];

	(void)state;
	begin_call(1, UINT32_MAX);
	put_words(1, OP_GETFH);
	assert_string_equal(operations(), "GETFH ...");
	begin_call(1, RR_OPERATIONS_MAX + 1);
	for (uint32_t i = 0; i <= RR_OPERATIONS_MAX; i++) {
		put_words(1, OP_GETFH);
		if (i < RR_OPERATIONS_MAX)
			strcat(wanted, "GETFH ");
	}
	strcat(wanted, "...");
	assert_string_equal(operations(), wanted);
}

/* RFC 8166, 3.4.5: the data of a Read chunk is not in the stream, and the next operation follows at once. */
static void
data_in_a_read_chunk_is_passed_over(void **state)
{
	enum { DATA = 1001 };

	(void)state;
	begin_call(1, 2);
	put_words(9, OP_WRITE, 0, 0, 0, 0, 0, 0, UNSTABLE4, DATA);
	made.read.position = (uint32_t)rpcrdma_xdr_length(&made.writer);
	made.read.target.length = DATA;
	made.message.lists.reads = &made.read;
	made.message.lists.read_count = 1;
	put_words(1, OP_GETFH);
	assert_string_equal(operations(), "WRITE GETFH");
	made.message.lists.read_count = 0;
	assert_string_equal(operations(), "WRITE ...");
}

static void
results_have_statuses(void **state)
{
	enum { DATA = 1000 };

	(void)state;
	begin_reply(NFS4_PROGRAM, 2);
	put_words(4, OP_PUTROOTFH, NFS4_OK, OP_LOOKUP, NFS4ERR_NOENT);
	assert_string_equal(operations(), "PUTROOTFH LOOKUP=NFS4ERR_NOENT");
	begin_reply(NFS4_PROGRAM, 2);
	put_words(6, OP_READ, NFS4_OK, 1, DATA, OP_LOOKUP, NFS4ERR_NOENT);
	made.segment.length = DATA;
	made.write = (struct rr_chunk){ &made.segment, 1 };
	made.message.lists.writes = &made.write;
	made.message.lists.write_count = 1;
	assert_string_equal(operations(), "READ LOOKUP=NFS4ERR_NOENT");
	made.message.lists.write_count = 0;
	assert_string_equal(operations(), "READ ...");
}

static void
callbacks_have_operations_of_their_own(void **state)
{
	(void)state;
	begin_reply(NFS4_CALLBACK, 1);
	put_words(2, OP_CB_RECALL, NFS4ERR_BADHANDLE);
	assert_string_equal(operations(), "CB_RECALL=NFS4ERR_BADHANDLE");
	begin_reply(NFS4_CALLBACK, UINT32_MAX);
	put_words(2, OP_CB_RECALL, NFS4_OK);
	assert_string_equal(operations(), "CB_RECALL ...");
}

/* RFC 2203, 5.3.2: RPCSEC_GSS may wrap arguments and results. */
static void
wrapped_operations_are_not_read(void **state)
{
	struct rr_call_header call = {
		.xid = XID, .prog = NFS4_PROGRAM, .vers = NFS_V4, .proc = NFSPROC4_COMPOUND
	};

	(void)state;
	begin_call(1, 0);
	call.cred.flavor = RR_RPCSEC_GSS;
	rpcrdma_xdr_writer_init(&made.writer, made.rpc, sizeof(made.rpc), NULL, 0);
	rr_rpc_put_call(&made.writer, &call);
	put_words(3, 0, 1, 0);
	assert_string_equal(operations(), "none");
}

static void
all_numbers_have_names(void **state)
{
	(void)state;
	for (uint32_t i = OP_ACCESS; i <= OP_REMOVEXATTR; i++)
		assert_non_null(rr_compound_name(i));
	for (uint32_t i = OP_CB_GETATTR; i <= OP_CB_OFFLOAD; i++)
		assert_non_null(rr_compound_callback_name(i));
	/* RFC 8881, 15.1, and the RFCs behind it leave out 10000, 10002 and 10073. */
	for (uint32_t i = NFS4ERR_BADHANDLE; i <= NFS4ERR_XATTR2BIG; i++)
		assert_int_equal(rr_compound_status_name(i) == NULL, i == 10002 || i == 10073);
	assert_string_equal(rr_compound_status_name(NFS4ERR_STALE), "NFS4ERR_STALE");
	assert_string_equal(rr_compound_status_name(NFS4ERR_DELAY), "NFS4ERR_DELAY");
	assert_string_equal(rr_compound_name(OP_ILLEGAL), "ILLEGAL");
	assert_null(rr_compound_name(OP_ACCESS - 1));
	assert_null(rr_compound_name(OP_REMOVEXATTR + 1));
	assert_null(rr_compound_callback_name(OP_CB_OFFLOAD + 1));
	assert_null(rr_compound_status_name(NFS4ERR_STALE + 1));
	assert_null(rr_compound_status_name(UINT32_MAX));
}

static const char *
check(const uint8_t *data, size_t size, void *context)
{
	struct rr_message *message = context;
	struct rr_operations read;

	message->rpc = (struct rpcrdma_bytes){ data, (uint32_t)size };
	if (!rr_operations_read(message, &read))
		return NULL;
	for (uint32_t i = 0; i < read.count; i++) {
		rr_operation_name(&read, i);
		rr_operation_status_name(&read, i);
	}
	return read.count > RR_OPERATIONS_MAX ? "more operations than there is room for" : NULL;
}

static void
broken_messages_do_no_harm(void **state)
{
	(void)state;
	begin_call(2, 3);
	put_words(6, OP_PUTFH, 4, 0xabcdabcd, OP_GETATTR, 1, 2);
	put_words(9, OP_WRITE, 0, 0, 0, 0, 0, 0, UNSTABLE4, 4);
	put_words(1, 0);
	assert_string_equal(operations(), "PUTFH GETATTR WRITE");
	rr_mutate(made.rpc, rpcrdma_xdr_length(&made.writer), check, &made.message);
	begin_reply(NFS4_CALLBACK, 2);
	put_words(4, OP_CB_RECALL, NFS4_OK, OP_CB_GETATTR, NFS4_OK);
	put_words(3, 1, 2, 0);
	assert_string_equal(operations(), "CB_RECALL CB_GETATTR");
	rr_mutate(made.rpc, rpcrdma_xdr_length(&made.writer), check, &made.message);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_of_calls_are_read),
		cmocka_unit_test(claims_do_not_count),
		cmocka_unit_test(data_in_a_read_chunk_is_passed_over),
		cmocka_unit_test(results_have_statuses),
		cmocka_unit_test(callbacks_have_operations_of_their_own),
		cmocka_unit_test(wrapped_operations_are_not_read),
		cmocka_unit_test(all_numbers_have_names),
		cmocka_unit_test(broken_messages_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
