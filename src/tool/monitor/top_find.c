/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sockets of the servers and gateways that this user may ask. A program that a user starts has its socket
 * in the directory RR_MONITOR_DIRECTORY; a service has its own directory, whose name begins with that word
 * and a hyphen (RuntimeDirectory= of its unit). Root may ask the services of the machine, whatever user they
 * have.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tool/monitor/monitor.h"
#include "tool/monitor/top.h"

/* The sockets that were found: the path of the last one, and their number. text: a line for each of them. */
struct find {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uint32_t count;
	FILE *text;
};

int
rr_top_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = RR_TOP_PATIENCE / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* A server that hangs accepts no connections: when there is no room for more, connect() waits. */
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Counts a socket, and adds a line for it to find->text: its path, and the command line of the server that
 * listens there, which says what is served at which addresses. fd: a connection to the socket. */
static void
find_count(struct find *find, const char *path, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char line[1024];
	size_t length = 0;
	FILE *file = NULL;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
		snprintf(line, sizeof(line), "/proc/%ld/cmdline", (long)peer.pid);
		file = fopen(line, "re");
	}
	if (file) {
		length = fread(line, 1, sizeof(line) - 1, file);
		fclose(file);
	}
	/* Each word of the command line ends with a zero octet. */
	for (size_t i = 0; i + 1 < length; i++)
		if (line[i] == '\0')
			line[i] = ' ';
	line[length] = '\0';
	find->count++;
	snprintf(find->path, sizeof(find->path), "%.107s", path);
	fprintf(find->text, "%s%s%s\n", path, length > 0 ? ": " : "", rr_tool_mask(line));
}

/* Counts the sockets in the directory that accept a connection, and stores the path of the last one in
 * find. */
static void
find_in(struct find *find, const char *directory)
{
	DIR *entries = opendir(directory);
	char path[sizeof(find->path) + 256];
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		int fd;

		snprintf(path, sizeof(path), "%.107s/%.200s", directory, entry->d_name);
		if (entry->d_name[0] == '.' || strlen(path) >= sizeof(find->path))
			continue;
		fd = rr_top_connect(path);
		if (fd < 0)
			continue;
		find_count(find, path, fd);
		close(fd);
	}
	if (entries)
		closedir(entries);
}

/* Counts the sockets in those directories of `parent` that have the name of the servers' directory
 * (RR_MONITOR_DIRECTORY), or that name with "-" and more behind it. */
static void
find_below(struct find *find, const char *parent)
{
	const size_t length = strlen(RR_MONITOR_DIRECTORY);
	DIR *entries = opendir(parent);
	char directory[sizeof(find->path) + 256];
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (strncmp(name, RR_MONITOR_DIRECTORY, length) != 0 ||
			(name[length] != '\0' && name[length] != '-'))
			continue;
		snprintf(directory, sizeof(directory), "%.107s/%.200s", parent, name);
		find_in(find, directory);
	}
	if (entries)
		closedir(entries);
}

int
rr_top_find(const struct rr_tool *tool, char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *text = NULL;
	size_t length;
	struct find find = { .text = open_memstream(&text, &length) };

	if (!find.text)
		return rr_tool_fail(tool, "out of memory");
	if (runtime && runtime[0] == '/')
		find_below(&find, runtime);
	if (geteuid() == 0 && (!runtime || strcmp(runtime, "/run") != 0))
		find_below(&find, "/run");
	snprintf(path, size, "%s", find.path);
	if (fclose(find.text) == 0 && find.count > 1)
		fputs(text, stderr);
	free(text);
	if (find.count == 1)
		return RR_EXIT_OK;
	if (find.count > 1)
		return rr_tool_fail(tool, "%u servers answer this user: name the socket of one, such as %s",
			find.count, path);
	return rr_tool_fail(tool, "no server of this user runs here; `rpcrdma serve --monitor SOCKET` "
				  "says where it answers");
}
