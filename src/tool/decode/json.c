/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "decode/names.h"
#include "decode/operations.h"
#include "tool/decode/decode.h"
#include "wire/private_data.h"

/* Prints a comma and a member whose value is a string. Prints nothing if name is NULL. */
static void
json_name(const char *key, const char *name)
{
	if (!name)
		return;
	printf(",\"%s\":", key);
	rr_tool_json_string(stdout, name);
}

static void
json_number(const char *key, uint64_t number)
{
	printf(",\"%s\":%" PRIu64, key, number);
}

void
rr_decode_json_moment(const char *event, const struct rr_moment *moment)
{
	char text[RR_DECODE_END_TEXT];

	printf("{\"event\":\"%s\"", event);
	json_number("frame", moment->frame);
	printf(",\"time\":\"%" PRIu64 ".%09" PRIu64 "\"", moment->time / RR_SECOND, moment->time % RR_SECOND);
	json_number("connection", moment->connection);
	json_name("source", rr_decode_end_text(&moment->ends[moment->from], text));
	json_name("destination", rr_decode_end_text(&moment->ends[!moment->from], text));
}

/* ---- Chunk lists ---- */

/* Prints the members of a segment's object and its closing brace; the caller has printed the opening one. */
static void
json_segment(const struct rr_segment *segment)
{
	printf("\"handle\":%" PRIu32 ",\"length\":%" PRIu32 ",\"offset\":%" PRIu64 "}", segment->handle,
		segment->length, segment->offset);
}

static void
json_chunk(const struct rr_chunk *chunk)
{
	printf("[");
	for (uint32_t i = 0; i < chunk->count; i++) {
		printf(i ? ",{" : "{");
		json_segment(&chunk->segments[i]);
	}
	printf("]");
}

static void
json_lists(const struct rr_chunk_lists *lists)
{
	printf(",\"read_list\":[");
	for (uint32_t i = 0; i < lists->read_count; i++) {
		printf("%s{\"position\":%" PRIu32 ",", i ? "," : "", lists->reads[i].position);
		json_segment(&lists->reads[i].target);
	}
	printf("],\"write_list\":[");
	for (uint32_t i = 0; i < lists->write_count; i++) {
		printf(i ? "," : "");
		json_chunk(&lists->writes[i]);
	}
	printf("],\"reply_chunk\":");
	if (lists->has_reply)
		json_chunk(&lists->reply);
	else
		printf("null");
}

/* ---- Messages ---- */

static void
json_header(const struct rr_message *message)
{
	const struct rr_rdma_header *header = &message->header;

	json_number("xid", header->xid);
	json_number("version", header->vers);
	json_number("credits", header->credit);
	json_number("rdma_proc", header->proc);
	json_name("rdma_proc_name", rr_rdma_proc_name(header->vers, header->proc));
	/* The members behind the fixed ones are set only if the whole header was decoded. */
	if (message->result != RR_HEADER_OK)
		return;
	if (header->proc == RR_RDMA_MSG || header->proc == RR_RDMA_NOMSG)
		json_lists(&message->lists);
	if (header->proc == RR_RDMA_OPTIONAL)
		json_number("opttype", header->opttype);
	if (header->proc != RR_RDMA_ERROR)
		return;
	json_number("rdma_err", header->err);
	json_name("rdma_err_name", rr_rdma_err_name(header->vers, header->err));
	if (header->err == RR_ERR_VERS) {
		json_number("vers_low", header->vers_low);
		json_number("vers_high", header->vers_high);
	}
}

static void
json_rpc(const struct rr_message *message)
{
	if (message->has_procedure) {
		json_number("program", message->prog);
		json_number("program_version", message->vers);
		json_number("procedure", message->proc);
		json_name("program_name", rr_decode_program_name(message->prog, message->vers));
		json_name("procedure_name",
			rr_decode_procedure_name(message->prog, message->vers, message->proc));
	}
	if (message->has_call)
		json_number("credential_flavor", message->call.cred.flavor);
	if (!message->has_reply)
		return;
	json_number("reply_stat", message->reply.reply_stat);
	if (message->reply.reply_stat == RR_MSG_ACCEPTED)
		json_number("accept_stat", message->reply.accept_stat);
}

/* Prints the operations of a COMPOUND, those of a reply with their statuses. "whole" is false if the message
 * has more operations than the list. For all other messages, prints nothing. */
static void
json_operations(const struct rr_message *message)
{
	struct rr_operations operations;

	if (!rr_operations_read(message, &operations))
		return;
	printf(",\"operations\":[");
	for (uint32_t i = 0; i < operations.count; i++) {
		printf("%s{\"number\":%" PRIu32, i > 0 ? "," : "", operations.list[i].number);
		json_name("name", rr_operation_name(&operations, i));
		if (operations.list[i].has_status) {
			json_number("status", operations.list[i].status);
			json_name("status_name", rr_operation_status_name(&operations, i));
		}
		printf("}");
	}
	printf("],\"whole\":%s", operations.is_whole ? "true" : "false");
}

/* For a reply whose call was seen, prints the frame of the call, the time from the call to the reply, and the
 * octets that RDMA moved. For all other messages, prints nothing. */
