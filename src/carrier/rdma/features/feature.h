/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_FEATURE_H
#define RR_CARRIER_RDMA_FEATURES_FEATURE_H

#include "carrier/rdma/features/properties.h"
#include "wire/rpcrdma2.h"

/*
 * Optional features of version 2: what an RDMA_OPTIONAL can mean. A feature
 * is a file with a row of this kind for each of its type codes, which the
 * table of feature.c lists.
 *
 * Features decide, the transport sends: what a feature has to say is an
 * RDMA_OPTIONAL for the transport to send, or an error code.
 */

/* An RDMA_OPTIONAL to be sent, with an empty RPC Payload Stream. */
struct rr_optional {
	bool due; /* false: there is none */
	uint32_t opttype;
	uint32_t length;
	uint8_t info[RR_PROPERTY_INFO_MAX]; /* rdma_optinfo */
};

/*
 * A message of a feature that the peer must answer: CONNPROP or REQPROP of the side that connected. It takes
 * a credit from when it is sent until it is answered.
 */
struct rr_request {
	struct rr_optional message; /* due: it waits for a credit */
	uint32_t xid;
	uint32_t answer; /* opttype of what answers it */
	bool sent;       /* and not answered */
};

/* What features keep for a connection. */
struct rr_features {
	struct rr_properties properties;
	struct rr_request request;
};

/* Octets of the largest value that parse() fills in. */
enum { RR_FEATURE_PARSED_MAX = 256 };

struct rr_feature {
	uint32_t opttype;
	const char *name;
	enum rr_payload payload;
	/* Fills parsed from rdma_optinfo. False: it is malformed. */
	bool (*parse)(struct rpcrdma_bytes optinfo, void *parsed);
	/* Acts on it. An answer, if one is due, is sent with the same XID. */
	void (*handle)(
		struct rr_features *features, uint32_t xid, const void *parsed, struct rr_optional *answer);
};

/* The rows of properties.c. */
extern const struct rr_feature rr_feature_connprop, rr_feature_reqprop, rr_feature_resprop,
	rr_feature_updprop;

/* NULL: it is not known. */
const struct rr_feature *rr_feature_find(uint32_t opttype);

/*
 * An RDMA_OPTIONAL arrived, whose payload is what follows its header. 0; or what an RDMA_ERROR with the same
 * XID must say: RR_ERR_INVAL_OPTION, or RR_ERR_BAD_HEADER where its feature finds it malformed or does not
 * allow for that payload. answer is always set.
 */
int rr_feature_received(struct rr_features *features, const struct rr_rdma_header *header,
	struct rpcrdma_bytes payload, struct rr_optional *answer);

#endif
