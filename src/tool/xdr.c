/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/xdr.h"

#include <getopt.h>
#include <string.h>

#include "tool/tool.h"

enum { OPT_HELP = 256, OPT_NO_CPP, BASE_SIZE = 4096, ARGUMENTS_MAX = 64 };

const char rr_tool_xdr_options[] =
	"  -o, --output BASE   write BASE.h and BASE.c (FILE.h and FILE.c in the working directory)\n"
	"  -D NAME[=VALUE]     define a macro for the C preprocessor\n"
	"  -U NAME             undefine one\n"
	"  -I FOLDER           let the C preprocessor look for #include there, too\n"
	"      --no-cpp        do not call the C preprocessor; lines that need it are errors\n";

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "no-cpp", no_argument, NULL, OPT_NO_CPP },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

/* "dir/nfs3.x" gives "nfs3": the files appear in the working directory. */
static bool
default_base(const char *path, char base[BASE_SIZE])
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

/* What the command line says. */
struct xdr_arguments {
	char base[BASE_SIZE];
	struct rr_xdr_preprocess preprocess;
	const char
		*for_cpp[ARGUMENTS_MAX]; /* an option and its argument each; optarg lives as long as argv */
};

static int
xdr_take(const struct rr_tool *tool, struct xdr_arguments *arguments, int option)
{
	static const char *const flags[] = { ['D'] = "-D", ['U'] = "-U", ['I'] = "-I" };
	struct rr_xdr_preprocess *preprocess = &arguments->preprocess;

	switch (option) {
	case OPT_NO_CPP: preprocess->never = true; return RR_EXIT_OK;
	case 'D':
	case 'U':
	case 'I':
		if (preprocess->count + 2 > ARGUMENTS_MAX)
			return rr_tool_usage(
				tool, "at most %d options -D, -U and -I are taken", ARGUMENTS_MAX / 2);
		arguments->for_cpp[preprocess->count++] = flags[option];
		arguments->for_cpp[preprocess->count++] = optarg;
		return RR_EXIT_OK;
	case 'o':
		if (strlen(optarg) >= sizeof(arguments->base) || !*optarg)
			return rr_tool_usage(tool, "-o takes the path of the output without its ending");
		strcpy(arguments->base, optarg);
		return RR_EXIT_OK;
	default: return rr_tool_usage(tool, "see `rpcrdma xdr --help`");
	}
}

int
rr_tool_xdr(const struct rr_tool *tool, int argc, char **argv)
{
	struct xdr_arguments arguments = { 0 };
	int option, status;

	arguments.preprocess.arguments = arguments.for_cpp;
	while ((option = getopt_long(argc, argv, "+o:D:U:I:", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(tool);
		status = xdr_take(tool, &arguments, option);
		if (status != RR_EXIT_OK)
			return status;
	}
	if (argc - optind != 1)
		return rr_tool_usage(tool, "which schema is to be compiled? Name one file");
	if (!*arguments.base && !default_base(argv[optind], arguments.base))
		return rr_tool_usage(tool, "'%s' gives no name for the output; use -o", argv[optind]);
	if (rr_xdr_compile_with(&rr_env_system, &arguments.preprocess, argv[optind], arguments.base, stderr) <
		0)
		return RR_EXIT_FAILED;
	printf("%s.h\n%s.c\n", arguments.base, arguments.base);
	return RR_EXIT_OK;
}
