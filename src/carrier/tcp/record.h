/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_TCP_RECORD_H
#define RR_CARRIER_TCP_RECORD_H

#include <rpcrdma/xdr.h>
#include <sys/uio.h>

/*
 * Record marking (RFC 5531, section 11), both directions, without sockets:
 * octets of the stream in, whole records out; a message in, the pieces of
 * memory that make up its record out.
 */

enum {
	RR_RECORD_FRAGMENTS = 4096,
	RR_RECORD_HEAD = 8 /* octets that are kept of a record that is too long: XID and message type */
};

/* A record as its fragments arrive. Zeroed before its first use. */
struct rr_record {
	uint8_t *data;   /* memory given with rr_record_room(); NULL while there is none */
	uint32_t length; /* octets of the record in data so far */
	uint32_t room;   /* octets that data has room for */
	uint32_t wanted; /* RR_RECORD_ROOM: octets of memory that the record needs in the end */
	uint32_t left;   /* octets of the current fragment that are still to come */
	uint32_t fragments;
	bool open, last; /* in a fragment; it is the record's last */
	bool skipping;   /* the record is too long: its octets are dropped as they come */
	uint32_t head_length;
	uint8_t head[RR_RECORD_HEAD]; /* while skipping, and after it: the record's first octets */
};

enum rr_record_result {
	RR_RECORD_MORE,  /* more octets are needed */
	RR_RECORD_ROOM,  /* rr_record_room() is needed, then the rest of the same octets: the record has no
			    memory, or more octets have come than that has room for */
	RR_RECORD_WHOLE, /* a record is complete */
	RR_RECORD_LARGE, /* the record is longer than max: its memory is the caller's again, and record->data
			    to be set to NULL; then its octets are skipped */
	RR_RECORD_SKIPPED, /* the end of such a record: whole refers to what record->head keeps of it */
	RR_RECORD_SHREDDED /* broken: more than RR_RECORD_FRAGMENTS fragments */
};

/*
 * Takes octets off the front of in and advances it past them. A record that comes in one fragment of at most
 * in_place octets, mark included, is never copied: whole refers to in's memory then, and nothing is taken
 * until all of it is there. Any other one is gathered in record->data, which becomes the caller's again with
 * RR_RECORD_WHOLE. The octets that are left in `in` after RR_RECORD_MORE are to be offered again, in front of
 * the next that arrive.
 */
enum rr_record_result rr_record_take(struct rr_record *record, struct rpcrdma_bytes *in, uint32_t in_place,
	uint32_t max, struct rpcrdma_bytes *whole);

/* Whether so many octets are in `in`, from the mark of a record on, or all of that record; or it is seen to
 * be longer than max, or broken. */
bool rr_record_has_begun(struct rpcrdma_bytes in, uint32_t octets, uint32_t max);

/* Gives the record so many octets of memory, wanted or fewer, which begin with those that it had. */
void rr_record_room(struct rr_record *record, void *memory, uint32_t room);

/* The place that the next octets of the stream may be read into directly, and for how many; NULL: there is
 * no such place. */
void *rr_record_direct(const struct rr_record *record, uint32_t *octets);

/* That was done with so many octets. */
void rr_record_filled(struct rr_record *record, uint32_t octets);

/* Octets of a message with its items put back into its stream. */
uint64_t rr_record_length(const struct rpcrdma_message *message);

/*
 * The pieces of the record [mark][stream][item][padding][stream]..., without its first skip octets, into at
 * most max (above 0) elements of iov. Returns how many, and adds their octets to *octets.
 */
uint32_t rr_record_gather(const uint8_t mark[4], const struct rpcrdma_message *message, uint64_t skip,
	struct iovec *iov, uint32_t max, uint64_t *octets);

#endif
