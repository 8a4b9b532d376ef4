/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/parser.h"

/* Parses programs. RFC 5531, section 12.2: "The RPC language is identical to the XDR language ... except
 * for" programs. */

/* Parses a procedure: `RESULT NAME(ARGUMENT, ...) = NUMBER;`. */
static void
programs_parse_procedure(struct rr_xdr_parser *parser, struct rr_xdr_procedure *procedure)
{
	struct rr_xdr_declaration **end = &procedure->args_declarations;

	procedure->result_declaration = rr_xdr_parse_result(parser);
	procedure->position = parser->token.position;
	procedure->name = rr_xdr_parse_name(parser, "the name of a procedure");
	rr_xdr_expect(parser, "(");
	do {
		*end = rr_xdr_parse_argument(parser);
		if (!*end)
			return;
		end = &(*end)->next;
	} while (rr_xdr_accept(parser, ","));
	rr_xdr_expect(parser, ")");
	rr_xdr_expect(parser, "=");
	procedure->number = rr_xdr_parse_value(parser);
	rr_xdr_expect(parser, ";");
}

/* Parses a version of a program: `version NAME { PROCEDURES } = NUMBER;`. */
static void
programs_parse_version(struct rr_xdr_parser *parser, struct rr_xdr_version *version)
{
	struct rr_xdr_procedure **end = &version->procedures;

	rr_xdr_expect(parser, "version");
	version->position = parser->token.position;
	version->name = rr_xdr_parse_name(parser, "the name of a version");
	rr_xdr_expect(parser, "{");
	do {
		*end = rr_xdr_alloc(parser->compiler, sizeof(**end));
		if (!*end)
			return;
		programs_parse_procedure(parser, *end);
		end = &(*end)->next;
	} while (!rr_xdr_ended(parser) && !rr_xdr_sees(parser, "}"));
	rr_xdr_expect(parser, "}");
	rr_xdr_expect(parser, "=");
	version->number = rr_xdr_parse_value(parser);
	rr_xdr_expect(parser, ";");
}

void
rr_xdr_parse_program(struct rr_xdr_parser *parser, struct rr_xdr_definition *program)
{
	struct rr_xdr_version **end = &program->versions;

	program->what = RR_XDR_PROGRAM;
	program->position = parser->token.position;
	program->name = rr_xdr_parse_name(parser, "the name of a program");
	rr_xdr_expect(parser, "{");
	do {
		*end = rr_xdr_alloc(parser->compiler, sizeof(**end));
		if (!*end)
			return;
		programs_parse_version(parser, *end);
		end = &(*end)->next;
	} while (!rr_xdr_ended(parser) && !rr_xdr_sees(parser, "}"));
	rr_xdr_expect(parser, "}");
	rr_xdr_expect(parser, "=");
	program->value = rr_xdr_parse_value(parser);
}
