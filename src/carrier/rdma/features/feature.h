/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_FEATURE_H
#define RR_CARRIER_RDMA_FEATURES_FEATURE_H

#include "base/env.h"
#include "carrier/rdma/features/properties.h"

/* Optional features of version 2, which give RDMA_OPTIONAL messages their meaning. A feature is a file with
 * one struct rr_feature: a table entry for each of its type codes, and a state of its own for each
 * connection. The table of feature.c lists the features that every engine has; the configuration of an
 * engine can add others (struct rr_engine_config).
 *
 * Features decide, the transport sends. A feature can answer a message that arrived. It can also ask: it
 * sends a message at any time, from either side, which the peer must answer. */
struct rr_connection;
struct rr_features;

/* Octets of the largest value that parse() fills in. The value may refer to the message. */
enum { RR_FEATURE_PARSED_MAX = 256 };

/* A message that arrived, for handle(). It is valid until handle() returns. parsed points to what parse()
 * filled in. */
struct rr_feature_arrival {
	struct rr_features *features;
	void *state; /* the feature's state for this connection */
	uint32_t xid;
	const void *parsed;
	struct rpcrdma_bytes payload; /* as it arrived; no other part has read it */
};

/* One type code of a feature. */
struct rr_feature_message {
	uint32_t opttype;
	const char *name;
	enum rr_payload payload; /* whether an RPC Payload Stream follows */
	/* Fills parsed from rdma_optinfo. False: rdma_optinfo is malformed, and the message is refused. */
	bool (*parse)(struct rpcrdma_bytes optinfo, void *parsed);
	/* Acts on the message. An answer, if one is due, is sent with the same XID. */
	void (*handle)(const struct rr_feature_arrival *arrival, struct rr_optional *answer);
};

/* A feature. */
struct rr_feature {
	const char *name;
	const struct rr_feature_message *messages;
	uint32_t message_count;
	size_t state_size; /* 0: the feature keeps nothing for a connection */
	/* Begins the feature on a connection that is established; the state is zeroes. May ask. NULL: there
	 * is nothing to do. */
	void (*begin)(void *state, struct rr_connection *connection);
	/* Ends the feature, as the connection is gone, also without begin(). The state is freed afterwards.
	 * May be NULL. */
	void (*end)(void *state);
};

/* The feature of properties.c. */
extern const struct rr_feature rr_feature_properties;

/* The data that features keep for a connection. */
struct rr_features {
	struct rr_properties properties; /* the transport itself plans by these */
	struct rr_list requests;         /* that were not answered, the oldest first */
	uint32_t sent;                   /* how many of the requests were sent */
	/* Features beside those that every engine has, with NULL behind the last feature; NULL: there are no
	 * others. */
	const struct rr_feature *const *more;
	uint8_t *states; /* of the features in more, one after the other */
};

/* Makes the states of the features in the list more, which ends with NULL, or may be NULL. The caller sets
 * features->properties by rr_properties_init(). Returns 0 or -RPCRDMA_ERR_NOMEM. */
int rr_features_init(
	struct rr_features *features, const struct rr_env *env, const struct rr_feature *const *more);

/* Calls begin() of each feature, as the connection is established. */
void rr_features_begin(struct rr_features *features, struct rr_connection *connection);

/* Calls end() of each feature, and frees the states. features may also be zeroed memory, or memory with which
 * rr_features_init() failed. */
void rr_features_free(struct rr_features *features, const struct rr_env *env);

/* Returns the table entry of a type code, and stores the state of its feature in *state. Returns NULL if no
 * feature has the type code. */
const struct rr_feature_message *rr_feature_find(
	const struct rr_features *features, uint32_t opttype, void **state);

/* Handles an RDMA_OPTIONAL that arrived; payload has the octets behind its header. Returns 0, or the error
 * that an RDMA_ERROR with the same XID must report: RR_ERR_INVAL_OPTION, or RR_ERR_BAD_HEADER if the message
 * is malformed or its feature does not allow that payload. answer is always set. */
int rr_feature_received(struct rr_features *features, const struct rr_rdma_header *header,
	struct rpcrdma_bytes payload, struct rr_optional *answer);

/* Queues the request. It is sent as soon as the peer is known to use version 2 and there is a credit; done()
 * later brings the outcome. On the side that accepted, it waits until the peer has sent a message of version
 * 2. Returns 0, or -RPCRDMA_ERR_DISCONNECTED if the request will not be sent; done() is then not called. */
int rr_feature_ask(struct rr_connection *connection, struct rr_feature_request *request);

#endif
