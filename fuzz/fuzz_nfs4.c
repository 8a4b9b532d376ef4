/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target: the server of NFS version 4, on storage in memory. The input is calls, one after the other: an
 * octet that says which of two clients makes it, whether its lease is over first, and whether the call is one
 * of version 4.0, an octet with the number of operations, a count of 32-bit words in two octets, and these
 * words: the operations, encoded. Where there are sessions, a right SEQUENCE goes before them. The word
 * "RRST" stands for the start of the server, with which each stateid begins; in calls of version 4.0,
 * "RRCLIENT" for the client ID, and "RRLASTSTATE4" for what the last OPEN or LOCK has returned, without its
 * seqid.
 *
 * Answers are complete, with statuses that their operations may have; and when the clients have begun anew,
 * nothing of theirs is left.
 */
#include "../tests/server/nfs4/world.h"
#include "base/endian.h"
#include "fuzz.h"

enum {
	HEAD = 4,
	CALLS = 12,
	WORDS = 1024,
	OPERATIONS = 16,
	SECOND_CLIENT = 1,
	LEASE_OVER = 2,
	PLAIN_CALL = 4
};

/* The client of version 4.0, which has the connection of the first client. */
struct plain {
	clientid4 id;
	uint8_t other[NFS4_OTHER_SIZE];
};

struct octets {
	const struct peer *peer;
	bool plain;
	uint32_t operations, length;
	uint8_t data[4 * WORDS];
};

static void
put_octets(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct octets *octets = value;

	rpcrdma_put_u32(writer, 0); /* the length of the tag */
	rpcrdma_put_u32(writer, octets->plain ? 0 : octets->peer->minor);
	rpcrdma_put_u32(writer, (octets->plain ? 0 : 1) + octets->operations);
	if (octets->plain) {
		rpcrdma_put_fixed(writer, octets->data, octets->length);
		return;
	}
	rpcrdma_put_u32(writer, OP_SEQUENCE);
	rpcrdma_put_fixed(writer, octets->peer->session, NFS4_SESSIONID_SIZE);
	rpcrdma_put_u32(writer, octets->peer->sequence + 1);
	rpcrdma_put_u32(writer, 0);
	rpcrdma_put_u32(writer, 0);
	rpcrdma_put_bool(writer, true);
	rpcrdma_put_fixed(writer, octets->data, octets->length);
}

/* Keeps what the last OPEN or LOCK has returned. */
static void
keep_stateid(const COMPOUND4res *res, struct plain *plain)
{
	for (uint32_t i = 0; i < res->resarray.count; i++) {
		const nfs_resop4 *result = &res->resarray.values[i];

		if (result->resop == OP_OPEN && result->u.opopen.status == NFS4_OK)
			memcpy(plain->other, result->u.opopen.u.resok4.stateid.other, NFS4_OTHER_SIZE);
		if (result->resop == OP_LOCK && result->u.oplock.status == NFS4_OK)
			memcpy(plain->other, result->u.oplock.u.resok4.lock_stateid.other, NFS4_OTHER_SIZE);
	}
}

static void
send_octets(struct peer *peer, const struct octets *octets, struct plain *plain)
{
	struct rpcrdma_procedure procedures[2] = { nfs42_NFS_V4_program.procedures[0],
		nfs42_NFS_V4_program.procedures[1] };
	struct rpcrdma_program program = nfs42_NFS_V4_program;
	struct rr_call call = { .program = &program,
		.proc = NFSPROC4_COMPOUND,
		.args = octets,
		.result = &peer->res,
		.reply_max = 1 << 16,
		.arena = rpcrdma_arena(peer->memory, sizeof(peer->memory)),
		.keep = peer->keep,
		.keep_size = sizeof(peer->keep) };

	procedures[NFSPROC4_COMPOUND].put_args = put_octets;
	program.procedures = procedures;
	memset(&peer->res, 0, sizeof(peer->res));
	/* Octets that are no operations are refused by the RPC layer: an error of the call. */
	if (rr_client_call_and_wait(peer->client, &call, NULL, NULL) < 0)
		return;
	world_check_results(peer->world, octets->plain ? 0 : peer->minor, &peer->res);
	if (octets->plain)
		keep_stateid(&peer->res, plain);
	else if (peer->res.resarray.count > 0 &&
		 peer->res.resarray.values[0].u.opsequence.sr_status == NFS4_OK)
		peer->sequence++;
}

