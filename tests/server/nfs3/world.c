/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../gate.h"
#include "ulb/mount3.h"

enum { POOL_SIZE = 4 << 20, ORDINARY = 54321 };

_Atomic unsigned world_syncs;
int world_sync_error, world_read_error;
void (*world_sync_meanwhile)(void);

bool
world_is_root(void)
{
	return geteuid() == 0;
}

static void
stop_server(struct world *world)
{
	if (world->vfs)
		rr_vfs_destroy(world->vfs);
	world->vfs = NULL;
	rr_nfs_server_free(world->server);
	rr_gate_end(&world->gate);
	world->server = NULL;
}

void
world_restart(struct world *world)
{
	struct rr_text text;

	stop_server(world);
	if (rr_posix_new(&world->stage.env, world->vfs_loop, &world->config, world->shared, &world->vfs,
		    &text) < 0)
		fail_msg("%s", text.text);
	test_gate_init(&world->gate, world->vfs, world->rule);
	assert_int_equal(rr_nfs_server_new(&world->stage.env, world->pool, &world->gate, &world->server), 0);
	rr_nfs_server_services(world->server, world->services);
}

nfs_fh3
world_mount(struct world *world, const char *text)
{
	dirpath path = world_bytes(text);
	const mountres3 *res = world_mount_call(world, MOUNTPROC3_MNT, &path);

	assert_int_equal(res->fhs_status, MNT3_OK);
	return world_keep(world, (nfs_fh3){ res->u.mountinfo.fhandle });
}

int
world_setup(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	assert_non_null(world);
	stage_init(&world->stage);
	world->stage.runs = true;
	stage_loop(&world->stage);
	stage_directory(world->path);
	world->fd = open(world->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(world->fd >= 0);
	assert_int_equal(chmod(world->path, 0755), 0);
	if (world_is_root())
		assert_int_equal(chown(world->path, WORLD_USER, WORLD_USER), 0);
	world->exports[0] = (struct rr_tree_export){ world->path, "/export" };
	world->config = (struct rr_tree_config){ .exports = world->exports, .export_count = 1 };
	world->rule = "*(rw,sec=sys:none)";
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 0x1234, &world->shared), 0);
	rr_shares_init(&world->shares, world->stage.loop);
	world->pool = rr_pool_new(&world->shares, RR_RESULTS, POOL_SIZE);
	assert_non_null(world->pool);
	world_age(world, "");
	world->request.header = RR_RPC_REPLY_FIXED + rr_auth_sys.answer_adds;
	world->request.item_room = RR_NFS_IO_MAX;
	world->request.stream_room = 1 << 17;
	world_caller(world, WORLD_USER);
	world_restart(world);
	world->root = world_mount(world, "/export");
	*state = world;
	return 0;
}

struct world *
world_beside(const struct world *world)
{
	struct world *beside = calloc(1, sizeof *beside);

	assert_non_null(beside);
	stage_init(&beside->stage);
	beside->stage.runs = true;
	stage_loop(&beside->stage);
	strcpy(beside->path, world->path);
	beside->fd = world->fd;
	beside->exports[0] = (struct rr_tree_export){ beside->path, "/export" };
	beside->config = world->config;
	beside->config.exports = beside->exports;
	beside->rule = world->rule;
	beside->shared = world->shared;
	rr_shares_init(&beside->shares, beside->stage.loop);
	beside->pool = rr_pool_new(&beside->shares, RR_RESULTS, POOL_SIZE);
	assert_non_null(beside->pool);
	beside->request = world->request;
	beside->request.payload = NULL;
	world_restart(beside);
	beside->root = world_mount(beside, "/export");
	return beside;
}

void
world_beside_free(struct world *beside)
{
	rr_pool_put(beside->pool, beside->request.payload);
	stop_server(beside);
	rr_pool_free(beside->pool);
	rr_shares_end(&beside->shares);
	stage_end(&beside->stage);
	free(beside);
}

int
world_teardown(void **state)
{
	struct world *world = *state;

	rr_pool_put(world->pool, world->request.payload);
	stop_server(world);
	rr_posix_shared_free(world->shared);
	rr_pool_free(world->pool);
	rr_shares_end(&world->shares);
	stage_end(&world->stage);
	close(world->fd);
	stage_remove(world->path);
	free(world);
	return 0;
}

void
world_caller(struct world *world, uint32_t id)
{
	world->request.caller =
		(struct rr_caller){ RR_AUTH_SYS, RR_CALLER_OPEN, true, id, id, 0, world->groups, NULL };
}

