/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ASK_H
#define RR_TOOL_ASK_H

#include "tool/tool.h"

/* Asks a question of -i on standard error, "rpcrdma rm: QUESTION? ", and reads a line of standard input.
 * Returns true if the answer begins with y or Y; false also at the end of the input. */
bool rr_ask(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
