/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_PROPERTIES_H
#define RR_WIRE_PROPERTIES_H

#include <rpcrdma/xdr.h>

/*
 * The transport properties of draft-cel-nfsv4-rpcrdma-version-two-03, section 5, as an optional feature of
 * version 2: four values of rdma_opttype, whose rdma_optinfo is read into and written from values here.
 */

/* The operations, by their rdma_opttype: section 5.3, table 2. */
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

/* The values of RR_PROPERTY_REVERSE: enum rpcrdma2_bkreqsup. */
enum rr_reverse_support { RR_REVERSE_NONE, RR_REVERSE_INLINE, RR_REVERSE_GENERAL };

/* A known property. */
struct rr_property_kind {
	const char *name;
	uint32_t code;    /* rpcrdma2_propid */
	uint32_t initial; /* the default */
	uint32_t max;     /* larger values are not of its type */
};

extern const struct rr_property_kind rr_property_kinds[RR_PROPERTIES];

enum {
	RR_PROPERTY_SET_MAX = 256, /* properties in a set, unknown ones among them: more are malformed */
	RR_PROPERTY_INFO_MAX = 256 /* no operation that is written here takes more octets */
};

/* rpcrdma2_propset: the known properties that a set has, their values, and their positions in the set. */
struct rr_property_set {
	uint32_t count; /* of all its properties, unknown ones among them */
	uint32_t has;   /* bit i: the set has the known property i */
	uint32_t values[RR_PROPERTIES];
	uint32_t positions[RR_PROPERTIES];
};

/* rpcrdma2_propsubset: bit i selects element i of a set. */
struct rr_property_subset {
	uint32_t words[RR_PROPERTY_SET_MAX / 32];
};

/* The contents of an operation, whichever of the four. */
struct rr_property_message {
	/* CONNPROP: its start; REQPROP: its want; RESPPROP: its other; UPDPROP: its now. */
	struct rr_property_set set;
	struct rr_property_subset nochg;          /* CONNPROP */
	struct rr_property_subset done, rejected; /* RESPPROP: subsets of the set in the request */
};

/* Returns a set of properties with their values: those whose bits are set in has, in the order of enum
 * rr_property. */
struct rr_property_set rr_property_set(uint32_t has, const uint32_t values[RR_PROPERTIES]);

/* Returns which known properties of the set the subset selects, as one bit per property. */
uint32_t rr_property_selected(const struct rr_property_set *set, const struct rr_property_subset *subset);

/* Returns a subset of the set: the known properties whose bits are set in has. */
struct rr_property_subset rr_property_subset(const struct rr_property_set *set, uint32_t has);

/* Reads the contents of the operation from info. Returns false if info is malformed: it is too short or too
 * long, or has more than RR_PROPERTY_SET_MAX properties, a known property twice, or a value that is not of
 * its type. A property of length zero gets its default; unknown properties are only counted. */
bool rr_property_get(
	enum rr_property_operation operation, struct rpcrdma_bytes info, struct rr_property_message *message);

/* Writes the contents of the operation, with known properties only. elements is the number of properties in
 * the set to which the subsets in message refer. */
void rr_property_put(struct rpcrdma_xdr_writer *writer, enum rr_property_operation operation,
	const struct rr_property_message *message, uint32_t elements);

#endif
