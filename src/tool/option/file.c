/* SPDX-License-Identifier: BSD-3-Clause */
/* The options in a configuration file. */
#include <string.h>

#include "tool/option/option_private.h"
#include "tool/tool.h"

const struct rr_option rr_option_config_options[] = {
	{ .name = "config",
		.argument = "FILE",
		.help = "read options from this file, too",
		.kind = RR_OPTION_TEXT,
		.not_in_file = true,
		.at = offsetof(struct rr_option_config, path) },
	{ .name = "check-config",
		.help = "say what is wrong with the options and the file, and end",
		.kind = RR_OPTION_FLAG,
		.not_in_file = true,
		.at = offsetof(struct rr_option_config, check) },
	{ 0 },
};

/* OPTION_FILE_ERRORS: after this many lines with errors the reading ends. OPTION_WHERE, OPTION_LIST: octets
 * of texts. */
enum { OPTION_FILE_ERRORS = 20, OPTION_WHERE = 4200, OPTION_LIST = OPTIONS_MAX * OPTION_NAME };

/* Reports that a word of the configuration file is not the name of an option, and lists the names that may
 * stand there. Returns RR_EXIT_USAGE. */
static int
option_file_unknown(const struct option_set *set, const char *word)
{
	char list[OPTION_LIST] = "";
	size_t length = 0;

	for (int i = 0; i < set->count && length < sizeof(list); i++) {
		const struct rr_option *option = set->places[i].option;

		if (option->name && !option->not_in_file)
			length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
				length ? ", " : "", option->name);
	}
	return rr_tool_usage(set->tool, "'%.40s' is no option; these are: %s", word, list);
}

/* Returns the option of that name; NULL if there is none, or if it may stand only on the command line. */
static struct option_place *
option_file_find(struct option_set *set, const char *word)
{
	for (int i = 0; i < set->count; i++) {
		const struct rr_option *option = set->places[i].option;

		if (option->name && !option->not_in_file && strcmp(option->name, word) == 0)
			return &set->places[i];
	}
	return NULL;
}

/* Stores the option `word` of the configuration file, with the argument that follows it in the line. Ignores
 * the option if the command line has it, too. Only options of the kind RR_OPTION_CALL may stand in the file
 * several times. Returns an exit status, after a message if it is not OK. */
static int
option_file_option(struct option_set *set, const char *word, struct rr_conf *conf)
{
	struct option_place *place = option_file_find(set, word);
	const struct rr_option *option = place ? place->option : NULL;
	const char *argument = NULL;

	if (!place)
		return option_file_unknown(set, word);
	if (place->line && option->kind != RR_OPTION_CALL)
		return rr_tool_usage(set->tool, "%s stands in line %u already", word, place->line);
	if (option->argument)
		argument = rr_conf_word(conf);
	if (option->argument && !argument && !conf->bad)
		return rr_tool_usage(set->tool, "%s wants an argument: %s", word, option->argument);
	if (rr_conf_word(conf))
		return rr_tool_usage(set->tool, "%s is followed by a word too many", word);
	if (conf->bad)
		return rr_tool_usage(set->tool, "%s", conf->bad);
	if (place->seen && !place->line) /* the command line has it */
		return RR_EXIT_OK;
	place->line = conf->line;
	return rr_option_take(set, place, argument);
}

/* Handles a line of the configuration file, whose first word is `first`: stores the option in the line. If
 * the word begins with no small letter, or has a colon ("ceph:/srv"), the line is no option but,
 * for example, a directory: then calls the sub-command's function for such lines, if there is one. conf->bad
 * is set if the line has a syntax error. Returns an exit status, after a message if it is not OK. */
static int
option_file_line(struct option_set *set, void *state, const char *first, struct rr_conf *conf)
{
	const struct rr_option_file *file = set->tool->file;
	bool other = first[0] < 'a' || first[0] > 'z' || strchr(first, ':');
	int status;

	if (conf->bad)
		return rr_tool_usage(set->tool, "%s", conf->bad);
	if (!other || !file->line)
		return option_file_option(set, first, conf);
	status = file->line(set->tool, state, first, conf);
	return status == RR_EXIT_OK && conf->bad ? rr_tool_usage(set->tool, "%s", conf->bad) : status;
}

/* Handles all lines of the configuration file. Goes on after a line with an error, so that all errors are
 * reported, but stops after OPTION_FILE_ERRORS lines with errors. Returns RR_OPTIONS_GO_ON, or RR_EXIT_USAGE
 * if there were errors. */
static int
option_file_lines(struct option_set *set, void *state, const char *path, struct rr_conf *conf)
{
	const struct rr_tool *tool = set->tool;
	struct rr_tool at = *tool;
	char where[OPTION_WHERE];
	int errors = 0;
	char *first;

	/* For messages about a line, the sub-command is replaced by a copy that has "FILE:LINE" in front. */
	at.where = where;
	set->tool = &at;
	while (errors < OPTION_FILE_ERRORS && (first = rr_conf_first(conf))) {
		snprintf(where, sizeof(where), "%s:%u", path, conf->line);
		errors += option_file_line(set, state, first, conf) != RR_EXIT_OK;
	}
	set->tool = tool;
	return errors ? RR_EXIT_USAGE : RR_OPTIONS_GO_ON;
}

int
rr_option_file(struct option_set *set, void *state)
{
	const struct rr_option_file *file = set->tool->file;
	struct rr_option_config *config;
	struct rr_text why;

	if (!file)
		return RR_OPTIONS_GO_ON;
	config = (struct rr_option_config *)(void *)((char *)state + file->at);
	if (!config->path)
		return RR_OPTIONS_GO_ON;
	if (rr_conf_read(config->path, &config->conf, &why) < 0)
		return rr_tool_fail(set->tool, "%s: %s", config->path, why.text);
	return option_file_lines(set, state, config->path, &config->conf);
}
