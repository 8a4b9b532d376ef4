/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler's messages for wrong schemas, word by word: people read them. */
#include "../test.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xdr/xdr.h"

struct wrong {
	const char *schema, *message; /* the message without the file */
};

static const struct wrong grammar[] = {
	{ "x", "1:1: expected const, typedef, enum, struct, union or program before x" },
	{ "struct", "1:7: expected the name of the type before the end of the file" },
	{ "\n\n\tconst 5 = 6;", "3:8: expected the name of the constant before 5" },
	{ "const A = ;", "1:11: expected a number or the name of a constant before ;" },
	{ "const A = struct;", "1:11: expected a number or the name of a constant before struct" },
	{ "const A = 1", "1:12: expected ; before the end of the file" },
	{ "const struct = 1;", "1:7: expected the name of the constant before struct" },
	{ "const version = 1;", "1:7: expected the name of the constant before version" },
	{ "struct a { };", "1:12: expected a type before }" },
	{ "struct a { int };", "1:16: expected the name of what is declared before }" },
	{ "struct a { int b }", "1:18: expected ; before }" },
	{ "struct a { int b[]; };", "1:18: expected a number or the name of a constant before ]" },
	{ "struct a { int b<5; };", "1:19: expected > before ;" },
	{ "struct a { int *b<>; };", "1:18: expected ; before <" },
	{ "struct a { opaque b; };", "1:20: expected [SIZE] or <MAXIMUM> of the opaque before ;" },
	{ "struct a { opaque *b; };", "1:21: expected [SIZE] or <MAXIMUM> of the opaque before ;" },
	{ "struct a { string b; };", "1:19: a string is declared as: string b<MAXIMUM>" },
	{ "struct a { string b[5]; };", "1:19: a string is declared as: string b<MAXIMUM>" },
	{ "struct a { void; };", "1:12: a struct has no members of type void" },
	{ "struct a { quadruple q; };", "1:12: quadruple is not supported, C has no such type" },
	{ "struct a { unsigned bool b; };", "1:21: expected the name of what is declared before bool" },
	{ "typedef void;", "1:9: void cannot have another name" },
	{ "enum a { };", "1:10: expected the name of a value of the enum before }" },
	{ "enum a { B C };", "1:12: expected } before C" },
	{ "enum a { B = 1, };", "1:17: expected the name of a value of the enum before }" },
	{ "union a { };", "1:9: expected switch before {" },
	{ "union a switch (int b) { };", "1:26: expected case or default before }" },
	{ "union a switch (int b) { default: void; case 1: int c; };",
		"1:41: default must be the last arm of a union" },
	{ "program A { };", "1:13: expected version before }" },
	{ "program A { version B { void C(opaque) = 1; } = 1; } = 1;",
		"1:32: expected a type with a name (see typedef) before opaque" },
	{ "program A { version B { void C(string *a) = 1; } = 1; } = 1;", "1:39: expected ) before *" },
	{ "program A { version B { void C(int a<>) = 1; } = 1; } = 1;", "1:37: expected ) before <" },
};

static const struct wrong words[] = {
	{ "const A = 089;", "1:11: 089 is not a number: the digits of an octal number are 0 to 7" },
	{ "const A = 0x;", "1:11: 0x is not a number: digits are missing" },
	{ "const A = 0xfg;", "1:11: 0xfg is not a number: unexpected letter or digit" },
	{ "const A = 12a;", "1:11: 12a is not a number: unexpected letter or digit" },
	{ "const A = -0x5;", "1:11: -0x5 is not a number: only decimal numbers may be negative" },
	{ "const A = 18446744073709551616;",
		"1:11: 18446744073709551616 is not a number: it does not fit into 64 bits" },
	{ "const A = -9223372036854775809;",
		"1:11: -9223372036854775809 is not a number: it does not fit into 64 bits" },
	{ "const A = 1; /* no\nend", "1:14: this comment has no end, expected */" },
	{ "const A = 1;\n  $", "2:3: unexpected character '$'" },
	{ "const A = \x80;", "1:11: unexpected octet 0x80" },
	{ "const A = -;", "1:11: unexpected character '-'" },
	{ "const % = 1;", "1:7: unexpected character '%'" },
	{ "const A = \"text;\n\"", "1:11: this text has no end, expected \"" },
	{ "const A = 'ab';", "1:11: expected one character between the quotes" },
	{ "#pragma rpcrdma lift a.b",
		"1:17: unknown pragma, expected: #pragma rpcrdma place TYPE.FIELD, or prefix NAME" },
	{ "#pragma rpcrdma prefix", "1:23: expected a name that the functions' names begin with" },
	{ "#pragma rpcrdma prefix 4", "1:24: expected a name that the functions' names begin with" },
	{ "#pragma rpcrdma prefix a b", "1:24: expected a name that the functions' names begin with" },
	{ "#pragma rpcrdma place a", "1:23: expected TYPE.FIELD, the opaque or string to place" },
	{ "#pragma rpcrdma place a.b.c", "1:23: expected TYPE.FIELD, the opaque or string to place" },
	{ "#pragma rpcrdma place .b", "1:23: expected TYPE.FIELD, the opaque or string to place" },
};

