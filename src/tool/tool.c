/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

static volatile sig_atomic_t the_signal;

/* Prints a message to standard error, with the sub-command in front if tool is not NULL, and the line of the
 * configuration file that is being read, if there is one. Control characters are masked. */
static void __attribute__((format(printf, 2, 0)))
tool_print_message(const struct rr_tool *tool, const char *format, va_list args)
{
	char text[8192];

	vsnprintf(text, sizeof(text), format, args);
	rr_tool_mask(text);
	if (!tool)
		fprintf(stderr, "rpcrdma: %s\n", text);
	else if (tool->where)
		fprintf(stderr, "rpcrdma %s: %s: %s\n", tool->name, tool->where, text);
	else
		fprintf(stderr, "rpcrdma %s: %s\n", tool->name, text);
}

int
rr_tool_usage(const struct rr_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tool_print_message(tool, format, args);
	va_end(args);
	/* The synopsis is no help for an error in a configuration file. */
	if (!tool->where)
		rr_tool_synopsis(tool, stderr);
	return RR_EXIT_USAGE;
}

int
rr_tool_fail(const struct rr_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tool_print_message(tool, format, args);
	va_end(args);
	return RR_EXIT_FAILED;
}

void
rr_tool_warn(const struct rr_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tool_print_message(tool, format, args);
	va_end(args);
}

/* Handles a signal: stores its number, which rr_tool_interrupted() looks at. */
static void
tool_remember(int number)
{
	the_signal = number;
}

bool
rr_tool_is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void
rr_tool_catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = tool_remember }; /* no SA_RESTART: a signal ends a wait */

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		if (!rr_tool_is_ignored(caught[i]))
			sigaction(caught[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond `ulimit -f` then fails with EFBIG */
}

bool
rr_tool_interrupted(void *ctx)
{
	(void)ctx;
	return the_signal != 0;
}

int
rr_tool_exit(int status)
{
	if (status != RR_EXIT_FAILED || the_signal == 0)
		return status;
	fflush(stdout);
	signal(the_signal, SIG_DFL);
	raise(the_signal);
	return status;
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
