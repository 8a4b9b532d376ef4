/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_COMPILER_H
#define RR_XDR_COMPILER_H

#include <stdio.h>

#include "base/env.h"
#include "xdr/ast.h"

/*
 * One run of the compiler. It owns all memory of the run, in one chain that is
 * freed at its end; nothing is freed earlier. The first error is printed and
 * sticks; after it nothing more is said.
 */

enum rr_xdr_name_kind { RR_XDR_NAME_CONST, RR_XDR_NAME_ENUMERATOR, RR_XDR_NAME_TYPE, RR_XDR_NAME_OTHER };

/* A name of the scope that the whole schema shares. */
struct rr_xdr_name {
	const char *name;
	struct rr_xdr_position position;
	enum rr_xdr_name_kind kind;
	/* The name in C: this one, unless C or C++ has another meaning for it. */
	const char *c_name;
	struct rr_xdr_number number;          /* ENUMERATOR, OTHER */
	bool inside;                          /* ENUMERATOR: its enum has its body in another type */
	struct rr_xdr_definition *definition; /* CONST, TYPE */
	struct rr_xdr_name *next;
};

struct rr_xdr_preprocess; /* xdr/xdr.h */

struct rr_xdr_compiler {
	const struct rr_env *env;
	const char *path;
	/* The C preprocessor: how it is called, and why the text has not been through it. */
	const struct rr_xdr_preprocess *preprocess;
	const char *unprocessed;
	/* Of the names with external linkage: codecs, and tables. */
	const char *codec_prefix, *program_prefix;
	FILE *errors;
	int error; /* 0, or the first one */
	void *blocks;
	struct rr_xdr_definition *definitions, **definitions_end;
	struct rr_xdr_definition *ordered, **ordered_end; /* types, by `after` */
	struct rr_xdr_definition *foreign,
		**foreign_end; /* types that the schema does not define, by `after` */
	struct rr_xdr_mark *marks, **marks_end;
	struct rr_xdr_passed *passed, **passed_end;
	struct rr_xdr_name *names;
	unsigned visits, places;
};

void rr_xdr_compiler_init(
	struct rr_xdr_compiler *compiler, const struct rr_env *env, const char *path, FILE *errors);
void rr_xdr_compiler_free(struct rr_xdr_compiler *compiler);

/* Zeroed memory of the run; NULL (and an error) if there is none. */
void *rr_xdr_alloc(struct rr_xdr_compiler *compiler, size_t size);

