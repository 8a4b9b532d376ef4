/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_WIRE_HEADER_H
#define RR_TESTS_WIRE_HEADER_H

#include "wire/rpcrdma.h"

#include "../mutate.h"
#include "../padding.h"

/* Shared by the tests of transport headers of all versions: each test file defines get_header and put_header
 * before it includes this file. */

enum { READS = 3, WRITES = 3, SEGMENTS = 7 };

/* The arrays that a test reads a header into, which have just the sizes that the fullest message of the tests
 * needs. */
struct target {
	struct rr_read_segment reads[READS];
	struct rr_chunk writes[WRITES];
	struct rr_segment segments[SEGMENTS];
	struct rr_chunk_lists lists;
	struct rr_rdma_header header;
	struct rpcrdma_xdr_reader reader;
};

/* The octets of all lists. RFC 8166, 4.7: Read segments of two chunks, "1 3 HLOO HLOO HLOO 1 2 HLOO HLOO 0",
 * "1 2 HLOO HLOO"; and between the Write chunks an empty one (4.3.2.3). */
#define ALL_LISTS                                                                                            \
	"00000001 00000010 00000001 00000100 0000000000001000"                                               \
	"00000001 00000010 00000002 00000200 0000000000002000"                                               \
	"00000001 00000040 00000003 00000300 0000000000003000 00000000"                                      \
	"00000001 00000003 00000004 00000400 0000000000004000"                                               \
	"00000005 00000500 0000000000005000 00000006 00000600 0000000000006000"                              \
	"00000001 00000000"                                                                                  \
	"00000001 00000002 00000007 00000700 0000000000007000 00000008 00000800 0000000000008000"            \
	"00000000"                                                                                           \
	"00000001 00000002 00000009 ffffffff 0000000000009000 0000000a ffffffff ffffffffffffffff"

/* Reads a header into target. */
static inline enum rr_header_result
get_octets(const uint8_t *data, size_t size, struct target *target)
{
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };

	target->lists = (struct rr_chunk_lists){ .reads = target->reads,
		.writes = target->writes,
		.segments = target->segments,
		.read_max = READS,
		.write_max = WRITES,
		.segment_max = SEGMENTS };
	rpcrdma_xdr_reader_init(&target->reader, &message, NULL);
	return get_header(&target->reader, &target->header, &target->lists);
}

static struct rr_octets octets;

/* Reads a header, given in hexadecimal digits, into target. */
static inline enum rr_header_result
get(const char *hex, struct target *target)
{
	octets = rr_hex(hex);
	return get_octets(octets.data, octets.size, target);
}

/* The header is that of an RDMA_MSG without lists, with these words. */
static inline void
assert_msg(const struct target *target, uint32_t xid, uint32_t vers, uint32_t credit)
{
	assert_int_equal(target->header.xid, xid);
	assert_int_equal(target->header.vers, vers);
	assert_int_equal(target->header.credit, credit);
	assert_int_equal(target->header.proc, RR_RDMA_MSG);
	assert_int_equal(
		target->lists.read_count + target->lists.write_count + target->lists.segment_count, 0);
	assert_false(target->lists.has_reply);
	assert_ptr_equal(target->reader.next, octets.data + RR_RDMA_HEADER_MIN);
}

/* The header is an ERR_VERS with a range from 1 to 2; a shorter one is malformed. */
static inline void
assert_err_vers(const char *hex)
{
	struct target target;

	assert_int_equal(get(hex, &target), RR_HEADER_OK);
	assert_int_equal(target.header.err, RR_ERR_VERS);
	assert_int_equal(target.header.vers_low, 1);
	assert_int_equal(target.header.vers_high, 2);
	assert_int_equal(get_octets(octets.data, 24, &target), RR_HEADER_MALFORMED);
}

/* A header with all lists that breaks off is malformed, at any length from the shortest header to size
 * octets. */
static inline void
assert_breaking_off_is_malformed(const char *hex, size_t size)
{
	struct rr_octets message = rr_hex(hex);
	struct target target;

	while (--size >= RR_RDMA_HEADER_MIN)
		assert_int_equal(get_octets(message.data, size, &target), RR_HEADER_MALFORMED);
}

