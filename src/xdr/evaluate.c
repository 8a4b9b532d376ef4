/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* Finds the numbers that names stand for. */

/* Whether name is a value of bool, which RFC 4506, section 4.4, defines as "enum { FALSE = 0, TRUE = 1 }". */
static bool
evaluate_is_bool(const char *name)
{
	return strcmp(name, "TRUE") == 0 || strcmp(name, "FALSE") == 0;
}

/* Finds the number of a constant, unless it is known already. A constant may be given as the name of another
 * constant, which may stand further down in the schema. Reports a constant that is defined by itself. */
void
rr_xdr_evaluate_const(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *constant)
{
	if (constant->ordered == RR_XDR_BEGUN)
		rr_xdr_error(compiler, constant->position, "%s is defined by itself", constant->name);
	if (constant->ordered != RR_XDR_NEW)
		return;
	constant->ordered = RR_XDR_BEGUN;
	rr_xdr_evaluate(compiler, &constant->value);
	constant->ordered = RR_XDR_DONE;
}

/* Sets the number of value, which is the name of `constant`, to that of the constant. Reports a constant that
 * is a text. */
static void
evaluate_take_const(
	struct rr_xdr_compiler *compiler, struct rr_xdr_value *value, struct rr_xdr_definition *constant)
{
	rr_xdr_evaluate_const(compiler, constant);
	if (constant->value.is_text)
		rr_xdr_error(compiler, value->position, "%s (line %u) is a text, expected a number",
			value->text, constant->position.line);
	value->number = constant->value.number;
	value->foreign = constant->value.foreign;
}

/* Finds the number of a value, which may be a name. Sets value->foreign if the schema does not define the
 * name. Returns false, and an error is set, if the name is not that of a number. */
static bool
evaluate_name(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value)
{
	const struct rr_xdr_name *name;

	if (compiler->error)
		return false;
	if (!value->is_name)
		return true;
	if (evaluate_is_bool(value->text)) {
		value->number.magnitude = value->text[0] == 'T';
		return true;
	}
	name = rr_xdr_find(compiler, value->text);
	value->foreign = !name;
	if (!name)
		return true;
	if (name->kind == RR_XDR_NAME_TYPE)
		rr_xdr_error(compiler, value->position, "%s (line %u) is not a constant", value->text,
			name->position.line);
	else if (name->kind == RR_XDR_NAME_CONST)
		evaluate_take_const(compiler, value, name->definition);
	else
		value->number = name->definition ? name->definition->value.number : name->number;
	value->is_enumerator = name->kind == RR_XDR_NAME_ENUMERATOR;
	/* In C++, a name of an enum inside another type is known only there. */
	value->c_name = name->inside ? NULL : name->c_name;
	return !compiler->error;
}

/* Defines a constant without a number for a name that the schema does not define, and warns the user: a
 * header that the generated code includes must define this name. */
static void
evaluate_declare_foreign(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value)
{
	struct rr_xdr_definition *constant = rr_xdr_alloc(compiler, sizeof(*constant));
	struct rr_xdr_name *name;

	rr_xdr_warn(compiler, value->position,
		"%s is not defined here: a header has to be included that does so", value->text);
	name = rr_xdr_define_foreign(compiler, RR_XDR_NAME_CONST, value->text, value->position);
	if (!constant || !name)
		return;
	constant->position = value->position;
	constant->name = value->text;
	constant->value = *value;
	constant->ordered = RR_XDR_DONE;
	name->definition = constant;
	value->c_name = name->c_name;
}

bool
rr_xdr_evaluate(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value)
{
	if (!evaluate_name(compiler, value))
		return false;
	/* A name that was met before has been declared already, and has a c_name. */
	if (value->foreign && !value->c_name && !rr_xdr_evaluate_foreign(value))
		evaluate_declare_foreign(compiler, value);
	return !compiler->error;
}

bool
rr_xdr_evaluate_known(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value)
{
	if (!evaluate_name(compiler, value))
		return false;
	if (value->foreign)
		rr_xdr_error(
			compiler, value->position, "%s is not defined, expected a constant", value->text);
	return !compiler->error;
}
