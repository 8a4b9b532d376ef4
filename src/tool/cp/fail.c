/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tool/cp/cp.h"

/* Failures of a copy. An entry that vanishes from the source while the tree is copied is no failure: the
 * source does not have it any more. It is reported as a warning, as by rsync(1). */

/* The most octets of a path in a message. */
enum { FAIL_PATH = 4096 };

/* Tells whether the error of the source says that the entry that is being copied does not exist any more, and
 * that is so: the entry is looked for under its path, and there is none, but the source itself is still
 * there. The object that the command line names does not count as vanished. */
static bool
fail_has_vanished(struct rr_cp *cp)
{
	const struct rr_side from = cp->from;
	char path[RR_NFS_PATH];
	struct rr_info entry, top;
	bool vanished;

	if (!from.gone || cp->path[0] == '\0' ||
		(size_t)snprintf(path, sizeof(path), "%s%s", cp->from_path, cp->path) >= sizeof(path))
		return false;
	vanished = from.ops->find(&cp->from, path, false, &entry) == 0 && entry.kind == RR_KIND_NONE &&
		   from.ops->find(&cp->from, cp->from_path, true, &top) == 0 && top.kind != RR_KIND_NONE;
	cp->from = from; /* with the error that is to be reported */
	return vanished;
}

void
rr_cp_warn(struct rr_cp *cp, const struct rr_side *side, const char *format, ...)
{
	const size_t length = strlen(cp->path);
	va_list arguments;
	char why[1024];

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	rr_progress_hide(&cp->progress);
	/* Of a very long path, the end says more than the beginning. */
	rr_tool_warn(cp->tool, "%s%s%s: %s", side == &cp->from ? cp->from_name : cp->to_name,
		length > FAIL_PATH ? "/..." : "", cp->path + (length > FAIL_PATH ? length - FAIL_PATH : 0),
		why);
}

int
rr_cp_fail(struct rr_cp *cp, struct rr_side *side)
{
	bool vanished = side == &cp->from && fail_has_vanished(cp);

	rr_cp_warn(cp, side, "%s", vanished ? "it vanished while it was copied" : side->text.text);
	if (vanished)
		cp->sums.vanished++;
	else
		cp->sums.failed++;
	if (side->fatal)
		cp->stop = true;
	return -1;
}

int
rr_cp_fail_because(struct rr_cp *cp, struct rr_side *side, const char *why)
{
	side->fatal = side->gone = side->unsure = false;
	rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s", why);
	return rr_cp_fail(cp, side);
}
