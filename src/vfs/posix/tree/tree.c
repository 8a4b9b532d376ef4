/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes and frees the trees of a provider, and opens the directories of the exports. */
#include "vfs/posix/tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

enum { OPEN_MIN = 16, OPEN_DEFAULT_MAX = 1024 }; /* bounds of the default for open descriptors */

/* Returns how many descriptors a tree keeps open by default: an eighth of the process's limit, within fixed
 * bounds, because there are several trees, and the rest of the server needs descriptors, too. */
static uint32_t
tree_default_open_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 8 < OPEN_MIN)
		return OPEN_MIN;
	return limit.rlim_cur / 8 > OPEN_DEFAULT_MAX ? OPEN_DEFAULT_MAX : (uint32_t)(limit.rlim_cur / 8);
}

/* Returns the length of an export's name without the slashes at its end: "/pub/" counts as "/pub", and "/" as
 * "/". */
static size_t
tree_name_length(const char *name)
{
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		length--;
	return length;
}

/* Copies the configuration with the names and paths of its exports, without slashes at the ends of the names,
 * and makes the array of roots, still empty. Returns 0, or an error with text: NOMEM, or INVAL where a name
 * does not begin with a slash. */
static int
tree_copy_exports(struct rr_tree *tree, const struct rr_tree_config *config, struct rr_text *text)
{
	tree->core->config = *config;
	tree->core->config.exports = tree->core->exports =
		rr_alloc_array(tree->env, config->export_count, sizeof(*tree->core->exports));
	tree->core->roots = rr_alloc_array(tree->env, config->export_count, sizeof(*tree->core->roots));
	if (!tree->core->exports || !tree->core->roots)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for %u exports", config->export_count);
	for (uint32_t i = 0; i < config->export_count; i++)
		tree->core->roots[i].mount_fd = -1;
	for (uint32_t i = 0; i < config->export_count; i++) {
		const struct rr_tree_export *from = &config->exports[i];
		char *name = rr_strdup(tree->env, from->name);

		if (name)
			name[tree_name_length(name)] = 0;
		tree->core->exports[i].name = name;
		tree->core->exports[i].path = rr_strdup(tree->env, from->path);
		if (!name || !tree->core->exports[i].path)
			return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for the export %s", from->name);
		if (name[0] != '/')
			return rr_fail(text, -RPCRDMA_ERR_INVAL,
				"export %s: its name must begin with a slash", name);
	}
	return 0;
}

/* Checks that the system has openat2(2), and that /proc is mounted. Returns 0, or SYSTEM with text. */
static int
tree_check_system(struct rr_text *text)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"this system does not allow openat2(2): Linux 5.8 or later "
			"is needed, and a container must not forbid it");
	if (fd >= 0)
		close((int)fd);
	if (access("/proc/self/fd", X_OK) != 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "/proc/self/fd: %s: /proc must be mounted",
			strerror(errno));
	return 0;
}

/* Returns the identity that the file system of an export's root has for clients. It is the same after
 * restarts: a hash of the export's id and of the file system's own identity, or of the device number where
 * the file system has no identity. */
static uint64_t
tree_root_fsid(const struct rr_tree *tree, const struct rr_tree_root *root, int fd)
{
	struct {
		uint64_t export;
		fsid_t fsid;
	} both = { .export = root->id };
	struct statfs fs;

	memcpy(&both.fsid, &root->device, sizeof(both.fsid));
	if (fstatfs(fd, &fs) == 0 && (fs.f_fsid.__val[0] != 0 || fs.f_fsid.__val[1] != 0))
		both.fsid = fs.f_fsid;
	return rr_handle_hash(&tree->core->keys, &both, sizeof(both));
}

/* Notes in root whether the file system of fd, the export's directory, is known to be local, and whether it
 * lies in memory as a whole (tmpfs). Any other file system may wait for another machine, or hang. */
static void
tree_root_kind(struct rr_tree_root *root, int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return;
	root->local = rr_tree_magic_is_local(fs.f_type);
	root->memory = fs.f_type == TMPFS_MAGIC;
}

