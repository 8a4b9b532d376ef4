/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_ddp_get, rr_ddp_put, rr_terminate_get, rr_terminate_text. */
#include "fuzz.h"
#include "wire/ddp.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_terminate terminate;
	struct rr_ddp_header header, again;
	uint8_t out[RR_DDP_HEADER_MAX];
	char text[200];

	if (rr_ddp_get(data, size, &header) == RR_DDP_OK) {
		size_t written = rr_ddp_put(out, &header);

		rr_require(written <= size);
		rr_require(rr_ddp_get(out, written, &again) == RR_DDP_OK);
		rr_require(again.opcode == header.opcode && again.last == header.last);
	}
	if (rr_terminate_get(data, size, &terminate))
		rr_require(strlen(rr_terminate_text(text, sizeof(text), &terminate)) < sizeof(text));
	return 0;
}
