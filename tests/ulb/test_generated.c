/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the walker with full decoding, on random messages of every schema. The argument is the number
 * of messages of each version. */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "ulb/binding.h"

extern const struct rpcrdma_program nfs2_NFS_VERSION_program, NFS_V3_program, nfs40_NFS_V4_program,
	nfs40_NFS_CB_program, nfs41_NFS_V4_program, nfs41_NFS_CB_program, nfs42_NFS_V4_program,
	nfs42_NFS_CB_program, NFS_ACL_V3_program, nlm3_NLM_VERSX_program, nlm4_NLM4_VERS_program,
	nsm1_SM_VERS_program, MOUNT_V1_program, MOUNT_V2_program, MOUNT_V3_program, RQUOTAVERS_program,
	EXT_RQUOTAVERS_program;

enum { ARENA = 1 << 20, VALUE = 1024 };

static unsigned messages = 3000;
static unsigned tried, with_items; /* messages of the version that is being tested */
static _Alignas(max_align_t) uint8_t arena_memory[ARENA], value[VALUE];
static struct rr_generator generator;

struct codec {
	void (*get)(struct rpcrdma_xdr_reader *reader, void *object);
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *object);
};

/* The arguments or the results of a procedure: their codecs, and the walk. */
struct side {
	const struct rpcrdma_program *program; /* the program whose walk is tested */
	uint32_t proc;
	bool reply;
	struct codec codec;
};

/* Decodes the message and writes it again with its items apart: these are the positions of full decoding. */
static bool
decode(const struct side *side, const struct rpcrdma_message *message, uint8_t *stream,
	struct rpcrdma_item *items, struct rpcrdma_message *reduced)
{
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;

	memset(value, 0, sizeof(value));
	rpcrdma_xdr_reader_init(&reader, message, &arena);
	side->codec.get(&reader, value);
	if (!rpcrdma_xdr_done(&reader))
		return false;
	rpcrdma_xdr_writer_init(&writer, stream, RR_GENERATED_MAX, items, RR_GENERATED_ITEMS);
	side->codec.put(&writer, value);
	assert_false(writer.failed);
	*reduced = rpcrdma_xdr_written(&writer);
	return true;
}

static enum rr_walk_answer
walk(const struct side *side, const struct rpcrdma_message *message, struct rr_ulb_items *found)
{
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	return side->reply ? rr_ulb_walk_reply(side->program, side->proc, &reader, found)
			   : rr_ulb_walk_call(side->program, side->proc, &reader, found);
}

/* Checks that the walker found the items that a writer records, also those of no octets. */
static void
same_as_decoded(const struct rr_ulb_items *found, const struct rpcrdma_message *reduced)
{
	assert_int_equal(found->count, reduced->item_count);
	for (uint32_t i = 0; i < found->count; i++) {
		assert_int_equal(found->items[i].length, reduced->items[i].length);
		if (found->items[i].length > 0)
			assert_ptr_equal(found->items[i].data, reduced->items[i].data);
	}
}

/* Checks a good message: whole, and with its items taken out in both ways. */
static void
walks_as_decoded(const struct side *side)
{
	static uint8_t stream[RR_GENERATED_MAX];
	struct rpcrdma_item taken[RR_GENERATED_ITEMS], brought[RR_GENERATED_ITEMS];
	struct rr_walk_item items[RR_GENERATED_ITEMS], again[RR_GENERATED_ITEMS];
	struct rr_ulb_items found = { .items = items, .max = RR_GENERATED_ITEMS };
	struct rr_ulb_items second = { .items = again, .max = RR_GENERATED_ITEMS };
	const struct rpcrdma_message whole = { .stream = generator.octets, .length = generator.length };
	struct rpcrdma_message reduced;

	assert_true(decode(side, &whole, stream, taken, &reduced));
	assert_int_equal(walk(side, &whole, &found), RR_WALKED);
	assert_int_equal(found.count, generator.item_count);
	for (uint32_t i = 0; i < found.count; i++) {
		assert_int_equal(items[i].offset, generator.items[i].offset);
		assert_int_equal(items[i].length, generator.items[i].length);
		assert_ptr_equal(
			items[i].data, items[i].length ? generator.octets + items[i].offset : items[i].data);
		assert_false(items[i].reduced);
		brought[i] = (struct rpcrdma_item){ items[i].data, items[i].length, RPCRDMA_ITEM_NEXT };
	}
	same_as_decoded(&found, &reduced);
	assert_int_equal(walk(side, &reduced, &second), RR_WALKED);
	assert_int_equal(second.count, found.count);
	same_as_decoded(&second, &reduced);
	for (uint32_t i = 0; i < second.count; i++) {
		assert_int_equal(again[i].reduced, again[i].length > 0);
		assert_int_equal(again[i].offset, taken[i].offset);
		assert_int_equal(again[i].result, items[i].result);
	}
	tried++;
	with_items += found.count > 0;
	reduced.items = brought;
	reduced.item_count = found.count;
	assert_int_equal(walk(side, &reduced, &second), RR_WALKED);
	assert_int_equal(second.count, found.count);
}

