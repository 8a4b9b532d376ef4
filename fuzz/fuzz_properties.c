/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_feature_received, rr_property_get, rr_property_put. The input is a row of messages,
 * each of them rdma_opttype, a length and rdma_optinfo. What holds after each is of its type, and what is
 * said can be read. */
#include <string.h>

#include "base/endian.h"
#include "carrier/rdma/features/feature.h"
#include "fuzz.h"

enum { WORDS = 8, OWN_MAX = 65536 };

static void
check_values(const uint32_t values[RR_PROPERTIES])
{
	for (uint32_t i = 0; i < RR_PROPERTIES; i++)
		rr_require(values[i] <= rr_property_kinds[i].max);
	rr_require(values[RR_PROPERTY_RECEIVE_SIZE] >= RR_INLINE_DEFAULT_2);
}

static void
check(const struct rr_properties *properties, const struct rr_optional *said)
{
	struct rr_property_message message;

	check_values(properties->own);
	check_values(properties->peer);
	rr_require(properties->own[RR_PROPERTY_RECEIVE_SIZE] <= OWN_MAX);
	if (said->due)
		rr_require(rr_property_get((enum rr_property_operation)said->opttype, said->info, &message));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t told[RR_PROPERTIES] = { 16384, RR_REVERSE_INLINE, 1, 1 };
	struct rr_features features;
	struct rr_optional said;

	memset(&features, 0, sizeof(features));
	rr_properties_init(&features.properties, told, OWN_MAX, OWN_MAX);
	rr_require(rr_features_init(&features, &rr_env_system, NULL) == 0);
	if (size % 2 == 0)
		rr_properties_tell(&features.properties, 1);
	while (size >= WORDS) {
		struct rr_rdma_header header = { .xid = 1, .opttype = rr_get_be32(data) };
		size_t length = rr_get_be32(data + 4);

		data += WORDS;
		size -= WORDS;
		length = length < size ? length : size;
		header.optinfo = (struct rpcrdma_bytes){ data, (uint32_t)length };
		rr_feature_received(&features, &header, (struct rpcrdma_bytes){ NULL, 0 }, &said);
		check(&features.properties, &said);
		data += length;
		size -= length;
	}
	return 0;
}
