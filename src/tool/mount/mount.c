/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `rpcrdma mount` mounts a directory of an NFS server by FUSE: the server's files are a storage (serve/nfs.c)
 * of which the kernel is the client. In the background, the process that serves the mount is a child, which
 * is made before anything else: it connects, mounts, and says by a pipe how that went; then its parent ends
 * with that exit status.
 */
#include "tool/mount/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "nfs/url.h"
#include "tool/serve/serve.h"
#include "vfs/door.h"

/* For so long, what was written may take to reach stable storage: of a mount that is ended by a signal, and
 * of one that was unmounted, where all that programs have closed is at the server. */
#define MOUNT_DRAIN  (5 * RR_SECOND)
#define MOUNT_COMMIT (60 * RR_SECOND)

/* So much is read ahead: four READs of the largest size. */
enum { MOUNT_AHEAD = 4096 };

/* A mount that is being made or served. */
struct mount_run {
	const struct rr_tool *tool;
	struct rr_mount *mount;
	char url[2 * PATH_MAX];
	char directory[PATH_MAX];
	char *path;             /* the URL, as serve/nfs.c has made it */
	struct rr_serve *serve; /* what serve/nfs.c wants to know */
	void *shared;
	struct rpcrdma_engine *engine;
	struct rr_vfs *vfs;
	struct rr_fuse *fuse;
	int pipe; /* to the parent; -1: in the foreground */
	bool ended;
};

/* Writes text as a part of a URL: what has a meaning there is escaped. */
static void
mount_escape(char *out, size_t size, const char *text)
{
	size_t length = strlen(out);

	for (; *text && length + 4 < size; text++) {
		if (strchr("%?#& ", *text) || (unsigned char)*text < ' ')
			length +=
				(size_t)snprintf(out + length, size - length, "%%%02X", (unsigned char)*text);
		else
			out[length++] = *text;
	}
	out[length] = '\0';
}

/* Makes the URL of what the user has typed, HOST:/PATH or a URL, and of the options -o. */
static int
mount_name(struct mount_run *run, const char *source)
{
	const char *path = strncmp(source, "nfs:", 4) == 0 ? NULL : strstr(source, ":/");
	const char *query = run->mount->query;
	int status = rr_options_url(run->tool, source);
	struct rr_text text;
	struct rr_url url;

	if (status != RR_EXIT_OK)
		return status;
	if (path) {
		snprintf(run->url, sizeof(run->url), "nfs://%.*s", (int)(path - source), source);
		mount_escape(run->url, sizeof(run->url), path + 1);
	} else {
		snprintf(run->url, sizeof(run->url), "%s", source);
	}
	if (*query) {
		size_t length = strlen(run->url);

		snprintf(run->url + length, sizeof(run->url) - length, "%c%s",
			strchr(run->url, '?') ? '&' : '?', query + 1);
	}
	if (rr_url_parse(run->url, &url, &text) < 0)
		return rr_tool_usage(run->tool, "%s: %s", source, text.text);
	run->mount->config.locks = !run->mount->no_lock;
	if (url.has_uid || url.has_gid) {
		run->mount->config.callers = false;
		run->mount->config.group_count = 0;
		run->mount->config.uid = url.has_uid ? url.uid : geteuid();
		run->mount->config.gid = url.has_gid ? url.gid : getegid();
	}
	return RR_EXIT_OK;
}

/* Looks at the directory that is to be mounted on. The remains of a mount whose process has died are taken
 * away. */
static int
mount_place(struct mount_run *run, const char *directory)
{
	struct rr_text text;
	struct statvfs space;
	struct stat st;

	/* stat(2) would tell what the kernel has kept. */
	if (statvfs(directory, &space) < 0 && errno == ENOTCONN &&
		rr_fuse_device_unmount(directory, true, &text) == 0)
		rr_tool_warn(run->tool, "%s: a mount whose process had ended was taken away", directory);
	if (!realpath(directory, run->directory))
		return rr_tool_fail(run->tool, "%s: %s", directory, strerror(errno));
	if (stat(run->directory, &st) < 0 || !S_ISDIR(st.st_mode))
		return rr_tool_fail(run->tool, "%s is no directory", directory);
	return RR_EXIT_OK;
}

