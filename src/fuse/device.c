/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse/device.h"

#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse/fuse_private.h"

enum { DEVICE_OPTIONS = 1024 };

/* Writes a text of an option: a comma and a backslash get a backslash in front. */
static void
device_escape(char *out, size_t size, const char *text)
{
	size_t length = 0;

	for (; *text && length + 3 < size; text++) {
		if (*text == ',' || *text == '\\')
			out[length++] = '\\';
		out[length++] = *text;
	}
	out[length] = '\0';
}

static int
device_mount_self(const struct rr_fuse_device *device, struct rr_text *text)
{
	unsigned long flags = (device->read_only ? MS_RDONLY : 0) | (device->nosuid ? MS_NOSUID : 0) |
			      (device->nodev ? MS_NODEV : 0) | (device->noexec ? MS_NOEXEC : 0);
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	char data[DEVICE_OPTIONS];
	int error;

	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"/dev/fuse cannot be opened: %s; load the kernel's module fuse (modprobe fuse), or "
			"give the "
			"container that device",
			strerror(errno));
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,max_read=%d%s", fd,
		geteuid(), getegid(), RR_FUSE_IO, device->allow_other ? ",allow_other" : "");
	if (mount(device->source, device->directory, "fuse.rpcrdma", flags, data) == 0)
		return fd;
	error = errno;
	close(fd);
	return rr_fail(
		text, -RPCRDMA_ERR_SYSTEM, "%s cannot be mounted on: %s", device->directory, strerror(error));
}

/* Runs fusermount3 with an option, for the directory; fd: stays open in it as _FUSE_COMMFD, or -1. Returns
 * its exit status; -1 where it cannot be run. */
static int
device_run(const char *option, const char *directory, int fd)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		char number[16];

		if (fd >= 0) {
			snprintf(number, sizeof(number), "%d", fd);
			setenv("_FUSE_COMMFD", number, 1);
			fcntl(fd, F_SETFD, 0);
		}
		execlp("fusermount3", "fusermount3", option, "--", directory, (char *)NULL);
		_exit(127);
	}
	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

static int
device_no_helper(struct rr_text *text)
{
	return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
		"fusermount3 cannot be run: install the package fuse3, or mount as the superuser");
}

/* Takes the descriptor that fusermount3 has sent; -1: there is none. */
static int
device_receive(int socket)
{
	union {
		struct cmsghdr header;
		char octets[CMSG_SPACE(sizeof(int))];
	} control;
	char octet;
	struct iovec part = { &octet, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static int
device_mount_helper(const struct rr_fuse_device *device, struct rr_text *text)
{
	char options[2 * DEVICE_OPTIONS], source[DEVICE_OPTIONS];
	int sockets[2], status, fd;

	device_escape(source, sizeof(source), device->source);
	snprintf(options, sizeof(options), "-ofsname=%s,subtype=rpcrdma,max_read=%d,nosuid,nodev%s%s%s",
		source, RR_FUSE_IO, device->read_only ? ",ro" : "", device->noexec ? ",noexec" : "",
		device->allow_other ? ",allow_other" : "");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no sockets: %s", strerror(errno));
	status = device_run(options, device->directory, sockets[0]);
	close(sockets[0]);
	fd = status == 0 ? device_receive(sockets[1]) : -1;
	close(sockets[1]);
	if (fd >= 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return status < 0 ? device_no_helper(text)
			  : rr_fail(text, -RPCRDMA_ERR_SYSTEM, "fusermount3 has not mounted on %s",
				    device->directory);
}

int
rr_fuse_device_mount(const struct rr_fuse_device *device, struct rr_text *text)
{
	return geteuid() == 0 ? device_mount_self(device, text) : device_mount_helper(device, text);
}

int
rr_fuse_device_unmount(const char *directory, bool lazy, struct rr_text *text)
{
	int status;

	if (geteuid() == 0) {
		if (umount2(directory, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
			return 0;
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s cannot be unmounted: %s%s", directory,
			strerror(errno),
			errno == EBUSY
				? "; programs use it (fuser -m shows them); -l unmounts it when they have "
				  "ended"
				: "");
	}
	status = device_run(lazy ? "-uz" : "-u", directory, -1);
	if (status < 0)
		return device_no_helper(text);
	return status == 0 ? 0 : rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s is not unmounted", directory);
}

/* Finds the minor number of the device of what is mounted on the directory; -1: it is no mount of FUSE. The
 * last line counts: what is mounted on top. */
static int
device_minor(const char *directory)
{
	char line[8192], place[4096], type[64];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	int minor = -1, found;
	const char *rest;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*d %*d %*d:%d %*s %4095s", &found, place) != 2 ||
			strcmp(place, directory) != 0)
			continue;
		rest = strstr(line, " - ");
		minor = rest && sscanf(rest, " - %63s", type) == 1 && strncmp(type, "fuse", 4) == 0 ? found
												    : -1;
	}
	if (file)
		fclose(file);
	return minor;
}

/* Writes to a file of sysfs(5); false: there is none, or it is another user's. */
static bool
device_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

/* Ends the connection, as its owner may. */
static bool
device_abort(int minor)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%d/abort", minor);
	return device_write(path, "1");
}

void
rr_fuse_device_read_ahead(const char *directory, uint32_t kibibytes)
{
	int minor = device_minor(directory);
	char path[64], text[16];

	snprintf(path, sizeof(path), "/sys/class/bdi/0:%d/read_ahead_kb", minor);
	snprintf(text, sizeof(text), "%u", kibibytes);
	if (minor >= 0)
		device_write(path, text);
}

int
rr_fuse_device_force(const char *directory, struct rr_text *text)
{
	int minor = device_minor(directory);

	if (minor < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "nothing is mounted on %s by FUSE", directory);
	if (geteuid() != 0 && !device_abort(minor))
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"%s: its mount cannot be ended: mount -t fusectl none /sys/fs/fuse/connections lets "
			"its user do that; "
			"killing its process (rpcrdma mount) ends it, too",
			directory);
	/* MNT_FORCE ends the connection, also where it then says that programs use the mount. */
	if (geteuid() == 0 && umount2(directory, UMOUNT_NOFOLLOW | MNT_FORCE) == 0)
		return 0;
	return rr_fuse_device_unmount(directory, true, text);
}
