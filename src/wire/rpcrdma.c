/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/rpcrdma.h"

#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "wire/room.h"

/*
 * Chunk lists (RFC 8166, section 4.7):
 *
 *   Read list     1 PHLOO 1 PHLOO ... 0
 *   Write list    1 N HLOO HLOO ... 1 N HLOO ... 0
 *   Reply chunk   1 N HLOO HLOO ...   or 0
 *
 * where P is a position, H a handle, L a length, OO an offset and N a number of segments.
 */
enum { WORD = 4, NO_LISTS_SIZE = 3 * WORD };

/* ---- Reading ---- */

/* RFC 8166, 4.2: only "these four fields must remain with the same meanings" in other versions. */
bool
rr_rdma_get_fixed(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	*header = (struct rr_rdma_header){ 0 };
	if (rpcrdma_xdr_left(reader) < RR_RDMA_FIXED_SIZE)
		return false;
	header->xid = rr_get_be32(reader->next);
	header->vers = rr_get_be32(reader->next + 4);
	header->credit = rr_get_be32(reader->next + 8);
	header->proc = rr_get_be32(reader->next + 12);
	reader->next += RR_RDMA_FIXED_SIZE;
	return true;
}

/* Returns how many octets a message of procedure proc has at least, in that version. */
static uint32_t
rdma_least_size(const struct rr_rdma_version *version, uint32_t proc)
{
	return proc < sizeof(version->least) ? version->least[proc] : RR_RDMA_HEADER_MIN;
}

/* Reads the three chunk lists in one step if all of them are empty, as in most headers. Returns false, and
 * reads nothing, if a list is not empty or the message ends before. */
static inline bool
rdma_get_no_lists(struct rpcrdma_xdr_reader *reader)
{
	static const uint8_t nothing[NO_LISTS_SIZE];

	if (rpcrdma_xdr_left(reader) < NO_LISTS_SIZE || memcmp(reader->next, nothing, NO_LISTS_SIZE) != 0)
		return false;
	reader->next += NO_LISTS_SIZE;
	return true;
}

/* If the message has fewer octets than its procedure needs, returns RR_HEADER_SHORT. RFC 8166, 4.5: the
 * receiver of such a message "cannot trust the value of the XID field; therefore, it MUST silently discard
 * the message". */
enum rr_header_result
rr_rdma_get_of(const struct rr_rdma_version *version, struct rpcrdma_xdr_reader *reader,
	struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	size_t size = rpcrdma_xdr_left(reader);

	rr_rdma_clear_lists(lists);
	if (!rr_rdma_get_fixed(reader, header) || size < rdma_least_size(version, header->proc))
		return RR_HEADER_SHORT;
	if (header->vers != version->number)
		return RR_HEADER_VERS;
	/* Most messages have no chunks and a payload, which all versions read alike. */
	if (header->proc == RR_RDMA_MSG && size > RR_RDMA_HEADER_MIN && rdma_get_no_lists(reader))
		return RR_HEADER_OK;
	return version->get(reader, header, lists);
}

/* The octets of a header whose lists are being read. */
struct rpcrdma_words {
	const uint8_t *next, *end;
};

/* Returns the next size octets, and moves behind them. Returns NULL if there are fewer. */
static inline const uint8_t *
rdma_words_take(struct rpcrdma_words *words, size_t size)
{
	const uint8_t *octets = words->next;

	if ((size_t)(words->end - octets) < size)
		return NULL;
	words->next += size;
	return octets;
}

/* Reads the word that tells whether an element of a list, or the Reply chunk, follows. Returns false if there
 * is no such word, or it is neither 0 nor 1. */
static inline bool
rdma_words_get_bool(struct rpcrdma_words *words, bool *value)
{
	const uint8_t *octets = rdma_words_take(words, WORD);

	if (!octets || rr_get_be32(octets) > 1)
		return false;
	*value = rr_get_be32(octets) == 1;
	return true;
}

/* Returns the segment that lies in these octets: handle, length and offset. */
static inline struct rr_segment
rdma_segment_at(const uint8_t octets[RR_SEGMENT_SIZE])
{
	return (struct rr_segment){
		.handle = rr_get_be32(octets),
		.length = rr_get_be32(octets + WORD),
		.offset = rr_get_be64(octets + 2 * WORD),
	};
}

/* Reads the Read list into lists->reads. Returns RR_HEADER_LIMIT if the list has more segments than the
 * caller's array, RR_HEADER_MALFORMED if the message ends within the list or a position is not a multiple of
 * four. */
static inline enum rr_header_result
rdma_get_reads(struct rpcrdma_words *words, struct rr_chunk_lists *lists)
{
	bool more;

	while (rdma_words_get_bool(words, &more)) {
		const uint8_t *octets;
		struct rr_read_segment *read;

		if (!more)
			return RR_HEADER_OK;
		if (lists->read_count == lists->read_max)
			return RR_HEADER_LIMIT;
		octets = rdma_words_take(words, WORD + RR_SEGMENT_SIZE);
		if (!octets)
			return RR_HEADER_MALFORMED;
		read = &lists->reads[lists->read_count++];
		read->position = rr_get_be32(octets);
		read->target = rdma_segment_at(octets + WORD);
		/* RFC 8166, 3.4.5: "The value in this field MUST be a multiple of four." */
		if (read->position % WORD != 0)
			return RR_HEADER_MALFORMED;
	}
	return RR_HEADER_MALFORMED;
}

