/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/fpdu.h"

#include <string.h>

#include "base/crc32c.h"

/* ---- States ---- */

enum fpdus_event { EVENT_OPENED, EVENT_NO_KEY, EVENT_LOST, EVENT_FOUND, EVENT_MARKED, EVENTS };

/* The events: OPENED: the MPA frame was read. NO_KEY: the stream was captured from its beginning, and has no
 * MPA frame there. LOST: the place where the next FPDU begins is not known. FOUND: a search has found an
 * FPDU. MARKED: an MPA frame demands markers. The state after each event follows: a stream that does not
 * begin as MPA does is something else; a stream whose beginning is unknown may be MPA. */
static const enum rr_fpdus_state table[RR_FPDUS_STATES][EVENTS] = {
	[RR_FPDUS_OPENING] = { RR_FPDUS_SYNCED, RR_FPDUS_FOREIGN, RR_FPDUS_SEARCHING, RR_FPDUS_SYNCED,
		RR_FPDUS_MARKED },
	[RR_FPDUS_SYNCED] = { RR_FPDUS_SYNCED, RR_FPDUS_SYNCED, RR_FPDUS_SEARCHING, RR_FPDUS_SYNCED,
		RR_FPDUS_MARKED },
	[RR_FPDUS_SEARCHING] = { RR_FPDUS_SYNCED, RR_FPDUS_SEARCHING, RR_FPDUS_SEARCHING, RR_FPDUS_SYNCED,
		RR_FPDUS_MARKED },
	[RR_FPDUS_MARKED] = { RR_FPDUS_MARKED, RR_FPDUS_MARKED, RR_FPDUS_MARKED, RR_FPDUS_MARKED,
		RR_FPDUS_MARKED },
	[RR_FPDUS_FOREIGN] = { RR_FPDUS_FOREIGN, RR_FPDUS_FOREIGN, RR_FPDUS_FOREIGN, RR_FPDUS_FOREIGN,
		RR_FPDUS_FOREIGN },
};

/* Changes the state as the table says for the event. */
static void
fpdus_set_state(struct rr_fpdus *fpdus, enum fpdus_event event)
{
	fpdus->state = table[fpdus->state][event];
}

void
rr_fpdus_lose(struct rr_fpdus *fpdus)
{
	fpdus_set_state(fpdus, EVENT_LOST);
}

void
rr_fpdus_agree(struct rr_fpdus *fpdus, bool crc, bool marked)
{
	fpdus->crc = crc;
	if (marked)
		fpdus_set_state(fpdus, EVENT_MARKED);
}

bool
rr_fpdus_are_ignored(const struct rr_fpdus *fpdus)
{
	return fpdus->state == RR_FPDUS_MARKED || fpdus->state == RR_FPDUS_FOREIGN;
}

/* ---- An FPDU ---- */

/* The reserved bits of DDP (RFC 5041, 4.2 and 4.3) and RDMAP (RFC 5040, 4.1), which senders set to 0. */
enum { DDP_RESERVED = 0x3c, RDMAP_RESERVED = 0x30, CONTROL_SIZE = RR_FPDU_LENGTH_SIZE + RR_DDP_CONTROL_SIZE };

/* Says whether an FPDU begins at an octet: GOOD: it does, or at least can; BAD: it cannot; MORE: too few
 * octets have come to decide. */
enum fpdu_look { LOOK_MORE, LOOK_GOOD, LOOK_BAD };

/* Tells whether data can be the beginning of an FPDU: LOOK_GOOD if it can, LOOK_BAD if it cannot, LOOK_MORE
 * if there are too few octets to decide. If it can, stores the size of the FPDU in *whole, and its DDP header
 * in *header. */
static enum fpdu_look
fpdu_look(const uint8_t *data, size_t size, struct rr_ddp_header *header, size_t *whole)
{
	size_t ulpdu, needed;

	if (size < CONTROL_SIZE)
		return LOOK_MORE;
	ulpdu = rr_get_be16(data);
	*whole = rr_fpdu_size(ulpdu);
	needed = rr_ddp_header_size(data[2] & 0x80);
	if (ulpdu < needed || data[2] & DDP_RESERVED || data[3] & RDMAP_RESERVED)
		return LOOK_BAD;
	if (size < RR_FPDU_LENGTH_SIZE + needed)
		return LOOK_MORE;
	return rr_ddp_get(data + RR_FPDU_LENGTH_SIZE, needed, header) == RR_DDP_OK ? LOOK_GOOD : LOOK_BAD;
}

