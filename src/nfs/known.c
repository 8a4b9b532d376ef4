/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/known.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
rr_known_name(const struct rr_url *url, char name[RR_KNOWN_NAME])
{
	bool is_six = strchr(url->host, ':');

	snprintf(
		name, RR_KNOWN_NAME, "%s%s%s:%u", is_six ? "[" : "", url->host, is_six ? "]" : "", url->port);
}

bool
rr_known_path(char path[PATH_MAX])
{
	const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
	int length;

	if (config && config[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/rpcrdma/known_servers", config);
	else if (home && home[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/.config/rpcrdma/known_servers", home);
	else
		return false;
	return length < PATH_MAX;
}

/* Tells whether a line of the list is of that server, and stores its fingerprint. */
static bool
known_is(char *line, const char *name, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	const char *word = strtok_r(line, " \t\n", &line),
		   *value = word ? strtok_r(NULL, " \t\n", &line) : NULL;

	return value && strcmp(word, name) == 0 && rr_tls_fingerprint_get(value, strlen(value), fingerprint);
}

bool
rr_known_find(const char *name, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	char path[PATH_MAX], line[RR_KNOWN_NAME + 2 * RR_TLS_FINGERPRINT_TEXT];
	FILE *file = rr_known_path(path) ? fopen(path, "re") : NULL;
	bool found = false;

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = known_is(line, name, fingerprint);
	fclose(file);
	return found;
}

/* Makes the directories in which the list is to be, where they are missing. */
static void
known_make_directories(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		(void)mkdir(part, 0700); /* if it fails, so does the open() below */
	}
}

int
rr_known_add(const char *name, const uint8_t fingerprint[RR_TLS_FINGERPRINT], struct rr_text *text)
{
	char path[PATH_MAX] = "", shown[RR_TLS_FINGERPRINT_TEXT],
	     line[RR_KNOWN_NAME + RR_TLS_FINGERPRINT_TEXT + 2];
	int fd = -1, length;
	bool done;

	if (rr_known_path(path)) {
		known_make_directories(path);
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"the list of known servers cannot be written: %.150s: %s", path,
			path[0] ? strerror(errno) : "there is no home directory");
	rr_tls_fingerprint_put(fingerprint, shown);
	length = snprintf(line, sizeof(line), "%s %s\n", name, shown);
	/* One call: lines of other processes do not mix with it. */
	done = write(fd, line, (size_t)length) == length;
	if (!done)
		rr_fail(text, 0, "%.150s: not written: %s", path, strerror(errno));
	close(fd);
	return done ? 0 : -RPCRDMA_ERR_SYSTEM;
}