static const struct wrong names[] = {
	{ "const A = 1;\nconst A = 2;", "2:7: A is already defined at line 1" },
	{ "const A = 1;\nstruct A { int b; };", "2:8: A is already defined at line 1" },
	{ "enum a { B = 1 };\nstruct c { enum { B = 2 } d; };", "2:19: B is already defined at line 1" },
	{ "const TRUE = 0;", "1:7: TRUE is a value of bool, and 1" },
	{ "const FALSE = \"\";", "1:7: FALSE is a value of bool, and 0" },
	{ "const A = 1; struct b { A c; };", "1:25: A (line 1) is not a type" },
	{ "struct a { int b;\nint b; };", "2:5: b is already a member, at line 1" },
	{ "union a switch (int b) { case 1: int c; case 2: int c; };",
		"1:53: c is already a member, at line 1" },
	{ "program A { version A { void B(void) = 0; } = 1; } = 1;", "1:21: A is already defined at line 1" },
	{ "program A { version B { void C(void) = 0; void C(void) = 1; } = 1; } = 1;",
		"1:48: C is already defined at line 1" },
};

static const struct wrong numbers[] = {
	{ "struct a { int b[C]; }; const C = -1;", "1:18: C is no size, expected 0 to 4294967295" },
	{ "struct a { int b[C]; }; const C = \"5\";", "1:18: C (line 1) is a text, expected a number" },
	{ "const A = B; const B = A;", "1:7: A is defined by itself" },
	{ "enum e { A = 2147483647, B };",
		"1:26: B does not fit into an enum, expected -2147483648 to 2147483647" },
	{ "program A { version B { void C(void) = D; } = 1; } = 1;",
		"1:40: D is not defined, expected a constant" },
	{ "struct a { int b<-1>; };", "1:18: -1 is no size, expected 0 to 4294967295" },
	{ "struct a { int b<4294967296>; };", "1:18: 4294967296 is no size, expected 0 to 4294967295" },
	{ "struct a { int b[0]; };", "1:8: a struct without contents cannot be in C" },
	{ "typedef int a[0];", "1:15: an array of fixed length has at least one element" },
	{ "enum a { B = 2147483648 };",
		"1:14: 2147483648 does not fit into an enum, expected -2147483648 to 2147483647" },
	{ "enum a { B = C, C = 1 };", "1:14: C is not defined, expected a constant" },
	{ "struct a { int b; }; enum c { D = a };", "1:35: a (line 1) is not a constant" },
	{ "program A { version B { void C(void) = -1; } = 1; } = 1;",
		"1:40: -1 is out of range, expected 0 to 4095" },
	{ "program A { version B { void C(void) = 4096; } = 1; } = 1;",
		"1:40: 4096 is out of range, expected 0 to 4095" },
	{ "program A { version B { void C(void) = 0; } = 1; } = 4294967296;",
		"1:54: 4294967296 is out of range, expected 0 to 4294967295" },
	{ "program A { version B { void C(void) = 1; void D(void) = 1; } = 1; } = 1;",
		"1:58: 1 is already the number of C, at line 1" },
	{ "program A { version B { void C(void) = 1; } = 1; version D { void C(void) = 1; } = 1; } = 1;",
		"1:84: 1 is already the number of B, at line 1" },
	{ "program A { version B { void C(int, void) = 1; } = 1; } = 1;",
		"1:37: void must be the only argument" },
};