/* Tells whether the FPDU at data, which has "whole" octets, ends with the CRC of its other octets. */
static bool
fpdu_crc_is_right(const uint8_t *data, size_t whole)
{
	size_t covered = whole - RR_FPDU_CRC_SIZE;

	return rr_crc32c(0, data, covered) == rr_fpdu_get_crc(data + covered);
}

/* Reads the FPDU that begins at data into *fpdu, which the caller has zeroed. Returns RR_FPDU_SEGMENT; or
 * RR_FPDU_BAD_CRC if the CRC of the FPDU is wrong; or RR_FPDU_MORE if the FPDU is not complete. Also returns
 * RR_FPDU_MORE if the octets cannot be an FPDU; then the next FPDU will be searched for. fpdu->used remains 0
 * with RR_FPDU_MORE, so that the octets are looked at again. */
static enum rr_fpdu_kind
fpdus_segment(struct rr_fpdus *fpdus, const uint8_t *data, size_t size, struct rr_fpdu *fpdu)
{
	size_t whole = 0, header;

	switch (fpdu_look(data, size, &fpdu->header, &whole)) {
	case LOOK_MORE: return RR_FPDU_MORE;
	case LOOK_BAD: fpdus_set_state(fpdus, EVENT_LOST); return RR_FPDU_MORE;
	case LOOK_GOOD: break;
	}
	if (size < whole)
		return RR_FPDU_MORE;
	header = RR_FPDU_LENGTH_SIZE + rr_ddp_header_size(fpdu->header.tagged);
	fpdu->payload = data + header;
	fpdu->length = (uint32_t)(rr_get_be16(data) + RR_FPDU_LENGTH_SIZE - header);
	fpdu->used = whole;
	return !fpdus->crc || fpdu_crc_is_right(data, whole) ? RR_FPDU_SEGMENT : RR_FPDU_BAD_CRC;
}

/* ---- The search ---- */

/* Evidence, in bits, that an FPDU begins at an octet: the less likely other octets look so, the more bits. An
 * untagged header has a queue number that fits its opcode, and a message offset of 0 at the beginning of a
 * message. */
enum {
	EVIDENCE_UNTAGGED = 40,
	EVIDENCE_TAGGED = 10,
	EVIDENCE_CRC = 32,
	EVIDENCE_NO_CRC = 6, /* a CRC field of 0 */
	EVIDENCE_END = 12,   /* the captured octets end where the FPDU ends */
	EVIDENCE_ENOUGH = 30,
	EVIDENCE_FINAL = 20,
	/* A search computes CRCs over CRC_WORK octets, and over CRC_WORK_EACH octets more for each octet that
	 * it has searched: this bounds its time. */
	CRC_WORK = 1 << 20,
	CRC_WORK_EACH = 4
};

/* Returns the evidence, in the bits of the EVIDENCE_ constants above, that the CRC field gives for an FPDU of
 * "whole" octets at data. A CRC field of 0 counts as one that the sender left out. The result is 0 if the CRC
 * is wrong, or if computing it would exceed the work that is left (crc_work). */
static int
fpdus_crc_evidence(struct rr_fpdus *fpdus, const uint8_t *data, size_t whole)
{
	static const uint8_t zero[RR_FPDU_CRC_SIZE];

	if (memcmp(data + whole - RR_FPDU_CRC_SIZE, zero, RR_FPDU_CRC_SIZE) == 0)
		return EVIDENCE_NO_CRC;
	if (fpdus->crc_work + CRC_WORK < (int64_t)whole)
		return 0;
	fpdus->crc_work -= (int64_t)whole;
	return fpdu_crc_is_right(data, whole) ? EVIDENCE_CRC : 0;
}

/* Weighs whether an FPDU begins at data: adds up the evidence of the FPDU that would begin there, and of the
 * FPDUs that would follow it, until the evidence is enough. Returns LOOK_GOOD if it is enough; LOOK_BAD if
 * one of them cannot be an FPDU; LOOK_MORE if more octets are needed to decide. If final is true, no more
 * octets will come, and less evidence is enough. */
static enum fpdu_look
fpdus_weigh(struct rr_fpdus *fpdus, const uint8_t *data, size_t size, bool final)
{
	struct rr_ddp_header header;
	int evidence = 0, enough = final ? EVIDENCE_FINAL : EVIDENCE_ENOUGH;
	size_t whole;

	while (evidence < enough) {
		enum fpdu_look look = fpdu_look(data, size, &header, &whole);

		if (look != LOOK_GOOD)
			return look;
		evidence += header.tagged ? EVIDENCE_TAGGED : EVIDENCE_UNTAGGED;
		if (size < whole)
			return LOOK_MORE;
		evidence += fpdus_crc_evidence(fpdus, data, whole);
		evidence += size == whole ? EVIDENCE_END : 0;
		data += whole;
		size -= whole;
	}
	return LOOK_GOOD;
}

