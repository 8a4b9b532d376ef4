/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/emit/emit.h"

#include <inttypes.h>
#include <stdarg.h>

const struct rr_xdr_scalar rr_xdr_scalars[RR_XDR_SCALARS] = {
	[RR_XDR_INT] = { "int32_t", "i32" },
	[RR_XDR_UNSIGNED_INT] = { "uint32_t", "u32" },
	[RR_XDR_HYPER] = { "int64_t", "i64" },
	[RR_XDR_UNSIGNED_HYPER] = { "uint64_t", "u64" },
	[RR_XDR_FLOAT] = { "float", "float" },
	[RR_XDR_DOUBLE] = { "double", "double" },
	[RR_XDR_BOOL] = { "bool", "bool" },
};

void
rr_xdr_emitter_init(struct rr_xdr_emitter *emitter, struct rr_xdr_compiler *compiler, FILE *out)
{
	*emitter = (struct rr_xdr_emitter){
		.compiler = compiler,
		.out = out,
		.reader = rr_xdr_local(compiler, "reader"),
		.writer = rr_xdr_local(compiler, "writer"),
		.value = rr_xdr_local(compiler, "value"),
		.depth = rr_xdr_local(compiler, "depth"),
		.holder = rr_xdr_local(compiler, "holder"),
		.walk_name = rr_xdr_local(compiler, "walk_code"),
	};
	rr_walk_build(&emitter->walk, compiler);
}

/* Writes the indentation and the text of a line, without a line feed. */
static void
emit_print_line(struct rr_xdr_emitter *emitter, const char *format, va_list args)
{
	for (unsigned i = 0; i < emitter->indent; i++)
		fputc('\t', emitter->out);
	vfprintf(emitter->out, format, args);
}

void
rr_xdr_line(struct rr_xdr_emitter *emitter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	emit_print_line(emitter, format, args);
	va_end(args);
	fputc('\n', emitter->out);
}

void
rr_xdr_open(struct rr_xdr_emitter *emitter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	emit_print_line(emitter, format, args);
	va_end(args);
	fputs(" {\n", emitter->out);
	emitter->indent++;
}

void
rr_xdr_close(struct rr_xdr_emitter *emitter, const char *behind)
{
	emitter->indent--;
	rr_xdr_line(emitter, "}%s", behind);
}

const char *
rr_xdr_member(struct rr_xdr_emitter *emitter, const char *path, const char *name)
{
	if (path[0] == '*')
		return rr_xdr_format(emitter->compiler, "%s->%s", path + 1, name);
	return rr_xdr_format(emitter->compiler, "%s.%s", path, name);
}

const char *
rr_xdr_element(struct rr_xdr_emitter *emitter, const char *path, const char *index)
{
	return rr_xdr_format(emitter->compiler, path[0] == '*' ? "(%s)[%s]" : "%s[%s]", path, index);
}

const char *
rr_xdr_pointed(struct rr_xdr_emitter *emitter, const char *path)
{
	return rr_xdr_format(emitter->compiler, path[0] == '*' ? "*(%s)" : "*%s", path);
}

const char *
rr_xdr_address(struct rr_xdr_emitter *emitter, const char *path)
{
	return path[0] == '*' ? path + 1 : rr_xdr_format(emitter->compiler, "&%s", path);
}

const char *
rr_xdr_number(struct rr_xdr_emitter *emitter, const struct rr_xdr_value *value)
{
	struct rr_xdr_number number = value->number;

	if (value->c_name)
		return value->c_name;
	if (!number.negative)
		return rr_xdr_format(emitter->compiler, "%" PRIu64 "%s", number.magnitude,
			number.magnitude > INT64_MAX ? "u" : "");
	/* C has no literal for the least number, only for the number above it. */
	if (number.magnitude > INT64_MAX)
		return rr_xdr_format(emitter->compiler, "(-%" PRIu64 " - 1)", number.magnitude - 1);
	if (number.magnitude == (uint64_t)INT32_MAX + 1)
		return rr_xdr_format(emitter->compiler, "(-%" PRId32 " - 1)", INT32_MAX);
	return rr_xdr_format(emitter->compiler, "(-%" PRIu64 ")", number.magnitude);
}

const char *
rr_xdr_bound(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration)
{
	struct rr_xdr_value size = declaration->size;

	if (declaration->shape != RR_XDR_FIXED && !declaration->bounded)
		return "UINT32_MAX";
	/* The header may define the enum behind this use of its name. So the number is written, not the
	 * name. */
	if (size.is_enumerator)
		size.c_name = NULL;
	return rr_xdr_number(emitter, &size);
}

const char *
rr_xdr_index(struct rr_xdr_emitter *emitter)
{
	const char *base =
		emitter->loops == 0 ? "i" : rr_xdr_format(emitter->compiler, "i%u", emitter->loops);

	return rr_xdr_local(emitter->compiler, base);
}

