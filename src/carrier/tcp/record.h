/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_TCP_RECORD_H
#define RR_CARRIER_TCP_RECORD_H

#include <rpcrdma/xdr.h>
#include <sys/uio.h>

/* Record marking (RFC 5531, section 11) for both directions, without sockets. A record is one message; it
 * consists of fragments, and each fragment begins with a record mark of four octets, which has its length and
 * says whether it is the last. Arriving octets go in, whole records come out; a message goes in, the pieces
 * of memory that make up its record come out. */

enum {
	RR_RECORD_FRAGMENTS = 4096, /* the most fragments of a record */
	RR_RECORD_HEAD = 8 /* octets that are kept of a record that is too long: XID and message type */
};

/* A record while its fragments arrive. It must be zeroed before its first use. */
struct rr_record {
	uint8_t *data;   /* memory given by rr_record_room(); NULL: there is no memory yet */
	uint32_t length; /* octets of the record in data so far */
	uint32_t room;   /* octets of memory at data */
	uint32_t wanted; /* with RR_RECORD_ROOM: octets of memory that the whole record needs */
	uint32_t left;   /* octets of the current fragment that are still to come */
	uint32_t fragments;
	bool open, last; /* inside a fragment; the last of its record */
	bool skipping;   /* the record is too long: its octets are dropped as they come */
	uint32_t head_length;
	uint8_t head[RR_RECORD_HEAD]; /* while skipping, and after it: the record's first octets */
};

/* The results of rr_record_take(). */
enum rr_record_result {
	RR_RECORD_MORE, /* more octets are needed */
	/* rr_record_room() is needed, then the rest of the same octets: the record has no memory, or too
	 * little for the octets that have come */
	RR_RECORD_ROOM,
	RR_RECORD_WHOLE, /* a record is complete */
	/* The record is longer than max. The memory at record->data belongs to the caller again, who sets
	 * record->data to NULL; the next call then skips the octets of the record. */
	RR_RECORD_LARGE,
	/* A record that was skipped has ended: whole refers to the octets in record->head. */
	RR_RECORD_SKIPPED,
	RR_RECORD_SHREDDED /* more than RR_RECORD_FRAGMENTS fragments: broken */
};

/* Removes octets from the front of `in` and makes records of them, one for each call. A record of one
 * fragment that has, with its mark, at most in_place octets is not copied: once all of it is in `in`, *whole
 * refers to it there; until then no octets are removed. Any other record is gathered in record->data, which
 * belongs to the caller again when RR_RECORD_WHOLE is returned. max is the most octets that a record may
 * have. Octets that are left in `in` after RR_RECORD_MORE must be offered again, in front of the next octets
 * that arrive. */
enum rr_record_result rr_record_take(struct rr_record *record, struct rpcrdma_bytes *in, uint32_t in_place,
	uint32_t max, struct rpcrdma_bytes *whole);

/* Tells whether enough of a record has come that memory may be taken for it. `in` begins with the record's
 * first mark. The result is true if `in` has at least `octets` octets, or all of the record, or a mark that
 * shows that the record is longer than max or has too many fragments. */
bool rr_record_has_begun(struct rpcrdma_bytes in, uint32_t octets, uint32_t max);

/* Gives the record memory of room octets, at most record->wanted. The memory begins with the octets that the
 * record has so far. */
void rr_record_room(struct rr_record *record, void *memory, uint32_t room);

/* Returns the place into which the next octets of the stream may be read directly, and stores in *octets how
 * many octets may be read: at most the rest of the present fragment. Returns NULL if there is no such place,
 * as the record has no memory, or the next octet is that of a record mark. */
void *rr_record_direct(const struct rr_record *record, uint32_t *octets);

/* Counts octets as part of the record after they were read into the place that rr_record_direct()
 * returned. */
void rr_record_filled(struct rr_record *record, uint32_t octets);

/* Returns how many octets a message has in a record, with its items at their places in the stream. */
uint64_t rr_record_length(const struct rpcrdma_message *message);

/* Describes the record [mark][stream][item][padding][stream]..., without its first skip octets, in at most
 * max (above 0) elements of iov. Returns how many elements are in use, and adds the number of their octets
 * to *octets. */
uint32_t rr_record_gather(const uint8_t mark[4], const struct rpcrdma_message *message, uint64_t skip,
	struct iovec *iov, uint32_t max, uint64_t *octets);

#endif
