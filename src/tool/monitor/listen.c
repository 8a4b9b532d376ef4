/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/address.h"
#include "tool/monitor/monitor_private.h"

enum { LISTEN_BACKLOG = 16 };

/* ---- The Unix socket ---- */

/* Tells whether status is that of a directory that belongs to this user and in which no other user can make
 * files. */
static bool
listen_is_own(const struct stat *status)
{
	return S_ISDIR(status->st_mode) && status->st_uid == geteuid() && (status->st_mode & 022) == 0;
}

/* Copies into path the directory that a service manager made for this instance (systemd.exec(5),
 * RuntimeDirectory=), the first one if there are several. Returns false if there is no such directory. stat()
 * follows links, as the directory is a symbolic link for a user who exists only while the service runs. */
static bool
listen_managed_directory(char *path, size_t size)
{
	const char *managed = getenv("RUNTIME_DIRECTORY");
	struct stat status;

	if (!managed || managed[0] != '/' || strcspn(managed, ":") >= size)
		return false;
	snprintf(path, size, "%.*s", (int)strcspn(managed, ":"), managed);
	return stat(path, &status) == 0 && listen_is_own(&status);
}

/* Copies into path the directory for the sockets of all servers of this user, and makes that directory if it
 * does not exist. Returns false if it cannot be made, or if other users can make files in it. */
static bool
listen_user_directory(char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat status;

	if (runtime && runtime[0] == '/')
		snprintf(path, size, "%s/" RR_MONITOR_DIRECTORY, runtime);
	else if (geteuid() == 0)
		snprintf(path, size, "/run/" RR_MONITOR_DIRECTORY);
	else
		return false;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(path, &status) == 0 && listen_is_own(&status);
}

/* Tells whether there is a socket at the path, and no program listens at it. Only ECONNREFUSED proves that:
 * if a program listens, but has many connections to accept, connect() fails with another error. */
static bool
listen_is_stale(const struct sockaddr_un *address)
{
	struct stat status;
	bool refused;
	int fd;

	if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	refused =
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/* Binds the socket fd to its path, with a mode that lets only the owner use it. Removes a socket at that path
 * first, if no program listens at it, which connect() tries. Returns the result of bind(): an error if a
 * program listens there. */
static int
listen_bind(int fd, const struct sockaddr_un *address)
{
	mode_t before;
	int error;

	if (listen_is_stale(address))
		unlink(address->sun_path);
	before = umask(0177);
	error = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	umask(before);
	return error;
}

bool
rr_monitor_directory(char *path, size_t size)
{
	return listen_managed_directory(path, size) || listen_user_directory(path, size);
}

/* Makes a Unix socket at that path, listens at it, and stores it in *listeners. Returns 0; or the error INVAL
 * or SYSTEM, with a text. */
static int
listen_unix(struct rr_monitor_listeners *listeners, const char *path, struct rr_text *text)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "%s: the name is too long for a socket", path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	if (listen_bind(fd, &address) < 0 || listen(fd, LISTEN_BACKLOG) < 0) {
		rr_fail(text, 0, "%s: %s", path, strerror(errno));
		close(fd);
		return -RPCRDMA_ERR_SYSTEM;
	}
	snprintf(listeners->path, sizeof(listeners->path), "%s", path);
	listeners->fds[RR_MONITOR_UNIX] = fd;
	return 0;
}

/* Locks the directory of default sockets, so that no other program of this user is between bind() and
 * listen() there: its socket would seem to be stale. Returns a descriptor, which unlocks the directory when
 * it is closed. Returns -1 if the directory is open to other users, who could keep it locked for ever. */
static int
listen_lock(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && (status.st_mode & 077) == 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Removes the sockets in the locked directory that servers have left there, as they were killed: those with a
 * default name, such as "123.sock", at which no program listens. */
static void
listen_remove_stale(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };
		size_t digits = strspn(entry->d_name, "0123456789");

		if (digits > 0 && strcmp(entry->d_name + digits, ".sock") == 0 &&
			(size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory,
				entry->d_name) < sizeof(address.sun_path) &&
			listen_is_stale(&address))
			unlink(address.sun_path);
	}
	if (entries)
		closedir(entries);
}

/* Makes a Unix socket at a default path and listens at it, as no option gave a path. If that fails, reports
 * nothing: the monitor then has no Unix socket. */
static void
listen_unix_somewhere(struct rr_monitor_listeners *listeners)
{
	char directory[sizeof(listeners->path)], path[sizeof(directory) + 32];
	struct rr_text ignored;
	int lock;

	if (!rr_monitor_directory(directory, sizeof(directory)))
		return;
	snprintf(path, sizeof(path), "%s/%ld.sock", directory, (long)getpid());
	lock = listen_lock(directory);
	if (lock >= 0)
		listen_remove_stale(directory);
	(void)listen_unix(listeners, path, &ignored);
	if (lock >= 0)
		close(lock);
}

/* ---- HTTP ---- */

/* Listens for HTTP at spec: "ADDR:PORT", or "PORT" of the loopback. Stores the socket in *listeners. Returns
 * 0; or an error, with a text. */
static int
listen_http(struct rr_monitor_listeners *listeners, const char *spec, struct rr_text *text)
{
	bool is_port = spec[strspn(spec, "0123456789")] == '\0';
	struct sockaddr_storage address;
	socklen_t size;
	char whole[300];
	int fd, on = 1, error;

	snprintf(whole, sizeof(whole), "%s%s", is_port ? "127.0.0.1:" : "", spec);
	error = rr_tool_listen_address(whole, 0, &address, &size, text);
	if (error)
		return error;
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", spec, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, size) < 0 || listen(fd, LISTEN_BACKLOG) < 0) {
		rr_fail(text, 0, "%s: %s", spec, strerror(errno));
		close(fd);
		return -RPCRDMA_ERR_SYSTEM;
	}
	listeners->fds[RR_MONITOR_HTTP] = fd;
	return 0;
}

/* ---- Both sockets ---- */

int
rr_monitor_listen(
	struct rr_monitor_listeners *listeners, const struct rr_monitor_config *config, struct rr_text *text)
{
	int error = 0;

	*listeners = (struct rr_monitor_listeners){ .fds = { -1, -1 } };
	if (config->socket)
		error = listen_unix(listeners, config->socket, text);
	else
		listen_unix_somewhere(listeners);
	if (!error && config->metrics)
		error = listen_http(listeners, config->metrics, text);
	return error;
}

void
rr_monitor_unlisten(struct rr_monitor_listeners *listeners)
{
	for (uint32_t i = 0; i < RR_MONITOR_KINDS; i++)
		if (listeners->fds[i] >= 0)
			close(listeners->fds[i]);
	if (listeners->path[0])
		unlink(listeners->path);
}

bool
rr_monitor_may(int fd, enum rr_monitor_kind kind)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (kind != RR_MONITOR_UNIX)
		return true;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}
