/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes that messages name are lowered in place, and no other octets are changed. */
#include "../test.h"
#include "../words.h"

#include <stdlib.h>
#include <string.h>

#include "ulb/binding.h"
#include "ulb/limits.h"
#include "ulb/nfs42.h"

enum { COMPOUND = 1, FSINFO = 19, ROOM = 8192, LARGE = 0x7fffffff };
enum { MESSAGE = 1000000, DATA = 900000, CALLBACK = 4068, CALLBACK_REPLY = 2000 };

static const struct rr_limits limits = { MESSAGE, DATA, CALLBACK, CALLBACK_REPLY };
static uint8_t stream[ROOM], expected[ROOM];

static void
begin(void)
{
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
}

static void
put_opaque(const char *text)
{
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) }, UINT32_MAX);
}

static const struct rpcrdma_program *
nfs(uint32_t vers)
{
	return rr_ulb_find(100003, vers);
}

static struct rpcrdma_xdr_reader
reader_of(const void *octets, uint32_t length)
{
	const struct rpcrdma_message message = { .stream = octets, .length = length };
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	return reader;
}

static uint32_t
written(void)
{
	assert_false(writer.failed);
	return (uint32_t)rpcrdma_xdr_length(&writer);
}

/* Writes a message with these sizes: those that it had, or those that it must get. */
typedef void put_message(uint32_t message, uint32_t data, uint32_t callback, uint32_t callback_reply);

/* Checks that the sizes of the message are lowered. Octets behind a message that was cut off anywhere are
 * not accessed: a sanitizer checks that. */
static void
assert_lowered(uint32_t vers, uint32_t proc, uint32_t asked, put_message *put_it, bool exact)
{
	uint32_t length;
	struct rpcrdma_xdr_reader reader;

	begin();
	put_it(MESSAGE, DATA, CALLBACK, asked ? asked : CALLBACK_REPLY);
	memcpy(expected, stream, written());
	begin();
	if (exact)
		put_it(MESSAGE, DATA, CALLBACK, CALLBACK_REPLY);
	else
		put_it(LARGE, LARGE, LARGE, asked ? CALLBACK_REPLY : LARGE);
	length = written();
	for (uint32_t cut = 0; cut < length; cut += 4) {
		uint8_t *part = malloc(cut + 1);

		assert_non_null(part);
		memcpy(part, stream, cut);
		reader = reader_of(part, cut);
		rr_limits_lower_reply(&limits, asked, nfs(vers), proc, &reader);
		free(part);
	}
	reader = reader_of(stream, length);
	rr_limits_lower_reply(&limits, asked, nfs(vers), proc, &reader);
	assert_memory_equal(stream, expected, length);
}

/* ---- NFS version 3 ---- */

/* Writes the results of NFSv3's FSINFO, whose sizes of reads, writes and folders are data. */
static void
put_fsinfo(uint32_t message, uint32_t data, uint32_t callback, uint32_t callback_reply)
{
	(void)message, (void)callback, (void)callback_reply;
	put(0);
	put(1);
	for (int i = 0; i < 21; i++)
		put(LARGE);
	put(data);
	put(data);
	put(LARGE);
	put(data);
	put(data);
	put(LARGE);
	put(data);
	for (int i = 0; i < 5; i++)
		put(LARGE);
}

/* RFC 1813, 3.3.19: rtmax and rtpref, wtmax and wtpref, dtpref. */
static void
fsinfo_says_no_more_than_is_carried(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of("", 0);

	(void)state;
	assert_lowered(3, FSINFO, 0, put_fsinfo, false);
	assert_lowered(3, FSINFO, 0, put_fsinfo, true);
	assert_true(rr_limits_concern(nfs(3), FSINFO, &reader));
	assert_false(rr_limits_concern(nfs(3), FSINFO - 1, &reader));
}

/* ---- Attributes ---- */

static void
put_strings(void)
{
	put(2);
	put_opaque("a");
	put_opaque("path");
}

