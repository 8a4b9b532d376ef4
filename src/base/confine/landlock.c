/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a service may reach: files below directories that it names, and TCP ports, by landlock(7). The rules
 * are about what a path or a descriptor of one leads to, also by symbolic links, by /proc/self/fd and by
 * open_by_handle_at(2), and about all mounts below.
 *
 * The system calls are made by number, as C libraries have no functions for them. A kernel says which version
 * of the interface it has, and is asked for no more than that.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <rpcrdma/error.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine/private.h"

/* Headers of older kernels do not have these yet. landlock(7) has a table of the versions. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (UINT64_C(1) << 15)
#endif

enum {
	LANDLOCK_VERSION_REFER = 2,
	LANDLOCK_VERSION_TRUNCATE,
	LANDLOCK_VERSION_TCP,
	LANDLOCK_VERSION_IOCTL,
	LANDLOCK_VERSION_SCOPE
};

/* The attributes as the newest version that is used here has them: the kernel takes the first part of it,
 * whose length is given. */
struct landlock_rules {
	uint64_t files, tcp, scope;
};

struct landlock_port {
	uint64_t allowed, port;
};

enum { LANDLOCK_TCP_BIND = 1, LANDLOCK_TCP_CONNECT = 2, LANDLOCK_RULE_PORT = 2 };
enum { LANDLOCK_SCOPE_ABSTRACT = 1, LANDLOCK_SCOPE_SIGNALS = 2 };

/* Rights for reading; those of a descriptor that is no directory; those that the kernel knew from the
 * beginning. */
#define LANDLOCK_READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define LANDLOCK_OF_FILES                                                                                    \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |        \
		LANDLOCK_ACCESS_FS_IOCTL_DEV)
#define LANDLOCK_OLDEST ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* Returns the rights about files that this version has. */
static uint64_t
landlock_files(int version)
{
	uint64_t files = LANDLOCK_OLDEST | LANDLOCK_ACCESS_FS_REFER;

	if (version >= LANDLOCK_VERSION_TRUNCATE)
		files |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (version >= LANDLOCK_VERSION_IOCTL)
		files |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	return files;
}

/* Returns the rights that a use takes: programs are executed nowhere, and only devices are given commands. */
static uint64_t
landlock_use(enum rr_confine_use use)
{
	switch (use) {
	case RR_CONFINE_READ: return LANDLOCK_READS;
	case RR_CONFINE_DEVICE:
		return LANDLOCK_READS | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_IOCTL_DEV;
	case RR_CONFINE_MAKE:
		return LANDLOCK_READS | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
		       LANDLOCK_ACCESS_FS_MAKE_REG;
	case RR_CONFINE_SOCKET:
		return LANDLOCK_READS | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE;
	default: return ~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_IOCTL_DEV);
	}
}

/* sd_notify(3): a name that begins with '@' is one of the abstract namespace, which then must stay open. */
static uint64_t
landlock_scope(void)
{
	const char *manager = getenv("NOTIFY_SOCKET");

	return LANDLOCK_SCOPE_SIGNALS | (manager && manager[0] == '@' ? 0 : LANDLOCK_SCOPE_ABSTRACT);
}

void
rr_confine_begin(struct rr_confine *confine, const struct rr_confine_tcp *tcp)
{
	struct landlock_rules rules = { .scope = landlock_scope() };
	size_t size = sizeof(rules);
	int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	*confine = (struct rr_confine){ .rules = -1 };
	/* Before REFER, nothing could be renamed from one directory to another. */
	if (version < LANDLOCK_VERSION_REFER)
		return;
	rules.files = landlock_files(version);
	if (version >= LANDLOCK_VERSION_TCP)
		rules.tcp = (tcp->listens_anywhere ? 0 : LANDLOCK_TCP_BIND) |
			    (tcp->connects_anywhere ? 0 : LANDLOCK_TCP_CONNECT);
	if (version < LANDLOCK_VERSION_SCOPE)
		size = offsetof(struct landlock_rules, scope);
	if (version < LANDLOCK_VERSION_TCP)
		size = offsetof(struct landlock_rules, tcp);
	confine->files = rules.files;
	confine->tcp = rules.tcp;
	confine->rules = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

void
rr_confine_path(struct rr_confine *confine, const char *path, enum rr_confine_use use)
{
	struct landlock_path_beneath_attr rule = { 0 };
	struct stat status;

	if (confine->rules < 0 || !path || !path[0])
		return;
	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return;
	rule.allowed_access = landlock_use(use) & confine->files;
	if (fstat(rule.parent_fd, &status) != 0 || !S_ISDIR(status.st_mode))
		rule.allowed_access &= LANDLOCK_OF_FILES;
	if (syscall(SYS_landlock_add_rule, confine->rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
		confine->error = errno;
	close(rule.parent_fd);
}

/* Adds a rule for the directory that has the file at the path, which is cut for that. /etc is not it: it has
 * the secrets of the system, too. */
static void
landlock_directory(struct rr_confine *confine, char *path, enum rr_confine_use use)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	if (!slash)
		rr_confine_path(confine, ".", use);
	else if (path[0] && strcmp(path, "/etc") != 0)
		rr_confine_path(confine, path, use);
}

void
rr_confine_beside(struct rr_confine *confine, const char *path, enum rr_confine_use use)
{
	char *ways[] = { path && path[0] ? strdup(path) : NULL, path ? realpath(path, NULL) : NULL };

	rr_confine_path(confine, path, use);
	for (int i = 0; i < 2; i++) {
		if (ways[i])
			landlock_directory(confine, ways[i], use);
		free(ways[i]);
	}
}

static void
landlock_port(struct rr_confine *confine, uint64_t allowed, uint16_t port)
{
	const struct landlock_port rule = { allowed & confine->tcp, port };

	if (confine->rules >= 0 && rule.allowed &&
		syscall(SYS_landlock_add_rule, confine->rules, LANDLOCK_RULE_PORT, &rule, 0) != 0)
		confine->error = errno;
}

void
rr_confine_listens(struct rr_confine *confine, uint16_t port)
{
	landlock_port(confine, LANDLOCK_TCP_BIND, port);
}

void
rr_confine_connects(struct rr_confine *confine, uint16_t port)
{
	landlock_port(confine, LANDLOCK_TCP_CONNECT, port);
}

int
rr_confine_landlock(struct rr_confine *confine, struct rr_text *text)
{
	int error = confine->rules < 0 ? ENOSYS : confine->error;

	if (!error && syscall(SYS_landlock_restrict_self, confine->rules, 0) != 0)
		error = errno;
	if (confine->rules >= 0)
		close(confine->rules);
	confine->rules = -1;
	return error ? rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			       "the kernel takes no rules for files (Landlock): %s", strerror(error))
		     : 0;
}
