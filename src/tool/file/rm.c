/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tool/ask.h"
#include "tool/cp/catalog.h"
#include "tool/names.h"

/* `rpcrdma rm` removes files and directories. No symbolic link is followed. */

/* Octets for the name of a URL and a path below it. */
enum { RM_PATH = RR_TRAIL_PATH + RR_REMOTE_NAME };

static int rm_entry(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name);

/* Reports a failure at `name`, which is the last name of the URL itself, or a name below it. Returns
 * RR_EXIT_FAILED. */
static int
rm_fail(struct rr_names *names, const char *name, const char *why)
{
	if (name == names->last)
		return rr_outcome_fail(&names->outcome, names->tool, "%s: %s", names->remote.name, why);
	return rr_outcome_fail(&names->outcome, names->tool, "%s: %s: %s", names->remote.name, name, why);
}

/* Tells whether an error only says that the object is gone: somebody else removed it meanwhile, which is no
 * error with --force. RFC 1813, 2.6: NFS3ERR_STALE: "The file referred to by that file handle no longer
 * exists". */
static bool
rm_is_gone(const struct rr_names *names, int error)
{
	return names->force && (error == RPCRDMA_NFS_NOENT || error == RPCRDMA_NFS_STALE);
}

/* Tells whether the object is to be removed: asks the user with -i. */
static bool
rm_may(struct rr_names *names, const char *what)
{
	if (!names->ask || rr_ask(names->tool, "remove %s %s", what, names->below))
		return true;
	names->kept++;
	return false;
}

/* With --verbose, and without --json, prints the name of what was removed. */
static void
rm_say(const struct rr_names *names)
{
	if (names->remote.verbose == 0 || names->outcome.json)
		return;
	printf("remove ");
	rr_tool_put_name(stdout, names->below);
	putchar('\n');
}

/* Removes all entries of a directory. If an entry cannot be removed, that is reported, and the other entries
 * are removed nevertheless. Nothing more is removed if the tree has so many entries that it seems to be
 * endless, or after a signal. Returns an exit status. */
