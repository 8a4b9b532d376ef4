/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "tool/filters.h"
#include "tool/outcome.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* `rpcrdma cat` writes files to standard output, one after the other: a window of pieces is read ahead, and
 * written in order. */

enum { WINDOW = 16, PIECE = 1 << 20 };

struct cat_piece {
	struct cat *cat;
	struct rpcrdma_nfs_io io;
	bool ready; /* it was read */
};

struct cat {
	const struct rr_tool *tool;
	struct rr_outcome *outcome;
	struct rpcrdma_engine *engine;
	struct rr_remote remote;
	struct rpcrdma_nfs_object object;
	uint8_t *memory;                 /* for the data of all pieces */
	struct cat_piece pieces[WINDOW]; /* piece n of the file is in pieces[n % WINDOW] */
	/* Numbers of pieces whose reading was begun, and of pieces that were written. */
	uint64_t begun, written;
	bool eof;  /* the last piece that was written ends the file */
	int error; /* the first error of a read */
};

/* Called when the read of a piece has ended: notes that, and the error if it is the first one. */
static void
cat_piece_done(void *ctx, int error)
{
	struct cat_piece *piece = ctx;

	piece->ready = true;
	if (error && !piece->cat->error)
		piece->cat->error = error;
}

/* Begins to read pieces of the file, up to WINDOW pieces ahead of the piece that is written next. Behind the
 * size that the file had at first, reads only one piece at a time, as the file has more data only if it has
 * grown. Stores an error in cat->error. */
static void
cat_read_ahead(struct cat *cat)
{
	while (cat->begun - cat->written < WINDOW) {
		uint64_t offset = cat->begun * PIECE;
		struct cat_piece *piece = &cat->pieces[cat->begun % WINDOW];

		if (offset >= cat->object.length && cat->begun != cat->written)
			return;
		piece->ready = false;
		piece->io.offset = offset;
		cat->begun++;
		cat->error = rpcrdma_nfs_read(
			cat->remote.nfs, &piece->io, &(struct rpcrdma_nfs_then){ cat_piece_done, piece });
		if (cat->error)
			return;
	}
}

/* Writes a piece that was read to standard output. Returns an exit status: RR_EXIT_OK also if a signal came
 * before all was written, which the caller notices; RR_EXIT_FAILED without a message if the reader of the
 * pipe has gone. */
static int
cat_write_piece(struct cat *cat, const struct rpcrdma_nfs_io *io)
{
	const uint8_t *next = io->data;
	size_t left = io->moved;

	while (left > 0 && !rr_tool_interrupted(NULL)) {
		ssize_t put = write(STDOUT_FILENO, next, left);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EPIPE)
			return RR_EXIT_FAILED;
		if (put < 0)
			return rr_outcome_fail(
				cat->outcome, cat->tool, "standard output: %s", strerror(errno));
		next += put;
		cat->outcome->octets += (uint64_t)put;
		left -= (size_t)put;
	}
	return RR_EXIT_OK;
}

/* Writes to standard output, in order, the pieces that have been read, up to the first piece that is still
 * being read, or the end of the file. Writes nothing if cat->error is set. Returns an exit status: OK also if
 * no piece was ready. */
static int
cat_write_ready(struct cat *cat)
{
	int result = RR_EXIT_OK;

	while (cat->written < cat->begun && !cat->eof && !cat->error && result == RR_EXIT_OK) {
		struct cat_piece *piece = &cat->pieces[cat->written % WINDOW];

		if (!piece->ready)
			return RR_EXIT_OK;
		result = cat_write_piece(cat, &piece->io);
		cat->eof = piece->io.eof;
		cat->written++;
	}
	return result;
}

/* Copies the file to standard output, piece by piece, until its end, an error or a signal. Returns an exit
 * status, after a message if it is not OK. If the reader of the pipe has gone, the status is RR_EXIT_FAILED,
 * without a message. */
static int
cat_stream(struct cat *cat)
{
	int result = RR_EXIT_OK;

	for (uint32_t i = 0; i < WINDOW; i++) {
		struct cat_piece *piece = &cat->pieces[i];

		piece->cat = cat;
		piece->io.size = sizeof(piece->io);
		piece->io.file = cat->object.handle;
		piece->io.data = cat->memory + (size_t)i * PIECE;
		piece->io.length = PIECE;
	}
	while (!cat->eof && !cat->error && result == RR_EXIT_OK && !rr_tool_interrupted(NULL)) {
		cat_read_ahead(cat);
		/* Without a read under way, no event would end the wait. */
		if (cat->error)
			break;
		if (rr_loop_turn(cat->engine->loop, -1) < 0)
			result = rr_outcome_fail(
				cat->outcome, cat->tool, "waiting for events failed: %s", strerror(errno));
		else
			result = cat_write_ready(cat);
	}
	if (cat->error)
		return rr_outcome_fail(cat->outcome, cat->tool, "%s: %s", cat->remote.name,
			rpcrdma_nfs_error(cat->remote.nfs));
	if (result == RR_EXIT_OK && rr_tool_interrupted(NULL))
		return rr_outcome_fail(cat->outcome, cat->tool, "%s: interrupted", cat->remote.name);
	return result;
}

