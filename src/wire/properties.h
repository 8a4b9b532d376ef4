/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_PROPERTIES_H
#define RR_WIRE_PROPERTIES_H

#include <rpcrdma/xdr.h>

/*
 * The transport properties of draft-cel-nfsv4-rpcrdma-version-two-03, section 5, as an optional feature of
 * version 2: four values of rdma_opttype, whose rdma_optinfo is read into and written from values here.
 */

/* Section 5.3, table 2. */
enum rr_property_operation { RR_CONNPROP = 1, RR_REQPROP = 2, RR_RESPPROP = 3, RR_UPDPROP = 4 };

/* The properties that are known here, by index. Their codes are in rr_property_kinds. */
enum rr_property {
	RR_PROPERTY_RECEIVE_SIZE, /* 5.2.1: octets of the Receives that the sender has posted */
	RR_PROPERTY_REVERSE,      /* 5.2.2: enum rr_reverse_support */
	/*
	 * Experimental; 0 or 1. 1: the sender takes replies as responder-provided Read chunks
	 * (draft-cel-nfsv4-rpcrdma-reliable-reply-02), and promises, for each such chunk that it provides
	 * itself, one posted Receive more than it grants credits for, until the RDMA_DONE for that chunk has
	 * come. An RDMA_DONE to a sender of 1 therefore takes no credit, and cannot overrun its Receives
	 * (5.2.3 of that draft has it take one, which nothing gives back).
	 */
	RR_PROPERTY_READ_CHUNKS,
	RR_PROPERTY_INVALIDATION, /* experimental: wants its memory invalidated remotely; 0 or 1 */
	RR_PROPERTIES
};

/* enum rpcrdma2_bkreqsup */
enum rr_reverse_support { RR_REVERSE_NONE, RR_REVERSE_INLINE, RR_REVERSE_GENERAL };

struct rr_property_kind {
	const char *name;
	uint32_t code;    /* rpcrdma2_propid */
	uint32_t initial; /* the default */
	uint32_t max;     /* values above are none of its type */
};

extern const struct rr_property_kind rr_property_kinds[RR_PROPERTIES];

enum {
	RR_PROPERTY_SET_MAX = 256, /* properties in a set, unknown ones among them: more are malformed */
	RR_PROPERTY_INFO_MAX = 256 /* octets that any operation written here takes */
};

/* rpcrdma2_propset: what it says of known properties, and where in the set it says it. */
struct rr_property_set {
	uint32_t count; /* of all properties in it */
	uint32_t has;   /* bit i: the known property i is in it */
	uint32_t values[RR_PROPERTIES];
	uint32_t positions[RR_PROPERTIES];
};

/* rpcrdma2_propsubset: bit i of the set's element i. */
struct rr_property_subset {
	uint32_t words[RR_PROPERTY_SET_MAX / 32];
};

/* One of the four operations. */
struct rr_property_message {
	struct rr_property_set set;      /* CONNPROP: start; REQPROP: want; RESPPROP: other; UPDPROP: now */
	struct rr_property_subset nochg; /* CONNPROP */
	struct rr_property_subset done, rejected; /* RESPPROP: of the set of the request */
};

/* Values of a set with the properties whose bits are in has, in the order of their indices. */
struct rr_property_set rr_property_set(uint32_t has, const uint32_t values[RR_PROPERTIES]);

/* The known properties of a set that a subset of it selects. */
uint32_t rr_property_selected(const struct rr_property_set *set, const struct rr_property_subset *subset);

/* The other way round: the subset that selects these known properties. */
struct rr_property_subset rr_property_subset(const struct rr_property_set *set, uint32_t has);

/*
 * Reads all of info as the operation's. False: it is malformed, that is it breaks off or goes on, has more
 * than RR_PROPERTY_SET_MAX properties, a known property twice, or with a value that is none of its type. A
 * property of length zero has its default; properties that are not known only count.
 */
bool rr_property_get(
	enum rr_property_operation operation, struct rpcrdma_bytes info, struct rr_property_message *message);

/* Writes known properties only; subsets select among `elements` elements. */
void rr_property_put(struct rpcrdma_xdr_writer *writer, enum rr_property_operation operation,
	const struct rr_property_message *message, uint32_t elements);

#endif
