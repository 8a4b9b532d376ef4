/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_XDR_H
#define RPCRDMA_XDR_H

#include <rpcrdma/api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * XDR (RFC 4506) in memory, and messages whose large items travel apart.
 *
 * A message is a stream of XDR and, beside it, the items that were taken out of the stream ("reduced", RFC
 * 8166, section 3.4.1): opaque data that a binding marks. The length word of such an item stays in the
 * stream, its octets and its roundup padding do not. No function here copies an item that a binding marks:
 * writers record its place in memory, readers return its place.
 *
 * Readers and writers fail for good: after a failure readers return zeroes, writers write nothing, and
 * `failed` stays set. So a codec is straight code, and its caller looks at `failed` (or rpcrdma_xdr_done())
 * once, at the end.
 *
 * Threads: each object belongs to one thread at a time.
 */

/* Octets somewhere in memory; not terminated by a zero. */
struct rpcrdma_bytes {
	const void *data;
	uint32_t length;
};

/* An item that travels apart from the stream. */
struct rpcrdma_item {
	const void *data;
	uint32_t length; /* octets, without roundup padding */
	uint32_t offset; /* octets of the (reduced) stream in front of it; or RPCRDMA_ITEM_NEXT */
};

/* The offset of an item that a Write chunk brought: it is the next marked item, whatever its place in the
 * stream is. */
#define RPCRDMA_ITEM_NEXT UINT32_MAX

/* A whole message: its stream, and the items taken out of it, in their order. The message owns neither the
 * stream nor the items. */
struct rpcrdma_message {
	const void *stream;
	uint32_t length; /* octets of the stream */
	uint32_t item_count;
	const struct rpcrdma_item *items;
};

/* Memory for decoded arrays and lists: a block, bounded, given back as a whole. */
struct rpcrdma_arena {
	uint8_t *next, *end;
};

/* C++ has a constructor of this name, which -Wshadow takes for hidden. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/* Returns an arena, memory for decoded arrays and lists, of the size octets at memory. */
static inline struct rpcrdma_arena
rpcrdma_arena(void *memory, size_t size)
{
	struct rpcrdma_arena arena = { (uint8_t *)memory, (uint8_t *)memory + size };

	return arena;
}
#pragma GCC diagnostic pop

/* A reader of a message. */
struct rpcrdma_xdr_reader {
	const uint8_t *start, *next, *end;
	const struct rpcrdma_item *items, *items_end; /* the items still to come */
	struct rpcrdma_arena *arena;                  /* NULL: types that need an arena fail */
	uint32_t inlined; /* marked items of at least one octet that were found in the stream */
	bool failed;
	bool starved; /* it failed as there is no arena, or no room in the arena */
};

/* A writer of a message. */
struct rpcrdma_xdr_writer {
	uint8_t *start, *next, *end;
	struct rpcrdma_item *items;
	uint32_t item_count, item_max; /* beyond item_max, marked items are copied into the stream */
	bool failed;
};

/* ---- Reading ---- */

/* Begins to read a whole message. The message, its stream and its items must outlive the values that are
 * decoded from them. arena may be NULL: arrays, lists and optional data then fail. */
RPCRDMA_API void rpcrdma_xdr_reader_init(struct rpcrdma_xdr_reader *reader,
	const struct rpcrdma_message *message, struct rpcrdma_arena *arena);

/* Whether no function of the reader failed and the whole stream was read. A decoder asks this at its end. */
RPCRDMA_API bool rpcrdma_xdr_done(const struct rpcrdma_xdr_reader *reader);

/* Returns how many octets of the stream are not yet read, or 0 after a failure. */
RPCRDMA_API size_t rpcrdma_xdr_left(const struct rpcrdma_xdr_reader *reader);

/* Read integers of four and of eight octets: RFC 4506, sections 4.1, 4.2 and 4.5. They return 0 after a
 * failure. */
RPCRDMA_API uint32_t rpcrdma_get_u32(struct rpcrdma_xdr_reader *reader);
RPCRDMA_API uint64_t rpcrdma_get_u64(struct rpcrdma_xdr_reader *reader);

