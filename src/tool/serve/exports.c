/* SPDX-License-Identifier: BSD-3-Clause */
/* The exported directories, from operands and from lines of the configuration file. */
#include <stdlib.h>
#include <string.h>

#include "tool/serve/serve.h"

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

/* Returns the name under which clients see the directory that has none of its own. text: the argument; path:
 * what it stands for. */
static const char *
exports_name(enum rr_serve_naming naming, const struct rr_serve_provider *provider, const char *text,
	const char *path)
{
	if (provider->named)
		text = path = provider->named(path);
	else
		text += strlen(provider->word);
	if (naming == RR_SERVE_BY_PATH)
		return text;
	return naming == RR_SERVE_AS_ROOT ? "/" : strrchr(path, '/');
}

/* Makes an export from the argument DIRECTORY or DIRECTORY=/NAME, and stores the index of the export in
 * *number. It is an error if earlier directories are of another kind. Changes text, and takes it for the
 * export if the exit status is OK. Returns an exit status, after a message if it is not OK. */
static int
exports_take(const struct rr_tool *tool, struct rr_serve *serve, char *text, enum rr_serve_naming naming,
	uint32_t *number)
{
	const struct rr_serve_provider *provider = rr_serve_provider(text);
	const union rr_serve_storage before = serve->storage;
	char *equals = strstr(text, "=/"), *path;
	struct rr_tree_export export;
	int status = RR_EXIT_OK;

	if (equals)
		*equals = '\0';
	if (serve->provider && provider != serve->provider)
		return rr_tool_usage(tool, "directories %s and %s want a server each", serve->provider->what,
			provider->what);
	path = provider->path(tool, serve, text, &status);
	if (!path)
		return status;
	export = (struct rr_tree_export){ path,
		equals ? equals + 1 : exports_name(naming, provider, text, path) };
	status = exports_place(tool, serve, &export, naming == RR_SERVE_BY_PATH, number);
	if (status != RR_EXIT_OK || serve->texts[*number]) {
		/* Where the status is OK, an earlier line is about this directory. */
		free(path);
		if (status != RR_EXIT_OK)
			serve->storage = before;
		else
			free(text);
		return status;
	}
	serve->exports[*number] = export;
	serve->texts[*number] = text;
	serve->provider = provider;
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
