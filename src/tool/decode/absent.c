/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/error.h>

#include "tool/decode/decode.h"

int
rr_decode_read(struct rr_decode *decode, const char *path, struct rr_decoder *decoder, struct rr_text *error)
{
	(void)decode;
	(void)decoder;
	return rr_fail(error, -RPCRDMA_ERR_NOTSUP,
		"%s cannot be read: this rpcrdma was built without libpcap (Debian: libpcap-dev), which "
		"reads the "
		"files",
		path);
}
