/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>

#include "tool/decode/decode.h"

const char *
rr_decode_end_text(const struct rr_packet_end *end, char *text)
{
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(end->family == 6 ? AF_INET6 : AF_INET, end->address, address, sizeof(address));
	snprintf(text, RR_DECODE_END_TEXT, end->family == 6 ? "[%s]:%u" : "%s:%u", address, end->port);
	return text;
}

const char *
rr_decode_kind_name(enum rr_message_kind kind)
{
	static const char *const names[] = { "unclear", "call", "reply", "error", "done", "optional" };

	return names[kind];
}

const char *
rr_decode_region_name(enum rr_region_kind kind)
{
	static const char *const names[RR_REGIONS] = {
		[RR_REGION_READ] = "Read chunk",
		[RR_REGION_CALL] = "position-zero Read chunk",
		[RR_REGION_WRITE] = "Write chunk",
		[RR_REGION_REPLY] = "Reply chunk",
		[RR_REGION_PROVIDED] = "provided Read chunk",
	};

	return names[kind];
}

const char *
rr_decode_op_name(enum rr_op_kind kind)
{
	switch (kind) {
	case RR_OP_WRITE: return "RDMA Write";
	case RR_OP_READ_REQUEST: return "RDMA Read Request";
	case RR_OP_READ_RESPONSE: return "RDMA Read Response";
	case RR_OP_TERMINATE: return "Terminate";
	default: return "Send";
	}
}

const char *
rr_decode_result_name(enum rr_header_result result)
{
	switch (result) {
	case RR_HEADER_OK: return "good";
	case RR_HEADER_SHORT: return "too short";
	case RR_HEADER_VERS: return "unknown version";
	case RR_HEADER_LIMIT: return "more chunks than are decoded";
	default: return "malformed";
	}
}
