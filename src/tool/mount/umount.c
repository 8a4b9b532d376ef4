/* SPDX-License-Identifier: BSD-3-Clause */
/* `rpcrdma umount` ends a mount, also where its server or its process does not answer. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fuse/device.h"
#include "tool/tool.h"

struct umount {
	bool force, lazy;
};

/* Writes the absolute path of the directory: only what is above is looked at, as the directory itself may
 * hang, or be the remains of a mount whose process has died. Returns false for a name that is none. */
static bool
umount_path(const char *directory, char path[PATH_MAX])
{
	char copy[PATH_MAX], above[PATH_MAX], *slash;
	size_t length = strlen(directory);
	const char *name;

	while (length > 1 && directory[length - 1] == '/')
		length--;
	if (length == 0 || length >= sizeof(copy))
		return false;
	memcpy(copy, directory, length);
	copy[length] = '\0';
	slash = strrchr(copy, '/');
	name = slash ? slash + 1 : copy;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return realpath(copy, path) != NULL;
	if (slash)
		*slash = '\0';
	if (!realpath(slash ? (slash == copy ? "/" : copy) : ".", above))
		return false;
	return (size_t)snprintf(path, PATH_MAX, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name) <
	       PATH_MAX;
}

static int
umount_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct umount umount = { 0 };
	int result = rr_options_parse(tool, &umount, &argc, &argv);
	char path[PATH_MAX];
	struct rr_text text;

	if (result != RR_OPTIONS_GO_ON)
		return result;
	for (int i = 0; i < argc; i++) {
		if (!umount_path(argv[i], path))
			return rr_tool_fail(tool, "%s: %s", argv[i], strerror(errno));
		if ((umount.force ? rr_fuse_device_force(path, &text)
				  : rr_fuse_device_unmount(path, umount.lazy, &text)) < 0)
			return rr_tool_fail(tool, "%s", text.text);
	}
	return RR_EXIT_OK;
}

static const struct rr_option umount_options[] = {
	{ .letter = 'f',
		.name = "force",
		.help = "end the mount without asking its server: programs that use it get errors, and what "
			"they have written "
			"and not closed is lost",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct umount, force) },
	{ .letter = 'l',
		.name = "lazy",
		.help = "take the mount away now, and end it when no program uses it any more",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct umount, lazy) },
	{ 0 },
};

const struct rr_tool rr_tool_umount = {
	.name = "umount",
	.run = umount_run,
	.help = "End a mount.",
	.operands = "DIR...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.groups = { { umount_options, 0 } },
};