/* Reads the segments of a Write chunk or the Reply chunk into the caller's array lists->segments. Returns
 * RR_HEADER_MALFORMED if the rest of the message is too short for that many segments, RR_HEADER_LIMIT if the
 * array has no room for them. */
static inline enum rr_header_result
rdma_get_chunk(struct rpcrdma_words *words, struct rr_chunk_lists *lists, struct rr_chunk *chunk)
{
	const uint8_t *octets = rdma_words_take(words, WORD);
	uint32_t count = octets ? rr_get_be32(octets) : 0;

	if (!octets || count > (size_t)(words->end - words->next) / RR_SEGMENT_SIZE)
		return RR_HEADER_MALFORMED;
	if (count > lists->segment_max - lists->segment_count)
		return RR_HEADER_LIMIT;
	*chunk = (struct rr_chunk){ count > 0 ? &lists->segments[lists->segment_count] : NULL, count };
	for (uint32_t i = 0; i < count; i++, words->next += RR_SEGMENT_SIZE)
		chunk->segments[i] = rdma_segment_at(words->next);
	lists->segment_count += count;
	return RR_HEADER_OK;
}

/* Reads the Write list into lists->writes. Returns RR_HEADER_LIMIT if the list has more chunks or segments
 * than the caller's arrays, RR_HEADER_MALFORMED if the message ends within the list. */
static inline enum rr_header_result
rdma_get_writes(struct rpcrdma_words *words, struct rr_chunk_lists *lists)
{
	bool more;

	while (rdma_words_get_bool(words, &more)) {
		enum rr_header_result result;

		if (!more)
			return RR_HEADER_OK;
		if (lists->write_count == lists->write_max)
			return RR_HEADER_LIMIT;
		result = rdma_get_chunk(words, lists, &lists->writes[lists->write_count]);
		if (result != RR_HEADER_OK)
			return result;
		lists->write_count++;
	}
	return RR_HEADER_MALFORMED;
}

/* Reads the Reply chunk, if the message has one, and sets lists->has_reply accordingly. Returns
 * RR_HEADER_MALFORMED if the message ends within it, RR_HEADER_LIMIT if it has too many segments for the
 * caller's array. */
static inline enum rr_header_result
rdma_get_reply(struct rpcrdma_words *words, struct rr_chunk_lists *lists)
{
	enum rr_header_result result = RR_HEADER_OK;
	bool present;

	if (!rdma_words_get_bool(words, &present))
		return RR_HEADER_MALFORMED;
	if (present)
		result = rdma_get_chunk(words, lists, &lists->reply);
	lists->has_reply = present && result == RR_HEADER_OK;
	return result;
}

enum rr_header_result
rr_rdma_get_lists(struct rpcrdma_xdr_reader *reader, struct rr_chunk_lists *lists)
{
	struct rpcrdma_words words = { reader->next, reader->end };
	enum rr_header_result result;

	if (rdma_get_no_lists(reader))
		return RR_HEADER_OK;
	result = rdma_get_reads(&words, lists);
	if (result == RR_HEADER_OK)
		result = rdma_get_writes(&words, lists);
	if (result == RR_HEADER_OK)
		result = rdma_get_reply(&words, lists);
	if (result == RR_HEADER_OK)
		reader->next = words.next;
	else
		rpcrdma_xdr_fail(reader);
	return result;
}

/* ---- Arrays ---- */

size_t
rr_rdma_lists_size(uint32_t reads, uint32_t writes, uint32_t segments)
{
	return segments * sizeof(struct rr_segment) + writes * sizeof(struct rr_chunk) +
	       reads * sizeof(struct rr_read_segment);
}

void
rr_rdma_place_lists(
	struct rr_chunk_lists *lists, void *memory, uint32_t reads, uint32_t writes, uint32_t segments)
{
	*lists = (struct rr_chunk_lists){
		.segments = memory, .segment_max = segments, .write_max = writes, .read_max = reads
	};
	/* In this order, the end of each array is aligned for the elements of the next one. */
	lists->writes = (struct rr_chunk *)(lists->segments + segments);
	lists->reads = (struct rr_read_segment *)(lists->writes + writes);
}

/* Returns a copy of chunk that refers to the array `to`, at the same index at which chunk refers to the array
 * `from`. The caller copies the segments themselves. */
static struct rr_chunk
rdma_moved_chunk(const struct rr_chunk *chunk, const struct rr_segment *from, struct rr_segment *to)
{
	return (struct rr_chunk){ chunk->count > 0 ? to + (chunk->segments - from) : NULL, chunk->count };
}

