/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/version.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "tool/mount/mount.h"
#include "tool/tool.h"

/* The sub-commands, in the order of --help. */
static const struct rr_tool *const tools[] = {
	&rr_tool_serve,
	&rr_tool_gateway,
	&rr_tool_mount,
	&rr_tool_umount,
	&rr_tool_ls,
	&rr_tool_stat,
	&rr_tool_cat,
	&rr_tool_cp,
	&rr_tool_sync,
	&rr_tool_rm,
	&rr_tool_mkdir,
	&rr_tool_mv,
	&rr_tool_ln,
	&rr_tool_df,
	&rr_tool_ping,
	&rr_tool_check,
	&rr_tool_decode,
	&rr_tool_devices,
	&rr_tool_doctor,
	&rr_tool_top,
	&rr_tool_xdr,
};

enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

static void
main_print_usage(FILE *out)
{
	fprintf(out, "Usage: rpcrdma COMMAND [ARGUMENT]...\n"
		     "ONC RPC and NFS over RDMA in user space, with or without RDMA hardware.\n\n"
		     "Commands:\n");
	for (size_t i = 0; i < TOOLS; i++)
		fprintf(out, "  %-8s %s\n", tools[i]->name, tools[i]->help);
	fputs("\n`rpcrdma help COMMAND` tells more of each; so does rpcrdma-COMMAND(1).\n"
	      "URLs: nfs://HOST[:PORT]/PATH[?NAME=VALUE[&NAME=VALUE]...], or HOST:/PATH\n"
	      "      transport=auto|iwarp|verbs|tcp, version=3|4.1|4.2, port=N, mountport=N,\n"
	      "      rpcbind[=N], uid=N, gid=N\n",
		out);
}

/* Opens the descriptors of standard input, output and error that the caller has closed, so that no file or
 * connection gets their numbers. Reading from the first of them and writing to the others then fails. */
static void
main_open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Returns the sub-command of that name; or NULL, after a message, if there is none. */
static const struct rr_tool *
main_find(const char *name)
{
	for (size_t i = 0; i < TOOLS; i++)
		if (strcmp(name, tools[i]->name) == 0)
			return tools[i];
	fprintf(stderr, "rpcrdma: there is no command '%s'; `rpcrdma --help` lists them\n", name);
	return NULL;
}

/* `rpcrdma help [COMMAND]`, or --help without a sub-command. */
static int
main_help(int argc, char **argv)
{
	const struct rr_tool *tool = argc > 2 ? main_find(argv[2]) : NULL;

	if (argc > 2)
		return tool ? rr_tool_help(tool) : RR_EXIT_USAGE;
	main_print_usage(stdout);
	return rr_tool_end_output(NULL, RR_EXIT_OK);
}

static int
main_version(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("rpcrdma %s\n", RPCRDMA_VERSION);
	return rr_tool_end_output(NULL, RR_EXIT_OK);
}

/* `rpcrdma --complete [COMMAND]` prints the sub-commands, or the options of one, for the completion of
 * shells. */
static int
main_complete(int argc, char **argv)
{
	const struct rr_tool *tool = argc > 2 ? main_find(argv[2]) : NULL;

	if (argc > 2)
		return tool ? rr_tool_complete(tool) : RR_EXIT_USAGE;
	for (size_t i = 0; i < TOOLS; i++)
		printf("%s\t%s\n", tools[i]->name, tools[i]->help);
	return rr_tool_end_output(NULL, RR_EXIT_OK);
}

/* What may stand in place of a sub-command. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} main_words[] = {
	{ "--help", main_help },
	{ "-h", main_help },
	{ "help", main_help },
	{ "--version", main_version },
	{ "-V", main_version },
	{ "version", main_version },
	{ "--complete", main_complete },
};

int
main(int argc, char **argv)
{
	const struct rr_tool *tool;

	main_open_standard();
	if (argc > 0 && rr_mount_is_helper(argv[0]))
		return rr_system_random_ready() < 0
			       ? rr_tool_fail(&rr_tool_mount, RR_NO_RANDOM, strerror(errno))
			       : rr_mount_helper(argc, argv);
	if (argc < 2) {
		main_print_usage(stderr);
		return RR_EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(main_words) / sizeof(main_words[0]); i++)
		if (strcmp(argv[1], main_words[i].name) == 0)
			return main_words[i].run(argc, argv);
	tool = main_find(argv[1]);
	if (!tool)
		return RR_EXIT_USAGE;
	/* The compiler of schemas needs none. */
	if (tool != &rr_tool_xdr && rr_system_random_ready() < 0)
		return rr_tool_fail(tool, RR_NO_RANDOM, strerror(errno));
	return rr_tool_exit(tool->run(tool, argc - 1, argv + 1));
}