/* The words of one call, with the start of the server in the places where it belongs. */
static void
take_words(struct octets *octets, const uint8_t *data, uint32_t length, uint32_t start,
	const struct plain *plain)
{
	uint8_t id[8];

	rr_put_be64(id, plain->id);
	octets->length = length;
	memcpy(octets->data, data, length);
	for (uint32_t i = 0; i < length; i += 4)
		if (memcmp(octets->data + i, "RRST", 4) == 0)
			memcpy(octets->data + i, &start, 4);
	for (uint32_t i = 0; octets->plain && i + 8 <= length; i += 4) {
		if (memcmp(octets->data + i, "RRCLIENT", 8) == 0)
			memcpy(octets->data + i, id, 8);
		if (i + 12 <= length && memcmp(octets->data + i, "RRLASTSTATE4", 12) == 0)
			memcpy(octets->data + i, plain->other, 12);
	}
}

static void
run(struct world *world, struct peer *peers[2], struct plain *plain, const uint8_t *data, size_t size)
{
	struct octets octets;

	for (uint32_t i = 0; i < CALLS && size >= HEAD; i++) {
		size_t length = 4 * ((((uint32_t)data[2] << 8) | data[3]) % (WORDS + 1));

		length = length <= size - HEAD ? length : (size - HEAD) / 4 * 4;
		octets.peer = peers[data[0] & SECOND_CLIENT];
		octets.operations = data[1] % (OPERATIONS + 1);
		octets.plain = data[0] & PLAIN_CALL;
		if (data[0] & LEASE_OVER)
			world->stage.now += 100 * RR_SECOND;
		take_words(&octets, data + HEAD, (uint32_t)length, world->shared->tables.start, plain);
		send_octets(peers[data[0] & SECOND_CLIENT], &octets, plain);
		data += HEAD + length;
		size -= HEAD + length;
	}
}

/* Makes the client of version 4.0, or has it begin anew. */
static void
begin_plain(struct peer *peer, uint8_t verifier, struct plain *plain)
{
	const SETCLIENTID4resok *ok;
	nfs_argop4 op = { .argop = OP_SETCLIENTID,
		.u.opsetclientid.client = { { verifier }, text_bytes("plain") } };
	nfs_argop4 confirm = { .argop = OP_SETCLIENTID_CONFIRM };
	uint32_t minor = peer->minor;

	peer->minor = 0;
	rr_require(peer_raw(peer, &op, 1) == NFS4_OK);
	ok = &peer->res.resarray.values[0].u.opsetclientid.u.resok4;
	plain->id = confirm.u.opsetclientid_confirm.clientid = ok->clientid;
	memcpy(confirm.u.opsetclientid_confirm.setclientid_confirm, ok->setclientid_confirm,
		NFS4_VERIFIER_SIZE);
	rr_require(peer_raw(peer, &confirm, 1) == NFS4_OK);
	peer->minor = minor;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peer *peers[2];
	struct plain plain = { 0 };
	struct world *world;
	void *state;

	rr_require(world_setup_memory(&state) == 0);
	world = state;
	peers[0] = world_caller(world, 0, "a", 0);
	peers[1] = world_caller(world, 1, "b", 0);
	begin_plain(peers[0], 1, &plain);
	run(world, peers, &plain, data, size);
	begin_plain(peers[0], 2, &plain);
	for (uint32_t i = 0; i < 2; i++) {
		rr_require(peer_exchange(peers[i], i ? "b" : "a", 2, 0) == NFS4_OK);
		rr_require(peer_create_session(peers[i]) == NFS4_OK);
	}
	rr_require(world->shared->tables.count == 0 && world->shared->tables.ranges == 0 &&
		   world->shared->tables.files.count == 0 && world->shared->tables.owners.count == 0 &&
		   world->shared->tables.names.count == 0);
	return world_teardown(&state);
}
