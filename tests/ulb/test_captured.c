/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the messages that the Linux client and server sent: marked items are where the kernel put its
 * chunks. tests/capture/extract made the files. */
#include "../test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "ulb/binding.h"
#include "ulb/estimate.h"

enum { STREAM = 1 << 20, ITEMS = 16, ARENA = 1 << 20, LINE = 1 << 21, CALLS = 4096 };

struct captured {
	char kind[8];
	uint32_t prog, vers, proc, offset;
	struct rpcrdma_item items[ITEMS];
	uint32_t item_count;
	uint8_t stream[STREAM];
	uint32_t length;
};

static uint8_t zeroes[STREAM], whole[2 * STREAM];
static _Alignas(max_align_t) uint8_t arena_memory[ARENA], value[1024];
static struct captured captured;
static unsigned walked, with_items, estimated, bounded;

/* The estimates of the reply to each call. */
static struct {
	uint32_t xid;
	struct rr_reply_size size;
} calls[CALLS];
static unsigned call_count;

/* Parses the items of a line, each as offset:length, or - for none; n stands for an item at the next
 * place. */
static void
parse_items(char *text)
{
	char *save;

	captured.item_count = 0;
	if (strcmp(text, "-") == 0)
		return;
	for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(item, ':');

		assert_non_null(colon);
		assert_true(captured.item_count < ITEMS);
		captured.items[captured.item_count++] = (struct rpcrdma_item){
			.data = zeroes,
			.length = (uint32_t)strtoul(colon + 1, NULL, 10),
			.offset = item[0] == 'n' ? RPCRDMA_ITEM_NEXT : (uint32_t)strtoul(item, NULL, 10),
		};
	}
}

/* Parses a line: the message's kind, program, version, procedure and offset, its items, and its octets in
 * hex. */
static void
parse_line(const char *line)
{
	static char items[256];
	int at = 0;

	assert_int_equal(
		sscanf(line, "%7s %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %255s %n", captured.kind,
			&captured.prog, &captured.vers, &captured.proc, &captured.offset, items, &at),
		6);
	parse_items(items);
	captured.length = 0;
	for (const char *p = line + at; p[0] > ' ' && p[1] > ' '; p += 2) {
		const char octet[3] = { p[0], p[1], 0 };

		assert_true(captured.length < STREAM);
		captured.stream[captured.length++] = (uint8_t)strtoul(octet, NULL, 16);
	}
}

static const struct rpcrdma_program *
program_of_message(void)
{
	const struct rpcrdma_program *program = rr_ulb_find(captured.prog, captured.vers);

	return program ? program : rr_ulb_callback();
}

/* Walks the message as a call or a reply. */
static enum rr_walk_answer
walk(const struct rpcrdma_message *message, struct rr_ulb_items *found)
{
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	reader.next += captured.offset;
	return captured.kind[0] == 'c'
		       ? rr_ulb_walk_call(program_of_message(), captured.proc, &reader, found)
		       : rr_ulb_walk_reply(program_of_message(), captured.proc, &reader, found);
}

/* Returns the message as it would be over TCP, with zeroes for the octets that RDMA moved. */
static struct rpcrdma_message
put_back(const struct rr_ulb_items *found)
{
	uint32_t from = 0, to = 0;

	memset(whole, 0, sizeof(whole));
	for (uint32_t i = 0; i < found->count; i++) {
		const struct rr_walk_item *item = &found->items[i];

		if (!item->reduced)
			continue;
		memcpy(whole + to, captured.stream + from, item->offset - from);
		to += item->offset - from + item->length + rr_pad(item->length);
		from = item->offset;
	}
	memcpy(whole + to, captured.stream + from, captured.length - from);
	return (struct rpcrdma_message){ .stream = whole, .length = to + captured.length - from };
}

/* Checks that the message decodes to its end. */
static void
decodes(const struct rpcrdma_message *message)
{
	const struct rpcrdma_procedure *procedure = &program_of_message()->procedures[captured.proc];
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, message, &arena);
	reader.next += captured.offset;
	if (captured.kind[0] == 'c' && procedure->get_args)
		procedure->get_args(&reader, value);
	if (captured.kind[0] == 'r' && procedure->get_result)
		procedure->get_result(&reader, value);
	assert_true(rpcrdma_xdr_done(&reader));
}

