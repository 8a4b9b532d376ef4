/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all features (optional protocol extensions), and their states for a connection: feature.h.
 * */
#include "carrier/rdma/features/feature.h"

#include <rpcrdma/error.h>

/* The features that every engine has. They keep their data in struct rr_features itself. */
static const struct rr_feature *const features_known[] = { &rr_feature_properties, NULL };

/* Returns how many features the list has, which ends with NULL. The list itself may be NULL. */
static uint32_t
features_count(const struct rr_feature *const *list)
{
	uint32_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

/* ---- The states that features keep for a connection ---- */

/* Returns how many octets the state of a feature (an optional protocol extension) takes, with the padding
 * that aligns the next state. */
static size_t
features_room(const struct rr_feature *feature)
{
	const size_t unit = _Alignof(max_align_t);

	return (feature->state_size + unit - 1) / unit * unit;
}

int
rr_features_init(struct rr_features *features, const struct rr_env *env, const struct rr_feature *const *more)
{
	size_t size = 0;

	rr_list_init(&features->requests);
	for (uint32_t i = 0; i < features_count(more); i++)
		size += features_room(more[i]);
	features->states = size > 0 ? rr_alloc(env, size) : NULL;
	if (size > 0 && !features->states)
		return -RPCRDMA_ERR_NOMEM;
	features->more = more;
	return 0;
}

/* Returns the state of the feature that is at index `place` of the list features->more. */
static void *
features_state(const struct rr_features *features, uint32_t place)
{
	uint8_t *state = features->states;

	for (uint32_t i = 0; i < place; i++)
		state += features_room(features->more[i]);
	return state;
}

void
rr_features_begin(struct rr_features *features, struct rr_connection *connection)
{
	for (uint32_t i = 0; i < features_count(features->more); i++) {
		if (features->more[i]->begin)
			features->more[i]->begin(features_state(features, i), connection);
	}
}

void
rr_features_free(struct rr_features *features, const struct rr_env *env)
{
	for (uint32_t i = 0; i < features_count(features->more); i++) {
		if (features->more[i]->end)
			features->more[i]->end(features_state(features, i));
	}
	rr_free(env, features->states);
}

/* ---- Messages ---- */

/* Returns the feature's table entry for messages of the type opttype, or NULL if the feature has no such
 * messages. */
static const struct rr_feature_message *
feature_row(const struct rr_feature *feature, uint32_t opttype)
{
	for (uint32_t i = 0; i < feature->message_count; i++) {
		if (feature->messages[i].opttype == opttype)
			return &feature->messages[i];
	}
	return NULL;
}

const struct rr_feature_message *
rr_feature_find(const struct rr_features *features, uint32_t opttype, void **state)
{
	const struct rr_feature_message *row = NULL;

	*state = NULL;
	for (uint32_t i = 0; !row && features_known[i]; i++)
		row = feature_row(features_known[i], opttype);
	for (uint32_t i = 0; !row && i < features_count(features->more); i++) {
		row = feature_row(features->more[i], opttype);
		*state = features_state(features, i);
	}
	return row;
}

int
rr_feature_received(struct rr_features *features, const struct rr_rdma_header *header,
	struct rpcrdma_bytes payload, struct rr_optional *answer)
{
	_Alignas(max_align_t) uint8_t parsed[RR_FEATURE_PARSED_MAX];
	struct rr_feature_arrival arrival = {
		.features = features, .xid = header->xid, .parsed = parsed, .payload = payload
	};
	const struct rr_feature_message *row = rr_feature_find(features, header->opttype, &arrival.state);

	*answer = (struct rr_optional){ 0 };
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 3.1: "When an implementation does not recognize or support
	 * the value contained in the rdma_opttype field, it MUST send an RPC-over-RDMA message with the
	 * rdma_xid field set to the same value as the erroneous message, the rdma_proc field set to
	 * RDMA_ERROR, and the rdma_err field set to RDMA_ERR_INVAL_OPTION." */
	if (!row)
		return RR_ERR_INVAL_OPTION;
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 3.2: each feature says "that an RPC Payload Stream MUST or
	 * MUST NOT follow the Transport Header Stream for each new opttype code". */
	if (row->payload == (payload.length > 0 ? RR_PAYLOAD_NEVER : RR_PAYLOAD_ALWAYS))
		return RR_ERR_BAD_HEADER;
	if (!row->parse(header->optinfo, parsed))
		return RR_ERR_BAD_HEADER;
	row->handle(&arrival, answer);
	return 0;
}
