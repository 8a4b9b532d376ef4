/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OPTION_H
#define RR_TOOL_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/conf.h"

struct rr_tool;

/*
 * The options of a sub-command are rows of a table. Parsing, --help and what tests/check-documents demands of
 * the manual page come from that table, so every sub-command treats an option, and reports what is wrong
 * with it, in the same way. Options that several sub-commands have are tables of their own: a sub-command
 * lists the tables (struct rr_option_group) that it takes.
 */

enum rr_option_kind {
	RR_OPTION_FLAG,   /* no argument: the bool at `at` becomes true */
	RR_OPTION_NO,     /* no argument: the bool at `at` becomes false */
	RR_OPTION_NUMBER, /* the uint32_t at `at`: decimal, from low to high, a multiple of `multiple` */
	RR_OPTION_WORD,   /* the enum at `at`: the place of the argument in words */
	RR_OPTION_TEXT,   /* the const char * at `at`: the argument itself, which lives as long as argv */
	RR_OPTION_CALL    /* take() is called with the argument */
};

struct rr_option {
	char letter;          /* "-l"; 0: the option has a long name only */
	const char *name;     /* "listen" for "--listen"; NULL: the option has a letter only */
	const char *argument; /* its name in --help, "N"; NULL: the option takes no argument */
	const char *help;     /* one sentence or more; --help wraps it */
	enum rr_option_kind kind;
	size_t at;                /* offset in the state of its table */
	uint32_t low, high;       /* of a number */
	uint32_t multiple;        /* of a number; 0: any */
	const char *const *words; /* the last one is NULL */
	bool required;            /* the sub-command does nothing without it */
	bool not_in_file;         /* it has no meaning in a configuration file */
	/* Takes the argument; state is that of the table. An exit status, after a message if it is not OK. */
	int (*take)(const struct rr_tool *tool, void *state, const char *argument);
};

/* What --config and --check-config say: for a sub-command that reads a configuration file. */
struct rr_option_config {
	const char *path;    /* NULL: there is no file */
	bool check;          /* the options and the file are to be looked at, and no more */
	struct rr_conf conf; /* the sub-command frees it: arguments lie in it */
};

/* Their table, whose state is a struct rr_option_config. */
extern const struct rr_option rr_option_config_options[];

/*
 * A configuration file of a sub-command. A line of the file is an option without its dashes, and its
 * argument. An option of the command line counts instead of the same option in the file.
 */
struct rr_option_file {
	size_t at; /* of the struct rr_option_config in the state of the sub-command */
	/* Takes a line that begins with no letter, or with first_of; NULL: there are no such lines. Returns
	 * an exit status, after a message if it is not OK. */
	int (*line)(const struct rr_tool *tool, void *state, const char *first, struct rr_conf *conf);
	const char *first_of; /* "ceph:"; or NULL */
};

/* A table, which a row without letter and name ends, and where its state is in that of the sub-command. */
struct rr_option_group {
	const struct rr_option *options;
	size_t at;
};

enum { RR_OPTION_GROUPS = 6 };

/* rr_options_parse() returns it where the sub-command goes on; an exit status otherwise. */
enum { RR_OPTIONS_GO_ON = -1 };

/*
 * Sets state, which tool's tables describe, from the command line, and leaves the operands in *argc and
 * *argv (argv[0] is the first one then). Options and operands may come in any order; "--" ends the options.
 * The number of operands has been checked, and whether they are URLs where the sub-command wants these.
 * Returns RR_OPTIONS_GO_ON; RR_EXIT_OK after --help; RR_EXIT_USAGE or what take() returned, after a message.
 */
int rr_options_parse(const struct rr_tool *tool, void *state, int *argc, char ***argv);

/* Parses a decimal number from 0 to max, all of text. -RPCRDMA_ERR_INVAL. */
int rr_options_number(const char *text, unsigned long max, unsigned long *number);

#endif
