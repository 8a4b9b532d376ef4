/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "decode/names.h"
#include "rpc/credential.h"
#include "tool/decode/decode.h"

static void
fields_segment(const struct rr_segment *segment)
{
	printf("handle 0x%08" PRIx32 " length %" PRIu32 " offset 0x%016" PRIx64 "\n", segment->handle,
		segment->length, segment->offset);
}

static void
fields_chunk(const char *name, const struct rr_chunk *chunk)
{
	printf("    %s: %" PRIu32 " segments\n", name, chunk->count);
	for (uint32_t i = 0; i < chunk->count; i++) {
		printf("      ");
		fields_segment(&chunk->segments[i]);
	}
}

static void
fields_lists(const struct rr_chunk_lists *lists)
{
	for (uint32_t i = 0; i < lists->read_count; i++) {
		printf("    Read segment: position %" PRIu32 " ", lists->reads[i].position);
		fields_segment(&lists->reads[i].target);
	}
	for (uint32_t i = 0; i < lists->write_count; i++)
		fields_chunk("Write chunk", &lists->writes[i]);
	if (lists->has_reply)
		fields_chunk("Reply chunk", &lists->reply);
}

/* Prints a credential or verifier: of AUTH_SYS all members, of other flavors only the number of octets. */
static void
fields_auth(const char *name, const struct rr_opaque_auth *auth)
{
	struct rpcrdma_auth_sys sys;

	printf("    %s: flavor %" PRIu32 ", %" PRIu32 " octets", name, auth->flavor, auth->body.length);
	if (rr_credential_decode(auth, &sys)) {
		printf(": machine %s, uid %" PRIu32 ", gid %" PRIu32 ", gids", rr_tool_mask(sys.machine),
			sys.uid, sys.gid);
		for (uint32_t i = 0; i < sys.gid_count; i++)
			printf(" %" PRIu32, sys.gids[i]);
	}
	printf("\n");
}

static void
fields_rpc(const struct rr_message *message)
{
	const struct rr_reply_header *reply = &message->reply;

	if (message->has_call) {
		printf("    RPC call: XID 0x%08" PRIx32 " version %" PRIu32 " program %" PRIu32
		       " version %" PRIu32 " procedure %" PRIu32 "\n",
			message->call.xid, message->call.rpcvers, message->call.prog, message->call.vers,
			message->call.proc);
		fields_auth("credential", &message->call.cred);
		fields_auth("verifier", &message->call.verf);
	}
	if (!message->has_reply)
		return;
	printf("    RPC reply: XID 0x%08" PRIx32
	       " reply_stat %u accept_stat %u reject_stat %u auth_stat %u low "
	       "%" PRIu32 " high %" PRIu32 "\n",
		reply->xid, reply->reply_stat, reply->accept_stat, reply->reject_stat, reply->auth_stat,
		reply->low, reply->high);
	if (reply->reply_stat == RR_MSG_ACCEPTED)
		fields_auth("verifier", &reply->verf);
}

void
rr_decode_text_fields(const struct rr_message *message)
{
	const struct rr_sent *sent = &message->sent;
	const uint8_t *info = message->header.optinfo.data;

	printf("    Send%s: %" PRIu32 " octets, MSN %" PRIu32, sent->invalidates ? " with Invalidate" : "",
		sent->size, sent->msn);
	if (sent->invalidates)
		printf(", handle 0x%08" PRIx32, sent->invalidated);
	printf(", %" PRIu32 " octets behind the header\n", message->payload.length);
	fields_lists(&message->lists);
	if (message->header.proc == RR_RDMA_OPTIONAL && message->header.optinfo.length > 0) {
		printf("    optinfo: ");
		for (uint32_t i = 0; i < message->header.optinfo.length; i++)
			printf("%02x", info[i]);
		printf("\n");
	}
	fields_rpc(message);
}

void
rr_decode_text_operation(const struct rr_op *op, const struct rr_decode_region *region)
{
	struct rr_terminate terminate;
	char text[256];

	printf("%s", rr_decode_op_name(op->kind));
	if (op->kind == RR_OP_TERMINATE) {
		if (rr_terminate_get(op->data, op->length, &terminate))
			printf(": %s", rr_terminate_text(text, sizeof(text), &terminate));
		printf("\n");
		return;
	}
	printf(": %" PRIu32 " octets, handle 0x%08" PRIx32 " offset 0x%016" PRIx64, op->length, op->handle,
		op->offset);
	if (op->kind == RR_OP_READ_REQUEST)
		printf(", sink 0x%08" PRIx32 " offset 0x%016" PRIx64, op->request.sink_stag,
			op->request.sink_to);
	if (op->last)
		printf(", last");
	if (region)
		printf(", %s %" PRIu32 " of XID 0x%08" PRIx32, rr_decode_region_name(region->kind),
			region->chunk, region->transaction->xid);
	printf("\n");
}
