/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_FPDU_H
#define RR_DECODE_FPDU_H

#include "wire/ddp.h"
#include "wire/mpa.h"

/*
 * This reads one direction of an iWARP connection as MPA frames: the request or reply frame at its beginning,
 * then FPDUs. If the beginning was not captured, or octets are missing, the next FPDU is searched for: a
 * length, a valid DDP header, the octets behind the FPDU, and its CRC together must be enough evidence.
 */
enum rr_fpdus_state {
	RR_FPDUS_OPENING,   /* the MPA frame comes next */
	RR_FPDUS_SYNCED,    /* the next octet begins an FPDU */
	RR_FPDUS_SEARCHING, /* an FPDU begins somewhere */
	RR_FPDUS_MARKED,    /* MPA markers are in use, which are not decoded here */
	RR_FPDUS_FOREIGN,   /* the stream is not MPA */
	RR_FPDUS_STATES
};

struct rr_fpdus {
	enum rr_fpdus_state state;
	bool begun;        /* the stream was captured from its beginning */
	bool crc;          /* CRCs are in use */
	int64_t crc_work;  /* a search may compute CRCs over this many octets and CRC_WORK more */
	uint64_t searched; /* octets that belong to no FPDU that was found */
	uint64_t resyncs;  /* searches that found an FPDU */
};

enum rr_fpdu_kind {
	RR_FPDU_MORE,    /* nothing was found; the used octets are not needed any more */
	RR_FPDU_OPENED,  /* the MPA frame */
	RR_FPDU_SEGMENT, /* a DDP segment */
	RR_FPDU_BAD_CRC, /* a DDP segment with a wrong CRC; to be ignored, unless octets of it were not
			    captured */
};

/* What rr_fpdus_next() found: an MPA frame, or an FPDU. */
struct rr_fpdu {
	size_t used;                 /* octets of data, from its front, that are not needed any more */
	struct rr_mpa_frame frame;   /* of RR_FPDU_OPENED */
	struct rr_ddp_header header; /* of a segment, as the next two */
	const uint8_t *payload;      /* the octets behind the DDP header */
	uint32_t length;
};

/* Reads an MPA frame or an FPDU from the front of data into *fpdu, and returns which of them it found. If
 * final is true, no more octets will come, so less evidence is enough. */
enum rr_fpdu_kind rr_fpdus_next(
	struct rr_fpdus *fpdus, const uint8_t *data, size_t size, bool final, struct rr_fpdu *fpdu);

/* Notes that octets are missing in front of the octets that come next: an FPDU is then searched for, unless
 * the stream is ignored anyway. */
void rr_fpdus_lose(struct rr_fpdus *fpdus);

/* Notes what the MPA frames of both sides say: crc is true if CRCs are in use; marked is true if this
 * direction has markers, so that its octets are ignored from now on. */
void rr_fpdus_agree(struct rr_fpdus *fpdus, bool crc, bool marked);

/* Tells whether the octets of the stream are ignored, because it has markers or is not MPA. */
bool rr_fpdus_are_ignored(const struct rr_fpdus *fpdus);

#endif
