/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_FEATURE_H
#define RR_CARRIER_RDMA_FEATURES_FEATURE_H

#include "base/env.h"
#include "carrier/rdma/features/properties.h"

/*
 * Optional features of version 2: what an RDMA_OPTIONAL can mean. A feature is a file with one struct
 * rr_feature: rows for its type codes, and a state of its own for each connection. The table of feature.c
 * lists those that every engine has; the configuration of an engine can add others (struct rr_engine_config).
 *
 * Features decide, the transport sends. A feature can answer a message that arrived, and it can ask: send a
 * message at any time, from either side, which the peer must answer.
 */
struct rr_connection;
struct rr_features;

/* Octets of the largest value that parse() fills in; it may refer to the message. */
enum { RR_FEATURE_PARSED_MAX = 256 };

/* What arrived, for handle(). All of it is there until handle() returns. */
struct rr_feature_arrival {
	struct rr_features *features;
	void *state; /* of the feature */
	uint32_t xid;
	const void *parsed;
	struct rpcrdma_bytes payload; /* not looked at by anybody before */
};

/* One type code of a feature. */
struct rr_feature_message {
	uint32_t opttype;
	const char *name;
	enum rr_payload payload; /* whether an RPC Payload Stream follows */
	/* Fills parsed from rdma_optinfo. False: it is malformed, and nothing comes of the message. */
	bool (*parse)(struct rpcrdma_bytes optinfo, void *parsed);
	/* Acts on it. An answer, if one is due, is sent with the same XID. */
	void (*handle)(const struct rr_feature_arrival *arrival, struct rr_optional *answer);
};

struct rr_feature {
	const char *name;
	const struct rr_feature_message *messages;
	uint32_t message_count;
	size_t state_size; /* 0: it keeps nothing for a connection */
	/* The connection is established; the state is zeroes. May ask. NULL: nothing is to be done. */
	void (*begin)(void *state, struct rr_connection *connection);
	/* The connection is gone, which may not have begun; so is the state afterwards. May be NULL. */
	void (*end)(void *state);
};

/* The feature of properties.c. */
extern const struct rr_feature rr_feature_properties;

/* What features keep for a connection. */
struct rr_features {
	struct rr_properties properties; /* by which the transport itself plans */
	struct rr_list requests;         /* that were not answered, the oldest first */
	uint32_t sent;                   /* those of them that were sent */
	/* Features beside those that every engine has, NULL behind the last one; NULL: there are no others.
	 */
	const struct rr_feature *const *more;
	uint8_t *states; /* of those, one after the other */
};

/* -RPCRDMA_ERR_NOMEM. The properties are not set yet. */
int rr_features_init(
	struct rr_features *features, const struct rr_env *env, const struct rr_feature *const *more);

/* The connection is established: calls begin() of each. */
void rr_features_begin(struct rr_features *features, struct rr_connection *connection);

/* Calls end() of each. Also after a failed or no rr_features_init() of zeroed memory. */
void rr_features_free(struct rr_features *features, const struct rr_env *env);

/* The row of a type code, and the state of its feature. NULL: it is not known. */
const struct rr_feature_message *rr_feature_find(
	const struct rr_features *features, uint32_t opttype, void **state);

/*
 * An RDMA_OPTIONAL arrived, whose payload is what follows its header. 0; or what an RDMA_ERROR with the same
 * XID must say: RR_ERR_INVAL_OPTION, or RR_ERR_BAD_HEADER where its feature finds it malformed or does not
 * allow for that payload. answer is always set.
 */
int rr_feature_received(struct rr_features *features, const struct rr_rdma_header *header,
	struct rpcrdma_bytes payload, struct rr_optional *answer);

/*
 * Has the request sent as soon as the peer is known to speak version 2 and there is a credit; done() says
 * what came of that, later. A side that accepted waits until its peer has sent something in version 2. 0, or
 * -RPCRDMA_ERR_DISCONNECTED: it will not be sent, and done() is not called.
 */
int rr_feature_ask(struct rr_connection *connection, struct rr_feature_request *request);

#endif
