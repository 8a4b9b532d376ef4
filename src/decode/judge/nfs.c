/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

#include "base/endian.h"

/* This file checks the rules that depend on the procedure of NFS that a call is for. */

/* The program, the version that is checked, and procedures of it (RFC 1813, 3). */
enum {
	NFS_PROGRAM = 100003,
	NFS_3 = 3,
	READ = 6,
	READLINK = 5,
	WRITE = 7,
	CREATE = 8,
	SYMLINK = 10,
	LINK = 15
};

/* ---- Which procedures may have chunks ---- */

/* Tells whether the procedure of NFS version 3 has an argument that may be in a Read chunk (RFC 8267, 4). */
static bool
nfs_has_data_argument(uint32_t proc)
{
	return proc == WRITE || proc == SYMLINK;
}

/* Tells whether the procedure of NFS version 3 has a result that may be in a Write chunk (RFC 8267, 4). */
static bool
nfs_has_data_result(uint32_t proc)
{
	return proc == READ || proc == READLINK;
}

/* Checks that a call has chunks only for data that RDMA may move separately. RFC 8267, 4: in version 3 of NFS
 * these are the data of WRITE, the target of SYMLINK, and the results of READ and READLINK. A Read chunk at
 * position 0 has the whole call, which every procedure may have. In version 4 a COMPOUND may have any chunk.
 */
void
rr_judge_chunk_kinds(const struct rr_judged *judged)
{
	const struct rr_message *message = judged->message;
	const struct rr_chunk_lists *lists = &message->lists;
	bool is_reduced = false;

	if (!message->has_procedure || message->prog != NFS_PROGRAM || message->vers != NFS_3)
		return;
	for (uint32_t i = 0; i < lists->read_count; i++)
		is_reduced = is_reduced || lists->reads[i].position > 0;
	if (is_reduced && !nfs_has_data_argument(message->proc))
		rr_judge_message(judged, RR_RULE_CHUNK_KIND, "a Read chunk, procedure %u", message->proc);
	if (lists->write_count > 0 && !nfs_has_data_result(message->proc))
		rr_judge_message(judged, RR_RULE_CHUNK_KIND, "a Write chunk, procedure %u", message->proc);
}

/* ---- The results of READ ---- */

/* Checks that the Write chunk in the reply to a READ is as long as the data. The data's length is the last
 * word of the RPC message (RFC 1813, 3.3.6). RFC 8166, 3.4.6.2: "a returned Write chunk's total length MUST
 * be the same as the encoded length of the result data item". */
void
rr_judge_read_result(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	const struct rr_message *message = judged->message;
	struct rpcrdma_bytes body = message->payload;
	uint64_t placed;
	uint32_t length;

	if (!call->has_procedure || call->prog != NFS_PROGRAM || call->vers != NFS_3 || call->proc != READ)
		return;
	if (message->lists.write_count != 1 || !message->has_reply || body.length < 4)
		return;
	placed = rr_chunk_length(&message->lists.writes[0]);
	length = rr_get_be32((const uint8_t *)body.data + body.length - 4);
	/* A chunk of length 0 was not used: the data is in the reply itself, or there is none. */
	if (placed > 0 && placed != length)
		rr_judge_message(judged, RR_RULE_PADDING, "%llu octets, and the data has %u",
			(unsigned long long)placed, length);
}

/* ---- Calls that are repeated ---- */

/* Returns a hash of the octets (FNV-1a, 64 bits), by which calls and replies are compared without being kept.
 */
uint64_t
rr_judge_digest(const void *data, size_t size)
{
	const uint8_t *octets = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ octets[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Tells whether a server must execute the call only once even if it comes twice: CREATE, MKDIR, SYMLINK,
 * MKNOD, REMOVE, RMDIR, RENAME and LINK of NFS version 3. */
static bool
nfs_is_once(const struct rr_judge_call *call)
{
	return call->has_procedure && call->prog == NFS_PROGRAM && call->vers == NFS_3 &&
	       call->proc >= CREATE && call->proc <= LINK;
}

/* Checks a reply to a call that must be executed only once: if the same call was sent on another connection
 * before, this reply must be the same as the reply on that connection. If the call is new, remembers it and
 * its reply. */
void
rr_judge_repeated(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	struct rr_judge *judge = judged->judge;
	const struct rpcrdma_bytes *body = &judged->message->payload;
	uint64_t reply = rr_judge_digest(body->data, body->length);

	if (!nfs_is_once(call) || judged->message->header.proc != RR_RDMA_MSG)
		return;
	for (uint32_t i = 0; i < RR_JUDGE_REPEATS; i++) {
		const struct rr_judge_repeat *before = &judge->repeats[i];

		/* An entry that is not in use has the digest 0. */
		if (before->xid != call->xid || before->call != call->digest || before->call == 0)
			continue;
		if (before->connection != call->connection && before->reply != reply)
			rr_judge_message(judged, RR_RULE_REPEATED, "the first one was on connection %u",
				before->connection);
		return;
	}
	judge->repeats[judge->repeat_next++ % RR_JUDGE_REPEATS] = (struct rr_judge_repeat){
		.call = call->digest, .reply = reply, .xid = call->xid, .connection = call->connection
	};
}
