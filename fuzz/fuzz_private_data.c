/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_private_data_get, rr_private_data_put. */
#include "fuzz.h"
#include "wire/private_data.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_private_data peer, again;
	uint8_t out[RR_PRIVATE_DATA_SIZE];
	bool found = rr_private_data_get(data, size, &peer);

	rr_require(peer.send_size >= 1024 && peer.send_size <= 262144 && peer.send_size % 1024 == 0);
	rr_require(peer.receive_size >= 1024 && peer.receive_size <= 262144 && peer.receive_size % 1024 == 0);
	if (!found)
		return 0;
	rr_private_data_put(out, &peer);
	rr_require(rr_private_data_get(out, sizeof(out), &again));
	rr_require(again.send_size == peer.send_size && again.receive_size == peer.receive_size);
	rr_require(again.remote_invalidation == peer.remote_invalidation);
	return 0;
}
