/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "decode/judge/judge_private.h"

/* This file passes findings on, for all files of the judge. */

enum { JUDGE_DETAIL = 160 }; /* octets of a finding's text, which is cut if it is longer */

void
rr_judge_find(struct rr_judge *judge, enum rr_rule rule, const struct rr_moment *moment, const uint32_t *xid,
	const char *format, ...)
{
	char detail[JUDGE_DETAIL];
	const struct rr_finding finding = {
		.rule = rule, .moment = *moment, .has_xid = xid, .xid = xid ? *xid : 0, .detail = detail
	};
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	judge->found(judge->ctx, &finding);
}

bool
rr_judge_is_whole(const struct rr_judge_connection *connection)
{
	return !connection->lossy && connection->sides[0].opened && connection->sides[1].opened;
}
