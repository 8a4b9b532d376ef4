/* SPDX-License-Identifier: BSD-3-Clause */
/* --help of a sub-command is made from its tables of options (option.h). */
#include <string.h>

#include "tool/tool.h"

/* Columns: where the help text begins beside an option, and the width of the screen; HELP_NAMES: octets of an
 * option's names. */
enum { HELP_INDENT = 28, HELP_WIDTH = 100, HELP_NAMES = 96 };

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

/* Calls each() for every option of the sub-command, and returns the number of options. */
static size_t
help_each(const struct rr_tool *tool, FILE *out, void (*each)(FILE *out, const struct rr_option *option))
{
	size_t count = 0;

	for (int i = 0; i < RR_OPTION_GROUPS && tool->groups[i].options; i++)
		for (const struct rr_option *option = tool->groups[i].options; option->letter || option->name;
			option++, count++)
			each(out, option);
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
	if (help_each(tool, out, help_required) > 0)
		fprintf(out, " [OPTION]...");
	fprintf(out, "%s%s\n", tool->operands ? " " : "", tool->operands ? tool->operands : "");
}

int
rr_tool_help(const struct rr_tool *tool)
{
	rr_tool_synopsis(tool, stdout);
	printf("%s\n\n", tool->help);
	help_each(tool, stdout, help_option);
	if (tool->notes)
		printf("\n%s", tool->notes);
	return rr_tool_end_output(tool, RR_EXIT_OK);
}