bool
rr_rdma_copy_lists(struct rr_chunk_lists *to, const struct rr_chunk_lists *from)
{
	rr_rdma_clear_lists(to);
	if (!rr_rdma_has_lists(from))
		return true;
	if (from->read_count > to->read_max || from->write_count > to->write_max ||
		from->segment_count > to->segment_max)
		return false;
	to->read_count = from->read_count;
	to->write_count = from->write_count;
	to->segment_count = from->segment_count;
	to->has_reply = from->has_reply;
	to->reply = rdma_moved_chunk(&from->reply, from->segments, to->segments);
	for (uint32_t i = 0; i < from->read_count; i++)
		to->reads[i] = from->reads[i];
	for (uint32_t i = 0; i < from->segment_count; i++)
		to->segments[i] = from->segments[i];
	for (uint32_t i = 0; i < from->write_count; i++)
		to->writes[i] = rdma_moved_chunk(&from->writes[i], from->segments, to->segments);
	return true;
}

/* ---- Writing ---- */

/* Writes the four words that begin the header in all versions of RPC-over-RDMA: xid, version, credits and
 * procedure. */
static void
rdma_put_words(uint8_t to[RR_RDMA_FIXED_SIZE], const struct rr_rdma_header *header)
{
	rr_put_be32(to, header->xid);
	rr_put_be32(to + 4, header->vers);
	rr_put_be32(to + 8, header->credit);
	rr_put_be32(to + 12, header->proc);
}

void
rr_rdma_put_fixed(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header)
{
	uint8_t *to = rr_xdr_room(writer, RR_RDMA_FIXED_SIZE);

	if (to)
		rdma_put_words(to, header);
}

void
rr_rdma_put_plain(uint8_t to[RR_RDMA_HEADER_MIN], const struct rr_rdma_header *header)
{
	rdma_put_words(to, header);
	memset(to + RR_RDMA_FIXED_SIZE, 0, NO_LISTS_SIZE);
}

/* These functions write at `to`, where the caller has made room, and return where the next octets belong. */
static inline uint8_t *
rdma_put_word(uint8_t *to, uint32_t word)
{
	rr_put_be32(to, word);
	return to + WORD;
}

/* Writes a segment: handle, length and offset. */
static inline uint8_t *
rdma_put_segment(uint8_t *to, const struct rr_segment *segment)
{
	rr_put_be32(to, segment->handle);
	rr_put_be32(to + WORD, segment->length);
	rr_put_be64(to + 2 * WORD, segment->offset);
	return to + RR_SEGMENT_SIZE;
}

/* Writes a Write chunk or the Reply chunk: the number of its segments, and the segments. */
static inline uint8_t *
rdma_put_chunk(uint8_t *to, const struct rr_chunk *chunk)
{
	to = rdma_put_word(to, chunk->count);
	for (uint32_t i = 0; i < chunk->count; i++)
		to = rdma_put_segment(to, &chunk->segments[i]);
	return to;
}

/* Returns how many octets the three lists take. */
static uint32_t
rdma_lists_octets(const struct rr_chunk_lists *lists)
{
	uint32_t segments = lists->has_reply ? lists->reply.count : 0;

	for (uint32_t i = 0; i < lists->write_count; i++)
		segments += lists->writes[i].count;
	return rr_rdma_header_size(lists->read_count, lists->write_count, lists->has_reply, segments) -
	       RR_RDMA_FIXED_SIZE;
}

void
rr_rdma_put_lists(struct rpcrdma_xdr_writer *writer, const struct rr_chunk_lists *lists)
{
	/* Most headers have no chunks. */
	bool is_empty = !lists || !rr_rdma_has_lists(lists);
	uint8_t *to = rr_xdr_room(writer, is_empty ? NO_LISTS_SIZE : rdma_lists_octets(lists));

	if (!to)
		return;
	if (is_empty) {
		memset(to, 0, NO_LISTS_SIZE);
		return;
	}
	for (uint32_t i = 0; i < lists->read_count; i++) {
		to = rdma_put_word(to, true);
		to = rdma_put_word(to, lists->reads[i].position);
		to = rdma_put_segment(to, &lists->reads[i].target);
	}
	to = rdma_put_word(to, false);
	for (uint32_t i = 0; i < lists->write_count; i++) {
		to = rdma_put_word(to, true);
		to = rdma_put_chunk(to, &lists->writes[i]);
	}
	to = rdma_put_word(to, false);
	to = rdma_put_word(to, lists->has_reply);
	if (lists->has_reply)
		rdma_put_chunk(to, &lists->reply);
}

/* ---- Sizes ---- */

uint32_t
rr_rdma_header_size(uint32_t reads, uint32_t writes, bool has_reply, uint32_t segments)
{
	uint64_t size = RR_RDMA_HEADER_MIN;

	size += (uint64_t)reads * RR_READ_SEGMENT_SIZE;
	size += (uint64_t)writes * (WORD + WORD);
	size += has_reply ? WORD : 0;
	size += (uint64_t)segments * RR_SEGMENT_SIZE;
	return (uint32_t)rr_min(size, UINT32_MAX);
}

uint64_t
rr_chunk_length(const struct rr_chunk *chunk)
{
	uint64_t length = 0;

	for (uint32_t i = 0; i < chunk->count; i++)
		length += chunk->segments[i].length;
	return length;
}
