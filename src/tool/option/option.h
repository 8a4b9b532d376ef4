/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OPTION_OPTION_H
#define RR_TOOL_OPTION_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/conf.h"

struct rr_tool;

/*
 * The options of a sub-command are rows of a table. Parsing, --help, and the demands of tests/check-documents
 * on the manual page come from that table, so every sub-command treats an option, and reports its errors, in
 * the same way. Options that several sub-commands have are tables of their own: a sub-command lists the
 * tables (struct rr_option_group) that it takes.
 */

enum rr_option_kind {
	RR_OPTION_FLAG,   /* no argument: the bool at `at` becomes true */
	RR_OPTION_COUNT,  /* no argument: the uint32_t at `at` is increased by one */
	RR_OPTION_NO,     /* no argument: the bool at `at` becomes false */
	RR_OPTION_NUMBER, /* the uint32_t at `at`: decimal, from low to high, a multiple of `multiple` */
	RR_OPTION_WORD,   /* the enum at `at` becomes the index of the argument in words */
	RR_OPTION_TEXT,   /* the const char * at `at`: the argument itself, which lies in argv or the file */
	RR_OPTION_CALL    /* take() is called with the argument */
};

/* An option: a row of the table. */
struct rr_option {
	char letter;          /* "-l"; 0: the option has a long name only */
	const char *name;     /* "listen" for "--listen"; NULL: the option has a letter only */
	const char *argument; /* the argument's name in --help, "N"; NULL: the option takes no argument */
	const char *help;     /* one sentence or more; --help wraps it */
	enum rr_option_kind kind;
	size_t at;                /* offset in the state of its table */
	uint32_t low, high;       /* of a number */
	uint32_t multiple;        /* of a number; 0: any */
	const char *const *words; /* NULL ends the list */
	bool required;            /* the option must be given, in the command line or in the file */
	bool not_in_file;         /* the option may not stand in a configuration file */
	/* Stores the argument in state, which is that of the table. Returns an exit status, after a message
	 * if it is not OK. */
	int (*take)(const struct rr_tool *tool, void *state, const char *argument);
};

/* The values of --config and --check-config, for a sub-command that reads a configuration file. */
struct rr_option_config {
	const char *path;    /* NULL: there is no file */
	bool check;          /* the options and the file are only checked */
	struct rr_conf conf; /* the sub-command frees it, as arguments lie in it */
};

/* The table of --config and --check-config, whose state is a struct rr_option_config. */
extern const struct rr_option rr_option_config_options[];

/*
 * The configuration file of a sub-command. A line of the file is an option without its dashes, and its
 * argument. An option on the command line replaces the same option in the file.
 */
struct rr_option_file {
	size_t at; /* offset of the struct rr_option_config in the state of the sub-command */
	/* Takes a line that holds no option: its first word, `first`, does not begin with a lower-case letter
	 * ("/srv"), or has a colon ("ceph:/srv"). Reads the further words of the line from conf. NULL: there
	 * are no such lines. Returns an exit status, after a message if it is not OK. */
	int (*line)(const struct rr_tool *tool, void *state, const char *first, struct rr_conf *conf);
};

/* A table, which ends with a row without letter and name; at: offset of its state in that of the
 * sub-command. */
struct rr_option_group {
	const struct rr_option *options;
	size_t at;
};

enum { RR_OPTION_GROUPS = 7 };

/* rr_options_parse() returns RR_OPTIONS_GO_ON if the sub-command is to go on, and otherwise an exit
 * status. */
enum { RR_OPTIONS_GO_ON = -1 };

/*
 * Reads the command line: stores the options in state, as the tool's tables describe it, and leaves the
 * operands in *argc and *argv, so that argv[0] is the first operand. Options and operands may come in any
 * order; "--" ends the options. Also checks the number of operands, and that each is a URL if the sub-command
 * takes URLs. Returns RR_OPTIONS_GO_ON; what rr_tool_help() returned; or, after a message, RR_EXIT_USAGE or
 * what take() returned.
 */
int rr_options_parse(const struct rr_tool *tool, void *state, int *argc, char ***argv);

/* Tells whether text is a URL of NFS: returns RR_EXIT_OK; or RR_EXIT_USAGE after a message that says which
 * part of the text is wrong. */
int rr_options_url(const struct rr_tool *tool, const char *text);

/* Stores in *number the decimal number from 0 to max that text consists of. Returns 0, or
 * -RPCRDMA_ERR_INVAL. */
int rr_options_number(const char *text, unsigned long max, unsigned long *number);

#endif
