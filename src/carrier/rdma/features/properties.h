/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_PROPERTIES_H
#define RR_CARRIER_RDMA_FEATURES_PROPERTIES_H

#include "carrier/rdma/features/request.h"
#include "wire/properties.h"

/* Transport properties of a connection of version 2 (draft-cel-nfsv4-rpcrdma-version-two-03, section 5): a
 * state machine that only messages move. It holds the values in force; the transport plans by them.
 *
 * The side that connected announces its properties by CONNPROP, its first message; the other side announces
 * its own in answer. A peer that does not know the feature answers ERR_INVAL_OPTION, and a peer that ignores
 * the message does not answer: then defaults hold on both sides. A change takes effect between two messages.
 */

/* The states of the exchange of properties. */
enum rr_properties_state {
	RR_PROPERTIES_SILENT,  /* the CONNPROP of this side was not sent */
	RR_PROPERTIES_TOLD,    /* the CONNPROP of this side was sent */
	RR_PROPERTIES_REFUSED, /* the peer refused the CONNPROP: it does not know properties */
	RR_PROPERTIES_STATES
};

/* The properties of both sides of a connection. */
struct rr_properties {
	enum rr_properties_state state;
	/* The values in force. Those of this side are the defaults until the peer's CONNPROP shows that the
	 * peer knows the property; those of the peer are the defaults until the peer names them. A receive
	 * buffer size is never below 4096, and the peer's may be more than this side can send. */
	uint32_t own[RR_PROPERTIES], peer[RR_PROPERTIES];

	uint32_t told[RR_PROPERTIES]; /* the values that the CONNPROP of this side announces, or that were
					 agreed on since */
	/* Octets that each Receive of this side really has: told may be raised to that. */
	uint32_t receive_max;
	uint32_t send_max;           /* octets that the peer is asked to take; 0: the peer is not asked */
	uint32_t peer_has;           /* bit i: the property i was in the peer's CONNPROP */
	uint32_t xid;                /* of the CONNPROP of this side */
	bool asked;                  /* the REQPROP of this side is under way, */
	uint32_t asked_xid;          /* with this XID, */
	struct rr_property_set want; /* for these properties */

	struct rr_feature_request request; /* the CONNPROP of this side, later its REQPROP */
	uint8_t request_info[RR_PROPERTY_INFO_MAX], answer_info[RR_PROPERTY_INFO_MAX];
};

/* Sets the state at the beginning of a connection. told has the properties to announce; receive_max and
 * send_max are those of struct rr_properties. */
void rr_properties_init(struct rr_properties *properties, const uint32_t told[RR_PROPERTIES],
	uint32_t receive_max, uint32_t send_max);

/* Prepares the CONNPROP, the first message of the side that connected, in properties->request, with that XID.
 * Returns true if the caller is to send the request. Returns false if the CONNPROP was sent already. */
bool rr_properties_tell(struct rr_properties *properties, uint32_t xid);

/* Is called when the message about properties with that XID failed: the peer refused it, or it could not be
 * sent. After a refused CONNPROP, defaults hold for good. Returns true if the XID is that of the REQPROP
 * under way, or of the CONNPROP that was not answered. */
bool rr_properties_refused(struct rr_properties *properties, uint32_t xid);

/* Tells whether both sides announced that they support responder-provided Read chunks. */
bool rr_properties_read_chunks(const struct rr_properties *properties);

#endif
