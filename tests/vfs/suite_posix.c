/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This runs the suite on directories of this machine: in memory (tmpfs), and where temporary files are. With
 * the argument --own, the program may fill the disk of the latter, which has quotas.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "suite.h"
#include "vfs/posix/posix.h"

struct storage {
	char path[64];
	struct rr_env env; /* without messages */
	struct rr_tree_export exports[1];
	struct rr_tree_config config;
	struct rr_posix_shared *shared;
	struct rr_text text;
	bool bounded; /* SUITE_USER has a quota */
};

static void
provide(struct suite *suite)
{
	struct storage *storage = suite->storage;

	if (rr_posix_new(&storage->env, suite->loop, &storage->config, storage->shared, &suite->vfs,
		    &storage->text) < 0)
		fail_msg("%s", storage->text.text);
	rr_vfs_root(suite->vfs, 0, &suite->root);
}

static void
setup_in(struct suite *suite, const char *folder)
{
	struct storage *storage = calloc(1, sizeof(*storage));

	assert_non_null(storage);
	suite->storage = storage;
	storage->env = rr_env_system;
	storage->env.log = NULL;
	snprintf(storage->path, sizeof(storage->path), "%s/rpcrdma-suite-XXXXXX", folder);
	assert_non_null(mkdtemp(storage->path));
	assert_int_equal(chmod(storage->path, 0755), 0);
	storage->exports[0] = (struct rr_tree_export){ storage->path, "/" };
	storage->config = (struct rr_tree_config){
		.exports = storage->exports, .export_count = 1, .workers = RR_POSIX_WORKERS
	};
	memset(storage->config.key, 7, sizeof(storage->config.key));
	assert_int_equal(rr_posix_shared_new(&storage->env, 0x1234, &storage->shared), 0);
	/* Where the program runs as an ordinary user, that user is the caller. */
	if (!(suite->provider->can & SUITE_IDENTITIES))
		suite->super = (struct rr_vfs_caller){ .uid = geteuid(), .gid = getegid() };
	provide(suite);
}

static void
setup_tmpfs(struct suite *suite)
{
	setup_in(suite, "/dev/shm");
}

static void
setup_disk(struct suite *suite)
{
	setup_in(suite, "/var/tmp");
}

/* Makes a file that takes all other space. */
static void
shrink(struct suite *suite, uint64_t octets)
{
	const struct storage *storage = suite->storage;
	struct statvfs st;
	char name[80];
	int fd;

	snprintf(name, sizeof(name), "%s/filler", storage->path);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fstatvfs(fd, &st), 0);
	assert_int_equal(posix_fallocate(fd, 0, (off_t)(st.f_bavail * st.f_frsize - octets)), 0);
	close(fd);
}

/* Sets the quota of SUITE_USER. octets 0: no quota. */
static void
set_quota(const struct storage *storage, uint64_t octets)
{
	struct dqblk quota = { .dqb_bhardlimit = octets / 1024, .dqb_valid = QIF_BLIMITS };
	int fd = open(storage->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_quotactl_fd, fd, QCMD(Q_SETQUOTA, USRQUOTA), SUITE_USER, &quota), 0);
	close(fd);
}

static void
bound(struct suite *suite, uint64_t octets)
{
	struct storage *storage = suite->storage;

	set_quota(storage, octets);
	storage->bounded = true;
}

static int
remove_path(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void
teardown(struct suite *suite)
{
	struct storage *storage = suite->storage;

	rr_vfs_destroy(suite->vfs);
	rr_posix_shared_free(storage->shared);
	if (storage->bounded)
		set_quota(storage, 0);
	nftw(storage->path, remove_path, 16, FTW_DEPTH | FTW_PHYS);
	free(storage);
}

static void
restart(struct suite *suite)
{
	struct rr_vfs_handle root = suite->root;

	rr_vfs_destroy(suite->vfs);
	provide(suite);
	suite->root = root;
}

/* Tells whether the directory's file system keeps extended attributes of users. */
static bool
keeps_xattrs(const char *folder)
{
	char path[64];
	bool keeps;

	snprintf(path, sizeof(path), "%s/rpcrdma-suite-XXXXXX", folder);
	if (!mkdtemp(path))
		return false;
	keeps = setxattr(path, "user.a", "1", 1, 0) == 0;
	rmdir(path);
	return keeps;
}

/* Tells whether the second entry of a directory is still found behind the first when that was removed: tmpfs
 * counted entries before Linux 6.6. */
static bool
keeps_places(const char *folder)
{
	char path[64], name[80];
	struct dirent *entry = NULL;
	bool keeps = false;
	DIR *directory;
	long place;

	snprintf(path, sizeof(path), "%s/rpcrdma-suite-XXXXXX", folder);
	assert_non_null(mkdtemp(path));
	for (char c = 'a'; c <= 'b'; c++) {
		snprintf(name, sizeof(name), "%s/%c", path, c);
		assert_int_equal(mkdir(name, 0700), 0);
	}
	directory = opendir(path);
	assert_non_null(directory);
	do
		entry = readdir(directory);
	while (entry && entry->d_name[0] == '.');
	assert_non_null(entry);
	place = telldir(directory);
	assert_int_equal(unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR), 0);
	seekdir(directory, place);
	while ((entry = readdir(directory)))
		keeps = keeps || entry->d_name[0] != '.';
	closedir(directory);
	nftw(path, remove_path, 16, FTW_DEPTH | FTW_PHYS);
	return keeps;
}

static unsigned
can(const char *folder)
{
	unsigned all = SUITE_HOLES | SUITE_COPIES | SUITE_LOCKS | SUITE_OPENS | SUITE_LASTING | SUITE_GROUPS |
		       SUITE_SHARES;

	if (geteuid() == 0)
		all |= SUITE_IDENTITIES | SUITE_DEVICES;
	/* On other file systems each file that is made waits for the disk. */
	if (strcmp(folder, "/dev/shm") == 0)
		all |= SUITE_MANY;
	if (keeps_places(folder))
		all |= SUITE_PLACES;
	if (getxattr(folder, "system.posix_acl_access", NULL, 0) >= 0 || errno != ENOTSUP)
		all |= SUITE_ACLS | SUITE_MASKS;
	return all | (keeps_xattrs(folder) ? SUITE_XATTRS : 0);
}

int
main(int argc, char **argv)
{
	bool own = argc > 1 && strcmp(argv[1], "--own") == 0;
	const struct suite_provider providers[] = {
		{ "posix, tmpfs", can("/dev/shm"), setup_tmpfs, teardown, restart, NULL, NULL, NULL, NULL,
			NULL },
		{ "posix, disk", can("/var/tmp"), setup_disk, teardown, restart, own ? shrink : NULL,
			own ? bound : NULL, NULL, NULL, NULL },
	};

	return suite_run(providers, 2);
}
