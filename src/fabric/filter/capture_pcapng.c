/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in the format of draft-ietf-opsawg-pcapng. */
#include "fabric/filter/capture_private.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6,
	SECTION_MAGIC = 0x1a2b3c4d,
	LINK_RAW = 101,
	OPTION_COMMENT = 1,
	OPTION_RESOLUTION = 9,
	NANOSECONDS = 9
};

/* What each file says of itself. A multiple of four octets, so that it needs no padding. */
#define CAPTURE_COMMENT                                                                                      \
	"What rpcrdma sent and received over RDMA, in the form of iWARP. Octets that went inside of TLS "    \
	"are "                                                                                               \
	"shown decrypted. "

/* Writes a block of a pcapng file: type, size of the whole block, head, data, padding to a multiple of four
 * octets, and the size again. */
static void
capture_block(
	FILE *file, uint32_t type, const void *head, uint32_t head_size, const void *data, uint32_t data_size)
{
	uint32_t pad = -data_size & 3, size = 12 + head_size + data_size + pad;

	fwrite(&type, 1, 4, file);
	fwrite(&size, 1, 4, file);
	fwrite(head, 1, head_size, file);
	if (data_size > 0)
		fwrite(data, 1, data_size, file);
	fwrite("\0\0\0", 1, pad, file);
	fwrite(&size, 1, 4, file);
}

void
rr_capture_begin_file(FILE *file)
{
	/* Each number is in the byte order of this machine, so its size matters. */
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint64_t length; /* all ones: not known */
	} section = { SECTION_MAGIC, 1, 0, UINT64_MAX };
	const struct {
		uint16_t link, reserved;
		uint32_t packet_max;
		uint16_t option, option_size;
		uint8_t resolution, padding[3];
		uint16_t end, end_size;
	} interface = { LINK_RAW, 0, RR_CAPTURE_PACKET_MAX, OPTION_RESOLUTION, 1, NANOSECONDS, { 0 }, 0, 0 };

	const struct {
		uint16_t option, size;
		char text[sizeof(CAPTURE_COMMENT) - 1];
		uint16_t end, end_size;
	} comment = { OPTION_COMMENT, sizeof(CAPTURE_COMMENT) - 1, CAPTURE_COMMENT, 0, 0 };

	_Static_assert(
		(sizeof(CAPTURE_COMMENT) - 1) % 4 == 0 && sizeof(section) == 16 && sizeof(interface) == 20,
		"there is no padding");
	capture_block(file, BLOCK_SECTION, &section, sizeof(section), &comment, sizeof(comment));
	capture_block(file, BLOCK_INTERFACE, &interface, sizeof(interface), NULL, 0);
}

void
rr_capture_put_packet(FILE *file, uint64_t time, const void *data, uint32_t kept, uint32_t size)
{
	const uint32_t head[] = { 0, (uint32_t)(time >> 32), (uint32_t)time, kept, size };

	capture_block(file, BLOCK_PACKET, head, sizeof(head), data, kept);
}
