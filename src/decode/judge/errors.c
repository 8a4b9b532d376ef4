/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

#include "wire/properties.h"

/* Checks an error ERR_VERS, which refuses the version of a call: the range of versions that it names must be
 * valid, and must not contain the refused version. If the range is right, notes that the sender refuses that
 * version. RFC 8166, 4.5.1: "also providing the low and high inclusive version numbers it does, in fact,
 * support". */
static void
errors_range(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	const struct rr_rdma_header *header = &judged->message->header;

	if (header->err != RR_ERR_VERS)
		return;
	if (header->vers_low == 0 || header->vers_low > header->vers_high ||
		(call->version >= header->vers_low && call->version <= header->vers_high)) {
		rr_judge_message(judged, RR_RULE_RANGE, "versions %u to %u, for a call of version %u",
			header->vers_low, header->vers_high, call->version);
		return;
	}
	judged->connection->sides[judged->from].refused = call->version;
}

/* Checks an RDMA_ERROR: it must answer a call, or another message, that has no answer yet, and must have that
 * message's version. An optional message of an unknown type (behind RR_UPDPROP) must be answered by
 * ERR_INVAL_OPTION. An error must not answer an error, nor a call of the error's own sender. Then notes that
 * the message is answered. */
void
rr_judge_error(const struct rr_judged *judged)
{
	struct rr_judge_side *side = &judged->connection->sides[judged->from];
	const struct rr_judge_side *peer = &judged->connection->sides[!judged->from];
	struct rr_judge_call *call =
		rr_judge_find_call(judged->judge, judged->connection->number, !judged->from, judged->xid);
	bool is_own =
		rr_judge_find_call(judged->judge, judged->connection->number, judged->from, judged->xid);

	side->has_error = true;
	side->last_error = judged->xid;
	if (!call && (is_own || (peer->has_error && peer->last_error == judged->xid))) {
		rr_judge_message(judged, RR_RULE_ERROR_OF_ERROR, "%s",
			is_own ? "the call is its own" : "the peer sent an error with that XID");
		return;
	}
	if (!call || call->answered) {
		if (rr_judge_is_whole(judged->connection))
			rr_judge_message(judged, RR_RULE_STRAY_REPLY, "an RDMA_ERROR");
		return;
	}
	if (judged->message->header.vers != call->version)
		rr_judge_message(judged, RR_RULE_ERROR_VERSION, "version %u, and the call has %u",
			judged->message->header.vers, call->version);
	if (call->opttype > RR_UPDPROP && judged->message->header.err != RR_ERR_INVAL_OPTION)
		rr_judge_message(judged, RR_RULE_OPTION, "type %u, error %u", call->opttype,
			judged->message->header.err);
	errors_range(judged, call);
	rr_judge_returned(judged, call);
	rr_judge_answered(judged, call);
}

/* Checks an RDMA_DONE of version 2: the sender must have a call whose reply is in a Read chunk, and must not
 * have sent an RDMA_DONE for that reply before. In version 1, header.c reports every RDMA_DONE. */
void
rr_judge_done(const struct rr_judged *judged)
{
	struct rr_judge_call *call =
		rr_judge_find_call(judged->judge, judged->connection->number, judged->from, judged->xid);

	if (judged->message->header.vers == 1)
		return;
	if (call && call->provided) {
		call->provided = false;
		return;
	}
	if (rr_judge_is_whole(judged->connection))
		rr_judge_message(judged, RR_RULE_DONE, "%s",
			call ? "there was one before" : "there is no call with its XID");
}
