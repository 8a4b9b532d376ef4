/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "tool/decode/decode.h"

/* The results of --check so far. */
struct check {
	struct rr_decode *decode;
	uint64_t broken, remarks; /* numbers of findings: that a MUST is broken; all others */
};

static const char *
check_level(enum rr_rule_level level)
{
	return level == RR_RULE_MUST ? "MUST" : "remark";
}

static void
check_text(const struct rr_decode *decode, const struct rr_finding *finding)
{
	const struct rr_rule_text *rule = &rr_rules[finding->rule];

	rr_decode_text_moment(decode, &finding->moment);
	if (finding->has_xid)
		printf("XID 0x%08" PRIx32 " ", finding->xid);
	printf("%s %s (%s): %s: %s", rule->row, check_level(rule->level), rule->section, rule->text,
		finding->detail);
	if (rule->known)
		printf(" [known of %s]", rule->known);
	printf("\n");
}

static void
check_member(const char *key, const char *value)
{
	printf(",\"%s\":", key);
	rr_tool_json_string(stdout, value);
}

static void
check_json(const struct rr_finding *finding)
{
	const struct rr_rule_text *rule = &rr_rules[finding->rule];

	rr_decode_json_moment("finding", &finding->moment);
	if (finding->has_xid)
		printf(",\"xid\":%" PRIu32, finding->xid);
	check_member("row", rule->row);
	check_member("section", rule->section);
	check_member("level", check_level(rule->level));
	check_member("text", rule->text);
	check_member("detail", finding->detail);
	if (rule->known)
		check_member("known", rule->known);
	printf("}\n");
}

/* Called by the judge for each message that breaks a rule: counts the finding, and prints it, unless a
 * --filter leaves it out. */
static void
check_found(void *ctx, const struct rr_finding *finding)
{
	struct check *check = ctx;

	if (!rr_decode_filter_finding(check->decode, finding))
		return;
	if (rr_rules[finding->rule].level == RR_RULE_MUST)
		check->broken++;
	else
		check->remarks++;
	if (check->decode->json)
		check_json(finding);
	else
		check_text(check->decode, finding);
}

static void
check_summary(const struct check *check, const struct rr_judge *judge)
{
	uint64_t messages = rr_judge_messages(judge), cut = rr_judge_cut(judge);

	if (check->decode->json) {
		printf("{\"event\":\"summary\",\"messages\":%" PRIu64 ",\"cut\":%" PRIu64
		       ",\"broken\":%" PRIu64 ",\"remarks\":%" PRIu64 "}\n",
			messages, cut, check->broken, check->remarks);
		return;
	}
	printf("%" PRIu64 " %s: a MUST is broken %" PRIu64 " %s, %" PRIu64 " %s", messages,
		messages == 1 ? "message" : "messages", check->broken, check->broken == 1 ? "time" : "times",
		check->remarks, check->remarks == 1 ? "remark" : "remarks");
	if (cut > 0)
		printf(", %" PRIu64 " not judged, as the capture has cut %s", cut, cut == 1 ? "it" : "them");
	printf("\n");
}

int
rr_decode_check(const struct rr_tool *tool, struct rr_decode *decode, const char *path)
{
	struct check check = { .decode = decode };
	struct rr_decode_sink sink;
	struct rr_judge *judge;
	int status;

	if (rr_judge_new(&rr_env_system, check_found, &check, &judge) < 0)
		return rr_tool_fail(tool, "there is not enough memory");
	sink = rr_judge_sink(judge);
	status = rr_decode_file(tool, decode, &sink, path);
	rr_judge_finish(judge);
	/* A file that breaks off has been judged up to there. */
	if (status == RR_EXIT_OK || rr_judge_messages(judge) > 0)
		check_summary(&check, judge);
	if (rr_judge_evicted(judge) > 0)
		rr_tool_warn(tool, "%" PRIu64 " calls were given up early: too many without a reply",
			rr_judge_evicted(judge));
	rr_judge_free(judge);
	if (check.broken > 0)
		status = RR_EXIT_FAILED;
	return rr_tool_end_output(tool, status);
}