void
world_no_one(struct world *world)
{
	world->request.caller = (struct rr_caller){ .flavor = RR_AUTH_NONE };
}

/* Every result must be one that the schema can express. */
static void
measure(struct world *world, const struct rpcrdma_procedure *procedure)
{
	static _Thread_local uint8_t stream[1 << 18];
	struct rpcrdma_item item;
	struct rpcrdma_xdr_writer writer;

	world->size = 0;
	if (!procedure->put_result)
		return;
	rpcrdma_xdr_writer_init(&writer, stream, sizeof stream, &item, procedure->result_items);
	procedure->put_result(&writer, &world->result);
	assert_false(writer.failed);
	world->size = (uint32_t)rpcrdma_xdr_length(&writer);
}

static const void *
call(struct world *world, const struct rr_service *service, uint32_t proc, const void *args)
{
	const struct rpcrdma_procedure *procedure = &service->program->procedures[proc];
	struct rpcrdma_request *request = &world->request;

	rr_pool_put(world->pool, request->payload);
	request->payload = NULL;
	request->procedure = procedure;
	request->prog = service->program->prog;
	request->vers = service->program->vers;
	request->proc = proc;
	request->peer = "test";
	request->args = args;
	request->result = &world->result;
	request->arena = rpcrdma_arena(&world->arena, sizeof world->arena);
	memset(&world->result, 0, procedure->result_size);
	world->handled = service->handlers[proc](service->ctx, request, args, &world->result);
	/* Whoever the caller was, the server now acts as itself again. */
	assert_int_equal(setfsuid(UINT32_MAX), geteuid());
	if (world->handled == RPCRDMA_HANDLED)
		measure(world, procedure);
	return &world->result;
}

const void *
world_call(struct world *world, uint32_t proc, const void *args)
{
	return call(world, &world->services[0], proc, args);
}

const void *
world_mount_call(struct world *world, uint32_t proc, const void *args)
{
	return call(world, &world->services[2], proc, args);
}

const void *
world_old_mount_call(struct world *world, uint32_t version, uint32_t proc, const void *args)
{
	return call(world, &world->services[version == 2 ? 3 : 4], proc, args);
}

const void *
world_quota_call(struct world *world, uint32_t version, uint32_t proc, const void *args)
{
	return call(world, &world->services[version == 2 ? 5 : 6], proc, args);
}

const void *
world_acl_call(struct world *world, uint32_t proc, const void *args)
{
	return call(world, &world->services[1], proc, args);
}

nfs_fh3
world_keep(struct world *world, nfs_fh3 handle)
{
	uint8_t *copy = world->kept.octets + world->kept_size;

	assert_true(handle.data.length <= NFS3_FHSIZE && handle.data.length > 0);
	assert_true(world->kept_size + NFS3_FHSIZE <= sizeof world->kept);
	memcpy(copy, handle.data.data, handle.data.length);
	world->kept_size += NFS3_FHSIZE;
	return (nfs_fh3){ { copy, handle.data.length } };
}

nfs_fh3
world_handle(struct world *world, const char *path)
{
	nfs_fh3 handle = world->root;

	while (*path) {
		uint32_t length = (uint32_t)strcspn(path, "/");
		LOOKUP3args args = { { handle, { path, length } } };
		const LOOKUP3res *res = world_call(world, NFSPROC3_LOOKUP, &args);

		assert_int_equal(res->status, NFS3_OK);
		handle = world_keep(world, res->u.resok.object);
		path += length;
		path += *path == '/';
	}
	return handle;
}

static void
give(struct world *world, const char *path)
{
	if (world_is_root())
		assert_int_equal(fchownat(world->fd, path, WORLD_USER, WORLD_USER, AT_SYMLINK_NOFOLLOW), 0);
}

void
world_file(struct world *world, const char *path, const char *text, mode_t mode)
{
	int fd = openat(world->fd, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	size_t length = strlen(text);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	give(world, path);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	world_age(world, path);
	world_age(world, "");
}

nfs_fh3
world_made(struct world *world, const char *path, const char *text, mode_t mode)
{
	world_file(world, path, text, mode);
	return world_handle(world, path);
}

void
world_directory(struct world *world, const char *path, mode_t mode)
{
	assert_int_equal(mkdirat(world->fd, path, 0700), 0);
	give(world, path);
	assert_int_equal(fchmodat(world->fd, path, mode, 0), 0);
	world_age(world, path);
	world_age(world, "");
}

void
world_holds(struct world *world, const char *path, const char *text)
{
	int fd = openat(world->fd, path, O_RDONLY | O_CLOEXEC);
	char data[4096];
	ssize_t length;

	assert_true(fd >= 0);
	length = read(fd, data, sizeof data);
	close(fd);
	assert_int_equal(length, strlen(text));
	assert_memory_equal(data, text, (size_t)length);
}

struct stat
world_stat(struct world *world, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(world->fd, path, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH), 0);
	return st;
}

