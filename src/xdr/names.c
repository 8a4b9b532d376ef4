/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

struct rr_xdr_name *
rr_xdr_find(const struct rr_xdr_compiler *compiler, const char *name)
{
	for (struct rr_xdr_name *known = compiler->names; known; known = known->next) {
		if (strcmp(known->name, name) == 0)
			return known;
	}
	return NULL;
}

void
rr_xdr_check_name(struct rr_xdr_compiler *compiler, const char *name, struct rr_xdr_position position)
{
	/* Those that are not keywords of XDR, too, and what <stdbool.h> defines. */
	static const char *const reserved[] = { "auto", "break", "char", "continue", "do", "else", "extern",
		"false", "for", "goto", "if", "inline", "long", "register", "restrict", "return", "short",
		"signed", "sizeof", "static", "true", "volatile", "while", "asm", "typeof", "NULL" };

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++) {
		if (strcmp(name, reserved[i]) == 0)
			rr_xdr_error(
				compiler, position, "%s has a meaning in C, expected another name", name);
	}
}

struct rr_xdr_name *
rr_xdr_define(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind, const char *name,
	struct rr_xdr_position position)
{
	const struct rr_xdr_name *known = rr_xdr_find(compiler, name);
	struct rr_xdr_name *new;

	rr_xdr_check_name(compiler, name, position);
	/* RFC 4506, section 6.4: "Constant and type identifiers ... must be declared uniquely within this
	 * scope" */
	if (known)
		rr_xdr_error(
			compiler, position, "%s is already defined at line %u", name, known->position.line);
	if (strcmp(name, "TRUE") == 0 || strcmp(name, "FALSE") == 0)
		rr_xdr_error(compiler, position, "%s is a value of bool and cannot be defined", name);
	if (compiler->error)
		return NULL;
	new = rr_xdr_alloc(compiler, sizeof(*new));
	if (!new)
		return NULL;
	*new = (struct rr_xdr_name){
		.name = name, .position = position, .kind = kind, .next = compiler->names
	};
	return compiler->names = new;
}

bool
rr_xdr_evaluate(struct rr_xdr_compiler *compiler, struct rr_xdr_value *value)
{
	const struct rr_xdr_name *name;

	if (compiler->error)
		return false;
	if (!value->is_name)
		return true;
	/* RFC 4506, section 4.4: bool is "enum { FALSE = 0, TRUE = 1 }" */
	if (strcmp(value->text, "TRUE") == 0 || strcmp(value->text, "FALSE") == 0) {
		value->number.magnitude = value->text[0] == 'T';
		return true;
	}
	name = rr_xdr_find(compiler, value->text);
	if (!name) {
		rr_xdr_error(
			compiler, value->position, "%s is not defined, expected a constant", value->text);
		return false;
	}
	if (name->kind != RR_XDR_NAME_CONST && name->kind != RR_XDR_NAME_ENUMERATOR) {
		rr_xdr_error(compiler, value->position, "%s (line %u) is not a constant", value->text,
			name->position.line);
		return false;
	}
	value->number = name->number;
	return true;
}

const char *
rr_xdr_local(struct rr_xdr_compiler *compiler, const char *base)
{
	while (!compiler->error && rr_xdr_find(compiler, base))
		base = rr_xdr_format(compiler, "%s_", base);
	return base;
}