/* Makes the storage of the URL. */
static int
mount_connect(struct mount_run *run)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_serve *serve = run->serve;
	int status = rr_filters_start(run->tool, &run->mount->filters, &config);
	struct rr_text text;

	if (status != RR_EXIT_OK)
		return status;
	serve->texts[0] = strdup(run->url);
	run->path = serve->texts[0] ? rr_serve_nfs.path(run->tool, serve, serve->texts[0], &status) : NULL;
	serve->exports[0].path = run->path;
	if (!serve->exports[0].path)
		return status;
	serve->exports[0].name = "/";
	serve->provider = &rr_serve_nfs;
	serve->tree.export_count = 1;
	serve->tree.read_only = run->mount->device.read_only;
	rr_env_system.random(rr_env_system.ctx, serve->tree.key, sizeof(serve->tree.key));
	serve->storage.nfs.locks = run->mount->config.locks;
	if (rr_serve_nfs.begin(serve, &run->shared, &text) < 0)
		return rr_tool_fail(run->tool, "%s", text.text);
	if (run->mount->config.locks && !serve->storage.nfs.locks) {
		rr_tool_warn(run->tool,
			"%s: the server's NLM was found neither at the port of NFS nor by its rpcbind: locks "
			"are those of "
			"this machine alone, as with nolock",
			run->url);
		run->mount->config.locks = false;
	}
	if (rr_engine_new(&rr_env_system, &config, &run->engine) < 0)
		return rr_tool_fail(run->tool, "the engine cannot start");
	if (rr_serve_nfs.provide(run->shared, serve, run->engine, &run->vfs, &text) < 0)
		return rr_tool_fail(run->tool, "%s", text.text);
	return RR_EXIT_OK;
}

struct mount_getattr {
	struct rr_vfs_getattr getattr;
	bool done;
};

static void
mount_getattr_done(struct rr_vfs_call *call)
{
	rr_container(call, struct mount_getattr, getattr.call)->done = true;
}

/* Asks for the attributes of the root: a mount comes after the server has answered. */
static int
mount_ask(struct mount_run *run)
{
	struct rr_fuse_config *config = &run->mount->config;
	const struct rr_vfs_caller caller = { config->uid, config->gid, config->group_count, config->groups,
		false };
	struct mount_getattr asked = { .getattr.call = { .caller = &caller, .done = mount_getattr_done } };
	struct rr_vfs_handle root;
	enum rr_vfs_status status;

	rr_vfs_root(run->vfs, 0, &root);
	asked.getattr.object.handle = (struct rpcrdma_bytes){ root.data, root.length };
	status = rr_vfs_getattr(run->vfs, &asked.getattr);
	if (status == RR_VFS_PENDING) {
		while (!asked.done && !rr_tool_interrupted(NULL) && rr_loop_turn(run->engine->loop, -1) >= 0)
			;
		if (!asked.done)
			rr_vfs_cancel(run->vfs, &asked.getattr.call);
		while (!asked.done && rr_loop_turn(run->engine->loop, -1) >= 0)
			;
		status = asked.getattr.call.status;
	}
	if (status != RR_VFS_OK)
		return rr_tool_fail(run->tool, "%s: %s", run->url, rr_vfs_status_text(status));
	config->root = asked.getattr.attributes;
	return RR_EXIT_OK;
}

static void
mount_begun(void *ctx)
{
	rr_fuse_device_read_ahead(((struct mount_run *)ctx)->directory, MOUNT_AHEAD);
}

static void
mount_ended(void *ctx)
{
	((struct mount_run *)ctx)->ended = true;
}

/* Mounts, and begins to serve the kernel. */
static int
mount_begin(struct mount_run *run)
{
	struct rr_fuse_config *config = &run->mount->config;
	struct rr_text text;

	run->mount->device.source = run->url;
	run->mount->device.directory = run->directory;
	config->fd = rr_fuse_device_mount(&run->mount->device, &text);
	if (config->fd < 0)
		return rr_tool_fail(run->tool, "%s", text.text);
	config->vfs = run->vfs;
	config->begun = mount_begun;
	config->ended = mount_ended;
	config->ctx = run;
	if (rr_fuse_new(&rr_env_system, config, &run->fuse) < 0) {
		rr_fuse_device_unmount(run->directory, true, &text);
		return rr_tool_fail(run->tool, "out of memory");
	}
	return RR_EXIT_OK;
}

/* The mount stands: the parent ends, and the terminal is left. */
static void
mount_detach(struct mount_run *run)
{
	const char status = RR_EXIT_OK;
	int null;

	if (run->pipe < 0)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	(void)!chdir("/");
	(void)!write(run->pipe, &status, 1);
	close(run->pipe);
	run->pipe = -1;
}

/* The mount ends: what was written is brought to stable storage, as far as the server answers in time. A
 * signal ends that, too. */
static void
mount_drain(struct mount_run *run)
{
	bool signalled = rr_tool_interrupted(NULL);
	uint64_t now = rr_now(&rr_env_system), until = now + (signalled ? MOUNT_DRAIN : MOUNT_COMMIT);
	struct rr_text text;

	while (now < until && !rr_fuse_drain(run->fuse) && (signalled || !rr_tool_interrupted(NULL))) {
		if (rr_loop_turn(run->engine->loop, (int64_t)(until - now)) < 0)
			break;
		now = rr_now(&rr_env_system);
	}
	if (!run->ended && rr_fuse_device_unmount(run->directory, true, &text) < 0)
		rr_tool_warn(run->tool, "%s", text.text);
}

/* Connects, mounts, and serves until the mount ends. */
static int
mount_serve(struct mount_run *run)
{
	int status = mount_connect(run);

	if (status == RR_EXIT_OK)
		status = mount_ask(run);
	if (status == RR_EXIT_OK)
		status = mount_begin(run);
	if (status != RR_EXIT_OK)
		return status;
	mount_detach(run);
	while (!run->ended && !rr_tool_interrupted(NULL)) {
		if (rr_loop_turn(run->engine->loop, -1) < 0)
			return rr_tool_fail(run->tool, "waiting for events failed: %s", strerror(errno));
	}
	mount_drain(run);
	return RR_EXIT_OK;
}

