/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <rpcrdma/version.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"

/* The sub-commands, in the order of --help. */
static const struct rr_tool *const tools[] = {
	&rr_tool_serve,
	&rr_tool_gateway,
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
	fprintf(out,
		"\n`rpcrdma COMMAND --help` tells more of each; so do rpcrdma(1) and rpcrdma-COMMAND(1).\n"
		"URLs: nfs://HOST[:PORT]/PATH[?NAME=VALUE[&NAME=VALUE]...]\n"
		"      transport=auto|iwarp|verbs|tcp, mountport=N, port=N, rpcbind[=N], version=3|4.1|4.2, "
		"uid=N, gid=N\n");
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

int
main(int argc, char **argv)
{
	main_open_standard();
	if (argc < 2) {
		main_print_usage(stderr);
		return RR_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		main_print_usage(stdout);
		return rr_tool_end_output(NULL, RR_EXIT_OK);
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("rpcrdma %s\n", RPCRDMA_VERSION);
		return rr_tool_end_output(NULL, RR_EXIT_OK);
	}
	for (size_t i = 0; i < TOOLS; i++)
		if (strcmp(argv[1], tools[i]->name) == 0)
			return rr_tool_exit(tools[i]->run(tools[i], argc - 1, argv + 1));
	fprintf(stderr, "rpcrdma: there is no command '%s'; `rpcrdma --help` lists them\n", argv[1]);
	return RR_EXIT_USAGE;
}
