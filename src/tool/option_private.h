/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OPTION_PRIVATE_H
#define RR_TOOL_OPTION_PRIVATE_H

#include <getopt.h>

#include "tool/option.h"

/* Of the parser of options alone: option.c has the command line, option_file.c the configuration file. */

/* getopt_long() returns letters as they are, OPTION_LONG and more for long names, by their place. */
enum { OPTIONS_MAX = 48, OPTION_LONG = 256, OPTION_HELP = OPTION_LONG + OPTIONS_MAX, OPTION_NAME = 64 };

struct option_place {
	const struct rr_option *option;
	void *state; /* of its table */
	bool seen;
	unsigned line; /* of the configuration file that has the option; 0: none */
};

struct option_set {
	const struct rr_tool *tool;
	struct option_place places[OPTIONS_MAX];
	int count;
	struct option longs[OPTIONS_MAX + 2];
	char letters[2 * OPTIONS_MAX + 2];
};

/* Sets what the option describes. Returns an exit status, after a message if it is not OK. */
int rr_option_take(struct option_set *set, struct option_place *place, const char *argument);

/* Reads the configuration file that the command line names. Returns RR_OPTIONS_GO_ON, also where there is no
 * file; otherwise an exit status, after a message for each line with an error. */
int rr_option_file(struct option_set *set, void *state);

#endif
