/* SPDX-License-Identifier: BSD-3-Clause */
/* --help of a sub-command, and what shells complete, are made from its tables of options (option.h). */
#include <string.h>

#include "tool/filters.h"
#include "tool/tool.h"

/* Columns: where the help text begins beside an option, and the width of the screen; HELP_NAMES: octets of an
 * option's names. */
enum { HELP_INDENT = 28, HELP_WIDTH = 80, HELP_NAMES = 96 };

/* Writes the letter, the name and the argument of an option: "-l, --listen ADDR[:PORT]". */
static void
help_names(const struct rr_option *option, char names[HELP_NAMES])
{
	char letter[] = { '-', option->letter, '\0' };

	snprintf(names, HELP_NAMES, "%s%s%s%s%s%s", option->letter ? letter : "",
		option->letter && option->name ? ", " : "", option->name ? "--" : "",
		option->name ? option->name : "", option->argument ? " " : "",
		option->argument ? option->argument : "");
}

/* Prints text, broken into lines that begin at column HELP_INDENT and end at column HELP_WIDTH at most. `at`
 * is the column that the output has reached already. */
static void
help_wrap(FILE *out, const char *text, size_t at)
{
	while (*text) {
		size_t word = strcspn(text, " ");

		if (at > HELP_INDENT && at + 1 + word > HELP_WIDTH)
			at = (size_t)fprintf(out, "\n%*s", HELP_INDENT, "") - 1;
		else if (at > HELP_INDENT)
			at += (size_t)fprintf(out, " ");
		at += (size_t)fprintf(out, "%.*s", (int)word, text);
		text += word + strspn(text + word, " ");
	}
	fprintf(out, "\n");
}

/* Prints the names of an option and, in the second column, its help. Names that reach into the second column
 * get a line of their own. */
static void
help_option(FILE *out, const struct rr_option *option)
{
	char names[HELP_NAMES];
	const char *indent = option->letter ? "  " : "      ";
	size_t at;

	help_names(option, names);
	at = (size_t)fprintf(out, "%s%s", indent, names);
	if (at + 2 > HELP_INDENT) {
		fprintf(out, "\n");
		at = 0;
	}
	fprintf(out, "%*s", (int)(HELP_INDENT - at), "");
	help_wrap(out, option->help, HELP_INDENT);
}

/* The options that --help shows: those of the sub-command itself, or those for diagnosis, which most
 * sub-commands have in common. */
enum help_which { HELP_OWN, HELP_DIAGNOSIS };

static enum help_which
help_which_of(const struct rr_option_group *group)
{
	return group->options == rr_filters_options || group->options == rr_filters_calls ? HELP_DIAGNOSIS
											  : HELP_OWN;
}

/* Calls each() for these options of the sub-command, and returns the number of options. */
static size_t
help_each(const struct rr_tool *tool, enum help_which which, FILE *out,
	void (*each)(FILE *out, const struct rr_option *option))
{
	size_t count = 0;

	for (int i = 0; i < RR_OPTION_GROUPS && tool->groups[i].options; i++) {
		if (help_which_of(&tool->groups[i]) != which)
			continue;
		for (const struct rr_option *option = tool->groups[i].options; option->letter || option->name;
			option++, count++)
			each(out, option);
	}
	return count;
}

/* Prints the option for the synopsis, if the option must be given: " --listen ADDR". */
static void
help_required(FILE *out, const struct rr_option *option)
{
	if (option->required)
		fprintf(out, " --%s %s", option->name, option->argument);
}

void
rr_tool_synopsis(const struct rr_tool *tool, FILE *out)
{
	fprintf(out, "Usage: rpcrdma %s", tool->name);
	if (help_each(tool, HELP_OWN, out, help_required) > 0)
		fprintf(out, " [OPTION]...");
	fprintf(out, "%s%s\n", tool->operands ? " " : "", tool->operands ? tool->operands : "");
}

int
rr_tool_help(const struct rr_tool *tool)
{
	rr_tool_synopsis(tool, stdout);
	printf("%s\n\n", tool->help);
	help_each(tool, HELP_OWN, stdout, help_option);
	if (tool->notes)
		printf("\n%s", tool->notes);
	for (int i = 0; i < RR_OPTION_GROUPS && tool->groups[i].options; i++)
		if (tool->groups[i].options == rr_filters_options)
			printf("\n--help-diagnostics lists options for diagnosis: rpcrdma-options(7).\n");
	return rr_tool_end_output(tool, RR_EXIT_OK);
}

int
rr_tool_help_diagnostics(const struct rr_tool *tool)
{
	rr_tool_synopsis(tool, stdout);
	printf("Options for diagnosis:\n\n");
	help_each(tool, HELP_DIAGNOSIS, stdout, help_option);
	return rr_tool_end_output(tool, RR_EXIT_OK);
}

/* Prints a line for a name of an option: the name, its argument, the words that it takes, and its help. */
static void
help_complete_name(FILE *out, const struct rr_option *option, const char *dashes, const char *name)
{
	fprintf(out, "%s%s\t%s\t", dashes, name, option->argument ? option->argument : "-");
	if (option->kind != RR_OPTION_WORD)
		fputc('-', out);
	for (unsigned i = 0; option->kind == RR_OPTION_WORD && option->words[i]; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", option->words[i]);
	fprintf(out, "\t%s\n", option->help);
}

static void
help_complete_option(FILE *out, const struct rr_option *option)
{
	char letter[] = { option->letter, '\0' };

	if (option->letter)
		help_complete_name(out, option, "-", letter);
	if (option->name)
		help_complete_name(out, option, "--", option->name);
}

int
rr_tool_complete(const struct rr_tool *tool)
{
	printf("operand\t%s\t-\t-\n", tool->urls ? "URL" : "FILE");
	help_each(tool, HELP_OWN, stdout, help_complete_option);
	help_each(tool, HELP_DIAGNOSIS, stdout, help_complete_option);
	printf("--help\t-\t-\tlist the options\n");
	return rr_tool_end_output(tool, RR_EXIT_OK);
}
