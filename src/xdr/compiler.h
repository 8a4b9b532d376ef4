/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_COMPILER_H
#define RR_XDR_COMPILER_H

#include <stdio.h>

#include "base/env.h"
#include "xdr/ast.h"

/* One run of the compiler. It owns all memory of the run, in a chain of blocks that is freed at the end,
 * and not earlier. The first error is printed and kept; after it no further messages are printed. */

/* The kinds of names. OTHER: a program, a version or a procedure. */
enum rr_xdr_name_kind { RR_XDR_NAME_CONST, RR_XDR_NAME_ENUMERATOR, RR_XDR_NAME_TYPE, RR_XDR_NAME_OTHER };

/* A name of the scope that the whole schema shares. */
struct rr_xdr_name {
	const char *name;
	struct rr_xdr_position position;
	enum rr_xdr_name_kind kind;
	/* The name in C: the same name, unless C or C++ has another meaning for it. */
	const char *c_name;
	struct rr_xdr_number number; /* ENUMERATOR; OTHER: a version or a procedure */
	bool inside;                 /* ENUMERATOR: the body of its enum stands inside another type */
	struct rr_xdr_definition *definition; /* CONST, TYPE; OTHER: a program, which has its number */
	struct rr_xdr_name *next;
};

struct rr_xdr_preprocess; /* xdr/xdr.h */

/* One run of the compiler. */
struct rr_xdr_compiler {
	const struct rr_env *env;
	const char *path;
	/* How the C preprocessor is called, and why the text was not preprocessed; NULL: it was. */
	const struct rr_xdr_preprocess *preprocess;
	const char *unprocessed;
	/* Begin the names with external linkage: those of codecs, and of tables. */
	const char *codec_prefix, *program_prefix;
	/* Names stay as the schema has them: no C is written, in which they could have another meaning. */
	bool as_written;
	FILE *errors;
	int error; /* 0, or the first error */
	void *blocks;
	/* Lists; each *_end points to the link that the next element is stored in. ordered: types in an order
	 * that C accepts, linked by `after`; foreign: types that the schema does not define, linked by
	 * `after`. */
	struct rr_xdr_definition *definitions, **definitions_end;
	struct rr_xdr_definition *ordered, **ordered_end;
	struct rr_xdr_definition *foreign, **foreign_end;
	struct rr_xdr_mark *marks, **marks_end;
	struct rr_xdr_passed *passed, **passed_end;
	struct rr_xdr_name *names;
	/* visits: the number of the last search of graph.c; places: the place of the last definition or line
	 * for the header. */
	unsigned visits, places;
};

/* Begins a run for the schema at path, with messages to errors. Reads nothing yet. */
void rr_xdr_compiler_init(
	struct rr_xdr_compiler *compiler, const struct rr_env *env, const char *path, FILE *errors);
/* Ends the run: frees all memory of the run, but not the structure itself. */
void rr_xdr_compiler_free(struct rr_xdr_compiler *compiler);

/* Returns zeroed memory, which is freed at the end of the run. Returns NULL, and an error is set, if there is
 * no memory. */
void *rr_xdr_alloc(struct rr_xdr_compiler *compiler, size_t size);

/* Returns a formatted text in the memory of the run. Returns "", and an error is set, if there is no
 * memory. */