static inline int32_t
rpcrdma_get_i32(struct rpcrdma_xdr_reader *reader)
{
	return (int32_t)rpcrdma_get_u32(reader);
}

static inline int64_t
rpcrdma_get_i64(struct rpcrdma_xdr_reader *reader)
{
	return (int64_t)rpcrdma_get_u64(reader);
}

/* Reads a bool, 0 or 1: RFC 4506, section 4.4. The reader fails for any other number. */
RPCRDMA_API bool rpcrdma_get_bool(struct rpcrdma_xdr_reader *reader);

/* Read floating-point numbers: RFC 4506, sections 4.6 and 4.7. */
RPCRDMA_API float rpcrdma_get_float(struct rpcrdma_xdr_reader *reader);
RPCRDMA_API double rpcrdma_get_double(struct rpcrdma_xdr_reader *reader);

/* Reads a fixed-length opaque, RFC 4506, section 4.9: copies size octets to data, and skips their padding,
 * which may be any octets. */
RPCRDMA_API void rpcrdma_get_fixed(struct rpcrdma_xdr_reader *reader, void *data, uint32_t size);

/* Reads an opaque<max> or string<max>, RFC 4506, sections 4.10 and 4.11. The result refers to the stream. */
RPCRDMA_API struct rpcrdma_bytes rpcrdma_get_bytes(struct rpcrdma_xdr_reader *reader, uint32_t max);

/* Reads an opaque<max> that a binding marks. If its data were taken out of the stream, the result refers to
 * the item, else to the stream. Fails also if the item has not as many octets as the length word in the
 * stream says; a Read chunk may have its XDR padding, too. */
RPCRDMA_API struct rpcrdma_bytes rpcrdma_get_item(struct rpcrdma_xdr_reader *reader, uint32_t max);

/* Returns zeroed, aligned memory for count elements of size octets, from the reader's arena. Returns NULL,
 * and the reader fails, if there is not enough. The peer chooses count: callers bound it first by the octets
 * that the stream still has. */
RPCRDMA_API void *rpcrdma_get_array(struct rpcrdma_xdr_reader *reader, uint32_t count, size_t size);

/* Reads the count of a counted array. The reader fails if the count is above max, or if the rest of the
 * stream is too short for so many elements of at least `least` octets each (least may be 0 only for elements
 * of no size; then max alone bounds the count). */
RPCRDMA_API uint32_t rpcrdma_get_count(struct rpcrdma_xdr_reader *reader, uint32_t max, uint32_t least);

/* Makes the reader fail: for codecs that find a value that their schema does not allow (a union's
 * discriminant, an enum's value). */
RPCRDMA_API void rpcrdma_xdr_fail(struct rpcrdma_xdr_reader *reader);

/* ---- Writing ---- */

/* Begins to write to size octets of memory. items is an array for the item_max first items; further ones are
 * copied into the stream. With item_max 0, items may be NULL, and everything is copied into the stream. */
RPCRDMA_API void rpcrdma_xdr_writer_init(struct rpcrdma_xdr_writer *writer, void *memory, size_t size,
	struct rpcrdma_item *items, uint32_t item_max);

/* Returns what was written, as a message that refers to the writer's memory. Must not be called for a writer
 * that has failed. */
RPCRDMA_API struct rpcrdma_message rpcrdma_xdr_written(const struct rpcrdma_xdr_writer *writer);

/* Returns how many octets have been written to the stream so far. */
RPCRDMA_API size_t rpcrdma_xdr_length(const struct rpcrdma_xdr_writer *writer);

/* Write integers of four and of eight octets: RFC 4506, sections 4.1, 4.2 and 4.5. As with all functions
 * below, a writer without room for the value fails. */
RPCRDMA_API void rpcrdma_put_u32(struct rpcrdma_xdr_writer *writer, uint32_t value);
RPCRDMA_API void rpcrdma_put_u64(struct rpcrdma_xdr_writer *writer, uint64_t value);

