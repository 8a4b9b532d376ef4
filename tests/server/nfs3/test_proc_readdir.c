/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world.h"

enum { MANY = 600, STATUS = 4, BIG = 1 << 16 };

static READDIR3res
list(struct world *world, nfs_fh3 directory, uint64_t cookie, uint32_t count)
{
	READDIR3args args = { .dir = directory, .cookie = cookie, .count = count };

	return *(const READDIR3res *)world_call(world, NFSPROC3_READDIR, &args);
}

static READDIRPLUS3res
list_plus(struct world *world, nfs_fh3 directory, uint64_t cookie, uint32_t dircount, uint32_t maxcount)
{
	READDIRPLUS3args args = {
		.dir = directory, .cookie = cookie, .dircount = dircount, .maxcount = maxcount
	};

	return *(const READDIRPLUS3res *)world_call(world, NFSPROC3_READDIRPLUS, &args);
}

static bool
is_named(filename3 given, const char *text)
{
	return given.length == strlen(text) && memcmp(given.data, text, given.length) == 0;
}

static void
readdir_lists_all_with_dots(void **state)
{
	struct world *world = *state;
	const char *expected[] = { ".", "..", "file", "d" };
	unsigned found[4] = { 0 }, count = 0;
	READDIR3res res;

	world_file(world, "file", "hello", 0640);
	world_directory(world, "d", 0755);
	res = list(world, world->root, 0, BIG);
	assert_int_equal(res.status, NFS3_OK);
	assert_true(res.u.resok.reply.eof);
	world_agrees(world, &res.u.resok.dir_attributes, "");
	for (const entry3 *entry = res.u.resok.reply.entries; entry; entry = entry->nextentry, count++)
		for (unsigned i = 0; i < 4; i++)
			if (is_named(entry->name, expected[i])) {
				found[i]++;
				/* The root of an export is its own parent. */
				assert_int_equal(
					entry->fileid, world_stat(world, i < 2 ? "" : expected[i]).st_ino);
			}
	assert_int_equal(count, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(found[i], 1);
	res = list(world, world_handle(world, "d"), 0, BIG);
	for (const entry3 *entry = res.u.resok.reply.entries; entry; entry = entry->nextentry)
		if (is_named(entry->name, ".."))
			assert_int_equal(entry->fileid, world_stat(world, "").st_ino);
}

static void
make_many(struct world *world)
{
	for (unsigned i = 0; i < MANY; i++) {
		char text[32];

		snprintf(text, sizeof text, "%0*u", (int)(4 + i % 9), i);
		world_file(world, text, "", 0644);
	}
}

/* Notes that one of the files that make_many() made was listed; "." and ".." do not count. */
static void
mark(unsigned char seen[MANY], filename3 given)
{
	char text[32] = { 0 };

	if (is_named(given, ".") || is_named(given, ".."))
		return;
	assert_true(given.length < sizeof text);
	memcpy(text, given.data, given.length);
	assert_true(atoi(text) < MANY);
	assert_int_equal(seen[atoi(text)]++, 0);
}

/* RFC 1813, 3.3.16: "The maximum size of the READDIR3resok structure, in bytes. The size must include all XDR
 * overhead." */
static void
readdir_in_pieces_lists_each_once(void **state)
{
	struct world *world = *state;
	static const uint32_t sizes[] = { 256, 1000, 4096, BIG };

	make_many(world);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unsigned char seen[MANY] = { 0 };
		uint64_t cookie = 0;
		bool eof = false;

		while (!eof) {
			READDIR3res res = list(world, world->root, cookie, sizes[i]);

			assert_int_equal(res.status, NFS3_OK);
			assert_true(world->size <= STATUS + sizes[i]);
			assert_true(res.u.resok.reply.entries || res.u.resok.reply.eof);
			for (const entry3 *entry = res.u.resok.reply.entries; entry;
				entry = entry->nextentry) {
				mark(seen, entry->name);
				cookie = entry->cookie;
			}
			eof = res.u.resok.reply.eof;
		}
		assert_null(memchr(seen, 0, sizeof seen));
		assert_true(list(world, world->root, cookie, sizes[i]).u.resok.reply.eof);
	}
}