const char *rr_xdr_format(struct rr_xdr_compiler *compiler, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reports that the schema is wrong at position. The first report sets the error of the run and is printed. */
void rr_xdr_error(struct rr_xdr_compiler *compiler, struct rr_xdr_position position, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Warns the author of the schema of something at position; the schema can still be compiled. Prints nothing
 * if an error was reported before. */
void rr_xdr_warn(struct rr_xdr_compiler *compiler, struct rr_xdr_position position, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports an error that is not in the schema, for example with a file or with memory. */
void rr_xdr_trouble(struct rr_xdr_compiler *compiler, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* read.c: reads, parses and checks the file at the path of the run. */
void rr_xdr_read(struct rr_xdr_compiler *compiler);

/* read.c: returns the text from here to the end of the stream, with a zero behind it, and sets *length. If
 * there is no memory, or the stream cannot be read or is too large, an error is set; the result is then not
 * to be used, and may be NULL. */
char *rr_xdr_read_stream(struct rr_xdr_compiler *compiler, FILE *file, size_t *length);

/* preprocess.c: runs the C preprocessor on text, and returns the result with its length in *length. Returns
 * text itself if it has no directives, or if the preprocessor is not wanted or not there;
 * compiler->unprocessed then has the reason for later messages. Returns NULL, and an error is set, if the
 * preprocessor fails, or is not there although it was given options. */
char *rr_xdr_preprocess(struct rr_xdr_compiler *compiler, char *text, size_t *length);

/* parser.c: parses text, of length octets, into the lists of definitions, marks (data that may travel in a
 * chunk) and lines for the header. A zero must stand behind the text. */
void rr_xdr_parse(struct rr_xdr_compiler *compiler, const char *text, size_t length);

/* check.c: defines names, finds the definitions that types refer to, puts types into an order that C accepts,
 * and reports everything that cannot be compiled. */
void rr_xdr_check(struct rr_xdr_compiler *compiler);

/* Defines the name of definition and, if it is a type, the names of all enums inside the type. */
void rr_xdr_define_all(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition);

/* check/types.c: finds the definitions of the types that a declaration refers to, and the numbers of its
 * sizes. */
void rr_xdr_resolve(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration);

/* Whether the declaration is an array of no elements. */
bool rr_xdr_is_empty(const struct rr_xdr_declaration *declaration);

/* check/known.c: if Sun's RPC library or C defines the declaration's type, sets the type to that definition.
 * For opaque data, also sets the declaration's shape and size. Returns false if the type is not known
 * there. */
bool rr_xdr_resolve_known(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration);

/* If value is a name that Sun's RPC library defines, sets value to the number of that name and returns true;
 * else returns false. These names are the flavors of credentials (RFC 5531, section 8.2) and
 * MAXNETNAMELEN. */
bool rr_xdr_evaluate_foreign(struct rr_xdr_value *value);

/* check/declarations.c: checks the unions inside a declaration. The definitions of all its types must have
 * been found, and all names must be defined. */
void rr_xdr_check_declaration(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration);

/* check/names.c: renames members that cannot have their names in C or C++. Members can then no longer be
 * found by the names that they have in the schema. */
void rr_xdr_rename_members(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration);

/* check/programs.c: defines the names of a program's versions and procedures, and checks their numbers. */
void rr_xdr_define_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program);
/* Finds the definitions of the types that a program's procedures take and return. A type that has no name in
 * C gets a definition with a name. */
void rr_xdr_check_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program);

/* names.c: finds a name in the scope of the schema. Returns NULL if the schema does not define it. */
struct rr_xdr_name *rr_xdr_find(const struct rr_xdr_compiler *compiler, const char *name);

/* Finds a name by what it is in C, which is not always what the schema calls it. */
struct rr_xdr_name *rr_xdr_find_in_c(const struct rr_xdr_compiler *compiler, const char *c_name);

/* Adds a name to the scope of the schema. A name that has another meaning in C gets an underscore behind it
 * there, and the author of the schema is warned, unless compiler->as_written is set. Returns NULL, and an
 * error is set, if the name is defined already. */
struct rr_xdr_name *rr_xdr_define(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind,
	const char *name, struct rr_xdr_position position);
/* Adds a name that a header has to define, under which C knows it. */
struct rr_xdr_name *rr_xdr_define_foreign(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind,
	const char *name, struct rr_xdr_position position);

/* Whether a word has another meaning wherever it stands in C or C++: a keyword, or a macro without parameters
 * of a header of the C library, such as errno. */
bool rr_xdr_is_reserved(const char *name);

/* macros.c: whether a header of the C library has a macro of this name, without parameters, or with them. */
bool rr_xdr_is_macro(const char *name);
bool rr_xdr_is_function_macro(const char *name);

/* evaluate.c: finds the number that a value stands for. If the schema does not define the name,
 * value->foreign is set. Returns false, and an error is set, if the value has no number. */
bool rr_xdr_evaluate(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value);

/* Finds the number of a constant, as rr_xdr_evaluate() does for a value. */
void rr_xdr_evaluate_const(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *constant);

/* Does what rr_xdr_evaluate() does, but names that the schema does not define are errors. */
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

/* Returns a name for a local variable or parameter of generated code: base, with as many underscores behind
 * it as make it differ from all names of the schema. */
const char *rr_xdr_local(struct rr_xdr_compiler *compiler, const char *base);

/* graph.c: the references between definitions. */

/* If the declaration is only another name for a type (`typedef T x`), follows such names to their end, and
 * returns the declaration that is found there; else returns the declaration itself. */
const struct rr_xdr_declaration *rr_xdr_leaf(const struct rr_xdr_declaration *declaration);

/* Returns the last member of a struct if it is optional data of the same struct, so that the struct is a
 * list; else NULL. */
const struct rr_xdr_declaration *rr_xdr_tail(const struct rr_xdr_definition *definition);

/* Whether a value of the type `from` can contain a value of the type `to`. If tails is false, the members by
 * which linked lists go on are not searched. */
bool rr_xdr_reaches(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *from,
	const struct rr_xdr_definition *to, bool tails);

/* Whether a value of definition can contain data that may travel in a chunk. */
bool rr_xdr_reaches_mark(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition);

/* sizes.c: returns the bounds of the encoded size of a value of the type, or of a definition. */
struct rr_xdr_size rr_xdr_size(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type);

static inline struct rr_xdr_size
rr_xdr_size_of_definition(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition)
{
	const struct rr_xdr_type type = { .kind = RR_XDR_NAMED, .definition = definition };

	return rr_xdr_size(compiler, &type);
}

#endif