/* Opens the directory of an export and fills in root: the properties of the file system, and the node of the
 * directory, which is then held, with its descriptor and its handle. root->export and root->id are set
 * already. Returns 0, or an error with text where the directory cannot be read or there is no memory. */
static int
open_root(struct rr_tree *tree, struct rr_tree_root *root, struct rr_text *text)
{
	const char *path = root->export->path;
	struct rr_handle_place place = { 0 };
	struct rr_handle_id id;
	struct statx st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

	/* The directory is first opened for reading, to learn now whether that is permitted, and for kernel
	 * handles. The node keeps an O_PATH descriptor, for which no permission is needed. */
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	rr_tree_kernel_begin(root, fd);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	error = fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) != 0 ? errno : 0;
	if (error) {
		if (fd >= 0)
			close(fd);
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(error));
	}
	root->device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	root->fsid = tree_root_fsid(tree, root, fd);
	tree_root_kind(root, fd);
	id = rr_tree_id(tree, root, &st);
	root->node = rr_nodes_add(&tree->core->nodes, root, &id);
	if (!root->node) {
		close(fd);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for the export %s", path);
	}
	rr_nodes_set_fd(&tree->core->nodes, root->node, &root->node->path_fd, fd);
	rr_nodes_hold(&tree->core->nodes, root->node);
	rr_tree_kernel_name(root, fd, "", &place.kernel);
	rr_handle_encode(&tree->core->keys, &id, &place, &root->node->handle);
	return 0;
}

/* Opens the directories of all exports and fills in the tree's roots. Returns 0, or an error with text; the
 * error is INVAL where two exports have the same name. */
static int
open_roots(struct rr_tree *tree, struct rr_text *text)
{
	for (uint32_t i = 0; i < tree->core->config.export_count; i++) {
		struct rr_tree_root *root = &tree->core->roots[i];
		const char *name = tree->core->exports[i].name;
		int error;

		root->export = &tree->core->exports[i];
		root->id = (uint32_t)rr_handle_hash(&tree->core->keys, name, strlen(name));
		for (uint32_t j = 0; j < i; j++)
			if (tree->core->roots[j].id == root->id)
				return rr_fail(text, -RPCRDMA_ERR_INVAL,
					"two exports are named %s: give one another name", name);
		error = open_root(tree, root, text);
		if (error)
			return error;
	}
	return 0;
}

/* Makes the core (the knowledge that several trees share) for one tree, with an empty cache of nodes, and
 * stores it in *core. Returns 0 or NOMEM. After an error *core may be set all the same, and is then freed
 * with the tree. */