/* One octet less than all entries take leaves one entry out, and so on down to no entry. */
static void
readdir_fills_its_count_to_the_octet(void **state)
{
	struct world *world = *state;
	uint32_t whole, entries = 0;

	world_file(world, "f", "", 0644);
	world_file(world, "four", "", 0644);
	world_file(world, "five5", "", 0644);
	assert_true(list(world, world->root, 0, BIG).u.resok.reply.eof);
	whole = world->size - STATUS;
	assert_true(list(world, world->root, 0, whole).u.resok.reply.eof);
	assert_int_equal(world->size, STATUS + whole);
	while (whole > 0) {
		READDIR3res res = list(world, world->root, 0, whole - 1);

		if (res.status == NFS3ERR_TOOSMALL)
			break;
		assert_int_equal(res.status, NFS3_OK);
		assert_false(res.u.resok.reply.eof);
		assert_true(world->size - STATUS < whole);
		whole = world->size - STATUS;
		assert_int_equal(list(world, world->root, 0, whole).status, NFS3_OK);
		assert_int_equal(world->size, STATUS + whole);
		entries++;
	}
	assert_int_equal(entries, 4);
}

static void
readdir_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	READDIR3args args = { .dir = world->root, .cookie = 1, .cookieverf = { 1 }, .count = 4096 };
	READDIR3res res = list(world, world->root, 0, 100);

	assert_int_equal(res.status, NFS3ERR_TOOSMALL);
	world_agrees(world, &res.u.resfail.dir_attributes, "");
	assert_int_equal(((const READDIR3res *)world_call(world, NFSPROC3_READDIR, &args))->status,
		NFS3ERR_BAD_COOKIE);
	assert_int_equal(list(world, world->root, UINT64_MAX, BIG).status, NFS3ERR_BAD_COOKIE);
	world_file(world, "file", "", 0644);
	assert_int_equal(list(world, world_handle(world, "file"), 0, BIG).status, NFS3ERR_NOTDIR);
	assert_int_equal(mkfifoat(world->fd, "fifo", 0666), 0);
	assert_int_equal(list(world, world_handle(world, "fifo"), 0, BIG).status, NFS3ERR_NOTDIR);
	world_directory(world, "closed", 0300);
	assert_int_equal(list(world, world_handle(world, "closed"), 0, BIG).status, NFS3ERR_ACCES);
}

/* The size of the whole RPC reply that the transport can carry is a bound, too. */
static void
readdir_fits_into_the_reply(void **state)
{
	struct world *world = *state;

	make_many(world);
	world->request.stream_room = 1024;
	assert_int_equal(list(world, world->root, 0, BIG).status, NFS3_OK);
	assert_in_range(world->size, 900, 1024 - 24);
	assert_int_equal(list_plus(world, world->root, 0, BIG, BIG).status, NFS3_OK);
	assert_in_range(world->size, 700, 1024 - 24);
	world->request.stream_room = 120;
	assert_int_equal(list(world, world->root, 0, BIG).status, NFS3ERR_TOOSMALL);
}

/* A listing that does not fit into the memory of the request is shorter. */
static void
readdir_fits_into_memory(void **state)
{
	struct world *world = *state;
	READDIRPLUS3res res;

	make_many(world);
	res = list_plus(world, world->root, 0, UINT32_MAX, UINT32_MAX);
	assert_int_equal(res.status, NFS3_OK);
	assert_non_null(res.u.resok.reply.entries);
	assert_false(res.u.resok.reply.eof);
}

static void
entries_that_vanish_do_not_disturb(void **state)
{
	struct world *world = *state;
	uint64_t cookie = 0;
	unsigned removed = 0;
	READDIR3res res;

	make_many(world);
	do {
		char gone[64][16];
		unsigned count = 0;

		res = list(world, world->root, cookie, 1000);
		assert_int_equal(res.status, NFS3_OK);
		for (const entry3 *entry = res.u.resok.reply.entries; entry; entry = entry->nextentry) {
			cookie = entry->cookie;
			if (is_named(entry->name, ".") || is_named(entry->name, ".."))
				continue;
			memcpy(gone[count], entry->name.data, entry->name.length);
			gone[count++][entry->name.length] = 0;
		}
		for (unsigned i = 0; i < count; i++)
			removed += unlinkat(world->fd, gone[i], 0) == 0;
	} while (!res.u.resok.reply.eof);
	assert_int_equal(removed, MANY);
}

