/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/xdr.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xdr/emit/emit.h"

/* Runs the compiler. Both outputs are written under temporary names beside their final names, and renamed
 * when all went well. Each output owns its temporary file from xdr_open_output() until xdr_rename_output()
 * or xdr_remove_temporary(). */

struct xdr_output {
	const char *path;
	char *temporary; /* "" until the file exists */
	FILE *file;
};

/* Reports that an output cannot be written, for the reason that errno has. */
static void
xdr_cannot_write(struct rr_xdr_compiler *compiler, const struct xdr_output *output)
{
	rr_xdr_trouble(compiler, -RPCRDMA_ERR_SYSTEM, "cannot write %s: %s", output->path, strerror(errno));
}

/* Creates a temporary file in the folder of an output file, with the permissions that the output file is to
 * have, and opens it for writing. The output's name is base with suffix behind it. */
static void
xdr_open_output(
	struct rr_xdr_compiler *compiler, struct xdr_output *output, const char *base, const char *suffix)
{
	static const char unique[] = ".XXXXXX";
	mode_t mask;
	int fd;

	output->path = rr_xdr_format(compiler, "%s%s", base, suffix);
	output->temporary = rr_xdr_alloc(compiler, strlen(output->path) + sizeof(unique));
	if (compiler->error)
		return;
	strcat(strcpy(output->temporary, output->path), unique);
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		output->temporary[0] = '\0';
		xdr_cannot_write(compiler, output);
		return;
	}
	/* mkostemp() creates private files; the outputs get the usual permissions. */
	mask = umask(0);
	umask(mask);
	output->file = fdopen(fd, "w");
	if (fchmod(fd, 0666 & ~mask) < 0 || !output->file)
		xdr_cannot_write(compiler, output);
	if (!output->file)
		close(fd);
}

/* Closes the temporary file of an output; reports an error of this or of any earlier write to the file. */
static void
xdr_finish_output(struct rr_xdr_compiler *compiler, struct xdr_output *output)
{
	if (!output->file)
		return;
	if (ferror(output->file) || fflush(output->file) != 0)
		xdr_cannot_write(compiler, output);
	if (fclose(output->file) != 0)
		xdr_cannot_write(compiler, output);
}

/* Renames the temporary file to the output's final name, unless the compiler has reported an error. */
static void
xdr_rename_output(struct rr_xdr_compiler *compiler, struct xdr_output *output)
{
	if (compiler->error)
		return;
	if (rename(output->temporary, output->path) < 0)
		xdr_cannot_write(compiler, output);
	else
		output->temporary[0] = '\0';
}

/* Removes the temporary file of an output, unless it was never made or has got its final name. */
static void
xdr_remove_temporary(const struct xdr_output *output)
{
	if (output->temporary && output->temporary[0])
		unlink(output->temporary);
}

static const char *
xdr_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the name of the macro that guards the header against repeated inclusion: XDR_ and the header's name
 * in capitals. */
static const char *
xdr_make_guard(struct rr_xdr_compiler *compiler, const char *header)
{
	size_t length = strlen(header);
	char *guard = rr_xdr_alloc(compiler, sizeof("XDR_") + length);

	if (!guard)
		return "";
	strcpy(guard, "XDR_");
	for (size_t i = 0; i < length; i++)
		guard[4 + i] =
			isalnum((unsigned char)header[i]) ? (char)toupper((unsigned char)header[i]) : '_';
	return guard;
}

/* Writes the generated header and the generated source into their open files. */
static void
emit(struct rr_xdr_compiler *compiler, const struct xdr_output *header, const struct xdr_output *source)
{
	struct rr_xdr_emitter emitter;

	if (compiler->error)
		return;
	rr_xdr_emitter_init(&emitter, compiler, header->file);
	rr_xdr_emit_header(&emitter, xdr_make_guard(compiler, xdr_last_part(header->path)));
	rr_xdr_emitter_init(&emitter, compiler, source->file);
	rr_xdr_emit_source(&emitter, xdr_last_part(header->path));
}

/* Writes both outputs, BASE.h and BASE.c, to temporary files, and renames these to the final names. After an
 * error, neither of the final files is changed, unless the error is that BASE.c cannot get its final name. */
static void
xdr_write_outputs(struct rr_xdr_compiler *compiler, const char *base)
{
	struct xdr_output header = { 0 }, source = { 0 };

	xdr_open_output(compiler, &header, base, ".h");
	xdr_open_output(compiler, &source, base, ".c");
	emit(compiler, &header, &source);
	xdr_finish_output(compiler, &header);
	xdr_finish_output(compiler, &source);
	xdr_rename_output(compiler, &header);
	xdr_rename_output(compiler, &source);
	xdr_remove_temporary(&header);
	xdr_remove_temporary(&source);
}

int
rr_xdr_compile_with(const struct rr_env *env, const struct rr_xdr_preprocess *preprocess,
	const char *input_path, const char *output_base, FILE *errors)
{
	struct rr_xdr_compiler compiler;
	int error;

	rr_xdr_compiler_init(&compiler, env, input_path, errors);
	compiler.preprocess = preprocess;
	rr_xdr_read(&compiler);
	if (!compiler.error)
		xdr_write_outputs(&compiler, output_base);
	error = compiler.error;
	rr_xdr_compiler_free(&compiler);
	return error;
}

int
rr_xdr_compile(const char *input_path, const char *output_base, FILE *errors)
{
	const struct rr_xdr_preprocess preprocess = { 0 };

	return rr_xdr_compile_with(&rr_env_system, &preprocess, input_path, output_base, errors);
}