static void
json_pair(const struct rr_message *message)
{
	static const char *const keys[RR_REGIONS] = { "read_octets", "call_octets", "written_octets",
		"reply_octets", "provided_octets" };
	int64_t latency = (int64_t)(message->sent.moment.time - message->call_moment.time);

	/* A message that the caller of the transaction sends is no reply: it is the call itself, for example,
	 * or RDMA_DONE. */
	if (!message->is_paired || message->sent.moment.from == message->call_moment.from)
		return;
	json_number("call_frame", message->call_moment.frame);
	printf(",\"latency_ns\":%" PRId64, latency);
	for (int kind = 0; kind < RR_REGIONS; kind++)
		json_number(keys[kind], message->moved[kind]);
}

/* Prints the object of a message. A message that is too short has no members of a header. */
static void
json_message(void *ctx, const struct rr_message *message)
{
	const struct rr_sent *sent = &message->sent;

	if (!rr_decode_filter_message(ctx, message))
		return;
	rr_decode_json_moment("message", &sent->moment);
	json_name("kind", rr_decode_kind_name(message->kind));
	json_name("header", rr_decode_result_name(message->result));
	json_number("size", sent->size);
	if (sent->is_cut)
		printf(",\"cut\":true");
	json_number("msn", sent->msn);
	if (sent->invalidates)
		json_number("invalidated_handle", sent->invalidated);
	if (message->result != RR_HEADER_SHORT)
		json_header(message);
	json_rpc(message);
	json_operations(message);
	json_pair(message);
	printf("}\n");
}

/* ---- Events that are no messages ---- */

static void
json_mpa(const struct rr_mpa_frame *frame)
{
	json_number("revision", frame->revision);
	printf(",\"crc\":%s,\"markers\":%s,\"reject\":%s", frame->crc ? "true" : "false",
		frame->markers ? "true" : "false", frame->reject ? "true" : "false");
}

/* Prints the members of a message of the connection manager. A rejection has a reason only; the MTU is 0 if
 * it is not known, as in a reply. */
static void
json_cm(const struct rr_cm *cm)
{
	if (cm->kind == RR_CM_REJECT) {
		json_number("reason", cm->reason);
		json_name("reason_name", rr_cm_reason_name(cm->reason));
		return;
	}
	json_number("queue_pair", cm->qp);
	json_number("first_psn", cm->psn);
	if (cm->mtu)
		json_number("mtu", cm->mtu);
}

/* Prints the object of a message that opens a connection: of MPA (iWARP), or of the connection manager
 * (RoCE). Its private data is shown if it is that of RPC-over-RDMA. */
static void
json_opened(void *ctx, const struct rr_moment *moment, const struct rr_handshake *handshake)
{
	static const char *const cm_events[] = { "cm_request", "cm_reply", "cm_reject" };
	const struct rpcrdma_bytes *bytes = &handshake->private_data;
	struct rr_private_data data;

	if (!rr_decode_filter_moment(ctx, moment))
		return;
	if (handshake->mpa) {
		rr_decode_json_moment(handshake->mpa->reply ? "mpa_reply" : "mpa_request", moment);
		json_mpa(handshake->mpa);
	} else {
		rr_decode_json_moment(cm_events[handshake->kind], moment);
		json_cm(handshake->cm);
	}
	if (handshake->has_depths) {
		json_number("ird", handshake->ird);
		json_number("ord", handshake->ord);
	}
	if (rr_private_data_get(bytes->data, bytes->length, &data)) {
		json_number("send_size", data.send_size);
		json_number("receive_size", data.receive_size);
		printf(",\"remote_invalidation\":%s", data.remote_invalidation ? "true" : "false");
	}
	printf("}\n");
}

/* Prints the object of an RDMA operation, with the chunk that it reads or writes if that is known. Without
 * --verbose, prints only a Terminate, which ends a connection with an error. */
static void
json_operation(void *ctx, const struct rr_moment *moment, const struct rr_op *op,
	const struct rr_decode_region *region)
{
	const struct rr_decode *decode = ctx;
	struct rr_terminate terminate;

	if (!rr_decode_filter_moment(decode, moment) || (!decode->verbose && op->kind != RR_OP_TERMINATE))
		return;
	rr_decode_json_moment("operation", moment);
	json_name("operation", rr_decode_op_name(op->kind));
	json_number("length", op->length);
	if (op->kind != RR_OP_TERMINATE) {
		json_number("handle", op->handle);
		json_number("offset", op->offset);
	} else if (rr_terminate_get(op->data, op->length, &terminate)) {
		json_number("cause", terminate.cause);
	}
	if (region) {
		json_name("chunk", rr_decode_region_name(region->kind));
		json_number("xid", region->transaction->xid);
	}
	printf("}\n");
}

/* Prints the object of a note of the decoder on packets that are not decoded. */
static void
json_note(void *ctx, const struct rr_moment *moment, const char *text)
{
	if (!rr_decode_filter_moment(ctx, moment))
		return;
	rr_decode_json_moment("note", moment);
	json_name("text", text);
	printf("}\n");
}

struct rr_decode_sink
rr_decode_json_sink(struct rr_decode *decode)
{
	return (struct rr_decode_sink){ .message = json_message,
		.opened = json_opened,
		.operation = json_operation,
		.note = json_note,
		.ctx = decode };
}
