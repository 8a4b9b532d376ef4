/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/error.h>

#include "carrier/rdma/features/feature.h"

/* The exchange of transport properties: handles the messages of draft-cel-nfsv4-rpcrdma-version-two-03,
 * section 5, and keeps the values in force (properties.h). */

/* Sets of properties: bit i is the property i. */
enum { ALL = (1 << RR_PROPERTIES) - 1, RECEIVE_SIZE = 1 << RR_PROPERTY_RECEIVE_SIZE };

/* The CONNPROP of this side is to be sent; the CONNPROP of the peer came; the peer refused that of this
 * side. */
enum properties_event { TELL, HEAR, REFUSE, EVENTS };

/* The state after each event. A peer that refused properties and then sends its own contradicts itself:
 * defaults hold. */
static const enum rr_properties_state next_state[RR_PROPERTIES_STATES][EVENTS] = {
	[RR_PROPERTIES_SILENT] = { [TELL] = RR_PROPERTIES_TOLD,
		[HEAR] = RR_PROPERTIES_TOLD,
		[REFUSE] = RR_PROPERTIES_SILENT },
	[RR_PROPERTIES_TOLD] = { [TELL] = RR_PROPERTIES_TOLD,
		[HEAR] = RR_PROPERTIES_TOLD,
		[REFUSE] = RR_PROPERTIES_REFUSED },
	[RR_PROPERTIES_REFUSED] = { [TELL] = RR_PROPERTIES_REFUSED,
		[HEAR] = RR_PROPERTIES_REFUSED,
		[REFUSE] = RR_PROPERTIES_REFUSED },
};

static bool
properties_has(uint32_t set, uint32_t property)
{
	return set & UINT32_C(1) << property;
}

/* ---- Values ---- */

/* Sets the value of a property of the peer. A receive size below 4096 counts as 4096:
 * draft-cel-nfsv4-rpcrdma-version-two-00, 2.3: "receiver implementations MUST support an inline threshold of
 * 4096 bytes". */
static void
properties_set_peer(struct rr_properties *properties, uint32_t property, uint32_t value)
{
	if (property == RR_PROPERTY_RECEIVE_SIZE && value < RR_INLINE_DEFAULT_2)
		value = RR_INLINE_DEFAULT_2;
	properties->peer[property] = value;
}

/* Sets the values of this side's properties that are in force: the announced value if the peer's CONNPROP
 * shows that the peer knows the property, else the default. draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1:
 * "the sender should be prepared for cases in which the partner continues to assume that the default value
 * for a particular property is still in effect". */
static void
properties_settle_own(struct rr_properties *properties)
{
	for (uint32_t i = 0; i < RR_PROPERTIES; i++)
		properties->own[i] = properties_has(properties->peer_has, i) ? properties->told[i]
									     : rr_property_kinds[i].initial;
}

void
rr_properties_init(struct rr_properties *properties, const uint32_t told[RR_PROPERTIES], uint32_t receive_max,
	uint32_t send_max)
{
	*properties = (struct rr_properties){ .receive_max = receive_max, .send_max = send_max };
	rr_list_init(&properties->request.link);
	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		properties->told[i] = told[i];
		properties->peer[i] = rr_property_kinds[i].initial;
	}
	properties_settle_own(properties);
}

bool
rr_properties_read_chunks(const struct rr_properties *properties)
{
	return properties->own[RR_PROPERTY_READ_CHUNKS] && properties->peer[RR_PROPERTY_READ_CHUNKS];
}

/* ---- Messages of this side ---- */

/* Encodes a message about properties into info, which has RR_PROPERTY_INFO_MAX octets, and sets optional to
 * that message. The octets stay in info until the message was sent. */
static void
properties_say(struct rr_optional *optional, uint8_t *info, enum rr_property_operation operation,
	const struct rr_property_message *message, uint32_t elements)
{
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, info, RR_PROPERTY_INFO_MAX, NULL, 0);
	rr_property_put(&writer, operation, message, elements);
	*optional = (struct rr_optional){ .due = !writer.failed,
		.opttype = operation,
		.info = { info, (uint32_t)rpcrdma_xdr_length(&writer) } };
}

