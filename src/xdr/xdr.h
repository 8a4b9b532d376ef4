/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_XDR_H
#define RR_XDR_XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/env.h"

/*
 * The compiler of the XDR language (RFC 4506, section 6) with program definitions (RFC 5531, section 12).
 * Beyond the grammar of the RFCs it takes what rpcgen takes:
 *   - lines that begin with %, copied into the header, in front of the types that follow them;
 *   - directives of the C preprocessor (cpp, or cc), which is called where there are any, and with RPC_HDR
 *     defined;
 *   - constants that are texts, or that are named after other constants, and enum values without numbers;
 *   - struct, union or enum in front of the name of a type, where it is used;
 *   - char, short, long, unsigned alone, int8_t to uint64_t, u_int, bool_t, netobj and more such names where
 *     the schema does not define them: as in Sun's library, each integer takes four octets of the stream
 *     unless its name says 64, hyper, quad or longlong;
 *   - types and constants that the schema does not define (a warning names them): an included header has to
 *     define them, and for a type T also what xdr_get_T and xdr_put_T do;
 *   - several arguments of a procedure, with names, strings and optional ones among them;
 * and moreover
 *   - `#pragma rpcrdma place TYPE.FIELD`: by the binding of a protocol to RPC-over-RDMA, this opaque or
 *     string may travel in a chunk; pragmas of others are ignored;
 *   - `#pragma rpcrdma prefix NAME`: what the schema becomes in C has external names that begin with NAME_,
 *     as NAME_get_TYPE, so that two schemas that share names can be in one program (but not in one file of
 * it).
 *
 * What is written compiles as C11 and as C++, in front of the headers of C and POSIX and behind them. A name
 * that C or C++ reserves, or that these headers have as a macro, has an underscore behind it there (class
 * becomes class_, errno becomes errno_), which a warning says.
 */

/* How the C preprocessor is called. */
struct rr_xdr_preprocess {
	bool never; /* a schema with directives is then an error */
	/* -DNAME, -IFOLDER and so on; with arguments, the preprocessor is called in any case */
	const char *const *arguments;
	size_t count;
};

/* Compiles the schema in the file input_path. Writes output_base.h (C types, the bounds of their sizes, and
 * declarations of the functions and tables) and output_base.c. Prints warnings, and the first error, to
 * errors, with one line for each: FILE:LINE:COLUMN: and the fault. After an error both files are unchanged,
 * unless the error is that output_base.c cannot be renamed to its final name, for example because a directory
 * has this name: then output_base.h is new. Returns 0, -RPCRDMA_ERR_XDR (the schema is wrong),
 * -RPCRDMA_ERR_SYSTEM or -RPCRDMA_ERR_NOMEM. */
int rr_xdr_compile(const char *input_path, const char *output_base, FILE *errors);

/* Does what rr_xdr_compile() does, with memory from env, and with options for the C preprocessor. */
int rr_xdr_compile_with(const struct rr_env *env, const struct rr_xdr_preprocess *preprocess,
	const char *input_path, const char *output_base, FILE *errors);

/* describe.c: reads and checks the schema in the file input_path as rr_xdr_compile_with() does, and writes
 * what it declares to `out` as JSON, by which programs in other languages encode and decode:
 *
 *   {"constants": {NAME: VALUE, ...}, "types": {NAME: DECLARATION, ...},
 *    "programs": [{"name", "number", "versions": [{"name", "number", "procedures":
 *      [{"name", "number", "result": DECLARATION, "arguments": [DECLARATION, ...]}, ...]}, ...]}, ...]}
 *
 *   VALUE: a number, or the text between the quotes of a constant that is a text. For a number that the
 * schema does not define, the name of the number. DECLARATION: {"name", "type": TYPE, "shape", "size": VALUE,
 * "placed"}. shape is "plain", "fixed", "variable" or "optional"; size is left out where there is none;
 * placed is true where a binding marks it (`#pragma rpcrdma place`), and else left out. A definition and a
 * result have no name here; of several arguments, those without a name are arg1, arg2 and so on. void:
 * {"type": "void"}. TYPE: "int", "unsigned int", "hyper", "unsigned hyper", "float", "double", "bool",
 * "opaque", "string", "void", or the name of a type; or, where a type has a body, one of
 *     {"enum": {NAME: NUMBER, ...}}, {"struct": [DECLARATION, ...]} and
 *     {"union": {"discriminant": DECLARATION, "arms": [DECLARATION with "labels": [VALUE, ...], ...]}}, where
 * the default arm has "default": true instead of labels.
 *
 * Names are those of the schema. Arrays of no elements are left out. Returns what rr_xdr_compile() does;
 * after an error, nothing was written. */
int rr_xdr_describe(const struct rr_env *env, const struct rr_xdr_preprocess *preprocess,
	const char *input_path, FILE *out, FILE *errors);

#endif
