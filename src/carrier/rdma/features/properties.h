/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_PROPERTIES_H
#define RR_CARRIER_RDMA_FEATURES_PROPERTIES_H

#include "carrier/rdma/features/request.h"
#include "wire/properties.h"

/*
 * Transport properties of a connection of version 2
 * (draft-cel-nfsv4-rpcrdma-version-two-03, section 5): a state machine that
 * nothing but messages moves. It says what holds; the transport plans by it.
 *
 * The side that connected tells its properties by CONNPROP, its first message;
 * the other one tells its own in answer. A peer that does not know the feature
 * answers ERR_INVAL_OPTION, and one that ignores it says nothing: then
 * defaults hold on both sides. A change takes effect between two messages.
 */

enum rr_properties_state {
	RR_PROPERTIES_SILENT,  /* our properties were not sent */
	RR_PROPERTIES_TOLD,    /* it was */
	RR_PROPERTIES_REFUSED, /* and does not know of properties */
	RR_PROPERTIES_STATES
};

struct rr_properties {
	enum rr_properties_state state;
	/*
	 * In force. Ours are the defaults until the peer's CONNPROP shows that it knows the property, and so
	 * are the peer's until it names them. A receive buffer size is never below 4096, and the peer's may
	 * be more than we can send.
	 */
	uint32_t own[RR_PROPERTIES], peer[RR_PROPERTIES];

	uint32_t told[RR_PROPERTIES]; /* what our CONNPROP says, or what was agreed since */
	uint32_t receive_max;         /* octets that our Receives really have: told may be raised to that */
	uint32_t send_max;            /* octets that the peer is asked to take; 0: it is not asked */
	uint32_t peer_has;            /* bit i: the property i was in the peer's CONNPROP */
	uint32_t xid;                 /* of our CONNPROP */
	bool asked;                   /* our REQPROP is under way, */
	uint32_t asked_xid;           /* with this XID, */
	struct rr_property_set want;  /* for these */

	struct rr_feature_request request; /* our CONNPROP, later our REQPROP */
	uint8_t request_info[RR_PROPERTY_INFO_MAX], answer_info[RR_PROPERTY_INFO_MAX];
};

/* told: the properties for the peer; receive_max and send_max: see above. */
void rr_properties_init(struct rr_properties *properties, const uint32_t told[RR_PROPERTIES],
	uint32_t receive_max, uint32_t send_max);

/* The first message of the side that connected: our CONNPROP. False: it was sent already. */
bool rr_properties_tell(struct rr_properties *properties, uint32_t xid);

/* An RDMA_ERROR with ERR_INVAL_OPTION came. True if it answers a message of properties. */
bool rr_properties_refused(struct rr_properties *properties, uint32_t xid);

/* Both sides announced responder-provided Read chunks. */
bool rr_properties_read_chunks(const struct rr_properties *properties);

#endif
