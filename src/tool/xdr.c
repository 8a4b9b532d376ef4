/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/xdr.h"

#include <string.h>

#include "tool/tool.h"

/* `rpcrdma xdr` compiles a schema. */

/* Octets of memory for the beginning of the outputs' names; the most arguments for the C preprocessor. */
enum { BASE_SIZE = 4096, ARGUMENTS_MAX = 64 };

/* Stores in base the beginning of the names of the files to write: "nfs3" for "dir/nfs3.x", without the
 * folder, so that the files are made in the working directory. Returns false if the path gives no name, or a
 * name that is too long. */
static bool
xdr_default_base(const char *path, char base[BASE_SIZE])
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t length = strlen(name);

	if (length > 2 && strcmp(name + length - 2, ".x") == 0)
		length -= 2;
	if (length == 0 || length >= BASE_SIZE)
		return false;
	memcpy(base, name, length);
	base[length] = '\0';
	return true;
}

/* The options of the command line. */
struct xdr_arguments {
	char base[BASE_SIZE]; /* the files to write are BASE.h and BASE.c */
	bool json;
	struct rr_xdr_preprocess preprocess;
	/* Options and their arguments in turn, which live as long as argv. */
	const char *for_cpp[ARGUMENTS_MAX];
};

/* Takes an option for the C preprocessor, which gets the option and its argument as they are. Returns an exit
 * status, after a message if it is not OK. */
static int
xdr_take_for_cpp(
	const struct rr_tool *tool, struct xdr_arguments *arguments, const char *option, const char *argument)
{
	struct rr_xdr_preprocess *preprocess = &arguments->preprocess;

	if (preprocess->count + 2 > ARGUMENTS_MAX)
		return rr_tool_usage(tool, "at most %d options -D, -U and -I are taken", ARGUMENTS_MAX / 2);
	arguments->for_cpp[preprocess->count++] = option;
	arguments->for_cpp[preprocess->count++] = argument;
	return RR_EXIT_OK;
}

static int
xdr_take_define(const struct rr_tool *tool, void *state, const char *argument)
{
	return xdr_take_for_cpp(tool, state, "-D", argument);
}

static int
xdr_take_undefine(const struct rr_tool *tool, void *state, const char *argument)
{
	return xdr_take_for_cpp(tool, state, "-U", argument);
}

static int
xdr_take_include(const struct rr_tool *tool, void *state, const char *argument)
{
	return xdr_take_for_cpp(tool, state, "-I", argument);
}

/* Takes the argument of --output: the path of the files to write, without the endings ".h" and ".c". */
static int
xdr_take_output(const struct rr_tool *tool, void *state, const char *argument)
{
	struct xdr_arguments *arguments = state;

	if (strlen(argument) >= sizeof(arguments->base) || !*argument)
		return rr_tool_usage(tool, "--output takes the path of the output without its ending");
	strcpy(arguments->base, argument);
	return RR_EXIT_OK;
}

static const struct rr_option xdr_options[] = {
	{ .letter = 'o',
		.name = "output",
		.argument = "BASE",
		.help = "write BASE.h and BASE.c (FILE.h and FILE.c in the working directory)",
		.kind = RR_OPTION_CALL,
		.take = xdr_take_output },
	{ .letter = 'D',
		.argument = "NAME[=VALUE]",
		.help = "define a macro for the C preprocessor",
		.kind = RR_OPTION_CALL,
		.take = xdr_take_define },
	{ .letter = 'U',
		.argument = "NAME",
		.help = "undefine a macro",
		.kind = RR_OPTION_CALL,
		.take = xdr_take_undefine },
	{ .letter = 'I',
		.argument = "FOLDER",
		.help = "let the C preprocessor look for #include there, too",
		.kind = RR_OPTION_CALL,
		.take = xdr_take_include },
	{ .name = "no-cpp",
		.help = "do not call the C preprocessor; lines that need it are errors",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct xdr_arguments, preprocess.never) },
	{ .name = "json",
		.help = "print what the schema declares as JSON; write no files",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct xdr_arguments, json) },
	{ 0 },
};

static int
xdr_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct xdr_arguments arguments = { 0 };
	int status = rr_options_parse(tool, &arguments, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	arguments.preprocess.arguments = arguments.for_cpp;
	if (arguments.json && *arguments.base)
		return rr_tool_usage(tool, "--json writes no files; leave --output out");
	if (arguments.json)
		return rr_tool_end_output(tool,
			rr_xdr_describe(&rr_env_system, &arguments.preprocess, argv[0], stdout, stderr) < 0
				? RR_EXIT_FAILED
				: RR_EXIT_OK);
	if (!*arguments.base && !xdr_default_base(argv[0], arguments.base))
		return rr_tool_usage(tool, "'%s' gives no name for the output; use -o", argv[0]);
	if (rr_xdr_compile_with(&rr_env_system, &arguments.preprocess, argv[0], arguments.base, stderr) < 0)
		return RR_EXIT_FAILED;
	printf("%s.h\n%s.c\n", arguments.base, arguments.base);
	return rr_tool_end_output(tool, RR_EXIT_OK);
}

const struct rr_tool rr_tool_xdr = {
	.name = "xdr",
	.run = xdr_run,
	.help = "Compile an XDR schema (RFC 4506) to C, or to JSON.",
	.operands = "FILE.x",
	.least = 1,
	.most = 1,
	.groups = { { xdr_options, 0 } },
};