/* Checks that a reply is within the estimate that was made from its call. */
static void
check_size(const struct rr_ulb_items *found, const struct rpcrdma_message *message)
{
	uint32_t xid = rr_get_be32(captured.stream), octets = message->length - captured.offset;
	unsigned i = call_count;
	struct rpcrdma_xdr_reader reader;

	if (captured.kind[0] == 'c') {
		assert_true(call_count < CALLS);
		rpcrdma_xdr_reader_init(&reader, message, NULL);
		reader.next += captured.offset;
		calls[call_count].xid = xid;
		assert_true(rr_ulb_reply_size(
			program_of_message(), captured.proc, &reader, &calls[call_count++].size));
		return;
	}
	while (i > 0 && calls[i - 1].xid != xid)
		i--;
	if (i == 0)
		return;
	for (uint32_t n = 0; n < found->count; n++) {
		assert_true(found->items[n].length <= calls[i - 1].size.results[found->items[n].result]);
		if (!found->items[n].reduced)
			octets -= found->items[n].length + rr_pad(found->items[n].length);
	}
	assert_true(octets >= calls[i - 1].size.min);
	assert_true(octets <= calls[i - 1].size.max);
	estimated++;
	bounded += calls[i - 1].size.max != RPCRDMA_XDR_UNBOUNDED;
}

/* Walks the message, compares the items with those that the peer sent as chunks, puts them back into the
 * stream, and checks that the message then walks and decodes as before. */
static void
check_message(void)
{
	struct rr_walk_item items[ITEMS], again[ITEMS];
	struct rr_ulb_items found = { .items = items, .max = ITEMS };
	struct rr_ulb_items second = { .items = again, .max = ITEMS };
	const struct rpcrdma_message message = { captured.stream, captured.length, captured.item_count,
		captured.items };
	struct rpcrdma_message put;
	uint32_t n = 0, shift = 0;

	assert_int_equal(walk(&message, &found), RR_WALKED);
	for (uint32_t i = 0; i < found.count; i++) {
		if (!items[i].reduced)
			continue;
		/* Empty chunks came back unused. */
		while (captured.items[n].length == 0)
			n++;
		if (captured.items[n].offset != RPCRDMA_ITEM_NEXT)
			assert_int_equal(items[i].offset, captured.items[n].offset);
		assert_int_equal(items[i].length, captured.items[n++].length);
	}
	while (n < captured.item_count)
		assert_int_equal(captured.items[n++].length, 0);
	put = put_back(&found);
	assert_int_equal(walk(&put, &second), RR_WALKED);
	assert_int_equal(second.count, found.count);
	for (uint32_t i = 0; i < found.count; i++) {
		assert_int_equal(again[i].offset, items[i].offset + shift);
		assert_int_equal(again[i].length, items[i].length);
		if (items[i].reduced)
			shift += items[i].length + rr_pad(items[i].length);
	}
	decodes(&put);
	check_size(&found, &message);
	walked++;
	with_items += found.count > 0;
}

/* Checks all messages of a file, at least these many in total and with items. */
static void
check_file(const char *path, unsigned least, unsigned least_with_items)
{
	static char line[LINE];
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	walked = with_items = estimated = bounded = call_count = 0;
	while (fgets(line, sizeof(line), file)) {
		parse_line(line);
		check_message();
	}
	fclose(file);
	print_message(
		"# %s: %u messages walked, %u of them with items; %u replies estimated, %u with a maximum\n",
		path, walked, with_items, estimated, bounded);
	assert_true(walked >= least);
	assert_true(with_items >= least_with_items);
}

static void
version_3(void **state)
{
	(void)state;
	check_file(DATA "/linux-nfs-3.txt", 20, 4);
}

static void
version_4_0(void **state)
{
	(void)state;
	check_file(DATA "/linux-nfs-4.0.txt", 20, 4);
}

static void
version_4_1(void **state)
{
	(void)state;
	check_file(DATA "/linux-nfs-4.1.txt", 20, 4);
}

static void
version_4_2(void **state)
{
	(void)state;
	check_file(DATA "/linux-nfs-4.2.txt", 20, 4);
}

static void
callback(void **state)
{
	(void)state;
	check_file(DATA "/linux-nfs-4.1-callback.txt", 10, 0);
}

/* With arguments, checks these files instead, which are extracts of whole captures. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_3),
		cmocka_unit_test(version_4_0),
		cmocka_unit_test(version_4_1),
		cmocka_unit_test(version_4_2),
		cmocka_unit_test(callback),
	};

	for (int i = 1; i < argc; i++)
		check_file(argv[i], 1, 0);
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
