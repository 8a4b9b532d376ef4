/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* Files to standard output, one after the other: a window of pieces is read ahead, and written in order. */

enum { OPT_HELP = 256, WINDOW = 16, PIECE = 1 << 20 };

static const struct option long_options[] = {
	RR_VERBOSE_OPTION,
	RR_TRANSPORT_OPTION,
	RR_CALL_OPTION,
	RR_FILTER_OPTIONS,
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

const char rr_tool_cat_options[] = RR_VERBOSE_HELP RR_TRANSPORT_HELP RR_FILTER_HELP RR_CALL_HELP;

struct cat_piece {
	struct cat *cat;
	struct rr_nfs_io io;
	bool ready;
};

struct cat {
	const struct rr_tool *tool;
	struct rr_engine *engine;
	struct rr_remote remote;
	struct rr_nfs_object object;
	uint8_t *memory;
	struct cat_piece pieces[WINDOW]; /* piece n of the file is in pieces[n % WINDOW] */
	uint64_t begun, written;         /* how many pieces were */
	bool eof;
	int error;
};

static void
piece_done(struct rr_nfs_io *io, int error)
{
	struct cat_piece *piece = io->ctx;

	piece->ready = true;
	if (error && !piece->cat->error)
		piece->cat->error = error;
}

/* Up to the size that the file had; from there on one piece at a time, in case it grew. */
static void
read_ahead(struct cat *cat)
{
	while (cat->begun - cat->written < WINDOW) {
		uint64_t offset = cat->begun * PIECE;
		struct cat_piece *piece = &cat->pieces[cat->begun % WINDOW];

		if (offset >= cat->object.attributes.size && cat->begun != cat->written)
			return;
		piece->ready = false;
		piece->io.offset = offset;
		rr_nfs_read(cat->remote.nfs, &piece->io);
		cat->begun++;
	}
}

static int
write_out(struct cat *cat, const struct rr_nfs_io *io)
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
			return rr_tool_fail(cat->tool, "standard output: %s", strerror(errno));
		next += put;
		left -= (size_t)put;
	}
	return RR_EXIT_OK;
}

static int
write_ready(struct cat *cat)
{
	int result = RR_EXIT_OK;

	while (cat->written < cat->begun && !cat->eof && !cat->error && result == RR_EXIT_OK) {
		struct cat_piece *piece = &cat->pieces[cat->written % WINDOW];

		if (!piece->ready)
			return RR_EXIT_OK;
		result = write_out(cat, &piece->io);
		cat->eof = piece->io.eof;
		cat->written++;
	}
	return result;
}

static int
stream(struct cat *cat)
{
	int result = RR_EXIT_OK;

	for (uint32_t i = 0; i < WINDOW; i++) {
		struct cat_piece *piece = &cat->pieces[i];

		piece->cat = cat;
		piece->io.file = &cat->object.handle;
		piece->io.data = cat->memory + (size_t)i * PIECE;
		piece->io.length = PIECE;
		piece->io.done = piece_done;
		piece->io.ctx = piece;
	}
	while (!cat->eof && !cat->error && result == RR_EXIT_OK && !rr_tool_interrupted(NULL)) {
		read_ahead(cat);
		if (rr_loop_turn(cat->engine->loop, -1) < 0)
			result = rr_tool_fail(cat->tool, "waiting for events failed: %s", strerror(errno));
		else
			result = write_ready(cat);
	}
	for (uint32_t i = 0; i < WINDOW; i++)
		rr_nfs_io_cancel(&cat->pieces[i].io);
	if (cat->error)
		return rr_tool_fail(cat->tool, "%s: %s", cat->remote.name, rr_nfs_error(cat->remote.nfs));
	if (result == RR_EXIT_OK && rr_tool_interrupted(NULL))
		return rr_tool_fail(cat->tool, "%s: interrupted", cat->remote.name);
	return result;
}

static int
show(struct cat *cat)
{
	if (rr_nfs_walk(cat->remote.nfs, rr_nfs_rest(cat->remote.nfs), true, &cat->object) != 0)
		return rr_tool_fail(cat->tool, "%s: %s", cat->remote.name, rr_nfs_error(cat->remote.nfs));
	if (cat->object.attributes.type == NF3DIR)
		return rr_tool_fail(
			cat->tool, "%s: it is a directory; `rpcrdma ls` lists it", cat->remote.name);
	if (cat->object.attributes.type != NF3REG)
		return rr_tool_fail(cat->tool, "%s: it is no regular file", cat->remote.name);
	cat->memory = aligned_alloc(4096, (size_t)WINDOW * PIECE);
	if (!cat->memory)
		return rr_tool_fail(cat->tool, "out of memory");
	return stream(cat);
}

static int
open_and_show(struct cat *cat, const struct rr_engine_config *config, const char *url)
{
	struct rr_text text;

	if (rr_remote_engine(config, &cat->engine, &text) < 0)
		return rr_tool_fail(cat->tool, "%s", text.text);
	if (rr_remote_open(cat->engine, url, &cat->remote, &text) != 0)
		return rr_tool_fail(cat->tool, "%s: %s", cat->remote.name, text.text);
	return show(cat);
}

static int
run(const struct rr_tool *tool, const struct rr_engine_config *config, const char *url,
	const struct rr_remote *how)
{
	struct cat *cat = calloc(1, sizeof(*cat));
	int result;

	if (!cat)
		return rr_tool_fail(tool, "out of memory");
	cat->tool = tool;
	cat->remote = *how;
	result = open_and_show(cat, config, url);
	rr_remote_close(&cat->remote);
	rr_engine_free(cat->engine);
	free(cat->memory);
	free(cat);
	return result;
}

int
rr_tool_cat(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_filters filters = { 0 };
	int option, result = RR_EXIT_OK;
	struct rr_remote how = { 0 };

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":v", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(tool);
		if (option == 'v')
			how.verbose = true;
		else if (!rr_filters_is_option(option))
			return rr_tool_bad_option(tool, option, argv[optind - 1]);
		else if (rr_filters_option(tool, &filters, option, optarg))
			return RR_EXIT_USAGE;
	}
	if (optind == argc)
		return rr_tool_usage(tool, "a URL is wanted: nfs://HOST[:PORT]/PATH");
	for (int i = optind; i < argc; i++)
		if (!rr_url_is(argv[i]))
			return rr_tool_usage(tool, "%s is no URL: nfs://HOST[:PORT]/PATH", argv[i]);
	rr_tool_catch_signals();
	if (rr_filters_start(tool, &filters, &config))
		return RR_EXIT_FAILED;
	how.tcp = filters.tcp;
	for (int i = optind; i < argc && result == RR_EXIT_OK; i++)
		result = run(tool, &config, argv[i], &how);
	return rr_filters_end(tool, &filters, result);
}
