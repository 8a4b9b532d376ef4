/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* The highest procedure number: the table of procedures has an entry for each number up to the highest. */
enum { HIGHEST = 4095 };

/* Evaluates the number of a program, version or procedure, and reports a number outside 0 to highest. RFC
 * 5531, section 12.3: "Only unsigned constants can be assigned to programs, versions, and procedures." */
static void
check_number(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value, uint32_t highest)
{
	if (!rr_xdr_evaluate_known(compiler, value))
		return;
	if (!rr_xdr_is_u32(value->number) || value->number.magnitude > highest)
		rr_xdr_error(compiler, value->position, "%s is out of range, expected 0 to %u", value->text,
			highest);
}

/* Defines a type for the arguments or result of a procedure: C needs a name for it. The name is
 * PROCEDURE_args or PROCEDURE_result; if this name is taken, VERSION_ is put in front. Returns the named
 * type, or NULL if there is no memory. */
static struct rr_xdr_type *
name_type(struct rr_xdr_compiler *compiler, const struct rr_xdr_version *version,
	const struct rr_xdr_procedure *procedure, const char *suffix,
	const struct rr_xdr_declaration *declaration)
{
	struct rr_xdr_definition *definition = rr_xdr_alloc(compiler, sizeof(*definition));
	struct rr_xdr_type *named = rr_xdr_alloc(compiler, sizeof(*named));

	if (!definition || !named)
		return NULL;
	definition->what = RR_XDR_TYPE;
	definition->made = true;
	definition->position = procedure->position;
	definition->place = version->program->place;
	definition->name = rr_xdr_format(compiler, "%s_%s", procedure->name, suffix);
	if (rr_xdr_find(compiler, definition->name))
		definition->name =
			rr_xdr_format(compiler, "%s_%s_%s", version->name, procedure->name, suffix);
	definition->declaration = *declaration;
	definition->declaration.position = procedure->position;
	definition->declaration.name = definition->name;
	definition->declaration.next = NULL;
	named->position = procedure->position;
	named->kind = RR_XDR_NAMED;
	named->name = definition->name;
	named->definition = definition;
	rr_xdr_define_all(compiler, definition);
	*compiler->definitions_end = definition;
	compiler->definitions_end = &definition->next;
	return named;
}

/* Makes a struct whose members are the arguments of a procedure that has several: in the stream, arguments
 * follow each other as the members of a struct do. Returns NULL if there is no memory. */
static struct rr_xdr_declaration *
programs_make_struct(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *args)
{
	struct rr_xdr_declaration *declaration = rr_xdr_alloc(compiler, sizeof(*declaration));
	struct rr_xdr_type *type = rr_xdr_alloc(compiler, sizeof(*type));
	unsigned number = 0;

	if (!declaration || !type)
		return NULL;
	declaration->type = type;
	type->position = args->position;
	type->kind = RR_XDR_STRUCT;
	type->members = args;
	for (; args; args = args->next) {
		if (args->type->kind == RR_XDR_VOID)
			rr_xdr_error(compiler, args->position, "void must be the only argument");
		number++;
		if (!args->name)
			args->name = rr_xdr_format(compiler, "arg%u", number);
	}
	return declaration;
}

/* Whether the type of an argument or result has a name in C, so that it can stand in the parameters of a
 * function. */
static bool
programs_has_name_in_c(const struct rr_xdr_declaration *declaration)
{
	enum rr_xdr_kind kind = declaration->type->kind;

	return declaration->shape == RR_XDR_PLAIN &&
	       (kind < RR_XDR_SCALARS || kind == RR_XDR_NAMED || kind == RR_XDR_VOID);
}

/* Finds the definitions of the types in the arguments or the result of a procedure. Returns the type of the
 * arguments or the result; defines a name for the type if it has no name. suffix is "args" or "result".
 * Returns NULL if there is no memory. */
