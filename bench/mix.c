/* SPDX-License-Identifier: BSD-3-Clause */
#include "mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/expect.h"
#include "ulb/estimate.h"
#include "ulb/nfs42.h"
#include "wire/rpc.h"

/*
 * The sizes are those of a home directory: file handles and attributes as a Linux server sends them, most
 * ACLs short and a few long, most directories small and some as large as a READDIR can return. A size that
 * the binding cannot bound (an ACL) is taken to be at most 64 KiB, as Linux does.
 */
enum {
	MEMORY = 64 << 20,
	OPS_MAX = 8,
	FH_SIZE = 28,
	ATTRIBUTES_SIZE = 152,
	ENTRY_ATTRIBUTES_SIZE = 96,
	ACE_SIZE = 36,
	READDIR_MAX = 32768,
	UNBOUNDED_MAX = 65536,
	MESSAGE_MAX = 131072
};

struct mix_entry mix[MIX_CALLS];

static uint8_t memory[MEMORY];
static size_t memory_used;
static uint32_t seed = 1;

/* Returns zeroed memory, which belongs to the mix. */
static void *
take(size_t size)
{
	void *taken = memory + memory_used;

	memory_used += (size + 15) & ~(size_t)15;
	if (memory_used > MEMORY)
		abort();
	/* Memory that was given back may have any octets, also addresses, so it is zeroed. */
	return memset(taken, 0, size);
}

/* Returns a number below count, from a generator that always begins the same way. */
static uint32_t
pick(uint32_t count)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * count >> 32);
}

/* ---- The parts of calls and replies ---- */

static struct rpcrdma_bytes
octets(uint32_t length)
{
	uint8_t *data = take(length);

	for (uint32_t i = 0; i < length; i++)
		data[i] = (uint8_t)('a' + pick(26));
	return (struct rpcrdma_bytes){ data, length };
}

/* Returns the attributes that Linux asks for when it looks up a name, and with `acl` the ACL. */
static bitmap4
attributes(bool acl)
{
	static const uint32_t asked[] = { FATTR4_TYPE, FATTR4_CHANGE, FATTR4_SIZE, FATTR4_FSID, FATTR4_FILEID,
		FATTR4_MODE, FATTR4_NUMLINKS, FATTR4_OWNER, FATTR4_OWNER_GROUP, FATTR4_RAWDEV,
		FATTR4_SPACE_USED, FATTR4_TIME_ACCESS, FATTR4_TIME_METADATA, FATTR4_TIME_MODIFY,
		FATTR4_MOUNTED_ON_FILEID };
	bitmap4 bitmap = { .count = 2, .values = take(2 * sizeof(uint32_t)) };

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		bitmap.values[asked[i] / 32] |= UINT32_C(1) << asked[i] % 32;
	if (acl)
		bitmap.values[0] |= UINT32_C(1) << FATTR4_ACL;
	return bitmap;
}

static fattr4
values_of(bool acl, uint32_t size)
{
	return (fattr4){ .attrmask = attributes(acl), .attr_vals = octets(size) };
}

static uint32_t
acl_size(void)
{
	uint32_t luck = pick(100), aces = 3 + pick(4);

	if (luck == 0)
		aces = 900 + pick(200);
	else if (luck < 5)
		aces = 150 + pick(100);
	else if (luck < 30)
		aces = 20 + pick(40);
	return aces * ACE_SIZE;
}

static uint32_t
directory_size(void)
{
	uint32_t luck = pick(10);

	if (luck < 4)
		return 3 + pick(20);
	return luck < 8 ? 50 + pick(50) : 1000;
}

/* ---- Compounds ---- */

struct compound {
	nfs_argop4 args[OPS_MAX];
	nfs_resop4 results[OPS_MAX];
	uint32_t count;
};

/* Adds an operation and returns its index. Its status is 0, NFS4_OK. */
static uint32_t
add(struct compound *compound, nfs_opnum4 op)
{
	compound->args[compound->count].argop = op;
	compound->results[compound->count].resop = op;
	return compound->count++;
}

