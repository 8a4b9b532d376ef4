/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_TOOL_H
#define RR_TOOL_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/option/option.h"

/*
 * The `rpcrdma` command: each sub-command has its own file, which defines its struct rr_tool, and a line in
 * main.c.
 */

/* Exit statuses. */
enum { RR_EXIT_OK = 0, RR_EXIT_FAILED = 1, RR_EXIT_USAGE = 2 };

/* Any number of operands. */
enum { RR_TOOL_ANY = -1 };

/* A sub-command. */
struct rr_tool {
	const char *name;
	int (*run)(const struct rr_tool *tool, int argc, char **argv); /* argv[0] is the sub-command's name */
	const char *help;                                              /* one line */
	const char *operands;              /* in the synopsis: "SRC DST"; NULL: there are no operands */
	int least, most;                   /* numbers of operands; most may be RR_TOOL_ANY */
	bool urls;                         /* each operand is a URL */
	const char *notes;                 /* lines below the options in --help, or NULL */
	const struct rr_option_file *file; /* NULL: the sub-command reads no configuration file */
	const char *where; /* "FILE:LINE" in front of messages while that line is read; else NULL */
	struct rr_option_group groups[RR_OPTION_GROUPS];
};

extern const struct rr_tool rr_tool_cat, rr_tool_check, rr_tool_cp, rr_tool_decode, rr_tool_devices,
	rr_tool_df, rr_tool_doctor, rr_tool_gateway, rr_tool_ln, rr_tool_ls, rr_tool_mkdir, rr_tool_mount,
	rr_tool_mv, rr_tool_ping, rr_tool_rm, rr_tool_serve, rr_tool_stat, rr_tool_sync, rr_tool_top,
	rr_tool_umount, rr_tool_xdr;

/* help.c: writes the line "Usage: rpcrdma cp [OPTION]... SRC DST" of the sub-command. */
void rr_tool_synopsis(const struct rr_tool *tool, FILE *out);

/* help.c: prints the synopsis and the options for --help, and returns an exit status. */
int rr_tool_help(const struct rr_tool *tool);
/* The same for --help-diagnostics, with the options for diagnosis alone. */
int rr_tool_help_diagnostics(const struct rr_tool *tool);
/* help.c: prints for the completion of shells, which completion/ has: a line for each name of an option, with
 * TABs between the name, its argument, the words that it takes, and its help; "-" stands for what there is
 * not. The first line says what operands are, FILE or URL. Returns an exit status. */
int rr_tool_complete(const struct rr_tool *tool);

/* Returns what stands behind a word for count things: "s", or "" for one. */
static inline const char *
rr_tool_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Writes "rpcrdma cp: message" and the synopsis to standard error. Returns RR_EXIT_USAGE. */
int rr_tool_usage(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes "rpcrdma cp: message" to standard error. Returns RR_EXIT_FAILED. */
int rr_tool_fail(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes "rpcrdma cp: message" to standard error, for a condition that does not end the work. */
void rr_tool_warn(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells whether the signal is ignored. A signal that was ignored when the program began stays so: nohup(1)
 * and shells ignore signals for the programs that they start. */
bool rr_tool_is_ignored(int number);

/* From now on, SIGINT, SIGTERM and SIGHUP do not end the program, but are remembered for
 * rr_tool_interrupted(), unless they are ignored; SIGPIPE and SIGXFSZ are ignored. */
void rr_tool_catch_signals(void);

/* Tells whether a signal that rr_tool_catch_signals() remembers has come. Such a signal also ends the waiting
 * in a loop. ctx is not used: callers of clients pass this function as a callback. */
bool rr_tool_interrupted(void *ctx);

/* Returns the exit status for main(). If a signal that rr_tool_catch_signals() remembers made the work fail,
 * ends the program by that signal instead, so that a shell sees the signal. */
int rr_tool_exit(int status);

/* escape.c: replaces each control character of text by '?', as it must not reach a terminal, and returns
 * text. rr_tool_fail(), rr_tool_warn() and rr_tool_usage() do this with their messages. */
char *rr_tool_mask(char *text);

/* Writes a name; if out is a terminal, control characters are replaced as by rr_tool_mask(). */
void rr_tool_put_name(FILE *out, const char *name);

/* Writes text as a JSON string with its quotation marks. Control characters are escaped, and octets that are
 * not UTF-8 become U+FFFD. */
void rr_tool_json_string(FILE *out, const char *text);

/* Writes a name, path or URL as a member of a JSON object: "KEY":"NAME". JSON is UTF-8, and a file may have a
 * name of any octets. So another member follows if the name is not UTF-8, whose key ends with _hex: all
 * octets of the name, in hexadecimal. */
void rr_tool_json_name(FILE *out, const char *key, const char *name);

/* Flushes standard output. Returns status; or RR_EXIT_FAILED if not all could be written, after a message,
 * which is left out if the other end of the pipe was closed. tool: NULL for the command itself. */
int rr_tool_end_output(const struct rr_tool *tool, int status);

#endif