/* Writes the value of an NFSv4 attribute; one without sizes has any words of its length. */
static void
put_value(uint32_t number)
{
	static const uint8_t words[32] = { [1] = 1,
		[2] = 1,
		[3] = 2,
		[4] = 2,
		[5] = 1,
		[6] = 1,
		[7] = 1,
		[8] = 4,
		[9] = 1,
		[10] = 1,
		[11] = 1,
		[13] = 1,
		[14] = 1,
		[15] = 1,
		[16] = 1,
		[17] = 1,
		[18] = 1,
		[20] = 2,
		[21] = 2,
		[22] = 2,
		[23] = 2,
		[25] = 1,
		[26] = 1,
		[27] = 2,
		[28] = 1,
		[29] = 1 };

	for (uint32_t i = 0; i < words[number]; i++)
		put(LARGE);
	switch (number) {
	case FATTR4_SUPPORTED_ATTRS:
		put(2);
		put(LARGE);
		put(LARGE);
		break;
	case FATTR4_ACL:
		put(2);
		for (int i = 0; i < 2; i++) {
			put(LARGE);
			put(LARGE);
			put(LARGE);
			put_opaque("EVERYONE@");
		}
		break;
	case FATTR4_FILEHANDLE: put_opaque("handle"); break;
	case FATTR4_FS_LOCATIONS:
		put_strings();
		put(1);
		put_strings();
		put_strings();
		break;
	default: break;
	}
}

/* Writes a fattr4 with those attributes, and an attribute of the second word. */
static void
put_attributes(uint32_t present, uint32_t data)
{
	uint8_t *length;
	uint32_t octets;

	put(2);
	put(present);
	put(1 << (FATTR4_MODE - 32));
	length = writer.next;
	put(0);
	for (uint32_t i = 0; i < FATTR4_MAXREAD; i++) {
		if (present & UINT32_C(1) << i)
			put_value(i);
	}
	for (uint32_t i = FATTR4_MAXREAD; i <= FATTR4_MAXWRITE; i++) {
		if (present & UINT32_C(1) << i)
			rpcrdma_put_u64(&writer, data == LARGE ? UINT64_C(1) << 40 : data);
	}
	put(LARGE);
	octets = (uint32_t)(writer.next - length) - 4;
	for (int i = 0; i < 4; i++)
		length[i] = (uint8_t)(octets >> (24 - 8 * i));
}

static void
begin_compound(uint32_t operations)
{
	put(0);
	put_opaque("tag");
	put(operations);
}

static uint32_t present;

/* Writes a reply with a GETATTR that succeeded, and one that failed. */
static void
put_getattr(uint32_t message, uint32_t data, uint32_t callback, uint32_t callback_reply)
{
	(void)message, (void)callback, (void)callback_reply;
	begin_compound(3);
	put(OP_PUTROOTFH);
	put(0);
	put(OP_GETATTR);
	put(0);
	put_attributes(present, data);
	put(OP_GETATTR);
	put(NFS4ERR_DELAY);
}

static void
maxread_and_maxwrite_are_lowered_whatever_comes_before_them(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FATTR4_MAXREAD; i++) {
		present = 3u << FATTR4_MAXREAD | UINT32_C(1) << i;
		assert_lowered(4, COMPOUND, 0, put_getattr, false);
	}
	for (uint32_t which = 0; which < 4; which++) {
		present = which << FATTR4_MAXREAD | ((UINT32_C(1) << FATTR4_MAXREAD) - 1);
		assert_lowered(4, COMPOUND, 0, put_getattr, false);
		assert_lowered(4, COMPOUND, 0, put_getattr, true);
	}
}

/* Writes a reply with a READDIR of three entries. */
static void
put_readdir(uint32_t message, uint32_t data, uint32_t callback, uint32_t callback_reply)
{
	(void)message, (void)callback, (void)callback_reply;
	begin_compound(1);
	put(OP_READDIR);
	put(0);
	put_zeroes(2);
	for (int i = 0; i < 3; i++) {
		put(1);
		put_zeroes(2);
		put_opaque("name");
		put_attributes(3u << FATTR4_MAXREAD | 2, data);
	}
	put(0);
	put(1);
}

static void
they_are_lowered_in_each_entry_of_a_directory(void **state)
{
	(void)state;
	assert_lowered(4, COMPOUND, 0, put_readdir, false);
}

/* ---- Sessions ---- */