static void
add_getattr(struct compound *compound, bool acl, uint32_t size)
{
	uint32_t i = add(compound, OP_GETATTR);

	compound->args[i].u.opgetattr.attr_request = attributes(acl);
	compound->results[i].u.opgetattr.u.resok4.obj_attributes = values_of(acl, size);
}

static void
start(struct compound *compound)
{
	uint32_t i;

	memset(compound, 0, sizeof(*compound));
	add(compound, OP_SEQUENCE);
	i = add(compound, OP_PUTFH);
	compound->args[i].u.opputfh.object = octets(FH_SIZE);
}

static void
lookup(struct compound *compound, bool acl)
{
	uint32_t i = add(compound, OP_LOOKUP);

	compound->args[i].u.oplookup.objname = octets(4 + pick(24));
	i = add(compound, OP_GETFH);
	compound->results[i].u.opgetfh.u.resok4.object = octets(FH_SIZE);
	add_getattr(compound, acl, ATTRIBUTES_SIZE + (acl ? acl_size() : 0));
}

static void
open_file(struct compound *compound)
{
	uint32_t i = add(compound, OP_OPEN);
	OPEN4args *args = &compound->args[i].u.opopen;
	OPEN4resok *result = &compound->results[i].u.opopen.u.resok4;

	args->share_access = OPEN4_SHARE_ACCESS_READ;
	args->owner.owner = octets(24);
	args->claim.claim = CLAIM_NULL;
	args->claim.u.file = octets(4 + pick(24));
	result->attrset = (bitmap4){ 0, NULL };
	result->delegation.delegation_type = OPEN_DELEGATE_NONE;
	i = add(compound, OP_GETFH);
	compound->results[i].u.opgetfh.u.resok4.object = octets(FH_SIZE);
	add(compound, OP_ACCESS);
	add_getattr(compound, false, ATTRIBUTES_SIZE);
}

static void
read_directory(struct compound *compound)
{
	uint32_t i = add(compound, OP_READDIR), left = READDIR_MAX - 64;
	entry4 **next = &compound->results[i].u.opreaddir.u.resok4.reply.entries;

	compound->args[i].u.opreaddir.dircount = READDIR_MAX;
	compound->args[i].u.opreaddir.maxcount = READDIR_MAX;
	compound->args[i].u.opreaddir.attr_request = attributes(false);
	for (uint32_t entries = directory_size(); entries > 0; entries--) {
		entry4 *entry = take(sizeof(*entry));
		uint32_t octets_of = 4 + 8 + 4 + 32 + 12 + 4 + ENTRY_ATTRIBUTES_SIZE;

		if (left < octets_of)
			break;
		left -= octets_of;
		*entry = (entry4){ .name = octets(8 + pick(24)),
			.attrs = values_of(false, ENTRY_ATTRIBUTES_SIZE) };
		*next = entry;
		next = &entry->nextentry;
	}
}

static void
read_file(struct compound *compound)
{
	static const uint32_t sizes[] = { 256, 1024, 2048, MIX_ITEM_MAX };
	uint32_t i = add(compound, OP_READ);

	compound->args[i].u.opread.count = MIX_ITEM_MAX;
	compound->results[i].u.opread.u.resok4.eof = true;
	compound->results[i].u.opread.u.resok4.data = octets(sizes[pick(4)]);
}

/* ---- Messages ---- */

/* Fills in the sizes that the binding estimates for the reply. */
static void
estimate(struct mix_entry *entry)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header header;
	struct rr_reply_size size;

	rpcrdma_xdr_reader_init(&reader, &entry->call, NULL);
	if (!rr_rpc_get_call(&reader, &header) ||
		!rr_ulb_reply_size(&nfs42_NFS_V4_program, 1, &reader, &size))
		abort();
	/* RFC 5531, 9: the octets in front of the results, with an empty verifier and with the largest. */
	entry->reply_min = RR_RPC_REPLY_HEADER_MAX - RR_AUTH_BODY_MAX +
			   rr_expect_least(&(struct rr_expected){
				   .min = size.min, .max = size.max, .often_large = size.often_large });
	entry->reply_max = (size.max < UNBOUNDED_MAX ? size.max : UNBOUNDED_MAX) + RR_RPC_REPLY_HEADER_MAX;
	entry->item_max = size.result_count > 0 ? size.results[0] : 0;
}

