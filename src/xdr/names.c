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

struct rr_xdr_name *
rr_xdr_find_in_c(const struct rr_xdr_compiler *compiler, const char *c_name)
{
	for (struct rr_xdr_name *known = compiler->names; known; known = known->next) {
		if (strcmp(known->c_name, c_name) == 0)
			return known;
	}
	return NULL;
}

bool
rr_xdr_is_reserved(const char *name)
{
	/* Keywords of C23 and C++20, and the words that gcc replaces by numbers. */
	static const char *const reserved[] = { "alignas", "alignof", "and", "and_eq", "asm", "auto",
		"bitand", "bitor", "break", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
		"co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval",
		"constexpr", "constinit", "continue", "decltype", "delete", "do", "dynamic_cast", "else",
		"explicit", "export", "extern", "false", "for", "friend", "goto", "i386", "if", "inline",
		"linux", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
		"operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
		"requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
		"static_cast", "template", "this", "thread_local", "throw", "true", "try", "typeid",
		"typename", "typeof", "typeof_unqual", "unix", "using", "virtual", "volatile", "wchar_t",
		"while", "xor", "xor_eq", "NULL" };

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++) {
		if (strcmp(name, reserved[i]) == 0)
			return true;
	}
	return rr_xdr_is_macro(name);
}

/* Returns the name that `name` has in C: a name with another meaning there gets an underscore behind it. */
static const char *
names_in_c(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind, const char *name,
	struct rr_xdr_position position)
{
	/* These become macros themselves, which those with parameters would clash with. */
	bool macro = kind == RR_XDR_NAME_CONST || kind == RR_XDR_NAME_OTHER;
	const char *c_name = name;

	if (compiler->as_written || (!rr_xdr_is_reserved(name) && !(macro && rr_xdr_is_function_macro(name))))
		return name;
	do {
		c_name = rr_xdr_format(compiler, "%s_", c_name);
	} while (rr_xdr_find_in_c(compiler, c_name) && !compiler->error);
	rr_xdr_warn(compiler, position, "%s has a meaning in C or C++: its name there is %s", name, c_name);
	return c_name;
}

struct rr_xdr_name *
rr_xdr_define_foreign(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind, const char *name,
	struct rr_xdr_position position)
{
	const struct rr_xdr_name *known = rr_xdr_find(compiler, name);
	struct rr_xdr_name *new;

	/* RFC 4506, section 6.4: "Constant and type identifiers ... must be declared uniquely within this
	 * scope". A name that another one has got in C, such as class_, is taken, too. */
	if (!known)
		known = rr_xdr_find_in_c(compiler, name);
	if (known)
		rr_xdr_error(
			compiler, position, "%s is already defined at line %u", name, known->position.line);
	if (compiler->error)
		return NULL;
	new = rr_xdr_alloc(compiler, sizeof(*new));
	if (!new)
		return NULL;
	*new = (struct rr_xdr_name){
		.name = name, .c_name = name, .position = position, .kind = kind, .next = compiler->names
	};
	return compiler->names = new;
}

struct rr_xdr_name *
rr_xdr_define(struct rr_xdr_compiler *compiler, enum rr_xdr_name_kind kind, const char *name,
	struct rr_xdr_position position)
{
	struct rr_xdr_name *new = rr_xdr_define_foreign(compiler, kind, name, position);

	if (new)
		new->c_name = names_in_c(compiler, kind, name, position);
	return new;
}

const char *
rr_xdr_local(struct rr_xdr_compiler *compiler, const char *base)
{
	while (!compiler->error && rr_xdr_find(compiler, base))
		base = rr_xdr_format(compiler, "%s_", base);
	return base;
}