/* Searches data for the beginning of an FPDU, octet by octet. The search ends at an octet where an FPDU
 * begins, or, unless final is true, where more octets are needed to decide; else at the end of data. Sets
 * fpdu->used to the number of octets in front of that place. If an FPDU begins there, changes the state, so
 * that the next step reads it. Returns RR_FPDU_MORE in all cases. If final is true, no more octets will
 * come. */
static enum rr_fpdu_kind
fpdus_search(struct rr_fpdus *fpdus, const uint8_t *data, size_t size, bool final, struct rr_fpdu *fpdu)
{
	enum fpdu_look look = LOOK_BAD;
	size_t at = 0;

	while (at < size) {
		look = fpdus_weigh(fpdus, data + at, size - at, final);
		if (look == LOOK_GOOD || (look == LOOK_MORE && !final))
			break;
		at++;
	}
	fpdu->used = at;
	fpdus->searched += at;
	fpdus->crc_work += (int64_t)at * CRC_WORK_EACH;
	if (look == LOOK_GOOD) {
		fpdus->resyncs++;
		fpdus_set_state(fpdus, EVENT_FOUND);
	}
	return RR_FPDU_MORE;
}

/* ---- The MPA frame ---- */

/* Reads the MPA frame at the beginning of a stream, and returns RR_FPDU_OPENED. Accepts a request frame and a
 * reply frame in either direction, because a capture may begin in the middle of a connection. If the frame is
 * incomplete, returns RR_FPDU_MORE and keeps the state, so that the octets are looked at again later. If the
 * octets are no such frame, also returns RR_FPDU_MORE, and changes the state: a stream that was captured from
 * its beginning is not MPA; in any other stream, an FPDU is searched for. */
static enum rr_fpdu_kind
fpdus_opening(struct rr_fpdus *fpdus, const uint8_t *data, size_t size, struct rr_fpdu *fpdu)
{
	enum rr_mpa_result result = rr_mpa_get(data, size, false, &fpdu->frame, &fpdu->used);

	if (result == RR_MPA_BAD_KEY)
		result = rr_mpa_get(data, size, true, &fpdu->frame, &fpdu->used);
	switch (result) {
	case RR_MPA_OK: fpdus_set_state(fpdus, EVENT_OPENED); return RR_FPDU_OPENED;
	case RR_MPA_MORE: fpdu->used = 0; return RR_FPDU_MORE;
	default: break;
	}
	fpdu->used = 0;
	fpdus_set_state(fpdus, fpdus->begun ? EVENT_NO_KEY : EVENT_LOST);
	return RR_FPDU_MORE;
}

/* Reads what comes next in the current state: the MPA frame, an FPDU, or, while an FPDU is searched for, its
 * beginning. In the other states all octets are skipped. Returns RR_FPDU_MORE if nothing was found; the state
 * may have changed nevertheless. */
static enum rr_fpdu_kind
fpdus_step(struct rr_fpdus *fpdus, const uint8_t *data, size_t size, bool final, struct rr_fpdu *fpdu)
{
	switch (fpdus->state) {
	case RR_FPDUS_OPENING: return fpdus_opening(fpdus, data, size, fpdu);
	case RR_FPDUS_SYNCED: return fpdus_segment(fpdus, data, size, fpdu);
	case RR_FPDUS_SEARCHING: return fpdus_search(fpdus, data, size, final, fpdu);
	default: fpdu->used = size; return RR_FPDU_MORE;
	}
}

/* Takes one step after the other until one finds something, or needs more octets. A step that finds nothing
 * may change the state, for example to that of the search; the same octets then need another step. */
enum rr_fpdu_kind
rr_fpdus_next(struct rr_fpdus *fpdus, const uint8_t *data, size_t size, bool final, struct rr_fpdu *fpdu)
{
	enum rr_fpdus_state state;
	enum rr_fpdu_kind kind;
	size_t used = 0;

	do {
		state = fpdus->state;
		*fpdu = (struct rr_fpdu){ 0 };
		kind = fpdus_step(fpdus, data + used, size - used, final, fpdu);
		used += fpdu->used;
	} while (kind == RR_FPDU_MORE && fpdus->state != state && used < size);
	fpdu->used = used;
	return kind;
}