/* Changes the state by the event. If the CONNPROP of this side is to be sent now, encodes it into optional,
 * whose octets lie in info; otherwise leaves both alone. xid becomes the XID of that CONNPROP.
 * draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1: "All relevant transport properties that the sender is aware
 * of should be included in rdma_start." All properties are marked as fixed, except a receive size that can be
 * raised. */
static void
properties_move(struct rr_properties *properties, enum properties_event event, uint32_t xid,
	struct rr_optional *optional, uint8_t *info)
{
	bool was_silent = properties->state == RR_PROPERTIES_SILENT;
	struct rr_property_message message = { .set = rr_property_set(ALL, properties->told) };
	uint32_t fixed = ALL;

	properties->state = next_state[properties->state][event];
	if (!was_silent || properties->state != RR_PROPERTIES_TOLD)
		return;
	if (properties->told[RR_PROPERTY_RECEIVE_SIZE] < properties->receive_max)
		fixed &= ~(uint32_t)RECEIVE_SIZE;
	message.nochg = rr_property_subset(&message.set, fixed);
	properties->xid = xid;
	properties_say(optional, info, RR_CONNPROP, &message, message.set.count);
}

bool
rr_properties_refused(struct rr_properties *properties, uint32_t xid)
{
	bool answers;

	if (properties->asked && properties->asked_xid == xid) {
		properties->asked = false;
		return true;
	}
	answers = properties->state == RR_PROPERTIES_TOLD && properties->xid == xid && !properties->peer_has;
	if (answers)
		properties_move(properties, REFUSE, xid, NULL, NULL);
	return answers;
}

/* Is called when the CONNPROP or REQPROP of this side has ended. An error counts as a refusal by the peer,
 * unless the connection ended. */
static void
request_done(struct rr_feature_request *request, int error)
{
	struct rr_properties *properties = rr_container(request, struct rr_properties, request);

	if (error && error != -RPCRDMA_ERR_DISCONNECTED)
		rr_properties_refused(properties, request->xid);
}

/* Prepares the request for its next message, with that XID and the type of its answer. The previous message
 * must no longer be under way. */
static struct rr_feature_request *
properties_renew_request(struct rr_properties *properties, uint32_t xid, uint32_t answer)
{
	struct rr_feature_request *request = &properties->request;

	request->message.due = false;
	request->xid = xid;
	request->answer = answer;
	request->done = request_done;
	return request;
}

bool
rr_properties_tell(struct rr_properties *properties, uint32_t xid)
{
	struct rr_feature_request *request = properties_renew_request(properties, xid, RR_CONNPROP);

	properties_move(properties, TELL, xid, &request->message, properties->request_info);
	return request->message.due;
}

/* Asks the peer by a REQPROP with that XID to raise its receive size to the size of the messages that this
 * side can send. The request waits in the list features->requests until it can be sent. */
static void
properties_ask(struct rr_features *features, uint32_t xid)
{
	struct rr_properties *properties = &features->properties;
	struct rr_feature_request *request = properties_renew_request(properties, xid, RR_RESPPROP);
	const uint32_t values[RR_PROPERTIES] = { [RR_PROPERTY_RECEIVE_SIZE] = properties->send_max };
	const struct rr_property_message message = { .set = rr_property_set(RECEIVE_SIZE, values) };

	properties->asked = true;
	properties->asked_xid = xid;
	properties->want = message.set;
	properties_say(&request->message, properties->request_info, RR_REQPROP, &message, 0);
	rr_list_append(&features->requests, &request->link);
}

/* ---- Properties of the peer ---- */

/* This function and the next three are the parse() of the four messages about properties: each decodes
 * optinfo into parsed, a struct rr_property_message, and returns false if optinfo is malformed. */
