/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/xdr.h"

#include <getopt.h>
#include <string.h>

#include "tool/tool.h"

enum { OPT_HELP = 256, BASE_SIZE = 4096 };

const char rr_tool_xdr_options[] =
	"  -o, --output BASE   write BASE.h and BASE.c (FILE.h and FILE.c in the working directory)\n";

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
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

int
rr_tool_xdr(const struct rr_tool *tool, int argc, char **argv)
{
	char base[BASE_SIZE] = "";
	int option;

	while ((option = getopt_long(argc, argv, "+o:", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(tool);
		if (option != 'o')
			return rr_tool_usage(tool, "see `rpcrdma xdr --help`");
		if (strlen(optarg) >= sizeof(base) || !*optarg)
			return rr_tool_usage(tool, "-o takes the path of the output without its ending");
		strcpy(base, optarg);
	}
	if (argc - optind != 1)
		return rr_tool_usage(tool, "which schema is to be compiled? Name one file");
	if (!*base && !default_base(argv[optind], base))
		return rr_tool_usage(tool, "'%s' gives no name for the output; use -o", argv[optind]);
	if (rr_xdr_compile(argv[optind], base, stderr) < 0)
		return RR_EXIT_FAILED;
	printf("%s.h\n%s.c\n", base, base);
	return RR_EXIT_OK;
}
