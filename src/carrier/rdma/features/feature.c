/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/features/feature.h"

static const struct rr_feature *const features_known[] = {
	&rr_feature_connprop,
	&rr_feature_reqprop,
	&rr_feature_resprop,
	&rr_feature_updprop,
};

const struct rr_feature *
rr_feature_find(uint32_t opttype)
{
	for (size_t i = 0; i < sizeof(features_known) / sizeof(features_known[0]); i++) {
		if (features_known[i]->opttype == opttype)
			return features_known[i];
	}
	return NULL;
}

int
rr_feature_received(struct rr_features *features, const struct rr_rdma_header *header,
	struct rpcrdma_bytes payload, struct rr_optional *answer)
{
	const struct rr_feature *feature = rr_feature_find(header->opttype);
	_Alignas(max_align_t) uint8_t parsed[RR_FEATURE_PARSED_MAX];

	answer->due = false;
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 3.1: "When an implementation does not recognize or support
	 * the value contained in the rdma_opttype field, it MUST send an RPC-over-RDMA message with the
	 * rdma_xid field set to the same value as the erroneous message, the rdma_proc field set to
	 * RDMA_ERROR, and the rdma_err field set to RDMA_ERR_INVAL_OPTION." */
	if (!feature)
		return RR_ERR_INVAL_OPTION;
	/* 3.2: each feature says "that an RPC Payload Stream MUST or MUST NOT follow the Transport Header
	 * Stream for each new opttype code". */
	if (feature->payload == (payload.length > 0 ? RR_PAYLOAD_NEVER : RR_PAYLOAD_ALWAYS))
		return RR_ERR_BAD_HEADER;
	if (!feature->parse(header->optinfo, parsed))
		return RR_ERR_BAD_HEADER;
	feature->handle(features, header->xid, parsed, answer);
	return 0;
}
