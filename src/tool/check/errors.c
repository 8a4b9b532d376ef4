/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "tool/check/check.h"

/* Cases with messages that are malformed, or are not for responders: the answer must be the right error or
 * silence, and the connection must live on. The words of a message are those of its RPC-over-RDMA header:
 * XID, version, credits (32), procedure, and then, for most procedures, the Read list, the Write list and the
 * Reply chunk. */

enum { ERROR_WORDS = 16 };

/* Sends a message that consists of a new random XID, the version, and `count` further words. Returns the XID.
 * A message that cannot be sent is not reported here: the caller then misses the answer to it, or to the NULL
 * calls that follow it. */
static uint32_t
error_send(struct rr_check_peer *peer, uint32_t version, const uint32_t *words, uint32_t count)
{
	uint32_t xid = rr_random_u32(&rr_env_system) | 1;
	uint8_t out[(ERROR_WORDS + 2) * 4];

	rr_put_be32(out, xid);
	rr_put_be32(out + 4, version);
	for (uint32_t i = 0; i < count; i++)
		rr_put_be32(out + 8 + (size_t)i * 4, words[i]);
	rr_check_send(peer, out, 8 + count * 4, 0);
	return xid;
}

/* error_send() with the words as arguments of the macro. */
#define ERROR_SEND(peer, version, ...)                                                                       \
	error_send(peer, version, (const uint32_t[]){ __VA_ARGS__ },                                         \
		sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* Makes a call in version 99 of RPC-over-RDMA, and checks the error that comes back: it is ERR_VERS, it has
 * the range of versions that the responder supports (RFC 8166, 4.5.1), and its own header has version 99, the
 * version of the call (RFC 8166, 4.5). Checks that a NULL call is answered after that. */
static enum rr_check_verdict
error_version(struct rr_check_peer *peer, struct rr_text *why)
{
	uint32_t xid = ERROR_SEND(peer, 99, 32, RR_RDMA_MSG, 0, 0, 0), words[7];
	struct rr_check_message *message = rr_check_receive(peer);
	bool is_whole = message && message->length >= sizeof(words);

	for (uint32_t i = 0; is_whole && i < 7; i++)
		words[i] = rr_get_be32(message->data + (size_t)i * 4);
	free(message);
	if (!is_whole)
		return rr_check_fail(why, "no whole RDMA_ERROR came");
	if (words[0] != xid || words[3] != RR_RDMA_ERROR || words[4] != RR_ERR_VERS)
		return rr_check_fail(
			why, "procedure %u, error %u, where ERR_VERS is due", words[3], words[4]);
	if (words[5] == 0 || words[5] > words[6] || words[6] >= 99)
		return rr_check_fail(why, "ERR_VERS with the range %u to %u", words[5], words[6]);
	if (words[1] != 99)
		return rr_check_fail(why, "the error has version %u, and the call had 99", words[1]);
	return rr_check_null(peer, why);
}

/* Sends a message whose procedure, 77, does not exist, and checks that it is answered by the error ERR_CHUNK.
 * RFC 8166, 4.5.2, has that error for a header with "an invalid value in the rdma_proc field". */
static enum rr_check_verdict
error_procedure(struct rr_check_peer *peer, struct rr_text *why)
{
	return rr_check_error(peer, ERROR_SEND(peer, peer->version, 32, 77, 0, 0, 0, 0), RR_ERR_CHUNK, why);
}

/* Checks that a message of type RDMA_MSGP is answered by the error ERR_CHUNK, as RFC 8166, 4.6.1, demands of
 * a responder that does not support RDMA_MSGP. */
static enum rr_check_verdict
error_msgp(struct rr_check_peer *peer, struct rr_text *why)
{
	return rr_check_error(peer, ERROR_SEND(peer, 1, 32, RR_RDMA_MSGP, 0, 0, 0, 0, 0), RR_ERR_CHUNK, why);
}

/* Checks that the responder does not answer RDMA_DONE of version 1. RFC 8166, 4.6.2: "Receivers MUST silently
 * discard RDMA_DONE messages". */
static enum rr_check_verdict
error_done(struct rr_check_peer *peer, struct rr_text *why)
{
	ERROR_SEND(peer, 1, 32, RR_RDMA_DONE, 0, 0, 0);
	return rr_check_silence(peer, why);
}

/* Checks that the responder does not answer RDMA_ERROR. RFC 8166, 4.2.4: "A Responder MUST silently discard
 * RDMA_ERROR procedures." */
static enum rr_check_verdict
error_error(struct rr_check_peer *peer, struct rr_text *why)
{
	ERROR_SEND(peer, peer->version, 32, RR_RDMA_ERROR, RR_ERR_CHUNK, 0, 0);
	return rr_check_silence(peer, why);
}

/* Checks that the responder does not answer a message of 20 octets, which is shorter than any valid one (28
 * octets). RFC 8166, 4.5: "it MUST silently discard the message". */
static enum rr_check_verdict
error_short(struct rr_check_peer *peer, struct rr_text *why)
{
	ERROR_SEND(peer, 1, 32, RR_RDMA_MSG, 0);
	return rr_check_silence(peer, why);
}

/* Sends a message that ends within its Read list: the first segment has its position, handle and length, but
 * no offset. Checks that the error ERR_CHUNK comes back. */
static enum rr_check_verdict
error_cut(struct rr_check_peer *peer, struct rr_text *why)
{
	return rr_check_error(
		peer, ERROR_SEND(peer, peer->version, 32, RR_RDMA_NOMSG, 1, 0, 7, 100), RR_ERR_CHUNK, why);
}

/* Sends a message with a Write chunk that claims to have 0x7fffffff segments, many more than the message has
 * octets for. Checks that the error ERR_CHUNK comes back. */
static enum rr_check_verdict
error_count(struct rr_check_peer *peer, struct rr_text *why)
{
	return rr_check_error(peer, ERROR_SEND(peer, peer->version, 32, RR_RDMA_MSG, 0, 1, 0x7fffffff, 0, 0),
		RR_ERR_CHUNK, why);
}

/* Checks that RDMA_NOMSG without any chunk is answered by ERR_CHUNK. RFC 8166, 4.5.2, counts this as an
 * error: "an RDMA_NOMSG message where the Read list, Write list, and Reply chunk are marked not present". */
static enum rr_check_verdict
error_nowhere(struct rr_check_peer *peer, struct rr_text *why)
{
	return rr_check_error(
		peer, ERROR_SEND(peer, peer->version, 32, RR_RDMA_NOMSG, 0, 0, 0), RR_ERR_CHUNK, why);
}

/* Checks that a call is answered by ERR_CHUNK if its transport header and its RPC header have different XIDs.
 * RFC 8166, 4.5.2, counts this as an error: "the value of the rdma_xid field does not match the value of the
 * XID field in the accompanying RPC message". */
static enum rr_check_verdict
error_xid(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_check_call call = { .xid = rr_random_u32(&rr_env_system) };

	call.rpc_xid = call.xid + 1;
	if (rr_check_call(peer, &call) < 0)
		return rr_check_fail(why, "it cannot be sent");
	return rr_check_error(peer, call.xid, RR_ERR_CHUNK, why);
}

/* Sends an RPC reply to the responder, which has made no call. Checks that the responder does not answer it.
 * The message is an RDMA_MSG with credits for 32 calls and no chunks (28 octets), and behind that an accepted
 * RPC reply: all words that are not set are 0. */
static enum rr_check_verdict
error_stray(struct rr_check_peer *peer, struct rr_text *why)
{
	uint32_t xid = rr_random_u32(&rr_env_system);
	uint8_t out[52] = { 0 };

	rr_put_be32(out, xid);
	rr_put_be32(out + 4, peer->version);
	rr_put_be32(out + 8, 32);
	rr_put_be32(out + 28, xid);
	rr_put_be32(out + 32, RR_REPLY);
	rr_check_send(peer, out, sizeof(out), 0);
	return rr_check_silence(peer, why);
}

#define ERROR_CASE(name_, row_, section_, text_, two, run_)                                                  \
	{                                                                                                    \
		.name = name_, .row = row_, .section = section_, .text = text_, .version_1 = true,           \
		.version_2 = two, .run = run_                                                                \
	}

const struct rr_check_case rr_check_error_cases[] = {
	ERROR_CASE("B3-unknown-version", "B3", "RFC 8166, 4.5.1",
		"a call of version 99 gets ERR_VERS with the range of versions", false, error_version),
	ERROR_CASE("B3-error-to-responder", "B3", "RFC 8166, 4.2.4", "RDMA_ERROR to a responder is discarded",
		true, error_error),
	ERROR_CASE("B4-unknown-procedure", "B4", "RFC 8166, 4.5.2",
		"an unknown RPC-over-RDMA procedure gets ERR_CHUNK", true, error_procedure),
	ERROR_CASE("B4-msgp", "B4", "RFC 8166, 4.6.1", "RDMA_MSGP gets ERR_CHUNK", false, error_msgp),
	ERROR_CASE(
		"B4-done", "B4", "RFC 8166, 4.6.2", "RDMA_DONE in version 1 is discarded", false, error_done),
	ERROR_CASE(
		"B4-short", "B4", "RFC 8166, 4.5", "a message of 20 octets is discarded", false, error_short),
	ERROR_CASE("B4-cut-list", "B4", "RFC 8166, 4.5.2", "a Read list that breaks off gets ERR_CHUNK", true,
		error_cut),
	ERROR_CASE("B4-huge-count", "B4", "RFC 8166, 4.5.2",
		"a Write chunk of more segments than octets gets ERR_CHUNK", true, error_count),
	ERROR_CASE("B4-nomsg-without-chunks", "B4", "RFC 8166, 4.5.2",
		"RDMA_NOMSG without chunks gets ERR_CHUNK", true, error_nowhere),
	ERROR_CASE("B4-xid-mismatch", "B4", "RFC 8166, 4.5.2", "XIDs that differ get ERR_CHUNK", true,
		error_xid),
	ERROR_CASE("B8-stray-reply", "B8", "RFC 8166, 4.2.1", "a reply that answers no call is dropped", true,
		error_stray),
	{ 0 },
};