static int
tree_core_new(const struct rr_env *env, const struct rr_tree_config *config, struct rr_tree_core **core)
{
	struct rr_tree_core *new = rr_alloc(env, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	pthread_mutex_init(&new->lock, NULL);
	new->trees = 1;
	rr_handle_keys(config->key, &new->keys);
	new->search_log = (struct rr_log_limit){ .level = RR_LOG_WARNING, .kind = "renamed objects" };
	new->open_log = (struct rr_log_limit){ .level = RR_LOG_WARNING, .kind = "files that stay open" };
	*core = new;
	return rr_nodes_init(&new->nodes, env, &new->keys,
		config->open_max > 0 ? config->open_max : tree_default_open_max());
}

int
rr_tree_new(const struct rr_env *env, const struct rr_tree_config *config, struct rr_tree **tree_out,
	struct rr_text *text)
{
	struct rr_tree *tree;
	int error;

	tree = rr_alloc(env, sizeof(*tree));
	if (!tree)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a tree");
	tree->env = env;
	rr_identity_init(&tree->identity, env);
	error = tree_core_new(env, config, &tree->core);
	if (error)
		rr_fail(text, error, "no memory for a tree");
	else
		error = tree_check_system(text);
	error = error ? error : tree_copy_exports(tree, config, text);
	if (!error && (rr_seen_init(&tree->core->seen, env) < 0 || rr_search_init(tree) < 0))
		error = rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a tree");
	if (tree->core)
		tree->core->nodes.seen = &tree->core->seen;
	error = error ? error : open_roots(tree, text);
	if (error) {
		rr_tree_free(tree);
		return error;
	}
	*tree_out = tree;
	return 0;
}

int
rr_tree_beside(struct rr_tree *tree, struct rr_tree **beside)
{
	struct rr_tree *new = rr_alloc(tree->env, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = tree->env;
	new->core = tree->core;
	rr_identity_init(&new->identity, tree->env);
	rr_tree_enter(new);
	new->core->trees++;
	rr_tree_leave(new);
	*beside = new;
	return 0;
}

/* Frees a string that was kept as const. The union avoids a cast that takes const away. */
static void
tree_free_text(const struct rr_env *env, const char *text)
{
	union {
		const char *in;
		char *out;
	} cast = { .in = text };

	rr_free(env, cast.out);
}

/* Frees the core, the knowledge that several trees share: its nodes, descriptors, exports and keys. This is
 * called when the last tree that uses the core is freed; the core may be made in part only. */
static void
tree_core_free(struct rr_tree *tree)
{
	const struct rr_env *env = tree->env;
	struct rr_tree_core *core = tree->core;

	rr_search_end(tree);
	rr_log_limit_end(&core->search_log, env);
	rr_log_limit_end(&core->open_log, env);
	rr_nodes_free(&core->nodes);
	rr_seen_free(&core->seen);
	for (uint32_t i = 0; core->roots && i < core->config.export_count; i++)
		if (core->roots[i].mount_fd >= 0)
			close(core->roots[i].mount_fd);
	for (uint32_t i = 0; core->exports && i < core->config.export_count; i++) {
		tree_free_text(env, core->exports[i].path);
		tree_free_text(env, core->exports[i].name);
	}
	rr_free(env, core->exports);
	rr_free(env, core->roots);
	pthread_mutex_destroy(&core->lock);
	explicit_bzero(core, sizeof(*core)); /* the core contains the keys */
	rr_free(env, core);
}

void
rr_tree_free(struct rr_tree *tree)
{
	bool last;

	if (!tree)
		return;
	rr_identity_free(&tree->identity);
	/* A tree that could not be made in full may have no core. */
	if (tree->core) {
		rr_tree_enter(tree);
		last = --tree->core->trees == 0;
		rr_tree_leave(tree);
		if (last)
			tree_core_free(tree);
	}
	rr_free(tree->env, tree);
}

const struct rr_tree_config *
rr_tree_config(const struct rr_tree *tree)
{
	return &tree->core->config;
}

int
rr_tree_as(struct rr_tree *tree, const struct rr_vfs_caller *caller)
{
	return rr_identity_take(&tree->identity, caller);
}

void
rr_tree_as_self(struct rr_tree *tree)
{
	rr_identity_drop(&tree->identity);
}

bool
rr_tree_acts_as_callers(const struct rr_tree *tree)
{
	return tree->identity.root;
}

void
rr_tree_tidy(struct rr_tree *tree)
{
	rr_tree_enter(tree);
	rr_nodes_tidy(&tree->core->nodes, rr_now(tree->env));
	rr_tree_leave(tree);
}

bool
rr_tree_has_far(const struct rr_tree *tree)
{
	return atomic_load_explicit(&tree->core->nodes.has_far, memory_order_relaxed);
}

void
rr_tree_take_far(struct rr_tree *tree, struct rr_list *list)
{
	struct rr_nodes *nodes = &tree->core->nodes;
	struct rr_list *link;

	rr_tree_enter(tree);
	while ((link = rr_list_pop(&nodes->far)))
		rr_list_append(list, link);
	atomic_store_explicit(&nodes->has_far, false, memory_order_relaxed);
	rr_tree_leave(tree);
}

uint32_t
rr_tree_descriptors(const struct rr_tree *tree)
{
	return tree->core->nodes.open_count;
}

bool
rr_tree_is_warm(const struct rr_tree *tree)
{
	return tree->core->nodes.open_count > tree->core->config.export_count;
}

bool
rr_tree_writes(const struct rr_tree *tree)
{
	return tree->core->nodes.writing_count > 0;
}
