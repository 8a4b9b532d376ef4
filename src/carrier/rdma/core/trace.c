/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/core/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "base/probe.h"

static uint32_t
trace_xid(const struct rr_trace_record *record)
{
	return rr_get_be32(record->fixed);
}

static uint32_t
trace_vers(const struct rr_trace_record *record)
{
	return rr_get_be32(record->fixed + 4);
}

static uint32_t
trace_credit(const struct rr_trace_record *record)
{
	return rr_get_be32(record->fixed + 8);
}

static uint32_t
trace_proc(const struct rr_trace_record *record)
{
	return rr_get_be32(record->fixed + 12);
}

static void
trace_take_lists(struct rr_trace_record *record, const struct rr_chunk_lists *lists)
{
	uint64_t octets = lists->has_reply ? rr_chunk_length(&lists->reply) : 0;
	uint32_t segments = lists->has_reply ? lists->reply.count : 0;

	for (uint32_t i = 0; i < lists->read_count; i++)
		octets += lists->reads[i].target.length;
	for (uint32_t i = 0; i < lists->write_count; i++) {
		octets += rr_chunk_length(&lists->writes[i]);
		segments += lists->writes[i].count;
	}
	record->octets = (uint32_t)rr_min(octets, UINT32_MAX);
	record->reads = (uint16_t)rr_min(lists->read_count, UINT16_MAX);
	record->writes = (uint8_t)rr_min(lists->write_count, UINT8_MAX);
	record->segments = (uint16_t)rr_min(segments, UINT16_MAX);
	record->has_reply = lists->has_reply;
}

/* The rare parts of a message: chunks, or an error. */
__attribute__((noinline)) static void
trace_take_rest(struct rr_trace_record *record, const uint8_t *data, const struct rr_chunk_lists *lists)
{
	if (trace_proc(record) == RR_RDMA_ERROR && record->length >= RR_RDMA_FIXED_SIZE + 4)
		record->err = (uint8_t)rr_min(rr_get_be32(data + RR_RDMA_FIXED_SIZE), UINT8_MAX);
	if (lists)
		trace_take_lists(record, lists);
}

static inline void
trace_put(struct rr_trace *trace, uint64_t now, bool sent, const uint8_t *data, uint32_t length,
	const struct rr_chunk_lists *lists)
{
	struct rr_trace_record *record = &trace->records[trace->count++ % RR_TRACE_RECORDS];

	*record = (struct rr_trace_record){ .at = now, .length = length, .sent = sent, .parsed = lists };
	if (length < RR_RDMA_FIXED_SIZE)
		return;
	memcpy(record->fixed, data, RR_RDMA_FIXED_SIZE);
	RR_PROBE(header, (int)sent, trace_xid(record), (int)trace_proc(record), trace_credit(record), length);
	if (trace_proc(record) == RR_RDMA_ERROR || (lists && rr_rdma_has_lists(lists)))
		trace_take_rest(record, data, lists);
}

/* The first message, and the first of a turn. */
__attribute__((noinline)) static void
trace_begin(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data, uint32_t length,
	const struct rr_chunk_lists *lists)
{
	if (!trace->records)
		trace->records = rr_alloc_array(rr_loop_env(loop), RR_TRACE_RECORDS, sizeof(*trace->records));
	if (trace->records)
		trace_put(trace, rr_loop_now(loop), sent, data, length, lists);
}

/* Nothing is called but as the last step: so no register is saved. */
void
rr_trace_add(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data, uint32_t length,
	const struct rr_chunk_lists *lists)
{
	uint64_t now = rr_loop_known(loop);

	if (!trace->records || now == 0)
		trace_begin(trace, loop, sent, data, length, lists);
	else
		trace_put(trace, now, sent, data, length, lists);
}

/* The procedure, and the error of an RDMA_ERROR, as their version calls them. */
static void
trace_name_message(const struct rr_trace_record *record, char *name, size_t size)
{
	uint32_t vers = trace_vers(record), proc = trace_proc(record);
	bool is_error = proc == RR_RDMA_ERROR;

	snprintf(name, size, "%s%s%s", rr_rdma_proc_name(vers, proc), is_error ? " " : "",
		is_error ? rr_rdma_err_name(vers, record->err) : "");
}

void
rr_trace_text(const struct rr_trace_record *record, uint64_t now, char *text, size_t size)
{
	const char *way = record->sent ? "sent" : "received";
	double ago = (double)(now - record->at) / (double)RR_MILLISECOND;
	char name[48];

	trace_name_message(record, name, sizeof(name));
	if (record->length < RR_RDMA_FIXED_SIZE)
		snprintf(text, size, "%.3f ms ago: %s %" PRIu32 " octets, no header", ago, way,
			record->length);
	else if (!record->parsed)
		snprintf(text, size,
			"%.3f ms ago: %s XID 0x%08" PRIx32 " %s, credit %" PRIu32 ", %" PRIu32
			" octets, no chunk lists that could be read",
			ago, way, trace_xid(record), name, trace_credit(record), record->length);
	else
		snprintf(text, size,
			"%.3f ms ago: %s XID 0x%08" PRIx32 " %s, credit %" PRIu32 ", %" PRIu32
			" octets; %u read segments, %u Write chunks, %s Reply chunk, %u segments, %" PRIu32
			" octets in chunks",
			ago, way, trace_xid(record), name, trace_credit(record), record->length,
			record->reads, record->writes, record->has_reply ? "a" : "no", record->segments,
			record->octets);
}

void
rr_trace_log(const struct rr_trace *trace, const struct rr_env *env, const char *peer)
{
	uint64_t first = trace->count > RR_TRACE_RECORDS ? trace->count - RR_TRACE_RECORDS : 0;
	char text[256];

	if (!trace->records)
		return;
	rr_log(env, RR_LOG_INFO, "%s: the last %" PRIu64 " of %" PRIu64 " headers:", peer,
		trace->count - first, trace->count);
	for (uint64_t i = first; i < trace->count; i++) {
		rr_trace_text(&trace->records[i % RR_TRACE_RECORDS], rr_now(env), text, sizeof(text));
		rr_log(env, RR_LOG_INFO, "%s: %s", peer, text);
	}
}

void
rr_trace_free(struct rr_trace *trace, const struct rr_env *env)
{
	rr_free(env, trace->records);
	*trace = (struct rr_trace){ 0 };
}
