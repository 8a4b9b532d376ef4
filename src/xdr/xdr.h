/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_XDR_H
#define RR_XDR_XDR_H

#include <stdio.h>

#include "base/env.h"

/*
 * The compiler of the XDR language (RFC 4506, section 6) with program
 * definitions (RFC 5531, section 12). Beyond the grammar of the RFCs it takes
 *   - lines that begin with %, copied into the header;
 *   - struct, union or enum in front of the name of a type, where it is used;
 *   - unsigned alone, for unsigned int; int32_t, uint32_t, int64_t and uint64_t where the schema has no such
 * types;
 *   - `#pragma rpcrdma place TYPE.FIELD`: the binding of a protocol to RPC-over-RDMA marks this opaque or
 * string; other lines that begin with # are ignored;
 *   - `#pragma rpcrdma prefix NAME`: what the schema becomes in C has external names that begin with NAME_,
 * as NAME_get_TYPE, so that two schemas that share names can be in one program (but not in one file of it).
 */

/*
 * Compiles the schema in the file input_path to output_base.h (C types, bounds of their sizes, codecs,
 * programs) and output_base.c. The first error goes to errors as one line, FILE:LINE:COLUMN: what is wrong;
 * both files are then left as they were. Returns 0, -RPCRDMA_ERR_XDR (the schema is wrong),
 * -RPCRDMA_ERR_SYSTEM or -RPCRDMA_ERR_NOMEM.
 */
int rr_xdr_compile(const char *input_path, const char *output_base, FILE *errors);

/* The same with memory from env. */
int rr_xdr_compile_with(
	const struct rr_env *env, const char *input_path, const char *output_base, FILE *errors);

#endif
