/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the records of clients, in their directory on the disk. */
#include "server/nfs4/tables/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rpcrdma/error.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "base/log_limit.h"
#include "server/locks/keep.h"

struct rr_nfs4_record_dir {
	const struct rr_env *env;
	struct rr_keep *keep;
	struct rr_log_limit read_log, change_log;
};

/* The format of a record's file: FILE_MARK, flavor, user, lease period and length of the owner, each in four
 * octets with the most significant octet first; the owner; and the CRC-32C of all these. If the principal has
 * a name, the mark is FILE_MARK_NAMED, and the name stands between the owner and the CRC. The flavor
 * AUTH_NONE names no user; any other flavor does. FILE_PLAIN is added to the mark for a client of
 * version 4.0.
 */
enum {
	FILE_MARK = 0x72723402,
	FILE_MARK_NAMED = 0x72723403,
	FILE_PLAIN = 2,
	FILE_HEAD = 20,
	FILE_MAX = FILE_HEAD + NFS4_OPAQUE_LIMIT + RR_CALLER_PRINCIPAL + 4,
	FILE_NAME = 16, /* digits */
	FILE_NAME_MAX = FILE_NAME + 1
};

/* The name of the file with the server's identity, beside the records. */
#define FILE_IDENTITY "identity"

/* Stores the name of a record's file in `text`: `name` as 16 hexadecimal digits. */
static void
file_name(uint64_t name, char text[FILE_NAME_MAX])
{
	snprintf(text, FILE_NAME_MAX, "%016llx", (unsigned long long)name);
}

int
rr_nfs4_record_dir_open(
	const struct rr_env *env, const char *path, struct rr_nfs4_record_dir **made, struct rr_text *text)
{
	struct rr_nfs4_record_dir *dir = rr_alloc(env, sizeof(*dir));
	int error;

	if (!dir)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for the records of clients");
	error = rr_keep_open(env, path, &dir->keep, text);
	if (error < 0) {
		rr_free(env, dir);
		return error;
	}
	dir->env = env;
	dir->read_log = (struct rr_log_limit){ .level = RR_LOG_WARNING,
		.kind = "files that are no records of clients" };
	dir->change_log = (struct rr_log_limit){ .level = RR_LOG_ERROR, .kind = "records of clients" };
	*made = dir;
	return 0;
}

void
rr_nfs4_record_dir_close(struct rr_nfs4_record_dir *dir)
{
	if (!dir)
		return;
	rr_log_limit_end(&dir->read_log, dir->env);
	rr_log_limit_end(&dir->change_log, dir->env);
	rr_keep_close(dir->keep);
	rr_free(dir->env, dir);
}

/* ---- Reading ---- */

/* Tells whether a mark is that of a client of version 4.0. */
static bool
file_is_plain(uint32_t mark)
{
	return mark == FILE_MARK + FILE_PLAIN || mark == FILE_MARK_NAMED + FILE_PLAIN;
}

/* Returns how many octets the name of the principal has in a record of this mark whose name and owner have
 * `left` octets, and whose owner has `owner` of them; -1 if there is no such record. */
static int64_t
file_name_length(uint32_t mark, uint32_t owner, size_t left)
{
	bool named = mark == FILE_MARK_NAMED;

	if ((!named && mark != FILE_MARK) || owner > NFS4_OPAQUE_LIMIT || owner > left)
		return -1;
	left -= owner;
	return (left > 0) == named && left <= RR_CALLER_PRINCIPAL ? (int64_t)left : -1;
}

/* Decodes the octets of a record's file into `recorded`. Its owner and the name of its principal then point
 * into data, where the zero behind the name replaces the first octet of the CRC. Returns false if the octets
 * are not a valid record. */
static bool
file_parse(uint8_t *data, size_t length, struct rr_nfs4_recorded *recorded)
{
	uint32_t owner;
	int64_t name;

	if (length < FILE_HEAD + 4)
		return false;
	length -= 4;
	owner = rr_get_be32(data + 16);
	recorded->plain = file_is_plain(rr_get_be32(data));
	name = file_name_length(
		rr_get_be32(data) - (recorded->plain ? FILE_PLAIN : 0), owner, length - FILE_HEAD);
	if (name < 0 || rr_get_be32(data + length) != rr_crc32c(0, data, length) ||
		memchr(data + FILE_HEAD + owner, 0, (size_t)name))
		return false;
	recorded->principal = (struct rr_caller){ .flavor = rr_get_be32(data + 4),
		.named = rr_get_be32(data + 4) != RR_AUTH_NONE,
		.uid = rr_get_be32(data + 8) };
	data[length] = 0;
	if (name > 0)
		recorded->principal.principal = (const char *)data + FILE_HEAD + owner;
	recorded->lease = rr_get_be32(data + 12);
	recorded->owner = (struct rpcrdma_bytes){ data + FILE_HEAD, owner };
	return true;
}

/* Reads the file of a record into data, and decodes it. data has an octet more than the largest record, so
 * that a larger file is noticed. Returns false if the file cannot be read or is not a valid record. */