static const struct wrong meaning[] = {
	{ "struct a { a b; };", "1:12: a contains itself here, expected a struct behind a * or <>" },
	{ "struct a { b c; }; struct b { a d[2]; };",
		"1:31: a contains itself here, expected a struct behind a * or <>" },
	{ "typedef a b; typedef b a;", "1:22: b contains itself here, expected a struct behind a * or <>" },
	{ "typedef a a<>;", "1:9: a contains itself here, expected a struct behind a * or <>" },
	{ "struct a { struct { a b; } *c; };",
		"1:21: a contains itself here, expected a struct behind a * or <>" },
	{ "typedef a b; struct a { b c; };",
		"1:9: a contains itself here, expected a struct behind a * or <>" },
	{ "union a switch (void) { case 1: int c; };",
		"1:17: a union cannot depend on this, expected an int, unsigned int, bool or enum" },
	{ "union a switch (hyper b) { case 1: int c; };",
		"1:23: a union cannot depend on this, expected an int, unsigned int, bool or enum" },
	{ "typedef int t[2]; union a switch (t b) { case 1: int c; };",
		"1:37: a union cannot depend on this, expected an int, unsigned int, bool or enum" },
	{ "union a switch (bool b) { case 2: int c; };", "1:32: 2 is not a value that b can have" },
	{ "enum e { E = 1 }; union a switch (e b) { case 2: int c; };",
		"1:47: 2 is not a value that b can have" },
	{ "union a switch (unsigned int b) { case -1: int c; };", "1:40: -1 is not a value that b can have" },
	{ "union a switch (int b) { case 1: int c;\ncase 2: case 1: int d; };",
		"2:14: there is already a case for 1, at line 1" },
	{ "#pragma rpcrdma place a.b", "1:23: a is not defined as a struct or union" },
	{ "const a = 1;\n#pragma rpcrdma place a.b", "2:23: a is not defined as a struct or union" },
	{ "struct a { int c; };\n#pragma rpcrdma place a.b", "2:23: a has no member b" },
	{ "struct a { int b<>; };\n#pragma rpcrdma place a.b",
		"2:23: a.b cannot be placed, expected an opaque<> or string<>" },
	{ "struct a { opaque b[5]; };\n#pragma rpcrdma place a.b",
		"2:23: a.b cannot be placed, expected an opaque<> or string<>" },
	{ "union u switch (bool b) { case TRUE: opaque c<>; case FALSE: void; }; struct a { u b; };\n"
	  "#pragma rpcrdma place a.b",
		"2:23: a.b cannot be placed, expected an opaque<> or string<>" },
	{ "typedef opaque o<>; struct a { o *b; };\n#pragma rpcrdma place a.b",
		"2:23: a.b cannot be placed, expected an opaque<> or string<>" },
};

/* The folder of this test, with the schema and the outputs in it. */
struct place {
	char folder[64], schema[96], base[96], header[96], source[96];
};

/* Makes a folder for the schema and for the files that the compiler would write. */
static void
make_place(struct place *place)
{
	strcpy(place->folder, "/tmp/rpcrdma-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->schema, sizeof(place->schema), "%s/wrong.x", place->folder);
	snprintf(place->base, sizeof(place->base), "%s/out", place->folder);
	snprintf(place->header, sizeof(place->header), "%s/out.h", place->folder);
	snprintf(place->source, sizeof(place->source), "%s/out.c", place->folder);
}

/* Checks that the compiler refuses this schema with this message, and writes no files. */
static void
says(const struct place *place, const struct wrong *wrong)
{
	char expected[256], *said = NULL;
	size_t size;
	FILE *schema = fopen(place->schema, "w"), *errors = open_memstream(&said, &size);

	assert_non_null(schema);
	fputs(wrong->schema, schema);
	fclose(schema);
	assert_int_equal(rr_xdr_compile(place->schema, place->base, errors), -RPCRDMA_ERR_XDR);
	fclose(errors);
	snprintf(expected, sizeof(expected), "%s:%s\n", place->schema, wrong->message);
	assert_string_equal(said, expected);
	free(said);
	assert_int_equal(access(place->header, F_OK), -1);
	assert_int_equal(access(place->source, F_OK), -1);
}

static void
say(const struct wrong *wrongs, size_t count)
{
	struct place place;

	make_place(&place);
	for (size_t i = 0; i < count; i++)
		says(&place, &wrongs[i]);
	unlink(place.schema);
	/* No other files were left there. */
	assert_int_equal(rmdir(place.folder), 0);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void
errors_of_grammar(void **state)
{
	(void)state;
	say(grammar, COUNT(grammar));
}

static void
errors_of_words(void **state)
{
	(void)state;
	say(words, COUNT(words));
}

static void
errors_of_names(void **state)
{
	(void)state;
	say(names, COUNT(names));
}

static void
errors_of_numbers(void **state)
{
	(void)state;
	say(numbers, COUNT(numbers));
}

/* RFC 8166, 3.4.4.3: "A union data type MUST NOT be made DDP-eligible"; here optional-data cannot be
 * marked either (3.4.4.2). */
static void
errors_of_meaning(void **state)
{
	(void)state;
	say(meaning, COUNT(meaning));
}

static void
bodies_are_not_nested_without_end(void **state)
{
	enum { DEPTH = 100000 };
	static const char body[] = "struct{";
	struct wrong wrong = { .message = "1:451: types are nested too deeply, at most 64" };
	char *schema = malloc(sizeof("struct a{") + DEPTH * sizeof(body));
	char *end = stpcpy(schema, "struct a{");

	(void)state;
	for (int i = 0; i < DEPTH; i++)
		end = stpcpy(end, body);
	wrong.schema = schema;
	say(&wrong, 1);
	free(schema);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_grammar),
		cmocka_unit_test(errors_of_words),
		cmocka_unit_test(errors_of_names),
		cmocka_unit_test(errors_of_numbers),
		cmocka_unit_test(errors_of_meaning),
		cmocka_unit_test(bodies_are_not_nested_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
