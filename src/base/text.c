/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
rr_fail(struct rr_text *text, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text->text, sizeof(text->text), format, args);
	va_end(args);
	return error;
}

bool
rr_text_list(char *list, size_t size, const char *item)
{
	static const char mark[] = ", ...";
	const size_t used = strlen(list), room = size - used;
	const char *comma = used > 0 ? ", " : "";
	bool fits = strlen(comma) + strlen(item) + sizeof(mark) <= room;

	if (fits)
		snprintf(list + used, room, "%s%s", comma, item);
	else
		snprintf(list + used, room, "%s", used > 0 ? mark : mark + 2);
	return fits;
}
