/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_TOOL_H
#define RR_TOOL_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/option.h"

/*
 * The `rpcrdma` command: a sub-command is a file of its own, which defines its struct rr_tool, and has a line
 * in main.c.
 */

/* Exit statuses. */
enum { RR_EXIT_OK = 0, RR_EXIT_FAILED = 1, RR_EXIT_USAGE = 2 };

/* As many operands as there are. */
enum { RR_TOOL_ANY = -1 };

struct rr_tool {
	const char *name;
	int (*run)(const struct rr_tool *tool, int argc, char **argv); /* argv[0] is the sub-command's name */
	const char *help;                                              /* one line */
	const char *operands;              /* what follows the options, "SRC DST"; NULL: nothing */
	int least, most;                   /* operands; most may be RR_TOOL_ANY */
	bool urls;                         /* each operand is a URL */
	const char *notes;                 /* lines below the options in --help, or NULL */
	const struct rr_option_file *file; /* NULL: the sub-command reads no configuration file */
	const char
		*where; /* "FILE:LINE", while a line of that is looked at: it precedes messages; else NULL */
	struct rr_option_group groups[RR_OPTION_GROUPS];
};

extern const struct rr_tool rr_tool_cat, rr_tool_check, rr_tool_cp, rr_tool_decode, rr_tool_devices,
	rr_tool_df, rr_tool_doctor, rr_tool_gateway, rr_tool_ln, rr_tool_ls, rr_tool_mkdir, rr_tool_mv,
	rr_tool_ping, rr_tool_rm, rr_tool_serve, rr_tool_stat, rr_tool_sync, rr_tool_top, rr_tool_xdr;

/* help.c: writes "Usage: rpcrdma cp [OPTION]... SRC DST". */
void rr_tool_synopsis(const struct rr_tool *tool, FILE *out);

/* help.c: prints the synopsis and the options, and returns RR_EXIT_OK: for --help. */
int rr_tool_help(const struct rr_tool *tool);

/* "rpcrdma cp: message", then how it is used, to standard error; returns RR_EXIT_USAGE. */
int rr_tool_usage(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "rpcrdma cp: message" to standard error; returns RR_EXIT_FAILED. */
int rr_tool_fail(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, for a condition that does not end the work. */
void rr_tool_warn(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Has SIGINT, SIGTERM and SIGHUP remembered instead of ending the program, and SIGPIPE ignored. */
void rr_tool_catch_signals(void);

/* True once such a signal came. It also interrupts a waiting loop. ctx is not used: the type is what clients
 * ask for. */
bool rr_tool_interrupted(void *ctx);

/* What main() returns for status. Where a signal of rr_tool_catch_signals() made the work fail, the program
 * ends by that signal instead, so that a shell sees it. */
int rr_tool_exit(int status);

/* escape.c. Puts '?' in the place of each control character of text, which must not reach a terminal. Returns
 * text. Messages of rr_tool_fail(), rr_tool_warn() and rr_tool_usage() have passed it. */
char *rr_tool_mask(char *text);

/* Writes a name: masked where out is a terminal, as it is to scripts. */
void rr_tool_put_name(FILE *out, const char *name);

/* Writes text as a JSON string, with its quotation marks; control characters are escaped, octets that are not
 * UTF-8 become U+FFFD. */
void rr_tool_json_string(FILE *out, const char *text);

/* Flushes standard output; returns status, or RR_EXIT_FAILED with a message where not all of it could be
 * written (but none where its reader went away). */
int rr_tool_end_output(const struct rr_tool *tool, int status);

#endif
