/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_mpa_get, rr_mpa_put. A frame that was read writes and reads back as the same. */
#include "fuzz.h"
#include "wire/mpa.h"

static void
try(const uint8_t *data, size_t size, bool reply)
{
	struct rr_mpa_frame frame, again;
	uint8_t out[RR_MPA_FRAME_MAX];
	size_t used, written, reread;

	if (rr_mpa_get(data, size, reply, &frame, &used) != RR_MPA_OK)
		return;
	rr_require(used <= size);
	written = rr_mpa_put(out, sizeof(out), &frame);
	rr_require(written == used);
	rr_require(rr_mpa_get(out, written, reply, &again, &reread) == RR_MPA_OK && reread == written);
	rr_require(again.ird == frame.ird && again.ord == frame.ord && again.reject == frame.reject);
	rr_require(again.private_data_length == frame.private_data_length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try(data, size, false);
	try(data, size, true);
	return 0;
}
