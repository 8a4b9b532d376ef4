/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of the last headers of a connection: trace.h. An engine's blocks are in a list by age, and each
 * trace has a list of its own blocks, by age, too. */
#include "carrier/rdma/core/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "base/probe.h"

/* This function and the next three return the four words that begin the header of the entry. */
static uint32_t
trace_xid(const struct rr_trace_entry *entry)
{
	return rr_get_be32(entry->fixed);
}

static uint32_t
trace_vers(const struct rr_trace_entry *entry)
{
	return rr_get_be32(entry->fixed + 4);
}

static uint32_t
trace_credit(const struct rr_trace_entry *entry)
{
	return rr_get_be32(entry->fixed + 8);
}

static uint32_t
trace_proc(const struct rr_trace_entry *entry)
{
	return rr_get_be32(entry->fixed + 12);
}

/* Stores in the entry how many chunks and segments the lists have, and how many octets. */
static void
trace_take_lists(struct rr_trace_entry *entry, const struct rr_chunk_lists *lists)
{
	uint64_t octets = lists->has_reply ? rr_chunk_length(&lists->reply) : 0;
	uint32_t segments = lists->has_reply ? lists->reply.count : 0;

	for (uint32_t i = 0; i < lists->read_count; i++)
		octets += lists->reads[i].target.length;
	for (uint32_t i = 0; i < lists->write_count; i++) {
		octets += rr_chunk_length(&lists->writes[i]);
		segments += lists->writes[i].count;
	}
	entry->octets = (uint32_t)rr_min(octets, UINT32_MAX);
	entry->reads = (uint16_t)rr_min(lists->read_count, UINT16_MAX);
	entry->writes = (uint8_t)rr_min(lists->write_count, UINT8_MAX);
	entry->segments = (uint16_t)rr_min(segments, UINT16_MAX);
	entry->has_reply = lists->has_reply;
}

/* Stores the rare parts of a message in its entry: the sizes of its chunks, and the error of an
 * RDMA_ERROR. */
__attribute__((noinline)) static void
trace_take_rest(struct rr_trace_entry *entry, const uint8_t *data, const struct rr_chunk_lists *lists)
{
	if (trace_proc(entry) == RR_RDMA_ERROR && entry->length >= RR_RDMA_FIXED_SIZE + 4)
		entry->err = (uint8_t)rr_min(rr_get_be32(data + RR_RDMA_FIXED_SIZE), UINT8_MAX);
	if (lists)
		trace_take_lists(entry, lists);
}

/* Fills in the next entry of the last block of the trace (the connection's last headers). The caller has
 * checked that the block has room for the entry. */
static inline void
trace_put(struct rr_trace *trace, uint64_t now, bool sent, const uint8_t *data, uint32_t length,
	const struct rr_chunk_lists *lists)
{
	struct rr_trace_block *block = trace->last;
	struct rr_trace_entry *entry = &block->entries[block->count++];

	trace->count++;
	*entry = (struct rr_trace_entry){ .at = now, .length = length, .sent = sent, .parsed = lists };
	if (length < RR_RDMA_FIXED_SIZE)
		return;
	memcpy(entry->fixed, data, RR_RDMA_FIXED_SIZE);
	RR_PROBE(header, (int)sent, trace_xid(entry), (int)trace_proc(entry), trace_credit(entry), length);
	if (rr_get_be32(data + 12) == RR_RDMA_ERROR || (lists && rr_rdma_has_lists(lists)))
		trace_take_rest(entry, data, lists);
}

/* ---- Blocks ---- */

/* Takes the block away from the trace (a connection's last headers) to which it belongs, and returns the
 * block. */
static struct rr_trace_block *
trace_take_block(struct rr_trace_block *block)
{
	struct rr_trace *trace = block->trace;

	rr_list_remove(&block->own);
	rr_list_remove(&block->all);
	trace->block_count--;
	if (trace->last == block)
		trace->last = NULL;
	return block;
}

/* Returns a block that the trace can use: a new block, or an old block that is used again. The block is in no
 * list. Returns NULL if there is no memory. */
static struct rr_trace_block *
trace_find_block(const struct rr_trace *trace)
{
	struct rr_traces *traces = trace->traces;
	bool full = traces->count == traces->most;
	struct rr_trace_block *block;

	if (trace->block_count == RR_TRACE_OWN || (full && trace->block_count > 1))
		return trace_take_block(rr_container(trace->blocks.next, struct rr_trace_block, own));
	if (full)
		return trace_take_block(rr_container(traces->blocks.next, struct rr_trace_block, all));
	block = rr_alloc(traces->env, sizeof(*block));
	traces->count += block != NULL;
	return block;
}

/* Adds a block to the trace, for its next entry. Returns false if there is no memory. */
static bool
trace_begin_block(struct rr_trace *trace)
{
	struct rr_trace_block *block = trace_find_block(trace);

	if (!block)
		return false;
	block->trace = trace;
	block->count = 0;
	rr_list_append(&trace->blocks, &block->own);
	rr_list_append(&trace->traces->blocks, &block->all);
	trace->block_count++;
	trace->last = block;
	return true;
}