/* Writes the attributes of one channel of a session. */
static void
put_channel(uint32_t request, uint32_t response, bool ird)
{
	put(LARGE);
	put(request);
	put(response);
	put(response);
	put(LARGE);
	put(LARGE);
	put(ird);
	if (ird)
		put(LARGE);
}

static bool has_ird;

/* Writes the results of CREATE_SESSION. */
static void
put_session_reply(uint32_t message, uint32_t data, uint32_t callback, uint32_t callback_reply)
{
	(void)data;
	begin_compound(1);
	put(OP_CREATE_SESSION);
	put(0);
	put_zeroes(6);
	put_channel(message, message, has_ird);
	put(LARGE);
	put(callback);
	put(callback_reply);
	put(LARGE);
	put(LARGE);
	put(LARGE);
	put(0);
}

/* The client asked for 5000, and the server was asked for less: the client is shown the number that it
 * asked for. */
static void
a_session_grants_no_more_than_is_carried(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		has_ird = i > 0;
		assert_lowered(4, COMPOUND, 5000, put_session_reply, false);
	}
}

/* Writes a call of CREATE_SESSION. */
static void
put_session_call(uint32_t message, uint32_t callback, uint32_t callback_reply)
{
	put_opaque("tag");
	put(1);
	put(1);
	put(OP_CREATE_SESSION);
	put_zeroes(4);
	put_channel(message, message, has_ird);
	put_channel(callback, callback_reply, false);
	put(0x40000000);
	put(0);
}

static void
a_session_asks_for_no_more_than_is_carried(void **state)
{
	struct rpcrdma_xdr_reader reader;

	(void)state;
	for (int i = 0; i < 2; i++) {
		has_ird = i > 0;
		begin();
		put_session_call(MESSAGE, CALLBACK, CALLBACK_REPLY);
		memcpy(expected, stream, written());
		begin();
		put_session_call(LARGE, 5000, 3000);
		reader = reader_of(stream, written());
		assert_true(rr_limits_concern(nfs(4), COMPOUND, &reader));
		assert_int_equal(rr_limits_lower_call(&limits, nfs(4), COMPOUND, &reader), 3000);
		assert_memory_equal(stream, expected, written());
		assert_int_equal(rr_limits_lower_call(&limits, nfs(4), COMPOUND, &reader), 0);
	}
}

/* ---- Other messages ---- */

/* Returns whether a COMPOUND with this operation may have a reply with sizes: the operation's arguments
 * are some zero words and then a bitmap. */
static bool
concerns(uint32_t operation, uint32_t before, uint32_t words, uint32_t word)
{
	struct rpcrdma_xdr_reader reader;

	begin();
	put_opaque("");
	put(1);
	put(2);
	put(OP_PUTROOTFH);
	put(operation);
	put_zeroes(before);
	put(words);
	if (words > 0)
		put(word);
	reader = reader_of(stream, written());
	return rr_limits_concern(nfs(4), COMPOUND, &reader);
}

static void
replies_to_other_calls_are_not_looked_at(void **state)
{
	(void)state;
	assert_true(concerns(OP_GETATTR, 0, 1, UINT32_C(1) << FATTR4_MAXREAD));
	assert_true(concerns(OP_GETATTR, 0, 1, UINT32_C(1) << FATTR4_MAXWRITE));
	assert_true(concerns(OP_READDIR, 6, 1, UINT32_C(1) << FATTR4_MAXREAD));
	assert_false(concerns(OP_GETATTR, 0, 1, UINT32_C(1) << FATTR4_MAXNAME));
	assert_false(concerns(OP_GETATTR, 0, 0, 0));
	assert_false(concerns(OP_READDIR, 6, 0, 0));
	assert_false(concerns(OP_READ, 4 + 2, 100, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fsinfo_says_no_more_than_is_carried),
		cmocka_unit_test(maxread_and_maxwrite_are_lowered_whatever_comes_before_them),
		cmocka_unit_test(they_are_lowered_in_each_entry_of_a_directory),
		cmocka_unit_test(a_session_grants_no_more_than_is_carried),
		cmocka_unit_test(a_session_asks_for_no_more_than_is_carried),
		cmocka_unit_test(replies_to_other_calls_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
