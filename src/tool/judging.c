/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/judging.h"

#include <inttypes.h>
#include <rpcrdma/error.h>
#include <stdlib.h>

#include "decode/judge/judge.h"
#include "tool/decode/decode.h"

enum { JUDGING_LINES = 1000 }; /* findings that are printed; further findings are only counted */

/* The packets of the capture go to the decoder, and the messages in them to the judge. */
struct rr_judging {
	const struct rr_tool *tool;
	struct rr_judge *judge;
	struct rr_decoder *decoder;
	struct rr_capture *capture;
	uint64_t broken, remarks; /* numbers of findings: that a MUST is broken; all others */
};

/* Called by the judge when a message has broken a rule: counts that, and prints a warning. Prints no more
 * than JUDGING_LINES warnings in all. */
static void
judging_found(void *ctx, const struct rr_finding *finding)
{
	struct rr_judging *judging = ctx;
	const struct rr_rule_text *rule = &rr_rules[finding->rule];
	const struct rr_moment *moment = &finding->moment;
	char source[RR_DECODE_END_TEXT], target[RR_DECODE_END_TEXT];
	bool is_must = rule->level == RR_RULE_MUST;
	char xid[sizeof(" XID 0x12345678")] = "";

	judging->broken += is_must;
	judging->remarks += !is_must;
	if (judging->broken + judging->remarks > JUDGING_LINES)
		return;
	if (finding->has_xid)
		snprintf(xid, sizeof(xid), " XID 0x%08" PRIx32, finding->xid);
	rr_tool_warn(judging->tool, "%s > %s%s: %s %s (%s): %s: %s%s%s%s",
		rr_decode_end_text(&moment->ends[moment->from], source),
		rr_decode_end_text(&moment->ends[!moment->from], target), xid, rule->row,
		is_must ? "MUST" : "remark", rule->section, rule->text, finding->detail,
		rule->known ? " [known of " : "", rule->known ? rule->known : "", rule->known ? "]" : "");
}

/* Called for each captured packet: gives the packet to the decoder, which judges the messages in the
 * packet. */
static void
judging_packet(void *ctx, uint64_t time, const void *data, size_t size)
{
	struct rr_judging *judging = ctx;

	rr_decoder_packet(judging->decoder, RR_LINK_RAW, time, data, size);
}

static void
judging_free(struct rr_judging *judging)
{
	struct rr_text ignored;

	rr_capture_close(judging->capture, &ignored);
	rr_decoder_free(judging->decoder);
	rr_judge_free(judging->judge);
	free(judging);
}

int
rr_judging_begin(const struct rr_tool *tool, struct rr_judging **judging, struct rr_capture **capture)
{
	struct rr_judging *new = calloc(1, sizeof(*new));
	struct rr_decode_sink sink;

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->tool = tool;
	if (rr_judge_new(&rr_env_system, judging_found, new, &new->judge) < 0) {
		judging_free(new);
		return -RPCRDMA_ERR_NOMEM;
	}
	sink = rr_judge_sink(new->judge);
	if (rr_decoder_new(&rr_env_system, NULL, &sink, &new->decoder) < 0 ||
		rr_capture_new(judging_packet, new, &new->capture) < 0) {
		judging_free(new);
		return -RPCRDMA_ERR_NOMEM;
	}
	*judging = new;
	*capture = new->capture;
	return 0;
}

int
rr_judging_end(struct rr_judging *judging, int status)
{
	if (!judging)
		return status;
	rr_decoder_finish(judging->decoder);
	rr_judge_finish(judging->judge);
	rr_tool_warn(judging->tool,
		"%" PRIu64 " messages were judged: a MUST is broken %" PRIu64 " times, %" PRIu64 " remarks",
		rr_judge_messages(judging->judge), judging->broken, judging->remarks);
	status = judging->broken > 0 ? RR_EXIT_FAILED : status;
	judging_free(judging);
	return status;
}
