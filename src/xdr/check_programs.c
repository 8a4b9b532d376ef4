/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

enum { HIGHEST = 4095 }; /* procedure number: tables are indexed by it */

/* RFC 5531, section 12.3: "Only unsigned constants can be assigned to programs, versions, and procedures." */
static void
check_number(struct rr_xdr_compiler *compiler, const struct rr_xdr_value *value, uint32_t highest)
{
	if (!rr_xdr_is_u32(value->number) || value->number.magnitude > highest)
		rr_xdr_error(compiler, value->position, "%s is out of range, expected 0 to %u", value->text,
			highest);
}

/* A type of a procedure that C has no name for gets one: PROCEDURE_args or PROCEDURE_result. */
static struct rr_xdr_type *
name_type(struct rr_xdr_compiler *compiler, struct rr_xdr_procedure *procedure, const char *suffix,
	struct rr_xdr_type *type)
{
	struct rr_xdr_definition *definition = rr_xdr_alloc(compiler, sizeof(*definition));
	struct rr_xdr_type *named = rr_xdr_alloc(compiler, sizeof(*named));

	if (!definition || !named)
		return NULL;
	definition->what = RR_XDR_TYPE;
	definition->position = procedure->position;
	definition->name = rr_xdr_format(compiler, "%s_%s", procedure->name, suffix);
	definition->declaration.position = procedure->position;
	definition->declaration.name = definition->name;
	definition->declaration.type = type;
	named->position = procedure->position;
	named->kind = RR_XDR_NAMED;
	named->name = definition->name;
	rr_xdr_define_all(compiler, definition);
	*compiler->definitions_end = definition;
	compiler->definitions_end = &definition->next;
	return named;
}

/* Several arguments: they follow each other in the stream as the members of a struct do. */
static struct rr_xdr_type *
make_struct(struct rr_xdr_compiler *compiler, struct rr_xdr_type *args)
{
	struct rr_xdr_type *type = rr_xdr_alloc(compiler, sizeof(*type));
	struct rr_xdr_declaration **end;
	unsigned number = 0;

	if (!type)
		return NULL;
	type->position = args->position;
	type->kind = RR_XDR_STRUCT;
	end = &type->members;
	for (; args; args = args->next) {
		if (args->kind == RR_XDR_VOID)
			rr_xdr_error(compiler, args->position, "void must be the only argument");
		*end = rr_xdr_alloc(compiler, sizeof(**end));
		if (!*end)
			return NULL;
		(*end)->position = args->position;
		(*end)->name = rr_xdr_format(compiler, "arg%u", ++number);
		(*end)->type = args;
		end = &(*end)->next;
	}
	return type;
}

static bool
has_body(const struct rr_xdr_type *type)
{
	return type->kind == RR_XDR_ENUM || type->kind == RR_XDR_STRUCT || type->kind == RR_XDR_UNION;
}

static void
check_types(struct rr_xdr_compiler *compiler, struct rr_xdr_procedure *procedure)
{
	struct rr_xdr_type *args = procedure->args;

	if (args->next)
		args = make_struct(compiler, args);
	if (args && has_body(args))
		args = name_type(compiler, procedure, "args", args);
	if (has_body(procedure->result))
		procedure->result = name_type(compiler, procedure, "result", procedure->result);
	if (compiler->error)
		return;
	procedure->args = args;
	rr_xdr_resolve_type(compiler, args);
	rr_xdr_resolve_type(compiler, procedure->result);
}

/* Versions of one program often have the same procedure: it has one name in C if it has one number, too. */
static bool
is_in_earlier_version(const struct rr_xdr_definition *program, const struct rr_xdr_version *version,
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

static void
check_procedure(struct rr_xdr_compiler *compiler, const struct rr_xdr_definition *program,
	const struct rr_xdr_version *version, struct rr_xdr_procedure *procedure)
{
	const struct rr_xdr_procedure *other = version->procedures;

	check_number(compiler, &procedure->number, HIGHEST);
	/* RFC 5531, section 12.3: "A procedure name cannot occur more than once within the scope of a version
	 * ... Neither can a procedure number" */
	for (; other != procedure; other = other->next) {
		if (rr_xdr_same(other->number.number, procedure->number.number))
			rr_xdr_error(compiler, procedure->number.position,
				"%s is already the number of %s, at line %u", procedure->number.text,
				other->name, other->position.line);
	}
	procedure->defined = is_in_earlier_version(program, version, procedure);
	if (!procedure->defined)
		rr_xdr_define(compiler, RR_XDR_NAME_OTHER, procedure->name, procedure->position);
	if (!compiler->error)
		check_types(compiler, procedure);
}

static void
check_version(struct rr_xdr_compiler *compiler, const struct rr_xdr_definition *program,
	const struct rr_xdr_version *version)
{
	struct rr_xdr_procedure *procedure = version->procedures;

	rr_xdr_define(compiler, RR_XDR_NAME_OTHER, version->name, version->position);
	check_number(compiler, &version->number, UINT32_MAX);
	for (const struct rr_xdr_version *other = program->versions; other != version; other = other->next) {
		if (rr_xdr_same(other->number.number, version->number.number))
			rr_xdr_error(compiler, version->number.position,
				"%s is already the number of %s, at line %u", version->number.text,
				other->name, other->position.line);
	}
	for (; procedure && !compiler->error; procedure = procedure->next)
		check_procedure(compiler, program, version, procedure);
}

void
rr_xdr_check_program(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *program)
{
	const struct rr_xdr_version *version = program->versions;

	check_number(compiler, &program->value, UINT32_MAX);
	for (; version && !compiler->error; version = version->next)
		check_version(compiler, program, version);
}
