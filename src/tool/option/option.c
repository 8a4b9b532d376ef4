/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/option/option.h"

#include <errno.h>
#include <getopt.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/url.h"
#include "tool/option/option_private.h"
#include "tool/tool.h"

int
rr_options_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -RPCRDMA_ERR_INVAL;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return errno || *end || *number > max ? -RPCRDMA_ERR_INVAL : 0;
}

/* ---- Tables for getopt_long() ---- */

/* Adds an option to the set: its place, its long name and its letter for getopt_long(). */
static void
option_add(struct option_set *set, const struct rr_option *option, void *state)
{
	int has = option->argument ? required_argument : no_argument;
	char letter[] = { option->letter, option->argument ? ':' : '\0', '\0' };

	set->places[set->count] = (struct option_place){ .option = option, .state = state };
	/* "=" can never be written as a long name: it keeps the place of an option that has only a letter. */
	set->longs[set->count] =
		(struct option){ option->name ? option->name : "=", has, NULL, OPTION_LONG + set->count };
	set->count++;
	strcat(set->letters, letter);
}

static void
option_set_init(struct option_set *set, const struct rr_tool *tool, void *state)
{
	/* ":" in front of the letters: getopt_long() returns ':' for an option without its argument. */
	*set = (struct option_set){ .tool = tool, .letters = ":" };
	for (int i = 0; i < RR_OPTION_GROUPS && tool->groups[i].options; i++) {
		const struct rr_option_group *group = &tool->groups[i];

		for (const struct rr_option *option = group->options; option->letter || option->name;
			option++)
			if (set->count < OPTIONS_MAX)
				option_add(set, option, (char *)state + group->at);
	}
	set->longs[set->count] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
	set->longs[set->count + 1] =
		(struct option){ "help-diagnostics", no_argument, NULL, OPTION_HELP_DIAGNOSTICS };
}

/* Finds an option by the value that getopt_long() returned, or that getopt_long() left in optopt. Returns
 * NULL if there is no such option. */
static struct option_place *
option_find(struct option_set *set, int found)
{
	if (found >= OPTION_LONG && found < OPTION_LONG + set->count)
		return &set->places[found - OPTION_LONG];
	for (int i = 0; found && i < set->count; i++)
		if (set->places[i].option->letter == found)
			return &set->places[i];
	return NULL;
}

/* ---- Errors ---- */

/* Writes the name of an option, "--listen", into name; or "-D" if the option has only a letter.
 * Returns name. */
static const char *
option_name(const struct rr_option *option, char name[OPTION_NAME])
{
	if (option->name)
		snprintf(name, OPTION_NAME, "--%s", option->name);
	else
		snprintf(name, OPTION_NAME, "-%c", option->letter);
	return name;
}

/* Reports an error in the options of the command line. `found` is the value that getopt_long() returned: ':'
 * if an argument is missing, '?' for any other error. optopt has the value of the option with the error, or 0
 * if there is no option of that long name; `word` is the element of argv with that name. Returns
 * RR_EXIT_USAGE. */
static int
option_refuse(struct option_set *set, int found, const char *word)
{
	const struct option_place *place = option_find(set, optopt);
	char name[OPTION_NAME];

	if (place && found == ':')
		return rr_tool_usage(set->tool, "%s wants an argument: %s", option_name(place->option, name),
			place->option->argument);
	if (place)
		return rr_tool_usage(set->tool, "%s takes no argument", option_name(place->option, name));
	if (optopt == OPTION_HELP || optopt == OPTION_HELP_DIAGNOSTICS)
		return rr_tool_usage(set->tool, "%.*s takes no argument", (int)strcspn(word, "="), word);
	if (optopt)
		return rr_tool_usage(set->tool, "there is no option -%c; --help lists them", optopt);
	return rr_tool_usage(
		set->tool, "there is no option %.*s; --help lists them", (int)strcspn(word, "="), word);
}

/* ---- Arguments ---- */

/* Stores the number that the argument gives. Returns RR_EXIT_OK; or RR_EXIT_USAGE after a message, if the
 * argument is no number, or one that the option does not allow. */
static int
option_take_number(const struct option_set *set, const struct option_place *place, const char *argument)
{
	const struct rr_option *option = place->option;
	char name[OPTION_NAME], multiple[32] = "a number";
	unsigned long number;

	if (rr_options_number(argument, option->high, &number) == 0 && number >= option->low &&
		(option->multiple == 0 || number % option->multiple == 0)) {
		*(uint32_t *)(void *)((char *)place->state + option->at) = (uint32_t)number;
		return RR_EXIT_OK;
	}
	if (option->multiple)
		snprintf(multiple, sizeof(multiple), "a multiple of %u", option->multiple);
	return rr_tool_usage(set->tool, "%s takes %s from %u to %u, not '%s'", option_name(option, name),
		multiple, option->low, option->high, argument);
}

