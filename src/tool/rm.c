/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/catalog.h"
#include "tool/names.h"

/* `rpcrdma rm` removes files and directories. No symbolic link is followed. */

static int rm_name(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name);

/* Reports a failure at `name`, which is the last name of the URL itself, or a name below it. Returns
 * RR_EXIT_FAILED. */
static int
rm_fail(struct rr_names *names, const char *name, const char *why)
{
	if (name == names->last)
		return rr_outcome_fail(&names->outcome, names->tool, "%s: %s", names->remote.name, why);
	return rr_outcome_fail(&names->outcome, names->tool, "%s: %s: %s", names->remote.name, name, why);
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

	if (rpcrdma_nfs_list(names->remote.nfs, directory, rr_catalog_take, &catalog) != 0)
		status = rr_names_fail(names);
	names->trail.octets = catalog.octets;
	endless = rr_trail_count(&names->trail, catalog.count);
	if (endless)
		status = rm_fail(names, names->last, endless);
	for (size_t i = 0; i < catalog.count && !names->trail.endless && !rr_tool_interrupted(NULL); i++)
		if (rm_name(names, directory, catalog.entries[i].name) != RR_EXIT_OK)
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
	const char *endless;
	int status;

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
	if (rpcrdma_nfs_rmdir(names->remote.nfs, directory, name, NULL) != 0)
		return rm_fail(names, name, rpcrdma_nfs_error(names->remote.nfs));
	names->outcome.directories++;
	return RR_EXIT_OK;
}

/* Removes the entry `name` of a directory, be it a file or a directory. With --force, it is no error if there
 * is no such entry. Returns an exit status, after a message if it is not OK. */
static int
rm_name(struct rr_names *names, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	struct rpcrdma_nfs *nfs = names->remote.nfs;
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	int error = rpcrdma_nfs_lookup(nfs, directory, name, &object, NULL);

	if (error == RPCRDMA_NFS_NOENT && names->force)
		return RR_EXIT_OK;
	if (error)
		return rm_fail(names, name, rpcrdma_nfs_error(nfs));
	if (object.type == RPCRDMA_NFS_DIRECTORY)
		return rm_directory(names, directory, name, &object);
	if (name == names->last && rr_remote_has_slash(&names->remote))
		return rm_fail(names, name, "it is no directory");
	if (rpcrdma_nfs_remove(nfs, directory, name, NULL) != 0)
		return rm_fail(names, name, rpcrdma_nfs_error(nfs));
	names->outcome.files++;
	names->outcome.octets += object.type == RPCRDMA_NFS_FILE ? object.length : 0;
	return RR_EXIT_OK;
}

/* Removes the object that the URL names; the root of an export is refused. With --force, it is no error if
 * there is no such object. Returns an exit status, after a message if it is not OK. */
static int
rm_url(struct rr_names *names)
{
	struct rpcrdma_nfs_object directory = { .size = sizeof(directory) };
	int error;

	if (names->last[0] == '\0')
		return rr_outcome_fail(
			&names->outcome, names->tool, "%s: an export is not removed", names->remote.name);
	error = rpcrdma_nfs_find(names->remote.nfs, names->path, true, &directory);
	if (error == RPCRDMA_NFS_NOENT && names->force)
		return RR_EXIT_OK;
	if (error)
		return rr_names_fail(names);
	names->trail = (struct rr_trail){ .depth = 0 };
	return rm_name(names, &directory.handle, names->last);
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
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_names, force) },
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
		{ rr_remote_options, offsetof(struct rr_names, remote) },
		{ rr_filters_transport, offsetof(struct rr_names, filters) },
		{ rr_filters_options, offsetof(struct rr_names, filters) },
		{ rr_filters_calls, offsetof(struct rr_names, filters) },
	},
};
