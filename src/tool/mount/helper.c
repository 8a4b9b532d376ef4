/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mount.rpcrdma`, by which mount(8) mounts what has the type rpcrdma: mount -t rpcrdma, fstab(5), autofs(5).
 * It is another name of the command. mount(8): "/sbin/mount.suffix spec dir [-sfnv] [-N namespace] [-o
 * options]
 * [-t type.subtype]".
 */
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include "tool/mount/mount.h"

enum { HELPER_WORDS = 8 };

static int
helper_usage(void)
{
	return rr_tool_usage(&rr_tool_mount, "mount.rpcrdma takes SOURCE DIR [-fnsv] [-o OPTIONS] [-t TYPE]");
}

bool
rr_mount_is_helper(const char *name)
{
	const char *slash = strrchr(name, '/');

	return strcmp(slash ? slash + 1 : name, "mount.rpcrdma") == 0;
}

/* Mounts as `rpcrdma mount` does. -f of mount(8) is not that of the command: nothing is to be mounted. */
int
rr_mount_helper(int argc, char **argv)
{
	static char name[] = "mount", list[] = "-o", end[] = "--";
	char *words[HELPER_WORDS] = { name }, *operands[2] = { 0 };
	bool fake = false;
	int count = 1, given = 0, option;

	opterr = 0;
	while ((option = getopt(argc, argv, "-fnsvo:t:N:")) != -1) {
		if (option == 1 && given < 2)
			operands[given++] = optarg;
		else if (option == 'f')
			fake = true;
		else if (option == 'o' && count == 1)
			words[count++] = list, words[count++] = optarg;
		else if (!strchr("nsvt", option))
			return helper_usage();
	}
	if (given != 2)
		return helper_usage();
	words[count++] = end;
	words[count++] = operands[0];
	words[count++] = operands[1];
	optind = 1;
	return fake ? RR_EXIT_OK : rr_tool_mount.run(&rr_tool_mount, count, words);
}
