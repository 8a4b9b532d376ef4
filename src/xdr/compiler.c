/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/compiler.h"

#include <rpcrdma/error.h>
#include <stdarg.h>
#include <string.h>

#include "xdr/xdr.h"

/* Stands in front of each piece of memory; the union keeps the memory behind it aligned. */
union compiler_block {
	void *next;
	max_align_t align;
};

void
rr_xdr_compiler_init(
	struct rr_xdr_compiler *compiler, const struct rr_env *env, const char *path, FILE *errors)
{
	static const struct rr_xdr_preprocess as_needed = { 0 };

	*compiler = (struct rr_xdr_compiler){ .env = env,
		.path = path,
		.preprocess = &as_needed,
		.errors = errors,
		.codec_prefix = "xdr_",
		.program_prefix = "" };
	compiler->unprocessed = "was not called";
	compiler->definitions_end = &compiler->definitions;
	compiler->ordered_end = &compiler->ordered;
	compiler->foreign_end = &compiler->foreign;
	compiler->marks_end = &compiler->marks;
	compiler->passed_end = &compiler->passed;
}

void
rr_xdr_compiler_free(struct rr_xdr_compiler *compiler)
{
	while (compiler->blocks) {
		union compiler_block *block = compiler->blocks;

		compiler->blocks = block->next;
		rr_free(compiler->env, block);
	}
}

void *
rr_xdr_alloc(struct rr_xdr_compiler *compiler, size_t size)
{
	union compiler_block *block = rr_alloc(compiler->env, sizeof(*block) + size);

	if (!block) {
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_NOMEM, "no memory");
		return NULL;
	}
	block->next = compiler->blocks;
	compiler->blocks = block;
	return block + 1;
}

const char *
rr_xdr_format(struct rr_xdr_compiler *compiler, const char *format, ...)
{
	va_list args;
	int length;
	char *text;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = rr_xdr_alloc(compiler, (size_t)length + 1);
	if (!text)
		return "";
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

/* Writes the beginning of a message: the file, the line and the column that it is about. */
static void
compiler_print_position(const struct rr_xdr_compiler *compiler, struct rr_xdr_position position)
{
	fprintf(compiler->errors, "%s:%u:%u: ", position.file ? position.file : compiler->path, position.line,
		position.column);
}

void
rr_xdr_error(struct rr_xdr_compiler *compiler, struct rr_xdr_position position, const char *format, ...)
{
	va_list args;

	if (compiler->error)
		return;
	compiler->error = -RPCRDMA_ERR_XDR;
	compiler_print_position(compiler, position);
	va_start(args, format);
	vfprintf(compiler->errors, format, args);
	va_end(args);
	fputc('\n', compiler->errors);
}

void
rr_xdr_warn(struct rr_xdr_compiler *compiler, struct rr_xdr_position position, const char *format, ...)
{
	va_list args;

	if (compiler->error)
		return;
	compiler_print_position(compiler, position);
	fputs("warning: ", compiler->errors);
	va_start(args, format);
	vfprintf(compiler->errors, format, args);
	va_end(args);
	fputc('\n', compiler->errors);
}

void
rr_xdr_trouble(struct rr_xdr_compiler *compiler, int error, const char *format, ...)
{
	va_list args;

	if (compiler->error)
		return;
	compiler->error = error;
	fprintf(compiler->errors, "%s: ", compiler->path);
	va_start(args, format);
	vfprintf(compiler->errors, format, args);
	va_end(args);
	fputc('\n', compiler->errors);
}
