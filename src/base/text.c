/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

int
rr_fail(struct rr_text *text, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text->text, sizeof(text->text), format, args);
	va_end(args);
	return error;
}
