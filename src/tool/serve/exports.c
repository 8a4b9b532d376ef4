/* SPDX-License-Identifier: BSD-3-Clause */
/* The exported directories, from operands and from lines of the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/serve/serve.h"

/* Handles the argument for a directory in CephFS, ceph:PATH or ceph:PATH?fs=NAME: cuts "?fs=NAME" off the
 * argument, and makes *file_system point to NAME in the argument's memory, if NAME is there. It is an error
 * if an earlier directory named another file system. Returns an exit status, after a message if it is not
 * OK. */
static int
exports_ceph(
	const struct rr_tool *tool, const struct rr_serve *serve, char *argument, const char **file_system)
{
	static const char query[] = "?fs=";
	char *found = strstr(argument, query);

	if (argument[strlen(RR_SERVE_CEPH)] != '/')
		return rr_tool_usage(tool, "%s: a path in CephFS begins with '/'", argument);
	if (!found)
		return RR_EXIT_OK;
	*found = '\0';
	*file_system = found + strlen(query);
	if (serve->file_system && strcmp(serve->file_system, *file_system) != 0)
		return rr_tool_usage(tool, "one server serves one file system of a cluster");
	return RR_EXIT_OK;
}

/* Stores in *number the index of the directory of `export` among the exports. A server that starts gives the
 * directory a new index; a running server that reads its configuration again looks the index up. Several
 * lines of the configuration file may be about one directory, as in exports(5); is_line: this is such a line.
 * It is an error if the name was given twice otherwise, if a running server does not serve the directory yet,
 * or if there are too many directories. Returns an exit status, after a message if it is not OK. */
static int
exports_place(const struct rr_tool *tool, struct rr_serve *serve, const struct rr_tree_export *export,
	bool is_line, uint32_t *number)
{
	const struct rr_serve *among = serve->running ? serve->running : serve;
	uint32_t count = among->tree.export_count;
	bool same;

	for (*number = 0; *number < count; ++*number)
		if (strcmp(among->exports[*number].name, export->name) == 0)
			break;
	same = *number < count && strcmp(among->exports[*number].path, export->path) == 0;
	if (*number < count && serve->texts[*number] && !(same && is_line && serve->lines[*number]))
		return rr_tool_usage(tool,
			"two directories are served as %s: give one another name, as "
			"DIRECTORY=/NAME",
			export->name);
	if (same)
		return RR_EXIT_OK;
	if (serve->running)
		return rr_tool_usage(tool, "%s is not served as %s yet: a restart adds directories",
			export->path, export->name);
	if (count == RR_SERVE_EXPORTS)
		return rr_tool_usage(tool, "at most %d directories can be served", RR_SERVE_EXPORTS);
	serve->tree.export_count++;
	return RR_EXIT_OK;
}

/* Makes an export from the argument DIRECTORY or DIRECTORY=/NAME, and stores the index of the export in
 * *number. It is an error if earlier directories are not of the same kind, local or in CephFS. Changes text,
 * and takes it for the export, and for serve->file_system, if the exit status is OK. Returns an exit status,
 * after a message if it is not OK. */
static int
exports_take(const struct rr_tool *tool, struct rr_serve *serve, char *text, enum rr_serve_naming naming,
	uint32_t *number)
{
	bool ceph = strncmp(text, RR_SERVE_CEPH, strlen(RR_SERVE_CEPH)) == 0;
	char *equals = strstr(text, "=/"), *path;
	const char *name = equals ? equals + 1 : NULL, *file_system = serve->file_system;
	struct rr_tree_export export;
	int status;

	if (equals)
		*equals = '\0';
	if (ceph && exports_ceph(tool, serve, text, &file_system) != RR_EXIT_OK)
		return RR_EXIT_USAGE;
	if (serve->tree.export_count > 0 && ceph != serve->ceph)
		return rr_tool_usage(tool, "directories of this machine and of CephFS want a server each");
	path = ceph ? strdup(text) : realpath(text, NULL);
	if (!path)
		return rr_tool_fail(tool, "%s: %s; name a directory that exists", text, strerror(errno));
	if (!name && naming == RR_SERVE_BY_PATH)
		name = ceph ? text + strlen(RR_SERVE_CEPH) : text;
	else if (!name)
		name = naming == RR_SERVE_AS_ROOT ? "/" : strrchr(path, '/');
	export = (struct rr_tree_export){ path, name };
	status = exports_place(tool, serve, &export, naming == RR_SERVE_BY_PATH, number);
	if (status != RR_EXIT_OK) {
		free(path);
		return status;
	}
	if (serve->texts[*number]) {
		/* An earlier line is about this directory. */
		free(path);
		free(text);
		return RR_EXIT_OK;
	}
	serve->exports[*number] = export;
	serve->texts[*number] = text;
	serve->ceph = ceph;
	serve->file_system = file_system;
	return RR_EXIT_OK;
}

int
rr_serve_add(const struct rr_tool *tool, struct rr_serve *serve, const char *argument,
	enum rr_serve_naming naming, uint32_t *number)
{
	char *text = strdup(argument);
	int status =
		text ? exports_take(tool, serve, text, naming, number) : rr_tool_fail(tool, "out of memory");

	if (status != RR_EXIT_OK)
		free(text);
	return status;
}
