/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/ask.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool
rr_ask(const struct rr_tool *tool, const char *format, ...)
{
	char question[8192], *line = NULL;
	size_t room = 0;
	va_list arguments;
	bool yes;

	va_start(arguments, format);
	vsnprintf(question, sizeof(question), format, arguments);
	va_end(arguments);
	fflush(stdout);
	fprintf(stderr, "rpcrdma %s: %s? ", tool->name, rr_tool_mask(question));
	fflush(stderr);
	yes = getline(&line, &room, stdin) > 0 && (line[0] == 'y' || line[0] == 'Y');
	free(line);
	return yes;
}
