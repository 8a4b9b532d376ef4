/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

static volatile sig_atomic_t the_signal;

static void
print_synopsis(FILE *out, const struct rr_tool *tool)
{
	fprintf(out, "Usage: rpcrdma %s %s\n", tool->name, tool->synopsis);
}

static void __attribute__((format(printf, 2, 0)))
print_message(const struct rr_tool *tool, const char *format, va_list args)
{
	fprintf(stderr, "rpcrdma %s: ", tool->name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int
rr_tool_help(const struct rr_tool *tool)
{
	print_synopsis(stdout, tool);
	printf("%s\n%s%s", tool->help, tool->options[0] ? "\n" : "", tool->options);
	return RR_EXIT_OK;
}

int
rr_tool_usage(const struct rr_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(tool, format, args);
	va_end(args);
	print_synopsis(stderr, tool);
	return RR_EXIT_USAGE;
}

int
rr_tool_bad_option(const struct rr_tool *tool, int option, const char *argument)
{
	if (option == ':')
		return rr_tool_usage(tool, "%s wants an argument", argument);
	return rr_tool_usage(tool, "there is no option %s", argument);
}

int
rr_tool_fail(const struct rr_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(tool, format, args);
	va_end(args);
	return RR_EXIT_FAILED;
}

void
rr_tool_warn(const struct rr_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(tool, format, args);
	va_end(args);
}

static void
remember(int number)
{
	the_signal = number;
}

void
rr_tool_catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = remember }; /* no SA_RESTART: a signal ends the wait */

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool
rr_tool_interrupted(void *ctx)
{
	(void)ctx;
	return the_signal != 0;
}

int
rr_tool_signal(void)
{
	return the_signal;
}

/* The length of the well-formed UTF-8 sequence at text (RFC 3629, section 4), or 0. */
static size_t
utf8_length(const unsigned char *text)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	if (text[0] == 0xe0)
		low = 0xa0;
	if (text[0] == 0xed)
		high = 0x9f;
	if (text[0] == 0xf0)
		low = 0x90;
	if (text[0] == 0xf4)
		high = 0x8f;
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return length;
}

void
rr_tool_json_string(FILE *out, const char *text)
{
	const unsigned char *next = (const unsigned char *)text;

	fputc('"', out);
	while (*next) {
		size_t length = utf8_length(next);

		if (length == 0)
			fputs("\\ufffd", out);
		else if (*next == '"' || *next == '\\')
			fprintf(out, "\\%c", *next);
		else if (*next < 0x20)
			fprintf(out, "\\u%04x", *next);
		else
			fwrite(next, 1, length, out);
		next += length ? length : 1;
	}
	fputc('"', out);
}

int
rr_tool_end_output(const struct rr_tool *tool, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno != EPIPE)
		rr_tool_warn(tool, "standard output: %s", strerror(errno));
	return RR_EXIT_FAILED;
}