static bool
trace_has_room(const struct rr_trace *trace)
{
	return trace->last && trace->last->count < RR_TRACE_BLOCK;
}

/* Records a message for which trace_put() cannot be called yet: first adds a block to the trace if the last
 * block is full, and reads the time if this turn of the loop does not know it. Without memory for a block
 * the message is not recorded. */
__attribute__((noinline)) static void
trace_begin(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data, uint32_t length,
	const struct rr_chunk_lists *lists)
{
	if (trace_has_room(trace) || trace_begin_block(trace))
		trace_put(trace, rr_loop_now(loop), sent, data, length, lists);
}

/* Records the message in the trace (the connection's last headers): at once if the last block has room and
 * the time is known, else by trace_begin(). Each branch only calls one function, as its last act, so that the
 * compiler need not save registers. */
void
rr_trace_add(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data, uint32_t length,
	const struct rr_chunk_lists *lists)
{
	uint64_t now = rr_loop_known(loop);

	if (!trace_has_room(trace) || now == 0)
		trace_begin(trace, loop, sent, data, length, lists);
	else
		trace_put(trace, now, sent, data, length, lists);
}

/* Writes into name the name of the message's procedure, and, for an RDMA_ERROR, the name of the error behind
 * it. Both names depend on the protocol version of the message. */
static void
trace_name_message(const struct rr_trace_entry *entry, char *name, size_t size)
{
	uint32_t vers = trace_vers(entry), proc = trace_proc(entry);
	bool is_error = proc == RR_RDMA_ERROR;

	snprintf(name, size, "%s%s%s", rr_rdma_proc_name(vers, proc), is_error ? " " : "",
		is_error ? rr_rdma_err_name(vers, entry->err) : "");
}

void
rr_trace_text(const struct rr_trace_entry *entry, uint64_t now, char *text, size_t size)
{
	const char *way = entry->sent ? "sent" : "received";
	double ago = (double)(now - entry->at) / (double)RR_MILLISECOND;
	char name[48];

	trace_name_message(entry, name, sizeof(name));
	if (entry->length < RR_RDMA_FIXED_SIZE)
		snprintf(
			text, size, "%.3f ms ago: %s %" PRIu32 " octets, no header", ago, way, entry->length);
	else if (!entry->parsed)
		snprintf(text, size,
			"%.3f ms ago: %s XID 0x%08" PRIx32 " %s, credit %" PRIu32 ", %" PRIu32
			" octets, no chunk lists that could be read",
			ago, way, trace_xid(entry), name, trace_credit(entry), entry->length);
	else
		snprintf(text, size,
			"%.3f ms ago: %s XID 0x%08" PRIx32 " %s, credit %" PRIu32 ", %" PRIu32
			" octets; %u read segments, %u Write chunks, %s Reply chunk, %u segments, %" PRIu32
			" octets in chunks",
			ago, way, trace_xid(entry), name, trace_credit(entry), entry->length, entry->reads,
			entry->writes, entry->has_reply ? "a" : "no", entry->segments, entry->octets);
}

/* Logs the entries of the block in order, from the entry with the index `first` on. */
static void
trace_log_block(
	const struct rr_trace_block *block, uint32_t first, const struct rr_env *env, const char *peer)
{
	char text[256];

	for (uint32_t i = first; i < block->count; i++) {
		rr_trace_text(&block->entries[i], rr_now(env), text, sizeof(text));
		rr_log(env, RR_LOG_INFO, "%s: %s", peer, text);
	}
}

void
rr_trace_log(const struct rr_trace *trace, const struct rr_env *env, const char *peer)
{
	uint32_t kept = 0, shown, passed;

	if (!trace->last)
		return;
	rr_list_for_each (link, &trace->blocks)
		kept += rr_container(link, const struct rr_trace_block, own)->count;
	shown = (uint32_t)rr_min(kept, RR_TRACE_ENTRIES);
	passed = kept - shown;
	rr_log(env, RR_LOG_INFO, "%s: the last %" PRIu32 " of %" PRIu64 " headers:", peer, shown,
		trace->count);
	rr_list_for_each (link, &trace->blocks) {
		const struct rr_trace_block *block = rr_container(link, const struct rr_trace_block, own);
		uint32_t first = (uint32_t)rr_min(passed, block->count);

		trace_log_block(block, first, env, peer);
		passed -= first;
	}
}

void
rr_traces_init(struct rr_traces *traces, const struct rr_env *env, uint32_t most)
{
	*traces = (struct rr_traces){ .env = env, .most = most };
	rr_list_init(&traces->blocks);
}

void
rr_trace_init(struct rr_trace *trace, struct rr_traces *traces)
{
	*trace = (struct rr_trace){ .traces = traces };
	rr_list_init(&trace->blocks);
}

void
rr_trace_free(struct rr_trace *trace)
{
	struct rr_traces *traces = trace->traces;

	while (trace->block_count > 0) {
		struct rr_trace_block *block = rr_container(trace->blocks.next, struct rr_trace_block, own);

		rr_free(traces->env, trace_take_block(block));
		traces->count--;
	}
}