/* Formatted text in the memory of the run; "" (and an error) if there is none. */
const char *rr_xdr_format(struct rr_xdr_compiler *compiler, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The schema is wrong at position. */
void rr_xdr_error(struct rr_xdr_compiler *compiler, struct rr_xdr_position position, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The schema can be compiled, and yet its author should know this. */
void rr_xdr_warn(struct rr_xdr_compiler *compiler, struct rr_xdr_position position, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Something else went wrong, with a file or with memory. */
void rr_xdr_trouble(struct rr_xdr_compiler *compiler, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* read.c: the file at the path of the run, parsed and checked. */
void rr_xdr_read(struct rr_xdr_compiler *compiler);

/* read.c: the rest of the stream, with a zero behind it; NULL (and an error) if it cannot be read. */
char *rr_xdr_read_stream(struct rr_xdr_compiler *compiler, FILE *file, size_t *length);

/* preprocess.c: text after the C preprocessor where that has something to do; else text as it is. */
char *rr_xdr_preprocess(struct rr_xdr_compiler *compiler, char *text, size_t *length);

/* parser.c: text (ended by a zero behind its length octets) to definitions, marks and passed lines. */
void rr_xdr_parse(struct rr_xdr_compiler *compiler, const char *text, size_t length);

/* check.c: names defined and resolved, types put in order, everything that cannot be compiled refused. */
void rr_xdr_check(struct rr_xdr_compiler *compiler);

/* The name of definition, and those of the enums inside. */
void rr_xdr_define_all(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition);

/* check_types.c: what a declaration refers to, and its sizes. */
void rr_xdr_resolve(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration);

/* Whether it is an array of no elements. */
bool rr_xdr_is_empty(const struct rr_xdr_declaration *declaration);

/* check_known.c: gives type the kind that Sun's RPC library knows its name for, or of which C does; false if
 * there is no such name. Opaque data have a shape, too, which declaration gets. */
bool rr_xdr_resolve_known(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration);

/* The same of a constant that the schema does not define: gives value its number. */
bool rr_xdr_evaluate_foreign(struct rr_xdr_value *value);

/* check_declarations.c: the unions inside a declaration; all types are resolved, all names known. */
void rr_xdr_check_declaration(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration);

/* check_names.c: members whose names C or C++ could not have get others. Nothing looks for them by their
 * names of the schema any more. */
void rr_xdr_rename_members(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration);

/* check_programs.c: the names of a program's versions and procedures; then its types: those that C has no
 * name for become definitions. */
void rr_xdr_define_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program);
void rr_xdr_check_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program);

/* names.c: the scope of the schema. */
struct rr_xdr_name *rr_xdr_find(const struct rr_xdr_compiler *compiler, const char *name);

/* Adds a name, which must be new; NULL (and an error) if it is not, or cannot be a name in C. */
struct rr_xdr_name *rr_xdr_define(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind,
	const char *name, struct rr_xdr_position position);

/* Whether a word is a keyword of C or C++, or a macro that they always have. */
bool rr_xdr_is_reserved(const char *name);

/* Name, as it can be a name in C: words that are reserved there have an underscore behind them. */
const char *rr_xdr_c_name(
	struct rr_xdr_compiler *compiler, const char *name, struct rr_xdr_position position);

/* evaluate.c: finds the number that a value stands for; false (and an error) where it stands for nothing.
 * Of a name that the schema does not define, value->foreign is set. */
bool rr_xdr_evaluate(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value);

/* The same of a constant. */
void rr_xdr_evaluate_const(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *constant);

/* As rr_xdr_evaluate(); names that the schema does not define are errors. */
bool rr_xdr_evaluate_known(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value);

static inline bool
rr_xdr_is_u32(struct rr_xdr_number number)
{
	return !number.negative && number.magnitude <= UINT32_MAX;
}

static inline bool
rr_xdr_is_i32(struct rr_xdr_number number)
{
	return number.magnitude <= (uint64_t)INT32_MAX + (number.negative ? 1 : 0);
}

static inline bool
rr_xdr_same(struct rr_xdr_number a, struct rr_xdr_number b)
{
	return a.negative == b.negative && a.magnitude == b.magnitude;
}

/* A name for a local variable or parameter of generated code: base, and underscores until the schema has no
 * such. */
const char *rr_xdr_local(struct rr_xdr_compiler *compiler, const char *base);

/* graph.c: what refers to what. */

/* The declaration behind names that are only other names for it: `typedef T x` followed to its end. */
const struct rr_xdr_declaration *rr_xdr_leaf(const struct rr_xdr_declaration *declaration);

/* The last member of a struct that is optional data of this same struct, so that it is a list; or NULL. */
const struct rr_xdr_declaration *rr_xdr_tail(const struct rr_xdr_definition *definition);

/* Whether a value of from can hold a value of to, apart from the tails of lists if those do not count. */
bool rr_xdr_reaches(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *from,
	const struct rr_xdr_definition *to, bool tails);

/* Whether a value of definition can hold an item that a binding marks. */
bool rr_xdr_reaches_mark(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition);

/* sizes.c */
struct rr_xdr_size rr_xdr_size(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type);

static inline struct rr_xdr_size
rr_xdr_size_of_definition(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition)
{
	const struct rr_xdr_type type = { .kind = RR_XDR_NAMED, .definition = definition };

	return rr_xdr_size(compiler, &type);
}

#endif
