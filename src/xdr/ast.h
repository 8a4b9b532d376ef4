/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_AST_H
#define RR_XDR_AST_H

#include <stdbool.h>
#include <stdint.h>

/* A schema as the parser leaves it, with what the later passes find out about it. */

/* A place in the text of a schema. */
struct rr_xdr_position {
	unsigned line, column; /* from 1; a column is an octet */
	const char *file;      /* NULL: the file that is compiled */
};

/* A whole number, with its sign. */
struct rr_xdr_number {
	bool negative;
	uint64_t magnitude;
};

/* A number, or the name of a number. */
struct rr_xdr_value {
	struct rr_xdr_position position;
	const char *text; /* as it is spelled */
	bool is_name;
	bool is_text; /* a text in double quotes: only a constant can be this */
	/* Of a name, once the value is evaluated: the macro or enumerator that has this value in C; NULL: C
	 * has no such name, or knows it only inside another type. */
	const char *c_name;
	bool is_enumerator; /* c_name is an enumerator */
	bool foreign; /* the schema does not define the name: a header that the schema includes must do so */
	struct rr_xdr_number number; /* of a name: known once the value is evaluated */
	struct rr_xdr_value *next;   /* the next label of an arm */
};

/* The kinds of types. */
enum rr_xdr_kind {
	RR_XDR_INT,
	RR_XDR_UNSIGNED_INT,
	RR_XDR_HYPER,
	RR_XDR_UNSIGNED_HYPER,
	RR_XDR_FLOAT,
	RR_XDR_DOUBLE,
	RR_XDR_BOOL,
	RR_XDR_SCALARS, /* how many kinds are above */
	RR_XDR_OPAQUE = RR_XDR_SCALARS,
	RR_XDR_STRING,
	RR_XDR_VOID,
	RR_XDR_ENUM, /* this and the next two have a body */
	RR_XDR_STRUCT,
	RR_XDR_UNION,
	RR_XDR_NAMED,
	RR_XDR_FOREIGN /* only the type of a definition: the schema does not define the type */
};

/* A name of an enum, with its value (value.text is NULL if the schema gives none). */
struct rr_xdr_enumerator {
	struct rr_xdr_position position;
	const char *name;
	struct rr_xdr_value value;
	struct rr_xdr_enumerator *next;
};

/* A type as it stands in a declaration. */
struct rr_xdr_type {
	struct rr_xdr_position position;
	enum rr_xdr_kind kind;
	const char *name;                        /* NAMED */
	bool is_tag;                             /* NAMED: struct, union or enum stands before the name */
	struct rr_xdr_definition *definition;    /* NAMED, once the type is resolved */
	struct rr_xdr_enumerator *enumerators;   /* ENUM */
	struct rr_xdr_declaration *discriminant; /* UNION */
	struct rr_xdr_declaration *members;      /* STRUCT; the arms of a UNION */
};

/* How many values of its type a declaration has: one, a fixed number, a variable number, or at most one. */
enum rr_xdr_shape { RR_XDR_PLAIN, RR_XDR_FIXED, RR_XDR_VARIABLE, RR_XDR_OPTIONAL };

/* A declaration of a name: of a type, a member, an arm or an argument. */
struct rr_xdr_declaration {
	struct rr_xdr_position position; /* of the name */
	const char *name;                /* NULL: void */
	struct rr_xdr_type *type;
	enum rr_xdr_shape shape;
	bool bounded;             /* VARIABLE: a maximum was given */
	struct rr_xdr_value size; /* FIXED; VARIABLE if bounded */
	bool placed;              /* a mark makes it an item: it may travel in a chunk */
	bool is_default;          /* the default arm of a union */
	struct rr_xdr_value *labels;
	struct rr_xdr_declaration *next;
};

/* The size of a value: octets of the stream, the number of marked items, octets of the largest of these. */
struct rr_xdr_size {
	uint32_t min, max, items, item_max; /* all but min may be RPCRDMA_XDR_UNBOUNDED */
};

/* A procedure of a program's version. */
struct rr_xdr_procedure {
	struct rr_xdr_position position;
	const char *name, *c_name; /* c_name: the macro of its number, unless it is defined already */
	struct rr_xdr_declaration *result_declaration, *args_declarations; /* as they were read */
	struct rr_xdr_type *result, *args; /* once these are checked: types that have a name in C */
	struct rr_xdr_value number;
	bool defined; /* an earlier version has defined the same name with the same number */
	struct rr_xdr_procedure *next;
};

/* A version of a program. */
struct rr_xdr_version {
	struct rr_xdr_position position;
	const char *name, *c_name; /* c_name: the macro of its number */
	struct rr_xdr_value number;
	const struct rr_xdr_definition *program;
	struct rr_xdr_procedure *procedures;
	struct rr_xdr_version *next;
};

/* The kinds of definitions. NOTHING: a constant TRUE or FALSE, which is dropped. */
enum rr_xdr_what { RR_XDR_CONST, RR_XDR_TYPE, RR_XDR_PROGRAM, RR_XDR_NOTHING };
/* How far a pass that visits each definition once has come; a visit to a begun one shows a circle. */
enum rr_xdr_progress { RR_XDR_NEW, RR_XDR_BEGUN, RR_XDR_DONE };

/* A definition of a schema, and what the passes remember of it. */
struct rr_xdr_definition {
	struct rr_xdr_position position;
	const char *name;
	enum rr_xdr_what what;
	struct rr_xdr_value value;             /* CONST; the number of a PROGRAM */
	struct rr_xdr_declaration declaration; /* TYPE; `struct x {}` is held as `typedef struct {} x` */
	struct rr_xdr_version *versions;       /* PROGRAM */
	struct rr_xdr_definition *next;
	unsigned place; /* its place in the schema, counted in definitions and lines for the header */
	bool made; /* of a TYPE: made for what a procedure takes or returns; the schema does not have it */

	enum rr_xdr_progress ordered; /* of a TYPE: check.c orders it; of a CONST: evaluate.c evaluates it */
	struct rr_xdr_definition *after; /* the next type in an order that C accepts */
	unsigned visited;                /* graph.c: the number of the last search that came here */
	bool aliased;                    /* emit/scope.c: its second name is in the header */
	bool sized;                      /* sizes.c: size is known */
	struct rr_xdr_size size;
	bool wrapped; /* emit/program.c: its functions with void pointers were written */
	/* walk_shape.c remembers here whether all values take the same number of octets, and how many words
	 * of instructions move over a value; 0: not known yet. */
	unsigned uniform, walk_cost;
};

/* A mark: `#pragma rpcrdma place TYPE.FIELD`. It says that the field may travel in a chunk. */
struct rr_xdr_mark {
	struct rr_xdr_position position;
	const char *type, *field;
	struct rr_xdr_mark *next;
};

/* A line of C that is passed on to the header. */
struct rr_xdr_passed {
	const char *line;
	unsigned place; /* counted as the place of a definition */
	struct rr_xdr_passed *next;
};

#endif
