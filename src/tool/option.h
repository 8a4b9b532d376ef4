/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OPTION_H
#define RR_TOOL_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	/* Takes the argument; state is that of the table. An exit status, after a message if it is not OK. */
	int (*take)(const struct rr_tool *tool, void *state, const char *argument);
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
