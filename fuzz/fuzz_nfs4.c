/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target: the server of NFS version 4, on storage in memory. The input is calls, one after the other: an
 * octet that says which of two clients makes it and whether its lease is over first, an octet with the number
 * of operations, a count of 32-bit words in two octets, and these words: the operations, encoded. A right
 * SEQUENCE goes before them. The word "RRST" stands for the start of the server, which each stateid has in
 * the end.
 *
 * Answers are complete, with statuses that their operations may have; and when the clients have begun anew,
 * nothing of theirs is left.
 */
#include "../tests/server/nfs4/world.h"
#include "fuzz.h"

enum { HEAD = 4, CALLS = 12, WORDS = 1024, OPERATIONS = 16, SECOND_CLIENT = 1, LEASE_OVER = 2 };

struct octets {
	const struct peer *peer;
	uint32_t operations, length;
	uint8_t data[4 * WORDS];
};

static void
put_octets(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct octets *octets = value;

	rpcrdma_put_u32(writer, 0); /* the length of the tag */
	rpcrdma_put_u32(writer, octets->peer->minor);
	rpcrdma_put_u32(writer, 1 + octets->operations);
	rpcrdma_put_u32(writer, OP_SEQUENCE);
	rpcrdma_put_fixed(writer, octets->peer->session, NFS4_SESSIONID_SIZE);
	rpcrdma_put_u32(writer, octets->peer->sequence + 1);
	rpcrdma_put_u32(writer, 0);
	rpcrdma_put_u32(writer, 0);
	rpcrdma_put_bool(writer, true);
	rpcrdma_put_fixed(writer, octets->data, octets->length);
}

static void
send_octets(struct peer *peer, const struct octets *octets)
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
	world_check_results(peer->world, peer->minor, &peer->res);
	if (peer->res.resarray.count > 0 && peer->res.resarray.values[0].u.opsequence.sr_status == NFS4_OK)
		peer->sequence++;
}

/* The words of one call, with the start of the server in the places where it belongs. */
static void
take_words(struct octets *octets, const uint8_t *data, uint32_t length, uint32_t start)
{
	octets->length = length;
	memcpy(octets->data, data, length);
	for (uint32_t i = 0; i < length; i += 4)
		if (memcmp(octets->data + i, "RRST", 4) == 0)
			memcpy(octets->data + i, &start, 4);
}

static void
run(struct world *world, struct peer *peers[2], const uint8_t *data, size_t size)
{
	struct octets octets;

	for (uint32_t i = 0; i < CALLS && size >= HEAD; i++) {
		size_t length = 4 * ((((uint32_t)data[2] << 8) | data[3]) % (WORDS + 1));

		length = length <= size - HEAD ? length : (size - HEAD) / 4 * 4;
		octets.peer = peers[data[0] & SECOND_CLIENT];
		octets.operations = data[1] % (OPERATIONS + 1);
		if (data[0] & LEASE_OVER)
			world->stage.now += 100 * RR_SECOND;
		take_words(&octets, data + HEAD, (uint32_t)length, world->shared->tables.start);
		send_octets(peers[data[0] & SECOND_CLIENT], &octets);
		data += HEAD + length;
		size -= HEAD + length;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peer *peers[2];
	struct world *world;
	void *state;

	rr_require(world_setup_memory(&state) == 0);
	world = state;
	peers[0] = world_caller(world, 0, "a", 0);
	peers[1] = world_caller(world, 1, "b", 0);
	run(world, peers, data, size);
	for (uint32_t i = 0; i < 2; i++) {
		rr_require(peer_exchange(peers[i], i ? "b" : "a", 2, 0) == NFS4_OK);
		rr_require(peer_create_session(peers[i]) == NFS4_OK);
	}
	rr_require(world->shared->tables.count == 0 && world->shared->tables.ranges == 0 &&
		   world->shared->tables.files.count == 0 && world->shared->tables.owners.count == 0);
	return world_teardown(&state);
}
