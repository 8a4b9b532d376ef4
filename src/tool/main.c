/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/version.h>
#include <string.h>

#include "tool/tool.h"

static const struct rr_tool tools[] = {
	{ "serve", rr_tool_serve, "Serve directories over NFSv3/RDMA and NFSv3/TCP.",
		"[OPTION]... DIR[=/NAME]...", rr_tool_serve_options },
	{ "gateway", rr_tool_gateway, "Pass NFS on between RDMA and TCP, in either direction.",
		"--listen ADDR[:PORT] --to URL [OPTION]...", rr_tool_gateway_options },
	{ "ls", rr_tool_ls, "List a directory.", "[OPTION]... URL", rr_tool_ls_options },
	{ "stat", rr_tool_stat, "Show what a server says of a file.", "[OPTION]... URL",
		rr_tool_stat_options },
	{ "cat", rr_tool_cat, "Write files to standard output.", "URL...", rr_tool_cat_options },
	{ "cp", rr_tool_cp, "Copy files and trees to, from and between servers.", "[OPTION]... SRC DST",
		rr_tool_cp_options },
	{ "rm", rr_tool_rm, "Remove files and directories.", "[OPTION]... URL...", rr_tool_rm_options },
	{ "mkdir", rr_tool_mkdir, "Make directories.", "[OPTION]... URL...", rr_tool_mkdir_options },
	{ "ping", rr_tool_ping, "Call a server's NULL procedure; show what was negotiated.",
		"[OPTION]... URL", rr_tool_ping_options },
	{ "decode", rr_tool_decode, "Show the messages of a captured file, of iWARP over TCP.",
		"[OPTION]... FILE", rr_tool_decode_options },
	{ "devices", rr_tool_devices, "List RDMA devices: what each can do, or why it is not usable.",
		"[--json]", rr_tool_devices_options },
	{ "xdr", rr_tool_xdr, "Compile an XDR schema (RFC 4506) to C.", "[OPTION]... FILE.x",
		rr_tool_xdr_options },
};

enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

static void
print_usage(FILE *out)
{
	fprintf(out, "Usage: rpcrdma COMMAND [ARGUMENT]...\n"
		     "ONC RPC and NFS over RDMA in user space, with or without RDMA hardware.\n\n"
		     "Commands:\n");
	for (size_t i = 0; i < TOOLS; i++)
		fprintf(out, "  %-8s %s\n", tools[i].name, tools[i].help);
	fprintf(out,
		"\n`rpcrdma COMMAND --help` tells more of each; so do rpcrdma(1) and rpcrdma-COMMAND(1).\n"
		"URLs: nfs://HOST[:PORT]/PATH[?NAME=VALUE[&NAME=VALUE]...]\n"
		"      transport=auto|iwarp|verbs|tcp, mountport=N, port=N, version=3, uid=N, gid=N\n");
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return RR_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return RR_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("rpcrdma %s\n", RPCRDMA_VERSION);
		return RR_EXIT_OK;
	}
	for (size_t i = 0; i < TOOLS; i++)
		if (strcmp(argv[1], tools[i].name) == 0)
			return rr_tool_exit(tools[i].run(&tools[i], argc - 1, argv + 1));
	fprintf(stderr, "rpcrdma: there is no command '%s'; `rpcrdma --help` lists them\n", argv[1]);
	return RR_EXIT_USAGE;
}