/* Copies the file that the URL names to standard output. Any object other than a regular file is an error.
 * Returns an exit status, after a message if it is not OK. If the reader of the pipe has gone, the status is
 * RR_EXIT_FAILED, without a message. */
static int
cat_show(struct cat *cat)
{
	cat->object.size = sizeof(cat->object);
	if (rr_nfs_find(cat->remote.nfs, cat->remote.rest, true, &cat->object) != 0)
		return rr_outcome_fail(
			cat->outcome, cat->tool, "%s: %s", cat->remote.name, rr_nfs_explain(cat->remote.nfs));
	if (cat->object.type == RPCRDMA_NFS_DIRECTORY)
		return rr_outcome_fail(cat->outcome, cat->tool,
			"%s: it is a directory; `rpcrdma ls` lists it", cat->remote.name);
	if (cat->object.type != RPCRDMA_NFS_FILE)
		return rr_outcome_fail(
			cat->outcome, cat->tool, "%s: it is no regular file", cat->remote.name);
	cat->memory = aligned_alloc(4096, (size_t)WINDOW * PIECE);
	if (!cat->memory)
		return rr_outcome_fail(cat->outcome, cat->tool, "out of memory");
	return cat_stream(cat);
}

/* Makes an engine, connects to the server of the URL, and copies the file to standard output. The caller
 * closes cat->remote and frees cat->engine and cat->memory, also after a failure. Returns an exit status,
 * after a message if it is not OK. If the reader of the pipe has gone, the status is RR_EXIT_FAILED, without
 * a message. */
static int
cat_open_and_show(struct cat *cat, const struct rr_engine_config *config, const char *url)
{
	struct rr_text text;
	int error;

	if (rr_remote_engine(config, &cat->engine, &text) < 0)
		return rr_outcome_fail(cat->outcome, cat->tool, "%s", text.text);
	error = rr_remote_open(cat->engine, url, &cat->remote, &text);
	if (!error)
		return cat_show(cat);
	rr_outcome_note(cat->outcome, cat->remote.name, text.text);
	return rr_advice_fail(cat->tool, &cat->remote.url, cat->remote.name, error, &text);
}

/* The options of the command line. */
struct cat_options {
	struct rr_filters filters;
	struct rr_remote remote;   /* how each URL is opened */
	struct rr_outcome outcome; /* of the URL that is being written */
};

/* Copies the file of a URL to standard output over a connection of its own, and prints the outcome. Returns
 * an exit status. */
static int
cat_url(const struct rr_tool *tool, const struct rr_engine_config *config, const char *url,
	struct cat_options *options)
{
	struct cat *cat = calloc(1, sizeof(*cat));
	int result;

	if (!cat)
		return rr_tool_fail(tool, "out of memory");
	cat->tool = tool;
	cat->remote = options->remote;
	cat->outcome = &options->outcome;
	rr_outcome_begin(cat->outcome);
	result = cat_open_and_show(cat, config, url);
	cat->outcome->files = result == RR_EXIT_OK;
	rr_outcome_end(
		cat->outcome, stderr, result, cat->remote.name, NULL); /* the data went to standard output */
	rr_remote_close(&cat->remote);
	rpcrdma_engine_free(cat->engine);
	free(cat->memory);
	free(cat);
	return result;
}

static int
cat_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct cat_options options = { 0 };
	int result = rr_options_parse(tool, &options, &argc, &argv);

	if (result != RR_OPTIONS_GO_ON)
		return result;
	rr_tool_catch_signals();
	result = rr_filters_start(tool, &options.filters, &config);
	if (result != RR_EXIT_OK)
		return result;
	options.remote.tcp = options.filters.transport == RR_TRANSPORT_TCP;
	for (int i = 0; i < argc && result == RR_EXIT_OK; i++)
		result = cat_url(tool, &config, argv[i], &options);
	return rr_filters_end(tool, &options.filters, result);
}

const struct rr_tool rr_tool_cat = {
	.name = "cat",
	.run = cat_run,
	.help = "Write files to standard output.",
	.operands = "URL...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.urls = true,
	.groups = {
		{ rr_outcome_options, offsetof(struct cat_options, outcome) },
		{ rr_remote_options, offsetof(struct cat_options, remote) },
		{ rr_filters_transport, offsetof(struct cat_options, filters) },
		{ rr_filters_options, offsetof(struct cat_options, filters) },
		{ rr_filters_calls, offsetof(struct cat_options, filters) },
	},
};
