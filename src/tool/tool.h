/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_TOOL_H
#define RR_TOOL_TOOL_H

#include <stdbool.h>
#include <stdio.h>

/*
 * The `rpcrdma` command: a sub-command is a row of the table in main.c and a
 * file of its own with one function.
 */

/* Exit statuses. */
enum { RR_EXIT_OK = 0, RR_EXIT_FAILED = 1, RR_EXIT_USAGE = 2 };

struct rr_tool {
	const char *name;
	int (*run)(const struct rr_tool *tool, int argc, char **argv); /* argv[0] is the sub-command's name */
	const char *help;                                              /* one line */
	const char *synopsis; /* what follows the name: "[-r] SRC DST" */
	const char *options;  /* a line for each option, for --help; "" where there are none */
};

int rr_tool_cat(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_cp(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_decode(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_devices(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_gateway(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_ls(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_mkdir(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_ping(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_rm(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_serve(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_stat(const struct rr_tool *tool, int argc, char **argv);
int rr_tool_xdr(const struct rr_tool *tool, int argc, char **argv);

/* What --help says of the options of each: a line or more for each of them. */
extern const char rr_tool_cat_options[];
extern const char rr_tool_cp_options[];
extern const char rr_tool_decode_options[];
extern const char rr_tool_devices_options[];
extern const char rr_tool_gateway_options[];
extern const char rr_tool_ls_options[];
extern const char rr_tool_mkdir_options[];
extern const char rr_tool_ping_options[];
extern const char rr_tool_rm_options[];
extern const char rr_tool_serve_options[];
extern const char rr_tool_stat_options[];
extern const char rr_tool_xdr_options[];

/* Prints how tool is used and returns RR_EXIT_OK: for --help. */
int rr_tool_help(const struct rr_tool *tool);

/* "rpcrdma cp: message", then how it is used, to standard error; returns RR_EXIT_USAGE. */
int rr_tool_usage(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* After getopt_long() returned '?' or ':' for argument: says what is wrong with it. RR_EXIT_USAGE. */
int rr_tool_bad_option(const struct rr_tool *tool, int option, const char *argument);

/* "rpcrdma cp: message" to standard error; returns RR_EXIT_FAILED. */
int rr_tool_fail(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, for a condition that does not end the work. */
void rr_tool_warn(const struct rr_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Has SIGINT, SIGTERM and SIGHUP remembered instead of ending the program, and SIGPIPE ignored. */
void rr_tool_catch_signals(void);

/* True once such a signal came. It also interrupts a waiting loop. ctx is not used: the type is what clients
 * ask for. */
bool rr_tool_interrupted(void *ctx);

/* The signal that came, or 0. */
int rr_tool_signal(void);

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
