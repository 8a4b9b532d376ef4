/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <rpcrdma/error.h>
#include <string.h>

#include "xdr/compiler.h"

/* Octets of the largest schema that is read: those of NFS have less than a tenth of this. */
enum { SCHEMA_MAX = 1 << 20 };

char *
rr_xdr_read_stream(struct rr_xdr_compiler *compiler, FILE *file, size_t *length)
{
	size_t size = 65536;
	char *text = NULL;

	for (*length = 0; *length <= SCHEMA_MAX; size *= 2) {
		char *larger = rr_xdr_alloc(compiler, size + 1);

		if (!larger)
			return NULL;
		if (text)
			memcpy(larger, text, *length);
		text = larger;
		*length += fread(text + *length, 1, size - *length, file);
		if (*length < size)
			break;
	}
	if (ferror(file))
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_SYSTEM, "cannot read it: %s", strerror(errno));
	if (*length > SCHEMA_MAX)
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_XDR, "is larger than %d octets", SCHEMA_MAX);
	return text;
}

void
rr_xdr_read(struct rr_xdr_compiler *compiler)
{
	FILE *file = fopen(compiler->path, "re");
	size_t length;
	char *text;

	if (!file) {
		rr_xdr_trouble(compiler, -RPCRDMA_ERR_SYSTEM, "cannot open it: %s", strerror(errno));
		return;
	}
	text = rr_xdr_read_stream(compiler, file, &length);
	fclose(file);
	if (!compiler->error)
		text = rr_xdr_preprocess(compiler, text, &length);
	if (!compiler->error)
		rr_xdr_parse(compiler, text, length);
	if (!compiler->error)
		rr_xdr_check(compiler);
}
