/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/monitor/top.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "base/env.h"
#include "tool/tool.h"

/* The most octets of an answer. */
enum { TOP_ANSWER = 4 << 20 };

struct top {
	const struct rr_tool *tool;
	bool json, prometheus;
	uint32_t interval, count;                               /* s; pages, 0: until a signal */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the server's socket */
	bool has_keys;                                          /* the terminal gives each key at once */
	struct rr_top_sample *samples[2]; /* the present answer and the one before it, in turn */
};

static const struct rr_option top_options[] = {
	{ .name = "count",
		.argument = "N",
		.help = "pages to show (until q or Ctrl-C)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 1000000000,
		.at = offsetof(struct top, count) },
	{ .name = "interval",
		.argument = "SECONDS",
		.help = "time between pages (2)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 3600,
		.at = offsetof(struct top, interval) },
	{ .name = "json",
		.help = "print one JSON object with all that is counted",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct top, json) },
	{ .name = "prometheus",
		.help = "print the same as text for a scraper",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct top, prometheus) },
	{ 0 },
};

/* ---- Asking ---- */

/* Reads the server's answer up to the end of the connection, and returns it as a text, which the caller
 * frees. Returns NULL if the answer is empty or too long, or if no data came in time. */
static char *
top_read(int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char *answer = malloc(TOP_ANSWER);
	size_t got = 0;

	while (answer && got < TOP_ANSWER - 1 && poll(&wait, 1, RR_TOP_PATIENCE) > 0) {
		ssize_t part = recv(fd, answer + got, TOP_ANSWER - 1 - got, 0);

		if (part == 0 && got > 0) {
			answer[got] = '\0';
			return answer;
		}
		if (part <= 0)
			break;
		got += (size_t)part;
	}
	free(answer);
	return NULL;
}

/* Sends the request to the server's socket, and returns the server's answer, which the caller frees. Returns
 * NULL, after a message, if no answer came. */
static char *
top_ask(const struct top *top, const char *request)
{
	int fd = rr_top_connect(top->path);
	char *answer = NULL;

	if (fd >= 0 && send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request))
		answer = top_read(fd);
	if (!answer)
		rr_tool_fail(top->tool, "%s does not answer: the server may have ended, or hang", top->path);
	if (fd >= 0)
		close(fd);
	return answer;
}

/* ---- Showing ---- */

/* Asks the server once, and prints its answer as it is, as JSON or in the text format of Prometheus. Returns
 * an exit status. */
static int
top_once(const struct top *top)
{
	char *answer = top_ask(top, top->json ? "json\n" : "prometheus\n");

	if (!answer)
		return RR_EXIT_FAILED;
	fputs(answer, stdout);
	free(answer);
	return rr_tool_end_output(top->tool, RR_EXIT_OK);
}

/* Waits for the next page. With keys, reads what is typed: q ends the command, anything else the wait.
 * Returns false if the command is to end; a signal ends the wait, too. */
static bool
top_wait(const struct top *top)
{
	struct pollfd keys = { top->has_keys ? STDIN_FILENO : -1, POLLIN, 0 };
	char key = 'q';

	if (poll(&keys, 1, (int)top->interval * 1000) > 0 && read(STDIN_FILENO, &key, 1) >= 0 && key == 'q')
		return false;
	return !rr_tool_interrupted(NULL);
}

/* Asks the server again and again, and prints a page for each answer, on a terminal each over the one before.
 * Returns an exit status. */
static int
top_live(struct top *top)
{
	bool is_terminal = isatty(STDOUT_FILENO);
	struct rr_top_sample *before = NULL;

	for (uint32_t page = 0; (top->count == 0 || page < top->count) && !rr_tool_interrupted(NULL);
		page++) {
		struct rr_top_sample *sample = top->samples[page % 2];
		char *answer;

		if (page > 0 && !top_wait(top))
			break;
		answer = top_ask(top, "prometheus\n");
		if (!answer)
			return RR_EXIT_FAILED;
		sample->at = rr_now(&rr_env_system);
		rr_top_parse(sample, answer);
		free(answer);
		if (is_terminal)
			fputs("\033[H\033[J", stdout);
		rr_top_show(stdout, sample, before);
		if (rr_tool_end_output(top->tool, RR_EXIT_OK) != RR_EXIT_OK)
			return RR_EXIT_FAILED;
		before = sample;
	}
	return RR_EXIT_OK;
}

/* Has the terminal give each key at once, and not show it, while pages are shown on it; in the background
 * nobody types. Stores in *before what the terminal was set to, and returns whether that is to be restored.
 */
static bool
top_begin_keys(struct termios *before)
{
	struct termios keys;

	if (!isatty(STDOUT_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
		tcgetattr(STDIN_FILENO, before) != 0)
		return false;
	keys = *before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	return tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

/* Prints one answer with --json or --prometheus, otherwise page after page. Returns an exit status. */
static int
top_show(struct top *top)
{
	struct termios before;
	int status = RR_EXIT_FAILED;

	if (top->json || top->prometheus)
		return top_once(top);
	rr_tool_catch_signals();
	top->has_keys = top_begin_keys(&before);
	top->samples[0] = malloc(sizeof(struct rr_top_sample));
	top->samples[1] = malloc(sizeof(struct rr_top_sample));
	if (top->samples[0] && top->samples[1])
		status = top_live(top);
	else
		rr_tool_fail(top->tool, "out of memory");
	if (top->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	free(top->samples[0]);
	free(top->samples[1]);
	return status;
}

static int
top_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct top top = { .tool = tool, .interval = 2 };
	int status = rr_options_parse(tool, &top, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	if (argc == 1 && strlen(argv[0]) >= sizeof(top.path))
		return rr_tool_usage(tool, "%s: the name is too long for a socket", argv[0]);
	if (argc == 1)
		snprintf(top.path, sizeof(top.path), "%s", argv[0]);
	else if (rr_top_find(tool, top.path, sizeof(top.path)) != RR_EXIT_OK)
		return RR_EXIT_FAILED;
	return top_show(&top);
}

const struct rr_tool rr_tool_top = {
	.name = "top",
	.run = top_run,
	.help = "Show what a server or gateway of this machine does.",
	.operands = "[SOCKET]",
	.least = 0,
	.most = 1,
	.groups = { { top_options, 0 } },
};
