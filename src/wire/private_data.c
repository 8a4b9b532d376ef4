/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/private_data.h"

#include "base/endian.h"

/*
 * The message, eight octets:
 *
 * |           Format Identifier           |
 * | Version | Reserved |R| Send | Receive |
 */
enum {
	VERSION_OFFSET = 4,
	FLAGS_OFFSET = 5,
	SEND_OFFSET = 6,
	RECEIVE_OFFSET = 7,

	VERSION = 1,
	REMOTE_INVALIDATION = 0x01,

	SIZE_UNIT = 1024,
	SIZE_CODE_MAX = 255,
};

#define FORMAT_IDENTIFIER UINT32_C(0xf6ab0e18)

/* Returns the octet that stands for a buffer size in the private data; the size is rounded down. RFC
 * 8797, 4.2: the octet is "the unsigned number of additional kilo-octets of length beyond the first 1024
 * octets". */
static uint8_t
data_size_code(uint32_t size)
{
	uint32_t units = size / SIZE_UNIT;

	if (units == 0)
		return 0;
	return units - 1 < SIZE_CODE_MAX ? (uint8_t)(units - 1) : SIZE_CODE_MAX;
}

/* Returns the buffer size, in octets, that an octet of the private data stands for. */
static uint32_t
data_size_of_code(uint8_t code)
{
	return (code + 1U) * SIZE_UNIT;
}

void
rr_private_data_put(uint8_t out[RR_PRIVATE_DATA_SIZE], const struct rr_private_data *own)
{
	rr_put_be32(out, FORMAT_IDENTIFIER);
	out[VERSION_OFFSET] = VERSION;
	/* RFC 8797, 4, Reserved: "Senders MUST set these bits to zero, and receivers MUST ignore their
	 * value." */
	out[FLAGS_OFFSET] = own->remote_invalidation ? REMOTE_INVALIDATION : 0;
	out[SEND_OFFSET] = data_size_code(own->send_size);
	out[RECEIVE_OFFSET] = data_size_code(own->receive_size);
}

/* Returns where in data the private data of RPC-over-RDMA begins, or NULL if data does not contain it. Looks
 * at every offset, RFC 8797, 5.2: "The offset of the Format Identifier is not restricted to any alignment."
 * If the version behind a Format Identifier is unknown, looks further, as another layer's data may contain
 * the same octets by chance. */
static const uint8_t *
data_find(const uint8_t *data, size_t size)
{
	for (; size >= RR_PRIVATE_DATA_SIZE; data++, size--) {
		if (rr_get_be32(data) == FORMAT_IDENTIFIER && data[VERSION_OFFSET] == VERSION)
			return data;
	}
	return NULL;
}

bool
rr_private_data_get(const void *data, size_t size, struct rr_private_data *peer)
{
	const uint8_t *message = data_find(data, size);

	/* The defaults: RFC 8797, 5.1: "bit 15 of the Flags field is zero and (2) both Size fields contain
	 * the value zero". RFC 8166, 3.3.3: otherwise "senders and receives MUST assume the inline thresholds
	 * are 1024 bytes." */
	*peer = (struct rr_private_data){ .send_size = SIZE_UNIT, .receive_size = SIZE_UNIT };
	if (!message)
		return false;
	peer->send_size = data_size_of_code(message[SEND_OFFSET]);
	peer->receive_size = data_size_of_code(message[RECEIVE_OFFSET]);
	peer->remote_invalidation = message[FLAGS_OFFSET] & REMOTE_INVALIDATION;
	return true;
}
