/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: the compiler of the XDR language, and the walker with what it makes of a schema. What is
 * in front of the first zero octet is a schema, what is behind it a message. A schema is compiled, or refused
 * in one line that says where it is wrong; what the walker finds lies within the message. */
#include "fuzz.h"

#include <rpcrdma/error.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ulb/binding.h"
#include "ulb/estimate.h"
#include "xdr/emit/emit.h"
#include "xdr/tables.h"

enum { ITEMS = 16, SAID = 1 << 20, SCHEMA = 1 << 14 };

static char path[64], said[SAID];
static FILE *nowhere;

/* The file that schemas are put into. */
static int
schema_file(void)
{
	static int fd = -1;

	if (fd >= 0)
		return fd;
	fd = memfd_create("schema", 0);
	nowhere = fopen("/dev/null", "w");
	/* There no preprocessor is found: a schema that needs it is refused. */
	rr_require(fd >= 0 && nowhere && setenv("PATH", "/nowhere", 1) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fd;
}

/* PATH:LINE:COLUMN: TEXT in the last line, behind warnings; a schema without programs is wrong as a whole. A
 * line marker may give the file any other name. */
static void
says_where(char *text)
{
	unsigned line, column;
	size_t length = strlen(text), prefix = strlen(path);
	const char *last;
	int end = 0;

	rr_require(length > 0 && text[length - 1] == '\n');
	text[length - 1] = '\0';
	last = strrchr(text, '\n');
	text[length - 1] = '\n';
	text = last ? text + (last + 1 - text) : text;
	if (strncmp(text, path, prefix) != 0)
		return;
	if (strcmp(text + prefix, ": there is no program in it\n") == 0)
		return;
	rr_require(sscanf(text + prefix, ":%u:%u: %n", &line, &column, &end) == 2 && end > 0);
	rr_require(line > 0 && column > 0 && text[prefix + (size_t)end] != '\n');
}

static void
walk(const struct rpcrdma_program *program, uint32_t proc, const struct rpcrdma_message *message)
{
	struct rr_walk_item items[ITEMS];
	struct rr_ulb_items found = { .items = items, .max = ITEMS };
	struct rpcrdma_xdr_reader reader;
	struct rr_reply_size size;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	for (int reply = 0; reply < 2; reply++) {
		enum rr_walk_answer answer =
			(reply ? rr_ulb_walk_reply : rr_ulb_walk_call)(program, proc, &reader, &found);

		for (uint32_t i = 0; answer == RR_WALKED && i < found.count && i < ITEMS; i++)
			rr_require(items[i].offset <= message->length &&
				   items[i].length <= message->length - items[i].offset);
	}
	rr_ulb_reply_size(program, proc, &reader, &size);
	rr_require(size.min <= size.max);
}

static void
use(struct rr_xdr_tables *tables, const struct rpcrdma_message *message)
{
	struct rr_xdr_emitter emitter;

	for (uint32_t i = 0; i < tables->count && i < 4; i++) {
		for (uint32_t proc = 0; proc < tables->programs[i].procedure_count && proc < 4; proc++)
			walk(&tables->programs[i], proc, message);
	}
	rr_xdr_emitter_init(&emitter, &tables->run, nowhere);
	rr_xdr_emit_header(&emitter, "GUARD");
	rr_xdr_emitter_init(&emitter, &tables->run, nowhere);
	rr_xdr_emit_source(&emitter, "schema.h");
	rr_require(tables->run.error == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);
	const struct rpcrdma_message message = {
		.stream = data + length + (length < size),
		.length = (uint32_t)(size - length - (length < size)),
	};
	struct rr_xdr_tables tables;
	int fd = schema_file(), error;
	FILE *errors;

	if (length > SCHEMA)
		return 0;
	rr_require(ftruncate(fd, 0) == 0 && pwrite(fd, data, length, 0) == (ssize_t)length);
	errors = fmemopen(said, sizeof(said), "w");
	rr_require(errors != NULL);
	error = rr_xdr_load(&tables, &rr_env_system, path, errors);
	fclose(errors);
	rr_require(error == 0 || error == -RPCRDMA_ERR_XDR);
	if (error) {
		says_where(said);
		return 0;
	}
	use(&tables, &message);
	rr_xdr_unload(&tables);
	return 0;
}