static struct rr_xdr_type *
check_side(struct rr_xdr_compiler *compiler, const struct rr_xdr_version *version,
	const struct rr_xdr_procedure *procedure, const char *suffix, struct rr_xdr_declaration *declaration)
{
	if (declaration->next)
		declaration = programs_make_struct(compiler, declaration);
	if (!declaration)
		return NULL;
	rr_xdr_resolve(compiler, declaration);
	if (compiler->error || programs_has_name_in_c(declaration))
		return declaration->type;
	return name_type(compiler, version, procedure, suffix, declaration);
}

/* Whether an earlier version of the program has a procedure with the same name and number. Versions of a
 * program often share procedures; C must define the name only once. */
static bool
programs_is_in_earlier_version(const struct rr_xdr_definition *program, const struct rr_xdr_version *version,
	const struct rr_xdr_procedure *procedure)
{
	const struct rr_xdr_version *earlier = program->versions;

	for (; earlier != version; earlier = earlier->next) {
		for (const struct rr_xdr_procedure *p = earlier->procedures; p; p = p->next) {
			if (strcmp(p->name, procedure->name) == 0 &&
				rr_xdr_same(p->number.number, procedure->number.number))
				return true;
		}
	}
	return false;
}

/* Checks the number of a procedure and defines its name, unless an earlier version has defined it. */
static void
programs_define_procedure(struct rr_xdr_compiler *compiler, const struct rr_xdr_definition *program,
	const struct rr_xdr_version *version, struct rr_xdr_procedure *procedure)
{
	const struct rr_xdr_procedure *other = version->procedures;
	struct rr_xdr_name *name;

	check_number(compiler, &procedure->number, HIGHEST);
	/* RFC 5531, section 12.3: "A procedure name cannot occur more than once within the scope of a version
	 * ... Neither can a procedure number" */
	for (; other != procedure; other = other->next) {
		if (rr_xdr_same(other->number.number, procedure->number.number))
			rr_xdr_error(compiler, procedure->number.position,
				"%s is already the number of %s, at line %u", procedure->number.text,
				other->name, other->position.line);
	}
	procedure->defined = programs_is_in_earlier_version(program, version, procedure);
	if (procedure->defined)
		return;
	name = rr_xdr_define(compiler, RR_XDR_NAME_OTHER, procedure->name, procedure->position);
	if (!name)
		return;
	name->number = procedure->number.number;
	procedure->c_name = name->c_name;
}

/* Checks the number of a version, and defines the names of the version and of its procedures. Reports a
 * number that an earlier version has. */
static void
programs_define_version(struct rr_xdr_compiler *compiler, const struct rr_xdr_definition *program,
	struct rr_xdr_version *version)
{
	struct rr_xdr_procedure *procedure = version->procedures;
	struct rr_xdr_name *name;

	version->program = program;
	name = rr_xdr_define(compiler, RR_XDR_NAME_OTHER, version->name, version->position);
	check_number(compiler, &version->number, UINT32_MAX);
	if (!name)
		return;
	name->number = version->number.number;
	version->c_name = name->c_name;
	for (const struct rr_xdr_version *other = program->versions; other != version; other = other->next) {
		if (rr_xdr_same(other->number.number, version->number.number))
			rr_xdr_error(compiler, version->number.position,
				"%s is already the number of %s, at line %u", version->number.text,
				other->name, other->position.line);
	}
	for (; procedure && !compiler->error; procedure = procedure->next)
		programs_define_procedure(compiler, program, version, procedure);
}

void
rr_xdr_define_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program)
{
	struct rr_xdr_version *version = program->versions;

	check_number(compiler, &program->value, UINT32_MAX);
	for (; version && !compiler->error; version = version->next)
		programs_define_version(compiler, program, version);
}

void
rr_xdr_check_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program)
{
	for (struct rr_xdr_version *version = program->versions; version; version = version->next) {
		struct rr_xdr_procedure *procedure = version->procedures;

		for (; procedure && !compiler->error; procedure = procedure->next) {
			procedure->args = check_side(
				compiler, version, procedure, "args", procedure->args_declarations);
			procedure->result = check_side(
				compiler, version, procedure, "result", procedure->result_declaration);
		}
	}
}