static void
mount_free(struct mount_run *run)
{
	if (run->fuse)
		rr_fuse_free(run->fuse);
	if (run->mount->config.fd > 0)
		close(run->mount->config.fd);
	if (run->vfs)
		rr_vfs_destroy(run->vfs);
	rpcrdma_engine_free(run->engine);
	rr_serve_nfs.end(run->shared);
	free(run->path);
	free(run->serve->texts[0]);
}

/* In the parent: waits until the mount stands, and returns the exit status. A child that ends without a word
 * has said itself why. */
static int
mount_await(int pipe)
{
	char status = RR_EXIT_FAILED;
	ssize_t got;

	do
		got = read(pipe, &status, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? status : RR_EXIT_FAILED;
}

/* Divides the process, unless it stays in the foreground. Returns RR_OPTIONS_GO_ON in the process that serves
 * the mount. */
static int
mount_fork(struct mount_run *run)
{
	int pipes[2];
	pid_t child;

	run->pipe = -1;
	if (run->mount->foreground)
		return RR_OPTIONS_GO_ON;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return rr_tool_fail(run->tool, "no pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		return rr_tool_fail(run->tool, "no process: %s", strerror(errno));
	if (child > 0) {
		close(pipes[1]);
		return mount_await(pipes[0]);
	}
	close(pipes[0]);
	run->pipe = pipes[1];
	setsid();
	return RR_OPTIONS_GO_ON;
}

static void
mount_defaults(struct rr_mount *mount)
{
	bool root = geteuid() == 0;
	struct rr_fuse_config *config = &mount->config;
	gid_t groups[RR_VFS_GROUPS];
	int count;

	mount->device.allow_other = mount->no_other ? false : root || mount->has_other;
	config->callers = root && mount->device.allow_other;
	config->uid = geteuid();
	config->gid = getegid();
	count = getgroups(RR_VFS_GROUPS, groups);
	config->group_count = count > 0 ? (uint32_t)count : 0;
	for (int i = 0; i < count; i++)
		config->groups[i] = groups[i];
	if (mount->soft)
		config->patience = mount->timeo * (RR_SECOND / 10) * (mount->retrans ? mount->retrans : 1);
	if (config->file_most < config->file_least)
		config->file_most = config->file_least;
	if (config->directory_most < config->directory_least)
		config->directory_most = config->directory_least;
}

static int
mount_run(const struct rr_tool *tool, int argc, char **argv)
{
	/* As nfs(5) has them. */
	struct rr_mount mount = { .config = { .file_least = 3 * RR_SECOND,
					  .file_most = 60 * RR_SECOND,
					  .directory_least = 30 * RR_SECOND,
					  .directory_most = 60 * RR_SECOND,
					  .write_max = 1 << 20,
					  .behind_max = UINT64_C(64) << 20 },
		.timeo = 600,
		.retrans = 2 };
	struct mount_run run = { .tool = tool, .mount = &mount };
	int status = rr_options_parse(tool, &mount, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	mount_defaults(&mount);
	run.serve = calloc(1, sizeof(*run.serve));
	if (!run.serve)
		return rr_tool_fail(tool, "out of memory");
	status = mount_name(&run, argv[0]);
	if (status == RR_EXIT_OK)
		status = mount_place(&run, argv[1]);
	if (status == RR_EXIT_OK)
		status = mount_fork(&run);
	if (status == RR_OPTIONS_GO_ON) {
		rr_tool_catch_signals();
		status = mount_serve(&run);
		mount_free(&run);
		status = rr_filters_end(tool, &mount.filters, status);
	}
	free(run.serve);
	return status;
}

static const struct rr_option mount_options[] = {
	{ .letter = 'o',
		.name = "options",
		.argument = "LIST",
		.help = "options of the mount, as in nfs(5) and mount(8), with commas between them: ro, "
			"soft, timeo=N, "
			"retrans=N, actimeo=N, noac, vers=N, proto=rdma|tcp, port=N, nosuid, nodev, noexec, "
			"allow_other and others",
		.kind = RR_OPTION_CALL,
		.take = rr_mount_take },
	{ .letter = 'f',
		.name = "foreground",
		.help = "do not go into the background when the mount stands",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_mount, foreground) },
	{ 0 },
};

const struct rr_tool rr_tool_mount = {
	.name = "mount",
	.run = mount_run,
	.help = "Mount a directory of a server.",
	.operands = "URL DIR",
	.least = 2,
	.most = 2,
	.groups = {
		{ mount_options, 0 },
		{ rr_filters_transport, offsetof(struct rr_mount, filters) },
		{ rr_filters_options, offsetof(struct rr_mount, filters) },
		{ rr_filters_calls, offsetof(struct rr_mount, filters) },
	},
};