/* The header has every list of ALL_LISTS. */
static inline void
assert_all_lists(const struct target *target)
{
	assert_int_equal(target->lists.read_count, 3);
	assert_int_equal(target->reads[2].position, 0x40);
	assert_int_equal(target->lists.write_count, 3);
	assert_int_equal(target->lists.segment_count, 7);
	assert_ptr_equal(target->writes[0].segments, target->segments);
	assert_int_equal(target->writes[0].count, 3);
	/* "An "empty Write chunk" is a Write chunk with a zero segment count." */
	assert_int_equal(target->writes[1].count, 0);
	assert_ptr_equal(target->writes[2].segments, target->segments + 3);
	assert_ptr_equal(target->lists.reply.segments, target->segments + 5);
	assert_int_equal(target->lists.reply.count, 2);
	assert_int_equal(rr_chunk_length(&target->lists.reply), 0x1fffffffe);
}

/* The header is written again with the same octets; with an octet less of room, the writer fails. */
static inline void
assert_written_as_read(const char *hex)
{
	struct rpcrdma_xdr_writer writer;
	struct target target;
	uint8_t out[1024];
	size_t size;

	assert_int_equal(get(hex, &target), RR_HEADER_OK);
	size = octets.size - rpcrdma_xdr_left(&target.reader);
	rpcrdma_xdr_writer_init(&writer, out, size, NULL, 0);
	put_header(&writer, &target.header, &target.lists);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), size);
	assert_memory_equal(out, octets.data, size);
	rpcrdma_xdr_writer_init(&writer, out, size - 1, NULL, 0);
	put_header(&writer, &target.header, &target.lists);
	assert_true(writer.failed);
}

/* The writer fails for this header. */
static inline void
assert_not_written(const struct rr_rdma_header *header)
{
	struct rpcrdma_xdr_writer writer;
	uint8_t out[64];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	put_header(&writer, header, NULL);
	assert_true(writer.failed);
}

/* Says what differs where a header that was read is written again; NULL: nothing. */
static inline const char *
written_again_is_the_same(const uint8_t *data, size_t size, const struct target *target)
{
	size_t used = size - rpcrdma_xdr_left(&target->reader);
	struct rpcrdma_xdr_writer writer;
	uint8_t out[1024];
	bool same;

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	put_header(&writer, &target->header, &target->lists);
	/* Optional data is an opaque, which is padded; no other field of a header is padded. */
	same = target->header.proc == RR_RDMA_OPTIONAL ? rr_same_but_for_padding(out, data, used)
						       : memcmp(out, data, used) == 0;
	if (writer.failed || rpcrdma_xdr_length(&writer) != used || !same)
		return "written again, the header is another one";
	if (target->header.proc <= RR_RDMA_NOMSG &&
		rr_rdma_header_size(target->lists.read_count, target->lists.write_count,
			target->lists.has_reply, target->lists.segment_count) != used)
		return "the header is not of the size that its counts give";
	return NULL;
}

/* The rr_mutation_check of headers: holds for each message, good or bad. */
static inline const char *
header_holds(const uint8_t *data, size_t size, void *context)
{
	struct target target;
	enum rr_header_result result = get_octets(data, size, &target);
	const struct rr_chunk_lists *lists = &target.lists;
	uint32_t in_chunks = lists->has_reply ? lists->reply.count : 0;

	(void)context;
	if (lists->read_count > READS || lists->write_count > WRITES || lists->segment_count > SEGMENTS)
		return "a count above its maximum";
	for (uint32_t i = 0; i < lists->write_count; i++)
		in_chunks += lists->writes[i].count;
	if (in_chunks != lists->segment_count)
		return "segments that are in no chunk";
	if (size < RR_RDMA_FIXED_SIZE && result != RR_HEADER_SHORT)
		return "less than the fixed words, and taken";
	return result == RR_HEADER_OK ? written_again_is_the_same(data, size, &target) : NULL;
}

#endif
