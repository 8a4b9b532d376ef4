/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/check/chunk.h"
#include "tool/check/session.h"

/* Cases of NFS version 4: a COMPOUND may have several items that are placed (RFC 8267, 6.4). */

enum {
	NFS4_CHUNK = 4096,
	NFS4_PART = 1000,
	NFS4_FAR_AWAY = 1 << 30 /* behind the end of the file */
};

/* ---- READs ---- */

/* Checks `back`, a Write chunk as the reply returns it: it has exactly `size` octets, these are the expected
 * octets of the file, and nothing was written behind them. */
static enum rr_check_verdict
nfs4_came(const struct rr_check_chunk *chunk, const struct rr_chunk *back, const uint8_t *expected,
	uint32_t size, struct rr_text *why)
{
	uint64_t total = rr_chunk_length(back);

	if (rr_check_returned(chunk, back, why) != RR_CHECK_PASS)
		return RR_CHECK_FAIL;
	if (total != size)
		return rr_check_fail(why, "a Write chunk has %llu octets, where %u are due",
			(unsigned long long)total, size);
	if (memcmp(chunk->data, expected, size) != 0)
		return rr_check_fail(why, "a Write chunk has other octets than the file");
	if (!rr_check_is_untouched(chunk, size))
		return rr_check_fail(why, "octets behind the data of a Write chunk were written");
	return RR_CHECK_PASS;
}

/* Sends a COMPOUND with two READ operations, at offsets[0] and offsets[1], and a Write chunk for each. Checks
 * that chunk i comes back with sizes[i] octets, and that these are the octets of the file. expected has the
 * first octets of the file. An offset may be NFS4_FAR_AWAY, with the size 0: `%` below then makes it 0, so
 * that no octets outside of `expected` are named. */
static enum rr_check_verdict
nfs4_two_reads(
	struct rr_check4 *talk, const uint64_t offsets[2], const uint32_t sizes[2], const uint8_t *expected)
{
	struct rr_check_chunk chunks[2];
	struct rr_chunk writes[2];
	struct rr_chunk_lists lists = { .writes = writes, .write_count = 2 };
	enum rr_check_verdict verdict = RR_CHECK_PASS;
	struct rr_check_reply reply;

	for (uint32_t i = 0; i < 2; i++) {
		if (!rr_check_offer(talk->peer, &chunks[i], 1, NFS4_CHUNK))
			return rr_check_fail(talk->why, "memory cannot be registered");
		writes[i] = chunks[i].chunk;
	}
	rr_check4_go(talk, 2);
	rr_check4_put_read(talk, offsets[0], NFS4_PART);
	rr_check4_put_read(talk, offsets[1], NFS4_PART);
	if (!rr_check4_call(talk, &lists, &reply))
		return RR_CHECK_FAIL;
	if (reply.lists.write_count != 2)
		verdict = rr_check_fail(
			talk->why, "two Write chunks were offered, %u came back", reply.lists.write_count);
	for (uint32_t i = 0; i < 2 && verdict == RR_CHECK_PASS; i++)
		verdict = nfs4_came(&chunks[i], &reply.lists.writes[i], expected + offsets[i] % NFS4_FAR_AWAY,
			sizes[i], talk->why);
	rr_check_forget(&reply);
	return verdict;
}

/* Makes a session, finds the file, and sends a COMPOUND with two READ operations. Checks that the READ at
 * offsets[i] returns sizes[i] octets of the file. */
static enum rr_check_verdict
nfs4_reads(
	struct rr_check_peer *peer, const uint64_t offsets[2], const uint32_t sizes[2], struct rr_text *why)
{
	struct rr_check4 talk = { .peer = peer, .why = why, .path = peer->check->file_path };
	uint8_t expected[2 * NFS4_PART];
	enum rr_check_verdict verdict = rr_check4_session(&talk);

	if (verdict == RR_CHECK_PASS)
		verdict = rr_check4_find(&talk, expected, sizeof(expected));
	if (verdict == RR_CHECK_PASS)
		verdict = nfs4_two_reads(&talk, offsets, sizes, expected);
	rr_check4_end(&talk);
	return verdict;
}

/* Both READs lie within the file, so that both Write chunks are filled. */
static enum rr_check_verdict
nfs4_both(struct rr_check_peer *peer, struct rr_text *why)
{
	return nfs4_reads(
		peer, (const uint64_t[]){ 0, NFS4_PART }, (const uint32_t[]){ NFS4_PART, NFS4_PART }, why);
}

/* The first READ begins behind the end of the file and returns no octets, so its Write chunk must come back
 * empty, and the second chunk must be filled all the same. */
static enum rr_check_verdict
nfs4_empty(struct rr_check_peer *peer, struct rr_text *why)
{
	return nfs4_reads(peer, (const uint64_t[]){ NFS4_FAR_AWAY, NFS4_PART },
		(const uint32_t[]){ 0, NFS4_PART }, why);
}

/* Sends a COMPOUND with two READ operations. The first one fails, as it reads the root directory, and ends
 * the COMPOUND. Checks that the Write chunks of both come back unused. */
static enum rr_check_verdict
nfs4_failed(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_check4 talk = { .peer = peer, .why = why, .path = "" };
	static const uint8_t nothing[2 * NFS4_PART];
	enum rr_check_verdict verdict = rr_check4_session(&talk);

	if (verdict == RR_CHECK_PASS)
		verdict = nfs4_two_reads(
			&talk, (const uint64_t[]){ 0, NFS4_PART }, (const uint32_t[]){ 0, 0 }, nothing);
	rr_check4_end(&talk);
	return verdict;
}

const struct rr_check_case rr_check_nfs4_cases[] = {
	{ .name = "B9-two-reads",
		.row = "B9",
		.section = "RFC 8267, 6.4.1",
		.text = "of two READs of a COMPOUND, each fills the Write chunk of its place",
		.version_1 = true,
		.version_2 = true,
		.needs_file = true,
		.run = nfs4_both },
	{ .name = "B9-empty-read",
		.row = "B9",
		.section = "RFC 8267, 6.4.1",
		.text = "a READ without data leaves its Write chunk empty, and the next READ has its own",
		.version_1 = true,
		.version_2 = true,
		.needs_file = true,
		.run = nfs4_empty },
	{ .name = "B9-failed-read",
		.row = "B9",
		.section = "RFC 8267, 6.4.1",
		.text = "a COMPOUND that fails returns its Write chunks unused",
		.version_1 = true,
		.version_2 = true,
		.run = nfs4_failed },
	{ 0 },
};
