/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/pairs.h"

/* `rpcrdma ln` makes hard and symbolic links. */

/* Returns the connection over which the link is made: the connection to the server of the source. A symbolic
 * link has only a text as its source, so for a symbolic link it is the connection to the server of the
 * destination. */
static struct rpcrdma_nfs *
ln_nfs(const struct rr_pairs *pairs)
{
	return pairs->symbolic ? pairs->to.nfs : pairs->source.remote.nfs;
}

/* Makes the link `name` in the directory of the destination. A hard link is made to `file`; for a symbolic
 * link, `file` is not used. Returns 0, or an error: negative, or a status of NFS. */
static int
ln_make(const struct rr_pairs *pairs, const struct rpcrdma_nfs_object *file, const char *name)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };
	const struct rpcrdma_nfs_handle *to = &pairs->directory.handle;

	if (pairs->symbolic)
		return rpcrdma_nfs_symlink(pairs->to.nfs, to, name, pairs->text, &made, NULL);
	return rpcrdma_nfs_link(ln_nfs(pairs), &file->handle, to, name, NULL);
}

/* Removes the object that has the name already, and makes the link in its place. Refuses this if the object
 * is a directory, or the very file that is to be linked. Returns an exit status, after a message if it is not
 * OK. */
static int
ln_replace(struct rr_pairs *pairs, const struct rpcrdma_nfs_object *file, const char *name)
{
	struct rpcrdma_nfs *nfs = ln_nfs(pairs);
	const struct rpcrdma_nfs_handle *to = &pairs->directory.handle;
	struct rpcrdma_nfs_object there = { .size = sizeof(there) };
	int error = rpcrdma_nfs_lookup(nfs, to, name, &there, NULL);

	if (!error && there.type == RPCRDMA_NFS_DIRECTORY)
		return rr_pairs_fail_both(pairs, "a directory has the new name");
	if (!error && !pairs->symbolic && rr_nfs_is_same(&there, file))
		return rr_pairs_fail(pairs, "the new name is one of this file already");
	if (!error)
		error = rpcrdma_nfs_remove(nfs, to, name, NULL);
	if (!error)
		error = ln_make(pairs, file, name);
	return error ? rr_pairs_fail_both(pairs, rpcrdma_nfs_error(nfs)) : RR_EXIT_OK;
}

/* Finds the file that a hard link is to be made to; a directory is refused. Returns an exit status, after a
 * message if it is not OK. */
static int
ln_find(struct rr_pairs *pairs, struct rpcrdma_nfs_object *file)
{
	struct rpcrdma_nfs *nfs = pairs->source.remote.nfs;
	struct rpcrdma_nfs_object above = { .size = sizeof(above) };

	if (rr_nfs_find(nfs, pairs->source.path, true, &above) != 0 ||
		rpcrdma_nfs_lookup(nfs, &above.handle, pairs->source.last, file, NULL) != 0)
		return rr_pairs_fail(pairs, rr_nfs_explain(nfs));
	if (file->type == RPCRDMA_NFS_DIRECTORY)
		return rr_pairs_fail(
			pairs, "a directory cannot have a second name; -s makes a symbolic link");
	return RR_EXIT_OK;
}

/* Makes the link `name` to the current source. With --force, replaces an object that has the name already.
 * Returns an exit status, after a message if it is not OK. */
static int
ln_one(struct rr_pairs *pairs, const char *name)
{
	struct rpcrdma_nfs_object file = { .size = sizeof(file) };
	int error, status = pairs->symbolic ? RR_EXIT_OK : ln_find(pairs, &file);

	if (status != RR_EXIT_OK)
		return status;
	if (rr_pairs_want_directory(pairs))
		return rr_pairs_fail_there(pairs, "there is no such directory");
	error = ln_make(pairs, &file, name);
	if (error == RPCRDMA_NFS_EXIST && pairs->replace)
		return ln_replace(pairs, &file, name);
	return error ? rr_pairs_fail_both(pairs, rpcrdma_nfs_error(ln_nfs(pairs))) : RR_EXIT_OK;
}

static int
ln_run(const struct rr_tool *tool, int argc, char **argv)
{
	return rr_pairs_run(tool, argc, argv, ln_one);
}

static const struct rr_option ln_options[] = {
	{ .letter = 's',
		.name = "symbolic",
		.help = "make symbolic links: TARGET is the text of the link, and not a URL",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_pairs, symbolic) },
	{ .letter = 'f',
		.name = "force",
		.help = "remove a file that has the name of the link",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_pairs, replace) },
	{ 0 },
};

const struct rr_tool rr_tool_ln = {
	.name = "ln",
	.run = ln_run,
	.help = "Make links on a server.",
	.operands = "TARGET... LINK",
	.least = 2,
	.most = RR_TOOL_ANY,
	.notes = "TARGET and LINK are URLs of one server. Where LINK is a directory, links are\n"
		 "made in it.\n",
	.groups = {
		{ ln_options, 0 },
		{ rr_outcome_options, offsetof(struct rr_pairs, source.outcome) },
		{ rr_remote_options, offsetof(struct rr_pairs, to) },
		{ rr_filters_transport, offsetof(struct rr_pairs, filters) },
		{ rr_filters_options, offsetof(struct rr_pairs, filters) },
		{ rr_filters_calls, offsetof(struct rr_pairs, filters) },
	},
};