static int
rm_contents(struct rr_names *names, const struct rpcrdma_nfs_handle *directory)
{
	const uint64_t before = names->trail.octets;
	struct rr_catalog catalog = { .octets = before };
	const char *endless;
	int status = RR_EXIT_OK;
	int error = rpcrdma_nfs_list(names->remote.nfs, directory, rr_catalog_take, &catalog);

	if (error && !rm_is_gone(names, error))
		status = rr_names_fail(names);
	names->trail.octets = catalog.octets;
	endless = rr_trail_count(&names->trail, catalog.count);
	if (endless)
		status = rm_fail(names, names->last, endless);
	for (size_t i = 0; i < catalog.count && !names->trail.endless && !rr_tool_interrupted(NULL); i++)
		if (rm_entry(names, directory, catalog.entries[i].name) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	rr_catalog_free(&catalog);
	names->trail.octets = before;
	return status;
}

/* Removes the directory `name` with all that is in it, if -r was given; otherwise that is an error. Returns
 * an exit status, after a message if it is not OK. */
static int
rm_directory(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_object *object)
{
	uint64_t kept = names->kept;
	const char *endless;
	int status, error;

	if (!names->flag)
		return rm_fail(names, name, "it is a directory; -r removes it with all that is in it");
	endless = rr_trail_enter(&names->trail, object->filesystem, object->number);
	if (endless)
		return rm_fail(names, name, endless);
	status = rm_contents(names, &object->handle);
	rr_trail_leave(&names->trail);
	if (status != RR_EXIT_OK)
		return status;
	if (rr_tool_interrupted(NULL))
		return rm_fail(names, name, "interrupted");
	/* A directory stays, without a question or a message, if something stays in it. */
	if (names->kept > kept || !rm_may(names, "the directory"))
		return RR_EXIT_OK;
	error = rpcrdma_nfs_rmdir(names->remote.nfs, directory, name, NULL);
	if (rm_is_gone(names, error))
		return RR_EXIT_OK;
	if (error)
		return rm_fail(names, name, rpcrdma_nfs_error(names->remote.nfs));
	names->outcome.directories++;
	rm_say(names);
	return RR_EXIT_OK;
}

/* Removes the entry `name` of a directory, be it a file or a directory. With --force, it is no error if there
 * is no such entry, or none any more. Returns an exit status, after a message if it is not OK. */
static int
rm_name(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	struct rpcrdma_nfs *nfs = names->remote.nfs;
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	int error = rpcrdma_nfs_lookup(nfs, directory, name, &object, NULL);

	if (rm_is_gone(names, error))
		return RR_EXIT_OK;
	if (error)
		return rm_fail(names, name, rpcrdma_nfs_error(nfs));
	if (object.type == RPCRDMA_NFS_DIRECTORY)
		return rm_directory(names, directory, name, &object);
	if (name == names->last && rr_remote_has_slash(&names->remote))
		return rm_fail(names, name, "it is no directory");
	if (!rm_may(names, "the file"))
		return RR_EXIT_OK;
	error = rpcrdma_nfs_remove(nfs, directory, name, NULL);
	if (rm_is_gone(names, error))
		return RR_EXIT_OK;
	if (error)
		return rm_fail(names, name, rpcrdma_nfs_error(nfs));
	names->outcome.files++;
	names->outcome.octets += object.type == RPCRDMA_NFS_FILE ? object.length : 0;
	rm_say(names);
	return RR_EXIT_OK;
}

/* Removes an entry of the directory whose path is in names->below, which has that of the entry meanwhile. */
static int
rm_entry(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	size_t length = strlen(names->below);
	int status;

	snprintf(names->below + length, RM_PATH - length, "/%s", name);
	status = rm_name(names, directory, name);
	names->below[length] = '\0';
	return status;
}

/* Removes the object that the URL names; the root of an export is refused. With --force, it is no error if
 * there is no such object. Returns an exit status, after a message if it is not OK. */
static int
rm_url(struct rr_names *names)
{
	struct rpcrdma_nfs_object directory = { .size = sizeof(directory) };
	int error, status;

	if (names->last[0] == '\0')
		return rr_outcome_fail(
			&names->outcome, names->tool, "%s: an export is not removed", names->remote.name);
	error = rr_nfs_find(names->remote.nfs, names->path, true, &directory);
	if (error == RPCRDMA_NFS_NOENT && names->force)
		return RR_EXIT_OK;
	if (error)
		return rr_names_fail(names);
	names->trail = (struct rr_trail){ .depth = 0 };
	names->kept = 0;
	names->below = malloc(RM_PATH);
	if (!names->below)
		return rr_outcome_fail(&names->outcome, names->tool, "out of memory");
	snprintf(names->below, RM_PATH, "%s", names->remote.name);
	status = rm_name(names, &directory.handle, names->last);
	free(names->below);
	return status;
}

/* Takes -f, or -i: the last of the two counts. */
static int
rm_take_force(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_names *names = state;

	(void)tool, (void)argument;
	names->force = true;
	names->ask = false;
	return RR_EXIT_OK;
}

static int
rm_take_ask(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_names *names = state;

	(void)tool, (void)argument;
	names->force = false;
	names->ask = true;
	return RR_EXIT_OK;
}

static int
rm_run(const struct rr_tool *tool, int argc, char **argv)
{
	return rr_names_run(tool, argc, argv, rm_url);
}

static const struct rr_option rm_options[] = {
	{ .letter = 'f',
		.name = "force",
		.help = "a name that does not exist is no error",
		.kind = RR_OPTION_CALL,
		.take = rm_take_force },
	{ .letter = 'i',
		.name = "interactive",
		.help = "ask before each file and each directory is removed",
		.kind = RR_OPTION_CALL,
		.take = rm_take_ask },
	{ .letter = 'r',
		.name = "recursive",
		.help = "remove directories with all that is in them",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_names, flag) },
	{ 0 },
};

const struct rr_tool rr_tool_rm = {
	.name = "rm",
	.run = rm_run,
	.help = "Remove files and directories.",
	.operands = "URL...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.urls = true,
	.groups = {
		{ rm_options, 0 },
		{ rr_outcome_options, offsetof(struct rr_names, outcome) },
		{ rr_remote_list_options, offsetof(struct rr_names, remote) },
		{ rr_filters_transport, offsetof(struct rr_names, filters) },
		{ rr_filters_options, offsetof(struct rr_names, filters) },
		{ rr_filters_calls, offsetof(struct rr_names, filters) },
	},
};
