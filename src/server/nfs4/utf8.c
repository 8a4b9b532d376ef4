/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether a text is UTF-8: RFC 3629. */
#include "server/nfs4/utf8.h"

/* The least character that a sequence of 1 to 4 octets may stand for: RFC 3629, section 3. */
static const uint32_t utf8_least[] = { 0, 0, 0x80, 0x800, 0x10000 };

/* Returns the number of octets of a UTF-8 sequence that begins with the octet `first`; 0 if no sequence can
 * begin with this octet. */
static uint32_t
utf8_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc0 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf8 ? 4 : 0;
}

/* Returns the character that a UTF-8 sequence of 2 to 4 octets stands for; UINT32_MAX if an octet after the
 * first one cannot be part of a sequence. */
static uint32_t
utf8_character(const uint8_t *octets, uint32_t length)
{
	uint32_t character = octets[0] & (0x7fu >> length);

	for (uint32_t i = 1; i < length; i++) {
		if ((octets[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		character = character << 6 | (octets[i] & 0x3f);
	}
	return character;
}

/* Tells whether the character really needs a sequence of this length, is not half of a surrogate pair of
 * UTF-16, and is within Unicode. */
static bool
utf8_is_character(uint32_t character, uint32_t length)
{
	return character >= utf8_least[length] && character <= 0x10ffff &&
	       (character < 0xd800 || character > 0xdfff);
}

bool
rr_utf8(struct rpcrdma_bytes text)
{
	const uint8_t *octets = text.data;
	uint32_t at = 0;

	while (at < text.length) {
		uint32_t length = utf8_length(octets[at]);

		if (length == 0 || length > text.length - at)
			return false;
		if (length > 1 && !utf8_is_character(utf8_character(octets + at, length), length))
			return false;
		at += length;
	}
	return true;
}
