/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_TABLES_H
#define RR_XDR_TABLES_H

#include <rpcrdma/xdr.h>

#include "xdr/walk_build.h"

/*
 * The tables of a schema's programs, in memory, for those who learn of it at run time only: as the compiler
 * writes them down as C, but without codecs. They can be walked (ulb/binding.h).
 */

/* The programs of a schema, one for each version. It may not be moved. */
struct rr_xdr_tables {
	struct rpcrdma_program *programs;
	uint32_t count, walk_length;
	struct rr_xdr_compiler run; /* owns all of it */
};

/*
 * Reads the schema in the file path. Errors are those of rr_xdr_compile() (xdr/xdr.h), and said in the same
 * way; XDR where there is no program in it. Then there is nothing to unload.
 */
int rr_xdr_load(struct rr_xdr_tables *tables, const struct rr_env *env, const char *path, FILE *errors);
void rr_xdr_unload(struct rr_xdr_tables *tables);

#endif