static bool
properties_parse_connprop(struct rpcrdma_bytes optinfo, void *parsed)
{
	return rr_property_get(RR_CONNPROP, optinfo, parsed);
}

static bool
properties_parse_reqprop(struct rpcrdma_bytes optinfo, void *parsed)
{
	return rr_property_get(RR_REQPROP, optinfo, parsed);
}

static bool
properties_parse_resprop(struct rpcrdma_bytes optinfo, void *parsed)
{
	return rr_property_get(RR_RESPPROP, optinfo, parsed);
}

static bool
properties_parse_updprop(struct rpcrdma_bytes optinfo, void *parsed)
{
	return rr_property_get(RR_UPDPROP, optinfo, parsed);
}

/* Handles the peer's CONNPROP: stores the peer's properties, and answers with the CONNPROP of this side if
 * none was sent yet. If this is the answer to the CONNPROP of this side, asks the peer for a larger receive
 * size, provided that the present size is small and the peer can change it. Properties that the peer does not
 * name have their defaults: draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1: "Properties not included in
 * rdma_start are to be treated by the peer endpoint as having the default value". */
static void
properties_connprop(const struct rr_feature_arrival *arrival, struct rr_optional *answer)
{
	struct rr_properties *properties = &arrival->features->properties;
	const struct rr_property_message *message = arrival->parsed;
	const struct rr_property_set *set = &message->set;
	bool first = properties->state == RR_PROPERTIES_TOLD && !properties->peer_has;

	properties_move(properties, HEAR, arrival->xid, answer, properties->answer_info);
	/* The peer said before that it does not know properties: the defaults hold for good. */
	if (properties->state == RR_PROPERTIES_REFUSED)
		return;
	properties->peer_has = set->has;
	for (uint32_t i = 0; i < RR_PROPERTIES; i++)
		properties_set_peer(properties, i,
			properties_has(set->has, i) ? set->values[i] : rr_property_kinds[i].initial);
	properties_settle_own(properties);
	if (first && !rr_feature_request_is_open(&properties->request) &&
		set->has & ~rr_property_selected(set, &message->nochg) & RECEIVE_SIZE &&
		properties->peer[RR_PROPERTY_RECEIVE_SIZE] < properties->send_max)
		properties_ask(arrival->features, arrival->xid);
}

/* Returns the value that this side sets for a property for which the peer wants another value. Only a larger
 * receive size is granted, up to the size of this side's Receives. A smaller size is not granted, as a reply
 * may be under way that needs the present size. draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.2: "The partner
 * need not change the properties". */
static uint32_t
properties_granted(const struct rr_properties *properties, uint32_t property, uint32_t wanted)
{
	uint32_t now = properties->told[property];

	if (property != RR_PROPERTY_RECEIVE_SIZE || properties->state != RR_PROPERTIES_TOLD || wanted < now)
		return now;
	return wanted < properties->receive_max ? wanted : properties->receive_max;
}

/* Handles a REQPROP, the peer's wish for other values: sets those that are granted, and answers by a
 * RESPPROP, which rejects the others and all unknown properties. draft-cel-nfsv4-rpcrdma-version-two-03,
 * 5.3.3: "The subsets of properties specified by rdma_done, rdma_rejected, and included in rdma_other MUST
 * NOT overlap, and when ored together, should cover the entire set". */
