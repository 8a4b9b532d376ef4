/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"

/*
 * Names and texts may come from a server or elsewhere: a terminal must not take anything in them for a
 * command. Commands of a terminal begin with control characters: C0 (below U+0020), U+007F, and C1 (U+0080 to
 * U+009F; octets 0x80 to 0x9f outside of UTF-8 sequences).
 */

/* Returns the length of the well-formed UTF-8 sequence that text begins with (RFC 3629, section 4); 0 if text
 * begins with no such sequence. */
static size_t
escape_utf8(const unsigned char *text)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	/* The second octet has fewer values where the others would encode a character in more octets than it
	 * needs, a surrogate (U+D800 to U+DFFF), or a number above U+10FFFF. */
	if (text[0] == 0xe0)
		low = 0xa0;
	if (text[0] == 0xed)
		high = 0x9f;
	if (text[0] == 0xf0)
		low = 0x90;
	if (text[0] == 0xf4)
		high = 0x8f;
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return length;
}

/* Returns the code point that these `length` octets of UTF-8 encode, if that is a control character; -1 if
 * they encode any other character. */
static int
escape_control(const unsigned char *text, size_t length)
{
	if (length == 2 && text[0] == 0xc2 && text[1] < 0xa0)
		return text[1];
	if (length == 1 && (text[0] < 0x20 || text[0] == 0x7f))
		return text[0];
	return -1;
}

char *
rr_tool_mask(char *text)
{
	unsigned char *from = (unsigned char *)text, *to = from;

	while (*from) {
		size_t length = escape_utf8(from);
		/* Octets that are no UTF-8 stay, apart from C1: a terminal may show them as Latin-1. */
		bool bad = length == 0 ? *from < 0xa0 : escape_control(from, length) >= 0;

		length = length ? length : 1;
		if (bad)
			*to++ = '?';
		else
			to = (unsigned char *)memmove(to, from, length) + length;
		from += length;
	}
	*to = '\0';
	return text;
}

void
rr_tool_put_name(FILE *out, const char *name)
{
	char text[1024];
	size_t length = strlen(name), part;

	if (!isatty(fileno(out))) {
		fwrite(name, 1, length, out);
		return;
	}
	/* The name is written in parts. A part ends where a UTF-8 sequence ends: up to three octets of a
	 * sequence that does not fit are left for the next part. */
	for (; length > 0; name += part, length -= part) {
		part = length < sizeof(text) ? length : sizeof(text) - 1;
		for (int i = 0; i < 3 && part < length && ((unsigned char)name[part] & 0xc0) == 0x80; i++)
			part--;
		memcpy(text, name, part);
		text[part] = '\0';
		fputs(rr_tool_mask(text), out);
	}
}

/* Tells whether text is UTF-8 from its beginning to its end. */
static bool
escape_is_utf8(const char *text)
{
	const unsigned char *next = (const unsigned char *)text;
	size_t length = 1;

	for (; *next && length > 0; next += length)
		length = escape_utf8(next);
	return length > 0;
}

void
rr_tool_json_name(FILE *out, const char *key, const char *name)
{
	fprintf(out, "\"%s\":", key);
	rr_tool_json_string(out, name);
	if (escape_is_utf8(name))
		return;
	fprintf(out, ",\"%s_hex\":\"", key);
	for (; *name; name++)
		fprintf(out, "%02x", (unsigned char)*name);
	fputc('"', out);
}

void
rr_tool_json_string(FILE *out, const char *text)
{
	const unsigned char *next = (const unsigned char *)text;

	fputc('"', out);
	while (*next) {
		size_t length = escape_utf8(next);
		int control = escape_control(next, length);

		if (length == 0)
			fputs("\\ufffd", out);
		else if (*next == '"' || *next == '\\')
			fprintf(out, "\\%c", *next);
		else if (control >= 0)
			fprintf(out, "\\u%04x", (unsigned)control);
		else
			fwrite(next, 1, length, out);
		next += length ? length : 1;
	}
	fputc('"', out);
}
