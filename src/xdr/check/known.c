/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* Types that schemas use without a definition: names of C, and those of Sun's RPC library, as that library
 * encodes them. Numbers of fewer than four octets take four (RFC 4506, section 3: "The representation of
 * all items requires a multiple of four bytes"). */

/* Whether the type's name is one that C or Sun's RPC library has for a number, such as uint32_t. If so, sets
 * the type's kind to that number. */
static bool
known_resolve_number(struct rr_xdr_type *type)
{
	static const struct {
		const char *name;
		enum rr_xdr_kind kind;
	} known[] = { { "int8_t", RR_XDR_INT }, { "int16_t", RR_XDR_INT }, { "int32_t", RR_XDR_INT },
		{ "int32", RR_XDR_INT }, { "uint32", RR_XDR_UNSIGNED_INT }, { "int64", RR_XDR_HYPER },
		{ "uint64", RR_XDR_UNSIGNED_HYPER }, { "int64_t", RR_XDR_HYPER },
		{ "uint8_t", RR_XDR_UNSIGNED_INT }, { "uint16_t", RR_XDR_UNSIGNED_INT },
		{ "uint32_t", RR_XDR_UNSIGNED_INT }, { "uint64_t", RR_XDR_UNSIGNED_HYPER },
		{ "u_int8_t", RR_XDR_UNSIGNED_INT }, { "u_int16_t", RR_XDR_UNSIGNED_INT },
		{ "u_int32_t", RR_XDR_UNSIGNED_INT }, { "u_int64_t", RR_XDR_UNSIGNED_HYPER },
		{ "u_char", RR_XDR_UNSIGNED_INT }, { "u_short", RR_XDR_UNSIGNED_INT },
		{ "u_int", RR_XDR_UNSIGNED_INT }, { "u_long", RR_XDR_UNSIGNED_INT },
		{ "quad_t", RR_XDR_HYPER }, { "longlong_t", RR_XDR_HYPER },
		{ "u_quad_t", RR_XDR_UNSIGNED_HYPER }, { "u_longlong_t", RR_XDR_UNSIGNED_HYPER },
		{ "bool_t", RR_XDR_BOOL }, { "rpcprog_t", RR_XDR_UNSIGNED_INT },
		{ "rpcvers_t", RR_XDR_UNSIGNED_INT }, { "rpcproc_t", RR_XDR_UNSIGNED_INT } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(type->name, known[i].name) != 0)
			continue;
		type->kind = known[i].kind;
		return true;
	}
	return false;
}

/* Whether the declaration's type is netobj or des_block, which Sun's RPC library defines as opaque data. If
 * so, turns the declaration into that opaque data, with its shape and size. A declaration that has a size or
 * a * of its own is not changed; the result is then false. */
static bool
known_resolve_octets(struct rr_xdr_declaration *declaration)
{
	static const struct {
		const char *name;
		enum rr_xdr_shape shape;
		uint32_t size;
	} known[] = { { "netobj", RR_XDR_VARIABLE, 1024 }, { "des_block", RR_XDR_FIXED, 8 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(declaration->type->name, known[i].name) != 0 || declaration->shape != RR_XDR_PLAIN)
			continue;
		declaration->type->kind = RR_XDR_OPAQUE;
		declaration->shape = known[i].shape;
		declaration->bounded = known[i].shape == RR_XDR_VARIABLE;
		declaration->size.position = declaration->position;
		declaration->size.text = "";
		declaration->size.number.magnitude = known[i].size;
		return true;
	}
	return false;
}

/* A member of struct netbuf (<netconfig.h>) or of authsys_parms (RFC 5531, appendix A). */
struct known_member {
	const char *owner, *name;
	enum rr_xdr_kind kind;
	enum rr_xdr_shape shape;
	uint32_t bound; /* 0: there is no bound */
};

/* Makes the declaration of a member that `known` describes, for a struct of Sun's RPC library. Returns NULL,
 * and an error is set, if there is no memory. */
static struct rr_xdr_declaration *
known_make_member(
	struct rr_xdr_compiler *compiler, const struct known_member *known, struct rr_xdr_position position)
{
	struct rr_xdr_declaration *member = rr_xdr_alloc(compiler, sizeof(*member));

	if (!member)
		return NULL;
	member->position = position;
	member->name = known->name;
	member->shape = known->shape;
	member->bounded = known->bound > 0;
	member->size.position = position;
	member->size.text = "";
	member->size.number.magnitude = known->bound;
	member->type = rr_xdr_alloc(compiler, sizeof(*member->type));
	if (!member->type)
		return NULL;
	member->type->position = position;
	member->type->kind = known->kind;
	return member;
}

/* Whether the type's name is that of a struct of Sun's RPC library, netbuf or authsys_parms. If so, makes the
 * type a struct and adds its members. */
static bool
known_resolve_struct(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type)
{
	static const struct known_member known[] = { { "netbuf", "maxlen", RR_XDR_UNSIGNED_INT, RR_XDR_PLAIN,
							     0 },
		{ "netbuf", "buf", RR_XDR_OPAQUE, RR_XDR_VARIABLE, 0 },
		{ "authsys_parms", "stamp", RR_XDR_UNSIGNED_INT, RR_XDR_PLAIN, 0 },
		{ "authsys_parms", "machinename", RR_XDR_STRING, RR_XDR_VARIABLE, 255 },
		{ "authsys_parms", "uid", RR_XDR_UNSIGNED_INT, RR_XDR_PLAIN, 0 },
		{ "authsys_parms", "gid", RR_XDR_UNSIGNED_INT, RR_XDR_PLAIN, 0 },
		{ "authsys_parms", "gids", RR_XDR_UNSIGNED_INT, RR_XDR_VARIABLE, 16 } };
	struct rr_xdr_declaration **end = &type->members;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(type->name, known[i].owner) != 0)
			continue;
		*end = known_make_member(compiler, &known[i], type->position);
		/* There is no memory, which is an error already. */
		if (!*end)
			return true;
		end = &(*end)->next;
	}
	if (!type->members)
		return false;
	type->kind = RR_XDR_STRUCT;
	return true;
}

bool
rr_xdr_evaluate_foreign(struct rr_xdr_value *value)
{
	static const struct {
		const char *name;
		uint32_t number;
	} known[] = { { "AUTH_NONE", 0 }, { "AUTH_SYS", 1 }, { "AUTH_SHORT", 2 }, { "AUTH_DH", 3 },
		{ "RPCSEC_GSS", 6 }, { "MAXNETNAMELEN", 255 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(value->text, known[i].name) != 0)
			continue;
		value->number.magnitude = known[i].number;
		value->foreign = false;
		return true;
	}
	return false;
}

bool
rr_xdr_resolve_known(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	return known_resolve_number(declaration->type) || known_resolve_octets(declaration) ||
	       known_resolve_struct(compiler, declaration->type);
}