static inline void
rpcrdma_put_i32(struct rpcrdma_xdr_writer *writer, int32_t value)
{
	rpcrdma_put_u32(writer, (uint32_t)value);
}

static inline void
rpcrdma_put_i64(struct rpcrdma_xdr_writer *writer, int64_t value)
{
	rpcrdma_put_u64(writer, (uint64_t)value);
}

/* Write a bool and floating-point numbers: RFC 4506, sections 4.4, 4.6 and 4.7. */
RPCRDMA_API void rpcrdma_put_bool(struct rpcrdma_xdr_writer *writer, bool value);
RPCRDMA_API void rpcrdma_put_float(struct rpcrdma_xdr_writer *writer, float value);
RPCRDMA_API void rpcrdma_put_double(struct rpcrdma_xdr_writer *writer, double value);

/* Writes a fixed-length opaque, RFC 4506, section 4.9: size octets, copied from data, and zero octets of
 * padding. */
RPCRDMA_API void rpcrdma_put_fixed(struct rpcrdma_xdr_writer *writer, const void *data, uint32_t size);

/* Writes an opaque<max> or string<max>, RFC 4506, sections 4.10 and 4.11, copied into the stream. The writer
 * fails if bytes.length is above max: nothing is sent that the schema does not allow. */
RPCRDMA_API void rpcrdma_put_bytes(
	struct rpcrdma_xdr_writer *writer, struct rpcrdma_bytes bytes, uint32_t max);

/* Writes an opaque<max> that a binding marks: its length word, and its data as an item, by reference, as long
 * as the writer has room for items, else copied into the stream. An opaque of no octets is an item, too: item
 * i of a reply is for Write chunk i (RFC 8267, section 6.4.1). */
RPCRDMA_API void rpcrdma_put_item(
	struct rpcrdma_xdr_writer *writer, struct rpcrdma_bytes bytes, uint32_t max);

/* Makes the writer fail: for codecs that find a value that their schema does not allow. */
RPCRDMA_API void rpcrdma_xdr_writer_fail(struct rpcrdma_xdr_writer *writer);

/* ---- Programs (RFC 5531, section 12), as `rpcrdma xdr` writes them ---- */

/* A size that the schema does not bound. */
#define RPCRDMA_XDR_UNBOUNDED UINT32_MAX

/* A procedure of a program: the sizes of its arguments and results, and their codecs. */
struct rpcrdma_procedure {
	const char *name;              /* NULL: there is no procedure of this number */
	size_t args_size, result_size; /* of the C types; 0 for void */
	/* The least and the most octets of the stream, marked items not counted (their length words are);
	 * max: or RPCRDMA_XDR_UNBOUNDED. */
	uint32_t args_min, result_min;
	uint32_t args_max, result_max;
	/* The most marked items in a call and in a reply; or RPCRDMA_XDR_UNBOUNDED. */
	uint32_t args_items, result_items;
	/* The octets of the largest of these items; or RPCRDMA_XDR_UNBOUNDED. */
	uint32_t args_item_max, result_item_max;
	/* The codecs, or NULL for void. value points to args_size or result_size octets. */
	void (*get_args)(struct rpcrdma_xdr_reader *reader, void *value);
	void (*put_args)(struct rpcrdma_xdr_writer *writer, const void *value);
	void (*get_result)(struct rpcrdma_xdr_reader *reader, void *value);
	void (*put_result)(struct rpcrdma_xdr_writer *writer, const void *value);
	/* The place, in the program's walk, of the code that finds marked items without decoding; 0: there
	 * are no marked items. */
	uint32_t args_walk, result_walk;
};

/* A version of a program. */
struct rpcrdma_program {
	const char *name; /* of the version, as in the schema: "NFS_V3" */
	uint32_t prog, vers;
	uint32_t procedure_count;                   /* the highest procedure number plus one */
	const struct rpcrdma_procedure *procedures; /* by number */
	const uint32_t *walk; /* the code that finds marked items, for the library; NULL: nothing is marked */
};

#ifdef __cplusplus
}
#endif

#endif
