/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OPTION_OPTION_PRIVATE_H
#define RR_TOOL_OPTION_OPTION_PRIVATE_H

#include <getopt.h>

#include "tool/option/option.h"

/* The inner part of the parser of options: option.c has the command line, file.c the configuration
 * file. */

/* getopt_long() returns letters as they are, and for a long name OPTION_LONG plus its index in
 * option_set.longs. OPTION_NAME: octets of memory for the name of an option. */
enum {
	OPTIONS_MAX = 48,
	OPTION_LONG = 256,
	OPTION_HELP = OPTION_LONG + OPTIONS_MAX,
	OPTION_HELP_DIAGNOSTICS,
	OPTION_NAME = 64
};

/* An option of the sub-command, and whether it was given, in the command line or in the file. */
struct option_place {
	const struct rr_option *option;
	void *state; /* of its table */
	bool seen;
	unsigned line; /* line of the configuration file that has the option; 0: the file does not have it */
};

/* All options of the sub-command; `longs` and `letters` describe them to getopt_long(). places[i] and
 * longs[i] are the same option. */
struct option_set {
	const struct rr_tool *tool;
	struct option_place places[OPTIONS_MAX];
	int count;
	struct option longs[OPTIONS_MAX + 3];
	char letters[2 * OPTIONS_MAX + 2];
};

/* Stores the option, or its argument, in the state that its table describes. Returns an exit status, after a
 * message if it is not OK. */
int rr_option_take(struct option_set *set, struct option_place *place, const char *argument);

/* Reads the configuration file that the command line names. Returns RR_OPTIONS_GO_ON, also if it names none;
 * otherwise an exit status, after a message for each line with an error. */
int rr_option_file(struct option_set *set, void *state);

#endif