/* Checks a bad message: if a decoder takes it and the walker, too, both find the same items. */
static void
walks_as_decoded_if_at_all(const struct side *side)
{
	static uint8_t stream[RR_GENERATED_MAX];
	struct rpcrdma_item taken[RR_GENERATED_ITEMS];
	struct rr_walk_item items[RR_GENERATED_ITEMS];
	struct rr_ulb_items found = { .items = items, .max = RR_GENERATED_ITEMS };
	const struct rpcrdma_message whole = { .stream = generator.octets, .length = generator.length };
	struct rpcrdma_message reduced;
	enum rr_walk_answer answer;

	if (generator.length == 0)
		return;
	for (unsigned i = rr_generator_random(&generator, 3) + 1; i > 0; i--)
		generator.octets[rr_generator_random(&generator, generator.length)] ^=
			(uint8_t)(1 << rr_generator_random(&generator, 8));
	answer = walk(side, &whole, &found);
	assert_int_not_equal(answer, RR_WALK_MISPLACED);
	/* The walker may refuse a message that decodes, but only for its minor version. */
	if (answer == RR_WALKED && decode(side, &whole, stream, taken, &reduced))
		same_as_decoded(&found, &reduced);
}

static void
try(const struct side *side, const struct rr_xdr_type *type)
{
	if (!side->codec.get)
		return;
	rr_generate(&generator, type);
	walks_as_decoded(side);
	walks_as_decoded_if_at_all(side);
}

/* Finds the version of this name in the schema. */
static const struct rr_xdr_version *
find_version(const char *name)
{
	for (const struct rr_xdr_definition *d = generator.schema.definitions; d; d = d->next) {
		for (const struct rr_xdr_version *v = d->versions; v; v = v->next) {
			if (strcmp(v->name, name) == 0)
				return v;
		}
	}
	return NULL;
}

/* Tests the walk of the program walker. codecs: the program of the schema in file. */
static void
agree(const char *file, const struct rpcrdma_program *codecs, const struct rpcrdma_program *walker)
{
	char path[4096];
	const struct rr_xdr_version *version;
	const struct rr_xdr_procedure *p;

	snprintf(path, sizeof(path), "%s/%s.x", SCHEMAS, file);
	assert_true(rr_generator_load(&generator, path, 0x9e3779b97f4a7c15));
	version = find_version(codecs->name);
	assert_non_null(version);
	tried = with_items = 0;
	while (tried < messages) {
		for (p = version->procedures; p; p = p->next) {
			uint32_t proc = (uint32_t)p->number.number.magnitude;
			const struct rpcrdma_procedure *q = &codecs->procedures[proc];

			try(&(struct side){ walker, proc, false, { q->get_args, q->put_args } }, p->args);
			try(&(struct side){ walker, proc, true, { q->get_result, q->put_result } },
				p->result);
		}
	}
	rr_generator_free(&generator);
	print_message("# %s: %u messages, %u of them with items\n", file, tried, with_items);
}

static void
nfs_version_2(void **state)
{
	(void)state;
	agree("nfs2", &nfs2_NFS_VERSION_program, rr_ulb_find(100003, 2));
}

static void
nfs_version_3(void **state)
{
	(void)state;
	agree("nfs3", &NFS_V3_program, rr_ulb_find(100003, 3));
}

/* The walker has one schema for all minor versions: that of 4.2 takes all messages of the older versions. */
static void
nfs_version_4_0(void **state)
{
	(void)state;
	agree("nfs40", &nfs40_NFS_V4_program, rr_ulb_find(100003, 4));
}

static void
nfs_version_4_1(void **state)
{
	(void)state;
	agree("nfs41", &nfs41_NFS_V4_program, rr_ulb_find(100003, 4));
}

static void
nfs_version_4_2(void **state)
{
	(void)state;
	agree("nfs42", &nfs42_NFS_V4_program, rr_ulb_find(100003, 4));
}

static void
callbacks(void **state)
{
	(void)state;
	agree("nfs40", &nfs40_NFS_CB_program, rr_ulb_callback());
	agree("nfs41", &nfs41_NFS_CB_program, rr_ulb_callback());
	agree("nfs42", &nfs42_NFS_CB_program, rr_ulb_callback());
}

static void
auxiliary_protocols(void **state)
{
	(void)state;
	agree("nfs3", &NFS_ACL_V3_program, rr_ulb_find(100227, 3));
	agree("nlm3", &nlm3_NLM_VERSX_program, rr_ulb_find(100021, 3));
	agree("nlm4", &nlm4_NLM4_VERS_program, rr_ulb_find(100021, 4));
	agree("nsm1", &nsm1_SM_VERS_program, rr_ulb_find(100024, 1));
	agree("mount3", &MOUNT_V1_program, rr_ulb_find(100005, 1));
	agree("mount3", &MOUNT_V2_program, rr_ulb_find(100005, 2));
	agree("mount3", &MOUNT_V3_program, rr_ulb_find(100005, 3));
	agree("rquota", &RQUOTAVERS_program, rr_ulb_find(100011, 1));
	agree("rquota", &EXT_RQUOTAVERS_program, rr_ulb_find(100011, 2));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nfs_version_2),
		cmocka_unit_test(nfs_version_3),
		cmocka_unit_test(nfs_version_4_0),
		cmocka_unit_test(nfs_version_4_1),
		cmocka_unit_test(nfs_version_4_2),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(auxiliary_protocols),
	};

	if (argc > 1)
		messages = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