static void
properties_reqprop(const struct rr_feature_arrival *arrival, struct rr_optional *answer)
{
	struct rr_properties *properties = &arrival->features->properties;
	const struct rr_property_set *want = &((const struct rr_property_message *)arrival->parsed)->set;
	struct rr_property_message message = { 0 };
	struct rr_property_subset others;
	uint32_t done = 0, other = 0;

	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		uint32_t before = properties->told[i];

		if (!properties_has(want->has, i))
			continue;
		properties->told[i] = properties_granted(properties, i, want->values[i]);
		/* done: the value is the one that the peer wants; other: it changed, but to another value. */
		if (properties->told[i] == want->values[i])
			done |= UINT32_C(1) << i;
		else if (properties->told[i] != before)
			other |= UINT32_C(1) << i;
	}
	properties_settle_own(properties);
	message.set = rr_property_set(other, properties->told);
	message.done = rr_property_subset(want, done);
	others = rr_property_subset(want, other);
	for (uint32_t i = 0; i < want->count; i++) {
		uint32_t bit = UINT32_C(1) << i % 32;

		if (!((message.done.words[i / 32] | others.words[i / 32]) & bit))
			message.rejected.words[i / 32] |= bit;
	}
	properties_say(answer, properties->answer_info, RR_RESPPROP, &message, want->count);
}

/* Handles a RESPPROP, the peer's answer to the REQPROP of this side: takes over the values that the peer
 * changed. draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.3: "The sender MUST NOT include rpcrdma2_propval
 * items within rdma_other that are for properties other than the ones for which the corresponding property
 * request has requested a change. If the receiver finds such a situation, it MUST ignore the erroneous
 * rpcrdma2_propval items." And: "If the receiver finds such an overlap or mismatch, it SHOULD treat
 * properties missing or within the overlap as having been rejected." */
static void
properties_resprop(const struct rr_feature_arrival *arrival, struct rr_optional *answer)
{
	struct rr_properties *properties = &arrival->features->properties;
	const struct rr_property_message *message = arrival->parsed;
	uint32_t done, rejected, other;

	(void)answer;
	/* draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.3: "The rdma_xid field of this message must match that
	 * used in the RDMA2_REQPROP message". */
	if (!properties->asked || properties->asked_xid != arrival->xid)
		return;
	properties->asked = false;
	/* done: the peer set the property to the value that this side asked for; other: the peer set it to
	 * another value, which the message contains. A property that is named twice, or not at all, keeps its
	 * value, as if it were rejected. */
	done = rr_property_selected(&properties->want, &message->done);
	rejected = rr_property_selected(&properties->want, &message->rejected);
	other = message->set.has & properties->want.has;
	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		if (properties_has(done & ~rejected & ~other, i))
			properties_set_peer(properties, i, properties->want.values[i]);
		if (properties_has(other & ~rejected & ~done, i))
			properties_set_peer(properties, i, message->set.values[i]);
	}
}

/* Handles an UPDPROP, by which the peer changes properties of its own: stores the new values of those
 * properties that the peer's CONNPROP named. draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.4: "rdma_now defines
 * the new property values to be used." 5.3.1 of the same draft: properties that were not announced "are not
 * allowed to change subsequently". */
static void
properties_updprop(const struct rr_feature_arrival *arrival, struct rr_optional *answer)
{
	struct rr_properties *properties = &arrival->features->properties;
	const struct rr_property_set *now = &((const struct rr_property_message *)arrival->parsed)->set;

	(void)answer;
	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		if (properties_has(now->has & properties->peer_has, i))
			properties_set_peer(properties, i, now->values[i]);
	}
}

/* The messages of the feature. draft-cel-nfsv4-rpcrdma-version-two-03, 5.3, table 2: no message has an RPC
 * message payload. */
static const struct rr_feature_message messages[] = {
	{ RR_CONNPROP, "CONNPROP", RR_PAYLOAD_NEVER, properties_parse_connprop, properties_connprop },
	{ RR_REQPROP, "REQPROP", RR_PAYLOAD_NEVER, properties_parse_reqprop, properties_reqprop },
	{ RR_RESPPROP, "RESPPROP", RR_PAYLOAD_NEVER, properties_parse_resprop, properties_resprop },
	{ RR_UPDPROP, "UPDPROP", RR_PAYLOAD_NEVER, properties_parse_updprop, properties_updprop },
};

const struct rr_feature rr_feature_properties = {
	.name = "transport properties", .messages = messages, .message_count = 4
};
