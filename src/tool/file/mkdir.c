/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/names.h"

/* The bits that a mode can have: permissions, set-user-ID, set-group-ID and sticky. */
enum { MKDIR_MODE_MAX = 07777 };

/* Makes the directory `name` with the mode of `changes`. If the server leaves bits of --mode out, such as
 * set-group-ID, sets the mode in a call of its own. The set-group-ID bit that the directory got from the one
 * above it stays, as with mkdir(1). Returns 0 or an error. */
static int
mkdir_with_mode(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *made)
{
	int error = rpcrdma_nfs_mkdir(names->remote.nfs, directory, name, changes, made, NULL);

	names->outcome.directories += error == 0;
	if (error || !names->has_mode)
		return error;
	changes->mode |= made->mode & S_ISGID;
	if (made->mode == changes->mode)
		return 0;
	return rpcrdma_nfs_change(names->remote.nfs, &made->handle, changes, NULL);
}

/* Makes the directory `name` in *directory, and stores the new directory in *directory. With -p, a directory
 * that exists already is no error. is_last: the mode of --mode is for this directory, and not for those above
 * it. Returns an exit status, after a message if it is not OK. */
static int
mkdir_one(struct rr_names *names, const char *name, bool is_last, struct rpcrdma_nfs_object *directory)
{
	struct rpcrdma_nfs *nfs = names->remote.nfs;
	struct rpcrdma_nfs_changes changes = { .size = sizeof(changes), .set_mode = true };
	mode_t mask = umask(0); /* to read the mask; it is set again below */
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };
	int error;

	umask(mask);
	/* The directories above an export that has a name of its own refuse MKDIR as read-only, whatever the
	 * name: so the directory is looked for first. */
	if (names->flag && rpcrdma_nfs_lookup(nfs, &directory->handle, name, &made, NULL) == 0 &&
		made.type == RPCRDMA_NFS_DIRECTORY) {
		*directory = made;
		return RR_EXIT_OK;
	}
	changes.mode = is_last && names->has_mode ? names->mode : 0777 & ~(uint32_t)mask;
	error = mkdir_with_mode(names, &directory->handle, name, &changes, &made);
	if (error == RPCRDMA_NFS_EXIST && names->flag &&
		rpcrdma_nfs_lookup(nfs, &directory->handle, name, &made, NULL) == 0 &&
		made.type == RPCRDMA_NFS_DIRECTORY)
		error = 0;
	rr_nfs_explain_change(names->remote.nfs, error);
	if (error)
		return rr_names_fail(names);
	*directory = made;
	return RR_EXIT_OK;
}

/* Walks from the mounted directory down names->path, and makes each directory on the way that does not exist
 * yet. Stores the last directory of the path in *directory. Cuts names->path into its names. Returns an exit
 * status, after a message if it is not OK. */
static int
mkdir_parents(struct rr_names *names, struct rpcrdma_nfs_object *directory)
{
	char *rest = names->path, *name;
	int status = RR_EXIT_OK;

	if (rr_nfs_find(names->remote.nfs, "", true, directory) != 0)
		return rr_names_fail(names);
	while (status == RR_EXIT_OK && (name = strsep(&rest, "/")))
		if (name[0] && strcmp(name, ".") != 0)
			status = mkdir_one(names, name, false, directory);
	return status;
}

/* Makes the directory that the URL names; with -p, also those above it. The root of an export exists already,
 * which is an error without -p. Returns an exit status, after a message if it is not OK. */
static int
mkdir_url(struct rr_names *names)
{
	struct rpcrdma_nfs_object directory = { .size = sizeof(directory) };

	if (names->last[0] == '\0')
		return names->flag ? RR_EXIT_OK
				   : rr_outcome_fail(&names->outcome, names->tool, "%s: it exists already",
					     names->remote.name);
	if (names->flag && mkdir_parents(names, &directory) != RR_EXIT_OK)
		return RR_EXIT_FAILED;
	if (!names->flag && rr_nfs_find(names->remote.nfs, names->path, true, &directory) != 0)
		return rr_names_fail(names);
	return mkdir_one(names, names->last, true, &directory);
}

static int
mkdir_run(const struct rr_tool *tool, int argc, char **argv)
{
	return rr_names_run(tool, argc, argv, mkdir_url);
}

/* Takes the argument of --mode, an octal number. */
static int
mkdir_take_mode(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_names *names = state;
	char *end;
	unsigned long mode = strtoul(argument, &end, 8);

	if (argument[0] < '0' || argument[0] > '7' || *end || mode > MKDIR_MODE_MAX)
		return rr_tool_usage(tool, "--mode takes an octal number from 0 to %o, not '%s'",
			MKDIR_MODE_MAX, argument);
	names->has_mode = true;
	names->mode = (uint32_t)mode;
	return RR_EXIT_OK;
}

static const struct rr_option mkdir_options[] = {
	{ .letter = 'm',
		.name = "mode",
		.argument = "MODE",
		.help = "the mode of the directory, octal (777 less the bits of the umask)",
		.kind = RR_OPTION_CALL,
		.take = mkdir_take_mode },
	{ .letter = 'p',
		.name = "parents",
		.help = "make the directories above, too; a directory that exists is no error",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_names, flag) },
	{ 0 },
};

const struct rr_tool rr_tool_mkdir = {
	.name = "mkdir",
	.run = mkdir_run,
	.help = "Make directories.",
	.operands = "URL...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.urls = true,
	.groups = {
		{ mkdir_options, 0 },
		{ rr_outcome_options, offsetof(struct rr_names, outcome) },
		{ rr_remote_options, offsetof(struct rr_names, remote) },
		{ rr_filters_transport, offsetof(struct rr_names, filters) },
		{ rr_filters_options, offsetof(struct rr_names, filters) },
		{ rr_filters_calls, offsetof(struct rr_names, filters) },
	},
};
