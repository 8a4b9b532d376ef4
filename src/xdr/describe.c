/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "xdr/compiler.h"
#include "xdr/xdr.h"

/* Writes what a schema declares as JSON, whose form xdr.h has. */

static void describe_declaration(FILE *out, const struct rr_xdr_declaration *declaration);

/* Writes a text of JSON. Octets above 0x7f stay as the schema has them. */
static void
describe_text(FILE *out, const char *text, size_t length)
{
	fputc('"', out);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* Writes a value: its number, or its name where the schema does not define the number. */
static void
describe_value(FILE *out, const struct rr_xdr_value *value)
{
	if (value->is_text) /* which still has its quotes */
		describe_text(out, value->text + 1, strlen(value->text) - 2);
	else if (value->foreign)
		describe_text(out, value->text, strlen(value->text));
	else
		fprintf(out, "%s%" PRIu64, value->number.negative ? "-" : "", value->number.magnitude);
}

static void
describe_enum(FILE *out, const struct rr_xdr_type *type)
{
	fputs("{\"enum\": {", out);
	for (const struct rr_xdr_enumerator *e = type->enumerators; e; e = e->next) {
		fprintf(out, "\"%s\": ", e->name);
		describe_value(out, &e->value);
		fputs(e->next ? ", " : "", out);
	}
	fputs("}}", out);
}

/* Writes a list of declarations: members, arms or arguments. */
static void
describe_list(FILE *out, const struct rr_xdr_declaration *declaration)
{
	fputc('[', out);
	for (; declaration; declaration = declaration->next) {
		describe_declaration(out, declaration);
		fputs(declaration->next ? ", " : "", out);
	}
	fputc(']', out);
}

static void
describe_type(FILE *out, const struct rr_xdr_type *type)
{
	/* In the order of enum rr_xdr_kind. */
	static const char *const simple[] = { "int", "unsigned int", "hyper", "unsigned hyper", "float",
		"double", "bool", "opaque", "string", "void" };

	if (type->kind == RR_XDR_ENUM) {
		describe_enum(out, type);
	} else if (type->kind == RR_XDR_STRUCT) {
		fputs("{\"struct\": ", out);
		describe_list(out, type->members);
		fputc('}', out);
	} else if (type->kind == RR_XDR_UNION) {
		fputs("{\"union\": {\"discriminant\": ", out);
		describe_declaration(out, type->discriminant);
		fputs(", \"arms\": ", out);
		describe_list(out, type->members);
		fputs("}}", out);
	} else {
		fprintf(out, "\"%s\"", type->kind == RR_XDR_NAMED ? type->name : simple[type->kind]);
	}
}

static void
describe_labels(FILE *out, const struct rr_xdr_value *label)
{
	fputs("\"labels\": [", out);
	for (; label; label = label->next) {
		describe_value(out, label);
		fputs(label->next ? ", " : "", out);
	}
	fputs("], ", out);
}

/* Writes what a declaration has besides its name. */
static void
describe_shape(FILE *out, const struct rr_xdr_declaration *declaration)
{
	/* In the order of enum rr_xdr_shape. */
	static const char *const shapes[] = { "plain", "fixed", "variable", "optional" };

	fputs("\"type\": ", out);
	describe_type(out, declaration->type);
	if (declaration->type->kind != RR_XDR_VOID)
		fprintf(out, ", \"shape\": \"%s\"", shapes[declaration->shape]);
	if (declaration->shape == RR_XDR_FIXED || declaration->bounded) {
		fputs(", \"size\": ", out);
		describe_value(out, &declaration->size);
	}
	fputs(declaration->placed ? ", \"placed\": true}" : "}", out);
}

static void
describe_declaration(FILE *out, const struct rr_xdr_declaration *declaration)
{
	fputc('{', out);
	if (declaration->is_default)
		fputs("\"default\": true, ", out);
	else if (declaration->labels)
		describe_labels(out, declaration->labels);
	if (declaration->name)
		fprintf(out, "\"name\": \"%s\", ", declaration->name);
	describe_shape(out, declaration);
}

/* Writes all constants, or all types, of the schema. */
static void
describe_definitions(FILE *out, const struct rr_xdr_compiler *compiler, enum rr_xdr_what what)
{
	const char *between = "\n";

	for (const struct rr_xdr_definition *d = compiler->definitions; d; d = d->next) {
		if (d->what != what || d->made)
			continue;
		fprintf(out, "%s  \"%s\": ", between, d->name);
		between = ",\n";
		if (what == RR_XDR_CONST) {
			describe_value(out, &d->value);
			continue;
		}
		fputc('{', out);
		describe_shape(out, &d->declaration);
	}
}

static void
describe_version(FILE *out, const struct rr_xdr_version *version)
{
	fprintf(out, "   {\"name\": \"%s\", \"number\": %" PRIu64 ", \"procedures\": [\n", version->name,
		version->number.number.magnitude);
	for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next) {
		fprintf(out, "    {\"name\": \"%s\", \"number\": %" PRIu64 ", \"result\": ", p->name,
			p->number.number.magnitude);
		describe_declaration(out, p->result_declaration);
		fputs(", \"arguments\": ", out);
		describe_list(
			out, p->args_declarations->type->kind == RR_XDR_VOID ? NULL : p->args_declarations);
		fputs(p->next ? "},\n" : "}", out);
	}
	fputs(version->next ? "]},\n" : "]}", out);
}

static void
describe_programs(FILE *out, const struct rr_xdr_compiler *compiler)
{
	const char *between = "\n";

	for (const struct rr_xdr_definition *d = compiler->definitions; d; d = d->next) {
		if (d->what != RR_XDR_PROGRAM)
			continue;
		fprintf(out, "%s  {\"name\": \"%s\", \"number\": %" PRIu64 ", \"versions\": [\n", between,
			d->name, d->value.number.magnitude);
		between = ",\n";
		for (const struct rr_xdr_version *v = d->versions; v; v = v->next)
			describe_version(out, v);
		fputs("]}", out);
	}
}

int
rr_xdr_describe(const struct rr_env *env, const struct rr_xdr_preprocess *preprocess, const char *input_path,
	FILE *out, FILE *errors)
{
	struct rr_xdr_compiler compiler;
	int error;

	rr_xdr_compiler_init(&compiler, env, input_path, errors);
	compiler.preprocess = preprocess;
	compiler.as_written = true;
	rr_xdr_read(&compiler);
	error = compiler.error;
	if (!error) {
		fputs("{\"constants\": {", out);
		describe_definitions(out, &compiler, RR_XDR_CONST);
		fputs("},\n \"types\": {", out);
		describe_definitions(out, &compiler, RR_XDR_TYPE);
		fputs("},\n \"programs\": [", out);
		describe_programs(out, &compiler);
		fputs("]}\n", out);
	}
	rr_xdr_compiler_free(&compiler);
	return error;
}
