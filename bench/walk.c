/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * walk [MESSAGE [COUNT]]: measures the time of the walker for typical messages, and of the estimate of a
 * reply's size: each is done many times, in turns. Prints the medians, and fails if OPEN takes 500 ns or READ
 * 1 us. With arguments: walks that message COUNT times and prints nothing, for tools that count instructions.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ulb/binding.h"
#include "ulb/estimate.h"
#include "ulb/nfs42.h"

enum { ROUNDS = 101, TIMES = 1000, STREAM = 4096, DATA = 65536, ITEMS = 4 };

struct message {
	const char *name;
	bool reply, estimate;
	double most; /* ns; 0: no limit */
	struct rpcrdma_message message;
	double times[ROUNDS];
};

static uint8_t data[DATA];

/* ---- The messages ---- */

static bitmap4
attributes(void)
{
	static uint32_t words[2] = {
		1u << FATTR4_TYPE | 1u << FATTR4_CHANGE | 1u << FATTR4_SIZE | 1u << FATTR4_FSID |
			1u << FATTR4_FILEID,
		1u << (FATTR4_MODE - 32) | 1u << (FATTR4_NUMLINKS - 32) | 1u << (FATTR4_OWNER - 32) |
			1u << (FATTR4_OWNER_GROUP - 32) | 1u << (FATTR4_SPACE_USED - 32) |
			1u << (FATTR4_TIME_MODIFY - 32),
	};

	return (bitmap4){ 2, words };
}

static const struct rpcrdma_bytes handle = { data, 28 };

/* Fills the operations with which a Linux client opens a file, and the results of its server. */
static uint32_t
open_file(nfs_argop4 *args, nfs_resop4 *results)
{
	OPEN4args *open = &args[2].u.opopen;

	args[0].argop = OP_SEQUENCE;
	args[1].argop = OP_PUTFH;
	args[1].u.opputfh.object = handle;
	args[2].argop = OP_OPEN;
	open->share_access = OPEN4_SHARE_ACCESS_READ;
	open->owner.owner = (struct rpcrdma_bytes){ data, 24 };
	open->claim.claim = CLAIM_NULL;
	open->claim.u.file = (struct rpcrdma_bytes){ data, 17 };
	args[3].argop = OP_GETFH;
	args[4].argop = OP_ACCESS;
	args[5].argop = OP_GETATTR;
	args[5].u.opgetattr.attr_request = attributes();
	for (int i = 0; i < 6; i++)
		results[i].resop = args[i].argop;
	results[3].u.opgetfh.u.resok4.object = handle;
	results[5].u.opgetattr.u.resok4.obj_attributes.attrmask = attributes();
	results[5].u.opgetattr.u.resok4.obj_attributes.attr_vals = (struct rpcrdma_bytes){ data, 120 };
	return 6;
}

static uint32_t
read_file(nfs_argop4 *args, nfs_resop4 *results)
{
	args[0].argop = OP_SEQUENCE;
	args[1].argop = OP_PUTFH;
	args[1].u.opputfh.object = handle;
	args[2].argop = OP_READ;
	args[2].u.opread.count = DATA;
	for (int i = 0; i < 3; i++)
		results[i].resop = args[i].argop;
	results[2].u.opread.u.resok4.data = (struct rpcrdma_bytes){ data, DATA };
	return 3;
}

/* Makes the call or the reply; all its data is in its stream. */
static struct rpcrdma_message
make(bool reply, uint32_t (*fill)(nfs_argop4 *args, nfs_resop4 *results))
{
	nfs_argop4 operations[8] = { 0 };
	nfs_resop4 outcomes[8] = { 0 };
	uint32_t count = fill(operations, outcomes);
	const COMPOUND4args args = { .minorversion = 1, .argarray = { count, operations } };
	const COMPOUND4res result = { .resarray = { count, outcomes } };
	uint8_t *stream = malloc(STREAM + DATA);
	struct rpcrdma_xdr_writer writer;

	if (!stream)
		errx(1, "no memory");
	rpcrdma_xdr_writer_init(&writer, stream, STREAM + DATA, NULL, 0);
	if (reply)
		nfs42_put_COMPOUND4res(&writer, &result);
	else
		nfs42_put_COMPOUND4args(&writer, &args);
	if (writer.failed)
		errx(1, "a message cannot be made");
	return rpcrdma_xdr_written(&writer);
}

/* ---- Walking ---- */

static void
walk(const struct message *message, unsigned times)
{
	const struct rpcrdma_program *program = rr_ulb_find(100003, 4);
	struct rr_walk_item items[ITEMS];
	struct rr_ulb_items found = { .items = items, .max = ITEMS };
	struct rpcrdma_xdr_reader reader;
	struct rr_reply_size size;

	rpcrdma_xdr_reader_init(&reader, &message->message, NULL);
	while (times-- > 0) {
		bool good;

		if (message->estimate)
			good = rr_ulb_reply_size(program, NFSPROC4_COMPOUND, &reader, &size);
		else if (message->reply)
			good = rr_ulb_walk_reply(program, NFSPROC4_COMPOUND, &reader, &found) == RR_WALKED;
		else
			good = rr_ulb_walk_call(program, NFSPROC4_COMPOUND, &reader, &found) == RR_WALKED;
		if (!good)
			errx(1, "%s cannot be walked", message->name);
	}
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool
measure(struct message *messages, unsigned count)
{
	bool good = true;

	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < count; i++) {
			double start = seconds();

			walk(&messages[i], TIMES);
			messages[i].times[round] = (seconds() - start) / TIMES * 1e9;
		}
	}
	for (unsigned i = 0; i < count; i++) {
		double median;

		qsort(messages[i].times, ROUNDS, sizeof(double), compare);
		median = messages[i].times[ROUNDS / 2];
		printf("%-16s %4.0f ns\n", messages[i].name, median);
		good = good && (messages[i].most == 0 || median < messages[i].most);
	}
	return good;
}

int
main(int argc, char **argv)
{
	struct message messages[] = {
		{ .name = "open-call", .most = 500, .message = make(false, open_file) },
		{ .name = "open-reply", .most = 500, .reply = true, .message = make(true, open_file) },
		{ .name = "open-estimate", .estimate = true, .message = make(false, open_file) },
		{ .name = "read-call", .most = 1000, .message = make(false, read_file) },
		{ .name = "read-reply", .most = 1000, .reply = true, .message = make(true, read_file) },
		{ .name = "read-estimate", .estimate = true, .message = make(false, read_file) },
	};
	enum { COUNT = sizeof(messages) / sizeof(*messages) };
	bool good = argc > 1;

	for (unsigned i = 0; i < COUNT && argc > 1; i++) {
		if (strcmp(argv[1], messages[i].name) == 0)
			walk(&messages[i], argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1);
	}
	if (argc < 2) {
		good = measure(messages, COUNT);
		printf("%d passed, %d failed\n", good, !good);
	}
	for (unsigned i = 0; i < COUNT; i++)
		free((void *)(uintptr_t)messages[i].message.stream);
	return good ? 0 : 1;
}
