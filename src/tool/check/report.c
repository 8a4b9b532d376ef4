/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "tool/check/check.h"

static const char *const verdicts[RR_CHECK_VERDICTS] = { "pass", "fail", "skip" };

static uint32_t
report_count(const struct rr_check *check, enum rr_check_verdict verdict)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < check->result_count; i++)
		count += check->results[i].verdict == verdict;
	return count;
}

static void
report_text(const struct rr_check *check)
{
	for (uint32_t i = 0; i < check->result_count; i++) {
		const struct rr_check_result *result = &check->results[i];

		printf("%s %-26s v%" PRIu32 " %s (%s)\n", verdicts[result->verdict], result->which->name,
			result->version, result->which->text, result->which->section);
		if (result->why.text[0] && result->verdict != RR_CHECK_PASS)
			printf("       %s\n", result->why.text);
	}
	printf("%" PRIu32 " passed, %" PRIu32 " failed, %" PRIu32 " skipped\n",
		report_count(check, RR_CHECK_PASS), report_count(check, RR_CHECK_FAIL),
		report_count(check, RR_CHECK_SKIP));
}

static void
report_member(const char *key, const char *value)
{
	printf(",\"%s\":", key);
	rr_tool_json_string(stdout, value);
}

static void
report_json(const struct rr_check *check)
{
	for (uint32_t i = 0; i < check->result_count; i++) {
		const struct rr_check_result *result = &check->results[i];

		printf("{\"name\":\"%s\",\"version\":%" PRIu32 ",\"verdict\":\"%s\",\"us\":%" PRIu64,
			result->which->name, result->version, verdicts[result->verdict], result->took / 1000);
		report_member("row", result->which->row);
		report_member("section", result->which->section);
		report_member("text", result->which->text);
		if (result->verdict != RR_CHECK_PASS)
			report_member("why", result->why.text);
		printf("}\n");
	}
}

static void
report_tap(const struct rr_check *check)
{
	printf("1..%" PRIu32 "\n", check->result_count);
	for (uint32_t i = 0; i < check->result_count; i++) {
		const struct rr_check_result *result = &check->results[i];

		printf("%s %" PRIu32 " - %s v%" PRIu32 " %s (%s)",
			result->verdict == RR_CHECK_FAIL ? "not ok" : "ok", i + 1, result->which->name,
			result->version, result->which->text, result->which->section);
		if (result->verdict == RR_CHECK_SKIP)
			printf(" # SKIP %s", result->why.text);
		printf("\n");
		if (result->verdict == RR_CHECK_FAIL)
			printf("# %s\n", result->why.text);
	}
}

/* Prints a text as the value of an XML attribute: `<`, `>`, `&` and quotation marks are escaped, and control
 * characters become '?'. */
static void
report_xml(const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<': printf("&lt;"); break;
		case '>': printf("&gt;"); break;
		case '&': printf("&amp;"); break;
		case '"': printf("&quot;"); break;
		default: putchar((unsigned char)*text < 0x20 ? '?' : *text);
		}
	}
}

static void
report_junit(const struct rr_check *check)
{
	printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"rpcrdma check\" "
	       "tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" skipped=\"%" PRIu32 "\">\n",
		check->result_count, report_count(check, RR_CHECK_FAIL), report_count(check, RR_CHECK_SKIP));
	for (uint32_t i = 0; i < check->result_count; i++) {
		const struct rr_check_result *result = &check->results[i];

		printf("  <testcase classname=\"%s.v%" PRIu32 "\" name=\"%s\" time=\"%" PRIu64 ".%06" PRIu64
		       "\">",
			result->which->row, result->version, result->which->name, result->took / RR_SECOND,
			result->took % RR_SECOND / 1000);
		if (result->verdict != RR_CHECK_PASS) {
			printf("<%s message=\"", result->verdict == RR_CHECK_FAIL ? "failure" : "skipped");
			report_xml(result->why.text);
			printf("\"/>");
		}
		printf("</testcase>\n");
	}
	printf("</testsuite>\n");
}

void
rr_check_report(const struct rr_check *check)
{
	switch (check->format) {
	case RR_CHECK_TEXT: report_text(check); return;
	case RR_CHECK_JSON: report_json(check); return;
	case RR_CHECK_TAP: report_tap(check); return;
	case RR_CHECK_JUNIT: report_junit(check); return;
	}
}
