/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "decode/names.h"
#include "decode/operations.h"
#include "tool/decode/decode.h"
#include "wire/private_data.h"

void
rr_decode_text_moment(const struct rr_decode *decode, const struct rr_moment *moment)
{
	char source[RR_DECODE_END_TEXT], destination[RR_DECODE_END_TEXT];
	/* Packets may be out of the order of their times. */
	int64_t time = (int64_t)(moment->time - decode->first);
	uint64_t distance = time < 0 ? -(uint64_t)time : (uint64_t)time;

	printf("%" PRIu64 " %s%" PRIu64 ".%06" PRIu64 " [%" PRIu32 "] %s > %s ", moment->frame,
		time < 0 ? "-" : "", distance / RR_SECOND, distance % RR_SECOND / 1000, moment->connection,
		rr_decode_end_text(&moment->ends[moment->from], source),
		rr_decode_end_text(&moment->ends[!moment->from], destination));
}

/* Prints the program and procedure of a call, or of the call that a reply answers: by name, or by number if
 * the name is not known. Prints nothing if the procedure is not known. */
static void
text_procedure(const struct rr_message *message)
{
	const char *program = rr_decode_program_name(message->prog, message->vers);
	const char *procedure = rr_decode_procedure_name(message->prog, message->vers, message->proc);

	if (!message->has_procedure)
		return;
	if (program)
		printf(" %s", program);
	else
		printf(" program %" PRIu32 ".%" PRIu32, message->prog, message->vers);
	if (procedure)
		printf(" %s", procedure);
	else
		printf(" procedure %" PRIu32, message->proc);
}

/* Prints the status of an RPC reply. For all other messages, prints nothing. */
static void
text_status(const struct rr_message *message)
{
	const char *name = rr_decode_accept_name(message->reply.accept_stat);

	if (!message->has_reply)
		return;
	if (message->reply.reply_stat == RR_MSG_DENIED)
		printf(" MSG_DENIED");
	else if (name)
		printf(" %s", name);
}

/* Prints the operations of a COMPOUND in parentheses, each of a reply with its status unless that is NFS4_OK.
 * For all other messages, prints nothing. */
static void
text_operations(const struct rr_message *message)
{
	struct rr_operations operations;

	if (!rr_operations_read(message, &operations))
		return;
	printf(" (");
	for (uint32_t i = 0; i < operations.count; i++) {
		const struct rr_operation *operation = &operations.list[i];
		const char *name = rr_operation_name(&operations, i);
		const char *status = rr_operation_status_name(&operations, i);

		printf("%s", i > 0 ? ", " : "");
		if (name)
			printf("%s", name);
		else
			printf("operation %" PRIu32, operation->number);
		if (operation->has_status && !status)
			printf(" status %" PRIu32, operation->status);
		else if (operation->has_status && operation->status != 0)
			printf(" %s", status);
	}
	printf("%s)", operations.is_whole ? "" : operations.count > 0 ? ", ..." : "...");
}

/* For an RDMA_OPTIONAL, prints its type; for an RDMA_ERROR, the error. For all other messages, prints
 * nothing. */
static void
text_error(const struct rr_message *message)
{
	const struct rr_rdma_header *header = &message->header;

	if (header->proc == RR_RDMA_OPTIONAL)
		printf(" type %" PRIu32, header->opttype);
	if (header->proc != RR_RDMA_ERROR)
		return;
	printf(" %s", rr_rdma_err_name(header->vers, header->err));
	if (header->err == RR_ERR_VERS)
		printf(" (%" PRIu32 " to %" PRIu32 ")", header->vers_low, header->vers_high);
}

/* Prints the chunks of a message that is no reply, each with the number of its octets. The Read segments of
 * one position, which follow each other, are one Read chunk. */
static void
text_offers(const struct rr_chunk_lists *lists)
{
	uint64_t octets = 0;

	for (uint32_t i = 0; i < lists->read_count; i++) {
		const struct rr_read_segment *read = &lists->reads[i];

		octets += read->target.length;
		if (i + 1 < lists->read_count && read[1].position == read->position)
			continue;
		printf(", Read chunk at %" PRIu32 ": %" PRIu64, read->position, octets);
		octets = 0;
	}
	for (uint32_t i = 0; i < lists->write_count; i++)
		printf(", Write chunk: %" PRIu64, rr_chunk_length(&lists->writes[i]));
	if (lists->has_reply)
		printf(", Reply chunk: %" PRIu64, rr_chunk_length(&lists->reply));
}

/* For a reply whose call was seen, prints the octets that RDMA moved, the time from the call to the reply,
 * and the frame of the call. For all other messages, prints nothing. */
static void
text_pair(const struct rr_message *message)
{
	int64_t latency = (int64_t)(message->sent.moment.time - message->call_moment.time);

	/* A message that the caller of the transaction sends is no reply: it is the call itself, for example,
	 * or RDMA_DONE. */
	if (!message->is_paired || message->sent.moment.from == message->call_moment.from)
		return;
	for (int kind = 0; kind < RR_REGIONS; kind++)
		if (message->moved[kind] > 0)
			printf(", %" PRIu64 " %s %s", message->moved[kind],
				kind == RR_REGION_WRITE || kind == RR_REGION_REPLY ? "written to"
										   : "read from",
				rr_decode_region_name(kind));
	printf(", %.3f ms after frame %" PRIu64, (double)latency / 1e6, message->call_moment.frame);
}

