/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xdr/compiler.h"
#include "xdr/xdr.h"

/* Runs the C preprocessor as rpcgen calls it, in a process of its own, and reads its output through a pipe.
 * A schema without directives does not need the preprocessor, and compiles on machines without a
 * preprocessor. */

static const char *const own_arguments[] = {
	"-std=c11", /* without this, words such as unix would be replaced by numbers */
	"-C",       /* keeps comments in lines for the header */
	"-DRPC_HDR",
};

enum { OWN = sizeof(own_arguments) / sizeof(*own_arguments) };

/* Whether the line is a directive that only the C preprocessor can handle: its first character is #, and it
 * is neither a #pragma nor a line marker (# and a line number). */
static bool
preprocess_is_directive(const char *line)
{
	line += strspn(line, " \t");
	if (*line++ != '#')
		return false;
	line += strspn(line, " \t");
	return strncmp(line, "pragma", strlen("pragma")) != 0 && !isdigit((unsigned char)*line);
}

/* Whether any line of the text is a directive for the C preprocessor. */
static bool
preprocess_is_needed(const char *text)
{
	while (text) {
		if (preprocess_is_directive(text))
			return true;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return false;
}

/* Returns the argument vector to run `program` as C preprocessor: either cpp, or cc, which preprocesses with
 * `-E -xc` in the same way. Returns NULL if there is no memory. */
static char **
preprocess_arguments(struct rr_xdr_compiler *compiler, const char *program)
{
	const struct rr_xdr_preprocess *options = compiler->preprocess;
	const char *path = compiler->path;
	/* Besides these: the program, -E, -xc, the path and the NULL at the end. */
	const size_t room = OWN + options->count + 5;
	const char **arguments = rr_xdr_alloc(compiler, room * sizeof(*arguments));
	char **copy = rr_xdr_alloc(compiler, room * sizeof(*copy));
	size_t count = 0;

	if (!arguments || !copy)
		return NULL;
	arguments[count++] = program;
	arguments[count++] = "-E";
	for (size_t i = 0; i < OWN; i++)
		arguments[count++] = own_arguments[i];
	for (size_t i = 0; i < options->count; i++)
		arguments[count++] = options->arguments[i];
	arguments[count++] = "-xc";
	arguments[count++] = path[0] == '-' ? rr_xdr_format(compiler, "./%s", path) : path;
	/* The parameter of posix_spawnp() is not const, although it does not change the arguments. */
	memcpy(copy, arguments, room * sizeof(*copy));
	return copy;
}

/* Starts cpp or, if it cannot be started, cc, with the descriptor `output` as its standard output. Returns
 * the process, or -1 if no program could be started. */
static pid_t
preprocess_spawn(struct rr_xdr_compiler *compiler, int output)
{
	static const char *const programs[] = { "cpp", "cc" };
	posix_spawn_file_actions_t actions;
	pid_t process = -1;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	for (size_t i = 0; process < 0 && i < sizeof(programs) / sizeof(*programs); i++) {
		char **arguments = preprocess_arguments(compiler, programs[i]);

		if (!arguments || posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) != 0 ||
			posix_spawnp(&process, programs[i], &actions, NULL, arguments, environ) != 0)
			process = -1;
	}
	posix_spawn_file_actions_destroy(&actions);
	return process;
}

/* Returns all text that the process writes into the pipe, and sets *length to its length. Closes the pipe,
 * and waits for the end of the process. Returns NULL, and an error is set, if reading fails or the process
 * fails. */
static char *
preprocess_collect(struct rr_xdr_compiler *compiler, int pipe, pid_t process, size_t *length)
{
	FILE *file = fdopen(pipe, "r");
	char *text = NULL;
	int status = 0;

	if (file)
		text = rr_xdr_read_stream(compiler, file, length);
	else
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_NOMEM, "no memory");
	/* A process that still writes is ended by this. */
	if (file ? fclose(file) : close(pipe))
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_SYSTEM, "cannot read it: %s", strerror(errno));
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_XDR, "the C preprocessor failed");
	return compiler->error ? NULL : text;
}

char *
rr_xdr_preprocess(struct rr_xdr_compiler *compiler, char *text, size_t *length)
{
	const struct rr_xdr_preprocess *options = compiler->preprocess;
	int ends[2];
	pid_t process;

	if (options->never) {
		compiler->unprocessed = "was not wanted (--no-cpp)";
		return text;
	}
	if (options->count == 0 && !preprocess_is_needed(text))
		return text;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		rr_xdr_trouble(
			compiler, -RPCRDMA_ERR_SYSTEM, "no pipe to the C preprocessor: %s", strerror(errno));
		return NULL;
	}
	process = preprocess_spawn(compiler, ends[1]);
	close(ends[1]);
	if (process >= 0) {
		compiler->unprocessed = NULL;
		return preprocess_collect(compiler, ends[0], process, length);
	}
	close(ends[0]);
	compiler->unprocessed = "is not there (neither cpp nor cc)";
	if (options->count > 0)
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_SYSTEM, "the C preprocessor %s", compiler->unprocessed);
	return text;
}