bool
world_exists(struct world *world, const char *path)
{
	return faccessat(world->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

struct rpcrdma_bytes
world_bytes(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

diropargs3
world_where(nfs_fh3 directory, const char *text)
{
	return (diropargs3){ directory, world_bytes(text) };
}

void
world_agrees(struct world *world, const post_op_attr *attributes, const char *path)
{
	struct stat st = world_stat(world, path);
	const fattr3 *fattr = &attributes->u.attributes;

	assert_true(attributes->attributes_follow);
	assert_int_equal(fattr->fileid, st.st_ino);
	assert_int_equal(fattr->mode, st.st_mode & 07777);
	assert_int_equal(fattr->nlink, st.st_nlink);
	assert_int_equal(fattr->uid, st.st_uid);
	assert_int_equal(fattr->gid, st.st_gid);
	assert_int_equal(fattr->size, st.st_size);
	assert_int_equal(fattr->used, st.st_blocks * 512);
	assert_int_equal(fattr->mtime.seconds, st.st_mtim.tv_sec);
	assert_int_equal(fattr->mtime.nseconds, st.st_mtim.tv_nsec);
	assert_int_equal(fattr->ctime.nseconds, st.st_ctim.tv_nsec);
}

void
world_age(struct world *world, const char *path)
{
	struct timespec times[2] = { { WORLD_LONG_AGO, 0 }, { WORLD_LONG_AGO, 0 } };

	assert_int_equal(utimensat(world->fd, *path ? path : ".", times, AT_SYMLINK_NOFOLLOW), 0);
}

static void
check_after(struct world *world, const wcc_data *wcc, const char *path, bool changed)
{
	world_agrees(world, &wcc->after, path);
	assert_true(changed == (wcc->after.u.attributes.mtime.seconds != WORLD_LONG_AGO));
	world_age(world, path);
}

void
world_wcc(struct world *world, const wcc_data *wcc, const char *path, bool changed)
{
	const wcc_attr *before = &wcc->before.u.attributes;

	assert_true(wcc->before.attributes_follow);
	assert_int_equal(before->mtime.seconds, WORLD_LONG_AGO);
	check_after(world, wcc, path, changed);
}

void
world_after(struct world *world, const wcc_data *wcc, const char *path, bool changed)
{
	assert_false(wcc->before.attributes_follow);
	check_after(world, wcc, path, changed);
}

/* This replaces fsync(2) and its kin for the objects that this program is linked with. */
static int
store(long call_number, int fd)
{
	world_syncs++;
	if (world_sync_meanwhile)
		world_sync_meanwhile();
	if (world_sync_error == 0)
		return (int)syscall(call_number, fd);
	errno = world_sync_error;
	world_sync_error = 0;
	return -1;
}

ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
	if (world_read_error == 0)
		return syscall(SYS_pread64, fd, data, size, offset);
	errno = world_read_error;
	world_read_error = 0;
	return -1;
}

int
fsync(int fd)
{
	return store(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	return store(SYS_fdatasync, fd);
}

int
syncfs(int fd)
{
	return store(SYS_syncfs, fd);
}

static int
run_ordinary(const struct CMUnitTest *tests, size_t count)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (setresgid(ORDINARY, ORDINARY, ORDINARY) < 0 ||
			setresuid(ORDINARY, ORDINARY, ORDINARY) < 0)
			_exit(2);
		/* As after execve(2), /proc/self belongs to this user. */
		prctl(PR_SET_DUMPABLE, 1);
		_exit(_cmocka_run_group_tests("as an ordinary user", tests, count, NULL, NULL) != 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return status != 0;
}

int
world_run(
	const struct CMUnitTest *tests, size_t count, const struct CMUnitTest *root_tests, size_t root_count)
{
	int failed;

	umask(022);
	if (!world_is_root())
		return _cmocka_run_group_tests("as who runs it", tests, count, NULL, NULL);
	failed = run_ordinary(tests, count);
	failed |= _cmocka_run_group_tests("as root", tests, count, NULL, NULL) != 0;
	if (root_count > 0)
		failed |= _cmocka_run_group_tests("as root only", root_tests, root_count, NULL, NULL) != 0;
	return failed;
}