const char *
rr_xdr_c_type(const struct rr_xdr_type *type)
{
	return type->kind < RR_XDR_SCALARS ? rr_xdr_scalars[type->kind].c_type : type->definition->name;
}

bool
rr_xdr_is_deep(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	return rr_xdr_reaches(emitter->compiler, definition, definition, false);
}

bool
rr_xdr_counts_depth(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	return emitter->deep && rr_xdr_reaches(emitter->compiler, definition, emitter->current, false) &&
	       rr_xdr_is_deep(emitter, definition);
}

bool
rr_xdr_is_simple(const struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *leaf = rr_xdr_leaf(&definition->declaration);

	if (leaf->type->kind == RR_XDR_OPAQUE || leaf->type->kind == RR_XDR_STRING ||
		leaf->shape == RR_XDR_FIXED)
		return true;
	return leaf->shape == RR_XDR_PLAIN && leaf->type->kind < RR_XDR_SCALARS;
}

void
rr_xdr_emit_cases(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	/* In C++, the names of an enum inside a struct are known in that struct only. */
	bool by_name = emitter->current->declaration.type == type;
	struct rr_xdr_value number;

	for (const struct rr_xdr_enumerator *e = type->enumerators; e; e = e->next) {
		const struct rr_xdr_enumerator *first = type->enumerators;

		while (!rr_xdr_same(first->value.number, e->value.number))
			first = first->next;
		if (first != e)
			continue;
		number = e->value;
		number.c_name = by_name ? e->name : NULL;
		rr_xdr_line(emitter, "case %s:", rr_xdr_number(emitter, &number));
	}
}

/* Returns the arm of a union that belongs to this value of the discriminant, a bool: the arm with that label,
 * else the default arm. Returns NULL if there is no such arm. */
static const struct rr_xdr_declaration *
emit_find_arm(const struct rr_xdr_type *type, uint64_t value)
{
	const struct rr_xdr_declaration *other = NULL;

	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		for (const struct rr_xdr_value *label = arm->labels; label; label = label->next) {
			if (label->number.magnitude == value)
				return arm;
		}
		if (arm->is_default)
			other = arm;
	}
	return other;
}

typedef void (*emit_arm)(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *path);

/* Writes the C statements for one arm of a union, by calling emit(). If arm is NULL, the schema does not
 * allow the value: writes the statement `fail` instead. Writes nothing for an arm without a name (void). */
static void
emit_one(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *arm, const char *path,
	const char *fail, emit_arm emit)
{
	if (!arm)
		rr_xdr_line(emitter, "%s", fail);
	else if (arm->name)
		emit(emitter, arm, rr_xdr_member(emitter, rr_xdr_member(emitter, path, "u"), arm->name));
}

/* Writes C code that handles the arms of a union whose discriminant is a bool: an if statement, and an else
 * branch if both values need statements. A value without an arm runs the statement `fail`. */
static void
emit_if(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path, const char *fail,
	emit_arm emit)
{
	const struct rr_xdr_declaration *yes = emit_find_arm(type, 1), *no = emit_find_arm(type, 0);
	const char *condition = rr_xdr_member(emitter, path, type->discriminant->name);
	bool for_yes = !yes || yes->name, for_no = !no || no->name;

	if (!for_yes && !for_no)
		return;
	rr_xdr_open(emitter, for_yes ? "if (%s)" : "if (!%s)", condition);
	emit_one(emitter, for_yes ? yes : no, path, fail, emit);
	if (for_yes && for_no) {
		emitter->indent--;
		rr_xdr_open(emitter, "} else");
		emit_one(emitter, no, path, fail, emit);
	}
	rr_xdr_close(emitter, "");
}

/* Writes C code that handles the arms of a union: a switch statement. If the union has no default arm, values
 * without an arm run the statement `fail`. */
static void
emit_switch(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path,
	const char *fail, emit_arm emit)
{
	bool complete = false;

	rr_xdr_open(emitter, "switch (%s)", rr_xdr_member(emitter, path, type->discriminant->name));
	/* Labels are not indented, as is usual in C. */
	emitter->indent--;
	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		for (const struct rr_xdr_value *label = arm->labels; label; label = label->next)
			rr_xdr_line(emitter, "case %s:", rr_xdr_number(emitter, label));
		if (arm->is_default)
			rr_xdr_line(emitter, "default:");
		complete |= arm->is_default;
		emitter->indent++;
		emit_one(emitter, arm, path, fail, emit);
		rr_xdr_line(emitter, "break;");
		emitter->indent--;
	}
	if (!complete) {
		rr_xdr_line(emitter, "default:");
		rr_xdr_line(emitter, "\t%s", fail);
		rr_xdr_line(emitter, "\tbreak;");
	}
	rr_xdr_line(emitter, "}");
}

void
rr_xdr_emit_arms(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path,
	const char *fail, emit_arm emit)
{
	if (rr_xdr_leaf(type->discriminant)->type->kind == RR_XDR_BOOL)
		emit_if(emitter, type, path, fail, emit);
	else
		emit_switch(emitter, type, path, fail, emit);
}