static bool
file_read(const struct rr_nfs4_record_dir *dir, const char *name, uint8_t data[FILE_MAX + 1],
	struct rr_nfs4_recorded *recorded)
{
	ptrdiff_t got = rr_keep_get(dir->keep, name, data, FILE_MAX + 1);

	return got >= 0 && file_parse(data, (size_t)got, recorded);
}

/* What is to be done with each record: the arguments of rr_nfs4_record_dir_read(). */
struct file_taking {
	struct rr_nfs4_record_dir *dir;
	int (*take)(void *ctx, const struct rr_nfs4_recorded *recorded);
	void *ctx;
};

/* Gives the record of a file to take(), and returns what take() returned. For any file that is not a record,
 * returns 0. */
static int
file_take(void *ctx, const char *name)
{
	const struct file_taking *taking = ctx;
	struct rr_nfs4_record_dir *dir = taking->dir;
	uint8_t data[FILE_MAX + 1];
	struct rr_nfs4_recorded recorded;
	unsigned long long number;
	char end[2];

	if (strcmp(name, FILE_IDENTITY) == 0 || strcmp(name, RR_NFS4_RECORDS_BESIDE) == 0)
		return 0;
	/* 1: the digits are read, and nothing stands behind them. */
	if (sscanf(name, "%16llx%1s", &number, end) != 1 || strlen(name) != FILE_NAME ||
		!file_read(dir, name, data, &recorded)) {
		rr_log_limited(
			&dir->read_log, dir->env, "%s: is no record of a client of NFS version 4", name);
		return 0;
	}
	recorded.name = number;
	return taking->take(taking->ctx, &recorded);
}

int
rr_nfs4_record_dir_read(struct rr_nfs4_record_dir *dir,
	int (*take)(void *ctx, const struct rr_nfs4_recorded *recorded), void *ctx, struct rr_text *text)
{
	struct file_taking taking = { dir, take, ctx };
	struct rr_text why = { "no memory for the records of clients, or too many of them" };
	int error = rr_keep_each(dir->keep, file_take, &taking, &why);

	return error < 0 ? rr_fail(text, error, "%s", why.text) : 0;
}

/* ---- Writing ---- */

int
rr_nfs4_record_dir_identity(
	struct rr_nfs4_record_dir *dir, uint8_t identity[RR_NFS4_IDENTITY], struct rr_text *text)
{
	ptrdiff_t got = rr_keep_get(dir->keep, FILE_IDENTITY, identity, RR_NFS4_IDENTITY);

	if (got == RR_NFS4_IDENTITY)
		return 0;
	/* An error may pass: the identity by which the clients know the server stays in its file. */
	if (got < 0 && errno != ENOENT)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the server's identity cannot be read: %s",
			strerror(errno));
	dir->env->random(dir->env->ctx, identity, RR_NFS4_IDENTITY);
	if (rr_keep_put(dir->keep, FILE_IDENTITY, identity, RR_NFS4_IDENTITY))
		return 0;
	return rr_fail(
		text, -RPCRDMA_ERR_SYSTEM, "the server's identity cannot be kept: %s", strerror(errno));
}

/* Encodes a record into data, as it stands in its file, and returns the number of octets. */
static size_t
file_compose(const struct rr_nfs4_recorded *recorded, uint8_t data[FILE_MAX])
{
	const char *name = recorded->principal.principal;
	uint32_t length = recorded->owner.length;
	size_t end = FILE_HEAD + length + (name ? strlen(name) : 0);

	rr_put_be32(data, (name ? FILE_MARK_NAMED : FILE_MARK) + (recorded->plain ? FILE_PLAIN : 0));
	rr_put_be32(data + 4, recorded->principal.flavor);
	rr_put_be32(data + 8, recorded->principal.uid);
	rr_put_be32(data + 12, recorded->lease);
	rr_put_be32(data + 16, length);
	memcpy(data + FILE_HEAD, recorded->owner.data, length);
	if (name)
		memcpy(data + FILE_HEAD + length, name, end - FILE_HEAD - length);
	rr_put_be32(data + end, rr_crc32c(0, data, end));
	return end + 4;
}

bool
rr_nfs4_record_write(struct rr_nfs4_record_dir *dir, const struct rr_nfs4_recorded *recorded)
{
	char name[FILE_NAME_MAX];
	uint8_t data[FILE_MAX];
	size_t length = file_compose(recorded, data);
	bool done;

	file_name(recorded->name, name);
	done = rr_keep_put(dir->keep, name, data, length);
	if (!done)
		rr_log_limited(&dir->change_log, dir->env,
			"the record of a client of NFS version 4 cannot be written: %s", strerror(errno));
	return done;
}

bool
rr_nfs4_record_remove(struct rr_nfs4_record_dir *dir, uint64_t number)
{
	char name[FILE_NAME_MAX];
	bool done;

	file_name(number, name);
	done = rr_keep_remove(dir->keep, name);
	if (!done)
		rr_log_limited(&dir->change_log, dir->env,
			"the record of a client of NFS version 4 cannot be removed: %s", strerror(errno));
	return done;
}
