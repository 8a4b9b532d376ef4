/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_TABLES_H
#define RR_XDR_TABLES_H

#include <rpcrdma/xdr.h>

#include "xdr/walk_build.h"

/* Tables of a schema's programs that are made in memory at run time. They are those that the compiler
 * writes as C, but without codecs. They can be walked (ulb/binding.h). */

/* The programs of a schema, one for each version. The structure must not be moved. */
struct rr_xdr_tables {
	struct rpcrdma_program *programs;
	uint32_t count, walk_length;
	struct rr_xdr_compiler run; /* owns all memory of the tables */
};

/* Reads the schema in the file path, and makes tables of its programs. Returns 0 or an error of
 * rr_xdr_compile() (xdr/xdr.h), and prints errors in the same way; a schema without a program is an error,
 * too. After an error, rr_xdr_unload() need not be called. */
int rr_xdr_load(struct rr_xdr_tables *tables, const struct rr_env *env, const char *path, FILE *errors);
/* Frees the tables, and all memory that was needed to make them. */
void rr_xdr_unload(struct rr_xdr_tables *tables);

#endif