/* Prints the line of a message and, with --verbose, a line for each of its fields. */
static void
text_message(void *ctx, const struct rr_message *message)
{
	const struct rr_decode *decode = ctx;
	const struct rr_rdma_header *header = &message->header;

	if (!rr_decode_filter_message(decode, message))
		return;
	rr_decode_text_moment(decode, &message->sent.moment);
	if (message->result == RR_HEADER_SHORT) {
		printf("%" PRIu32 " octets: %s\n", message->sent.size,
			message->sent.is_cut ? "cut in the capture" : "too short for a header");
		return;
	}
	printf("%s XID 0x%08" PRIx32 " version %" PRIu32 " %s credits %" PRIu32,
		rr_decode_kind_name(message->kind), header->xid, header->vers,
		rr_rdma_proc_name(header->vers, header->proc), header->credit);
	if (message->result != RR_HEADER_OK && !message->sent.is_cut)
		printf(", header: %s", rr_decode_result_name(message->result));
	text_error(message);
	text_procedure(message);
	text_status(message);
	text_operations(message);
	/* A reply returns the chunks of its call: text_pair() prints how many octets were moved. */
	if (message->kind != RR_MESSAGE_REPLY)
		text_offers(&message->lists);
	text_pair(message);
	printf("%s\n", message->sent.is_cut ? ", cut in the capture" : "");
	if (decode->verbose)
		rr_decode_text_fields(message);
}

/* ---- Events that are no messages ---- */

static void
text_mpa(const struct rr_mpa_frame *frame)
{
	printf("MPA %s: revision %u%s%s%s", frame->reply ? "reply" : "request", frame->revision,
		frame->crc ? ", CRC" : "", frame->markers ? ", markers" : "",
		frame->reject ? ", rejected" : "");
	if (frame->private_data_length > 0)
		printf(", %u octets of private data", frame->private_data_length);
}

static void
text_cm(const struct rr_cm *cm)
{
	const char *reason = rr_cm_reason_name(cm->reason);

	if (cm->kind == RR_CM_REJECT) {
		printf("connection manager's rejection: reason %u%s%s", cm->reason, reason ? ", " : "",
			reason ? reason : "");
		return;
	}
	printf("connection manager's %s: queue pair 0x%06" PRIx32 ", first PSN %" PRIu32,
		cm->kind == RR_CM_REPLY ? "reply" : "request", cm->qp, cm->psn);
	if (cm->mtu)
		printf(", MTU %u", cm->mtu);
}

/* Prints a message of the handshake that opens a connection, of MPA or of the connection manager. Without
 * --verbose, prints only a rejection. */
static void
text_opened(void *ctx, const struct rr_moment *moment, const struct rr_handshake *handshake)
{
	const struct rr_decode *decode = ctx;
	const struct rpcrdma_bytes *bytes = &handshake->private_data;
	struct rr_private_data data;

	if (!rr_decode_filter_moment(decode, moment))
		return;
	if (!decode->verbose && handshake->kind != RR_HANDSHAKE_REJECT)
		return;
	rr_decode_text_moment(decode, moment);
	if (handshake->mpa)
		text_mpa(handshake->mpa);
	else
		text_cm(handshake->cm);
	if (handshake->has_depths)
		printf(", IRD %u, ORD %u", handshake->ird, handshake->ord);
	if (rr_private_data_get(bytes->data, bytes->length, &data))
		printf(": sends up to %" PRIu32 ", receives up to %" PRIu32 "%s", data.send_size,
			data.receive_size, data.remote_invalidation ? ", remote invalidation" : "");
	printf("\n");
}

/* Prints an RDMA operation. Without --verbose, prints only a Terminate, which ends a connection with an
 * error. */
static void
text_operation(void *ctx, const struct rr_moment *moment, const struct rr_op *op,
	const struct rr_decode_region *region)
{
	const struct rr_decode *decode = ctx;

	if (!rr_decode_filter_moment(decode, moment) || (!decode->verbose && op->kind != RR_OP_TERMINATE))
		return;
	rr_decode_text_moment(decode, moment);
	rr_decode_text_operation(op, region);
}

/* Prints a note of the decoder on packets that are not decoded. */
static void
text_note(void *ctx, const struct rr_moment *moment, const char *text)
{
	const struct rr_decode *decode = ctx;

	if (!rr_decode_filter_moment(decode, moment))
		return;
	rr_decode_text_moment(decode, moment);
	printf("%s\n", text);
}

struct rr_decode_sink
rr_decode_text_sink(struct rr_decode *decode)
{
	return (struct rr_decode_sink){ .message = text_message,
		.opened = text_opened,
		.operation = text_operation,
		.note = text_note,
		.ctx = decode };
}