static void
readdirplus_describes_each(void **state)
{
	struct world *world = *state;
	unsigned count = 0;
	READDIRPLUS3res res;
	nfs_fh3 file;

	world_file(world, "file", "hello", 0640);
	assert_int_equal(symlinkat("file", world->fd, "link"), 0);
	world_directory(world, "d", 0755);
	file = world_handle(world, "file");
	res = list_plus(world, world->root, 0, BIG, BIG);
	assert_int_equal(res.status, NFS3_OK);
	assert_true(res.u.resok.reply.eof);
	world_agrees(world, &res.u.resok.dir_attributes, "");
	for (const entryplus3 *entry = res.u.resok.reply.entries; entry; entry = entry->nextentry, count++) {
		char text[16] = { 0 };

		memcpy(text, entry->name.data, entry->name.length);
		world_agrees(world, &entry->name_attributes, strcmp(text, "..") == 0 ? "" : text);
		assert_int_equal(entry->fileid, entry->name_attributes.u.attributes.fileid);
		assert_true(entry->name_handle.handle_follows);
		if (strcmp(text, "file") == 0)
			assert_memory_equal(
				entry->name_handle.u.handle.data.data, file.data.data, file.data.length);
	}
	assert_int_equal(count, 5);
}

static void
readdirplus_in_pieces_lists_each_once(void **state)
{
	struct world *world = *state;
	static const uint32_t sizes[][2] = { { 4096, 512 }, { 200, 8192 }, { BIG, BIG } };

	make_many(world);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unsigned char seen[MANY] = { 0 };
		uint64_t cookie = 0;
		bool eof = false;

		while (!eof) {
			READDIRPLUS3res res = list_plus(world, world->root, cookie, sizes[i][0], sizes[i][1]);
			uint32_t names = 0;

			assert_int_equal(res.status, NFS3_OK);
			assert_true(world->size <= STATUS + sizes[i][1]);
			for (const entryplus3 *entry = res.u.resok.reply.entries; entry;
				entry = entry->nextentry) {
				mark(seen, entry->name);
				cookie = entry->cookie;
				names += 4 + 8 + 4 + ((entry->name.length + 3) & ~3u) + 8;
			}
			/* RFC 1813, 3.3.17, dircount: "The maximum number of bytes of directory information"
			 */
			assert_true(names <= sizes[i][0]);
			eof = res.u.resok.reply.eof;
		}
		assert_null(memchr(seen, 0, sizeof seen));
	}
}

static void
readdirplus_fills_its_count_to_the_octet(void **state)
{
	struct world *world = *state;
	uint32_t whole;

	world_file(world, "f", "", 0644);
	world_file(world, "five5", "", 0644);
	assert_true(list_plus(world, world->root, 0, BIG, BIG).u.resok.reply.eof);
	whole = world->size - STATUS;
	assert_true(list_plus(world, world->root, 0, BIG, whole).u.resok.reply.eof);
	assert_int_equal(world->size, STATUS + whole);
	assert_false(list_plus(world, world->root, 0, BIG, whole - 1).u.resok.reply.eof);
	assert_int_equal(list_plus(world, world->root, 0, BIG, 120).status, NFS3ERR_TOOSMALL);
	assert_int_equal(list_plus(world, world->root, 0, 10, BIG).status, NFS3ERR_TOOSMALL);
}

/* A directory that the caller may read but not search is listed with names only. */
static void
readdirplus_lists_what_it_cannot_describe(void **state)
{
	struct world *world = *state;
	READDIRPLUS3res res;

	world_directory(world, "d", 0755);
	world_file(world, "d/file", "hello", 0640);
	assert_int_equal(fchmodat(world->fd, "d", 0400, 0), 0);
	res = list_plus(world, world_handle(world, "d"), 0, BIG, BIG);
	assert_int_equal(res.status, NFS3_OK);
	assert_true(res.u.resok.reply.eof);
	for (const entryplus3 *entry = res.u.resok.reply.entries; entry; entry = entry->nextentry)
		if (is_named(entry->name, "file")) {
			assert_false(entry->name_attributes.attributes_follow);
			assert_false(entry->name_handle.handle_follows);
			assert_int_not_equal(entry->fileid, 0);
		}
	assert_int_equal(fchmodat(world->fd, "d", 0700, 0), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(readdir_lists_all_with_dots),
		world_test(readdir_in_pieces_lists_each_once),
		world_test(readdir_fills_its_count_to_the_octet),
		world_test(readdir_tells_why_it_cannot),
		world_test(readdir_fits_into_the_reply),
		world_test(readdir_fits_into_memory),
		world_test(entries_that_vanish_do_not_disturb),
		world_test(readdirplus_describes_each),
		world_test(readdirplus_in_pieces_lists_each_once),
		world_test(readdirplus_fills_its_count_to_the_octet),
		world_test(readdirplus_lists_what_it_cannot_describe),
	};

	return world_run(tests, sizeof tests / sizeof *tests, NULL, 0);
}