/* Stores the index of the argument among the option's words. If the argument is none of them, prints a
 * message that lists them all, and returns RR_EXIT_USAGE. */
static int
option_take_word(const struct option_set *set, const struct option_place *place, const char *argument)
{
	const struct rr_option *option = place->option;
	char name[OPTION_NAME], list[128] = "";
	size_t length = 0;

	for (unsigned i = 0; option->words[i]; i++) {
		const char *before = i == 0 ? "" : option->words[i + 1] ? ", " : " or ";

		if (strcmp(argument, option->words[i]) == 0) {
			*(unsigned *)(void *)((char *)place->state + option->at) = i;
			return RR_EXIT_OK;
		}
		length += (size_t)snprintf(
			list + length, sizeof(list) - length, "%s%s", before, option->words[i]);
	}
	return rr_tool_usage(set->tool, "%s takes %s, not '%s'", option_name(option, name), list, argument);
}

int
rr_option_take(struct option_set *set, struct option_place *place, const char *argument)
{
	void *member = (char *)place->state + place->option->at;

	place->seen = true;
	switch (place->option->kind) {
	case RR_OPTION_FLAG: *(bool *)member = true; return RR_EXIT_OK;
	case RR_OPTION_COUNT: ++*(uint32_t *)member; return RR_EXIT_OK;
	case RR_OPTION_NO: *(bool *)member = false; return RR_EXIT_OK;
	case RR_OPTION_TEXT: *(const char **)member = argument; return RR_EXIT_OK;
	case RR_OPTION_NUMBER: return option_take_number(set, place, argument);
	case RR_OPTION_WORD: return option_take_word(set, place, argument);
	case RR_OPTION_CALL: break;
	}
	return place->option->take(set->tool, place->state, argument);
}

/* ---- The whole command line ---- */

static int
option_check_required(const struct option_set *set)
{
	char name[OPTION_NAME];

	for (int i = 0; i < set->count; i++)
		if (set->places[i].option->required && !set->places[i].seen)
			return rr_tool_usage(
				set->tool, "%s is missing", option_name(set->places[i].option, name));
	return RR_OPTIONS_GO_ON;
}

int
rr_options_url(const struct rr_tool *tool, const char *text)
{
	struct rr_text why;
	struct rr_url url;

	if (!rr_url_is(text))
		return rr_tool_usage(tool, "'%s' is no URL: nfs://HOST[:PORT]/PATH or HOST:/PATH", text);
	if (rr_url_parse(text, &url, &why) < 0)
		return rr_tool_usage(tool, "%s: %s", text, why.text);
	return RR_EXIT_OK;
}

/* Checks the number of operands, and that each is a URL if the sub-command takes URLs. Returns
 * RR_OPTIONS_GO_ON, or RR_EXIT_USAGE after a message. */
static int
option_check_operands(const struct rr_tool *tool, int count, char **operands)
{
	if (count < tool->least)
		return rr_tool_usage(tool, "an argument is missing: %s", tool->operands);
	if (tool->most != RR_TOOL_ANY && count > tool->most)
		return rr_tool_usage(tool, "'%s' is one argument too many", operands[tool->most]);
	for (int i = 0; tool->urls && i < count; i++)
		if (rr_options_url(tool, operands[i]) != RR_EXIT_OK)
			return RR_EXIT_USAGE;
	return RR_OPTIONS_GO_ON;
}

int
rr_options_parse(const struct rr_tool *tool, void *state, int *argc, char ***argv)
{
	struct option_set set;
	int found, status;

	option_set_init(&set, tool, state);
	opterr = 0;
	optind = 0; /* getopt_long() begins anew, even if a command line was parsed before */
	while ((found = getopt_long(*argc, *argv, set.letters, set.longs, NULL)) != -1) {
		struct option_place *place = option_find(&set, found);

		if (found == OPTION_HELP)
			return rr_tool_help(tool);
		if (found == OPTION_HELP_DIAGNOSTICS)
			return rr_tool_help_diagnostics(tool);
		if (!place)
			return option_refuse(&set, found, (*argv)[optind - 1]);
		status = rr_option_take(&set, place, optarg);
		if (status != RR_EXIT_OK)
			return status;
	}
	*argc -= optind;
	*argv += optind;
	status = rr_option_file(&set, state);
	if (status == RR_OPTIONS_GO_ON)
		status = option_check_required(&set);
	return status != RR_OPTIONS_GO_ON ? status : option_check_operands(tool, *argc, *argv);
}