static void
write_call(struct mix_entry *entry, uint32_t xid, const struct compound *compound)
{
	static const struct rr_auth_sys sys = {
		.uid = 1000, .gid = 1000, .machine = { "client.example", 14 }
	};
	struct rr_call_header header = {
		.xid = xid, .prog = nfs42_NFS_V4_program.prog, .vers = 4, .proc = 1
	};
	COMPOUND4args args = { .minorversion = 1 };
	uint8_t cred[RR_AUTH_BODY_MAX], *stream = take(MESSAGE_MAX);
	struct rpcrdma_xdr_writer writer;

	args.argarray.count = compound->count;
	args.argarray.values = memcpy(take(sizeof(compound->args)), compound->args, sizeof(compound->args));
	rpcrdma_xdr_writer_init(&writer, cred, sizeof(cred), NULL, 0);
	rr_auth_sys_put(&writer, &sys);
	header.cred.flavor = RR_AUTH_SYS;
	header.cred.body = (struct rpcrdma_bytes){ cred, (uint32_t)rpcrdma_xdr_length(&writer) };
	rpcrdma_xdr_writer_init(&writer, stream, MESSAGE_MAX, NULL, 0);
	rr_rpc_put_call(&writer, &header);
	nfs42_put_COMPOUND4args(&writer, &args);
	if (writer.failed)
		abort();
	entry->call = rpcrdma_xdr_written(&writer);
	memory_used -= MESSAGE_MAX - ((rpcrdma_xdr_length(&writer) + 15) & ~(size_t)15);
}

static void
write_reply(struct mix_entry *entry, uint32_t xid, const struct compound *compound)
{
	const struct rr_reply_header header = { .xid = xid };
	COMPOUND4res result = { .status = NFS4_OK };
	uint8_t *stream;
	struct rpcrdma_xdr_writer writer;

	result.resarray.count = compound->count;
	result.resarray.values =
		memcpy(take(sizeof(compound->results)), compound->results, sizeof(compound->results));
	stream = take(MESSAGE_MAX);
	rpcrdma_xdr_writer_init(&writer, stream, MESSAGE_MAX, &entry->item, 1);
	rr_rpc_put_reply(&writer, &header);
	nfs42_put_COMPOUND4res(&writer, &result);
	if (writer.failed)
		abort();
	entry->reply = rpcrdma_xdr_written(&writer);
	memory_used -= MESSAGE_MAX - ((rpcrdma_xdr_length(&writer) + 15) & ~(size_t)15);
}

/* ---- The mix ---- */

/* Makes a compound of a random kind, and returns its name. */
static const char *
fill(struct compound *compound)
{
	uint32_t luck = pick(100);

	start(compound);
	if (luck < 52) {
		lookup(compound, false);
		return "LOOKUP";
	}
	if (luck < 55) {
		lookup(compound, true);
		return "LOOKUP with ACL";
	}
	if (luck < 70) {
		open_file(compound);
		return "OPEN";
	}
	if (luck < 80) {
		read_directory(compound);
		return "READDIR";
	}
	read_file(compound);
	return "READ";
}

void
mix_make(void)
{
	struct compound compound;

	memory_used = 0;
	seed = 1;
	for (uint32_t i = 0; i < MIX_CALLS; i++) {
		mix[i].kind = fill(&compound);
		write_call(&mix[i], i + 1, &compound);
		write_reply(&mix[i], i + 1, &compound);
		estimate(&mix[i]);
	}
}
