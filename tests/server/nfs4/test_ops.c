/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on files, over the loopback: RFC 8881, section 18, and RFC 7862. */
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/nfs4/pseudo.h"

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, RW = OPEN4_SHARE_ACCESS_BOTH };

static struct rpcrdma_bytes
handle_copy(const struct peer *peer, uint32_t index, uint8_t copy[NFS4_FHSIZE])
{
	struct rpcrdma_bytes handle = peer_res(peer, index)->u.opgetfh.u.resok4.object;

	memcpy(copy, handle.data, handle.length);
	return (struct rpcrdma_bytes){ copy, handle.length };
}

/* Opens a file, which is made if it does not exist. Gives its stateid, and returns its handle. */
static struct rpcrdma_bytes
opened(struct peer *peer, const char *name, uint32_t access, stateid4 *stateid, uint8_t copy[NFS4_FHSIZE])
{
	assert_int_equal(
		RUN(peer, op_root(), op_open(name, "owner", access, 0, true), op_plain(OP_GETFH)), NFS4_OK);
	*stateid = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	return handle_copy(peer, 2, copy);
}

static void
a_file_is_made_written_and_read(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;

	file = opened(peer, "file", RW, &stateid, copy);
	assert_int_equal(peer_res(peer, 1)->u.opopen.u.resok4.cinfo.before ==
				 peer_res(peer, 1)->u.opopen.u.resok4.cinfo.after,
		0);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "hello")), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opwrite.u.resok4.count, 5);
	assert_int_equal(peer_res(peer, 1)->u.opwrite.u.resok4.committed, FILE_SYNC4);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid, 1, 100)), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opread.u.resok4.data.length, 4);
	assert_memory_equal(peer_res(peer, 1)->u.opread.u.resok4.data.data, "ello", 4);
	assert_true(peer_res(peer, 1)->u.opread.u.resok4.eof);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid_anonymous, 0, 1),
				 op_read(&stateid_anonymous, 2, 2)),
		NFS4_OK);
	assert_memory_equal(peer_res(peer, 1)->u.opread.u.resok4.data.data, "h", 1);
	assert_memory_equal(peer_res(peer, 2)->u.opread.u.resok4.data.data, "ll", 2);
	assert_int_equal(RUN(peer, op_putfh(file), op_close(&stateid)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_close(&stateid)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid, 0, 1)), NFS4ERR_BAD_STATEID);
}

static void
an_open_allows_what_it_was_made_for(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0), *other = world_peer(*state, 1, "b", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;

	file = opened(peer, "file", R, &stateid, copy);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "x")), NFS4ERR_OPENMODE);
	assert_int_equal(RUN(other, op_putfh(file), op_read(&stateid, 0, 1)), NFS4ERR_BAD_STATEID);
	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "deny", R, OPEN4_SHARE_DENY_WRITE, false)), NFS4_OK);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", W, 0, false)), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(other, op_putfh(file), op_write(&stateid_anonymous, 0, "x")), NFS4ERR_LOCKED);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", 0, 0, false)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 4, false)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_open("none", "o", R, 0, false)), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_root(), op_open("", "o", R, 0, false)), NFS4ERR_INVAL);
}

/* 16.2.3.1.2 */
static void
the_current_stateid_stands_for_the_last_one(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true),
				 op_write(&stateid_current, 0, "text"), op_read(&stateid_current, 0, 4),
				 op_lock(&stateid_current, "l", WRITE_LT, 0, 1), op_root()),
		NFS4_OK);
	assert_memory_equal(peer_res(peer, 3)->u.opread.u.resok4.data.data, "text", 4);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false), op_close(&stateid_current),
				 op_close(&stateid_current)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(peer->res.resarray.count, 5);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false), op_root(),
				 op_close(&stateid_current)),
		NFS4ERR_BAD_STATEID);
}

static void
byte_ranges_are_locked_between_clients(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0), *other = world_peer(*state, 1, "b", 0);
	uint8_t copy[NFS4_FHSIZE], again[NFS4_FHSIZE];
	stateid4 stateid, theirs, lock;
	struct rpcrdma_bytes file;
	nfs_argop4 op;

	file = opened(peer, "file", RW, &stateid, copy);
	opened(other, "file", RW, &theirs, again);
	assert_int_equal(RUN(peer, op_putfh(file), op_lock(&stateid, "l", WRITE_LT, 10, 10)), NFS4_OK);
	lock = peer_res(peer, 1)->u.oplock.u.resok4.lock_stateid;
	assert_int_equal(lock.seqid, 1);
	assert_int_equal(RUN(other, op_putfh(file), op_lock(&theirs, "m", READ_LT, 0, 11)), NFS4ERR_DENIED);
	assert_int_equal(peer_res(other, 1)->u.oplock.u.denied.offset, 10);
	assert_int_equal(peer_res(other, 1)->u.oplock.u.denied.owner.clientid, peer->clientid);
	assert_memory_equal(peer_res(other, 1)->u.oplock.u.denied.owner.owner.data, "l", 1);
	assert_int_equal(RUN(other, op_putfh(file), op_lock(&theirs, "m", READ_LT, 0, 10)), NFS4_OK);
	assert_int_equal(RUN(other, op_putfh(file), op_lock(&theirs, "m", READ_LT, 0, 0)), NFS4ERR_INVAL);
	op = (nfs_argop4){ .argop = OP_LOCKT,
		.u.oplockt = { WRITE_LT, 19, UINT64_MAX, { .owner = text_bytes("m") } } };
	assert_int_equal(RUN(other, op_putfh(file), op), NFS4ERR_DENIED);
	op = (nfs_argop4){ .argop = OP_LOCKU, .u.oplocku = { WRITE_LT, 0, lock, 0, UINT64_MAX } };
	assert_int_equal(RUN(peer, op_putfh(file), op), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.oplocku.u.lock_stateid.seqid, 2);
	assert_int_equal(RUN(peer, op_putfh(file), op), NFS4ERR_OLD_STATEID);
	assert_int_equal(RUN(other, op_putfh(file), op_lock(&theirs, "m", WRITE_LT, 0, UINT64_MAX)), NFS4_OK);
	assert_int_equal(RUN(other, op_putfh(file), op_close(&theirs)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_lock(&stateid, "l", READ_LT, 0, UINT64_MAX)), NFS4_OK);
}

/* How a local program finds the octet of the file locked: F_UNLCK, F_RDLCK or F_WRLCK. */
static int
locked_locally(const struct world *world, const char *name, off_t octet)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = octet, .l_len = 1 };
	char path[STAGE_PATH + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", world->path, name);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
	close(fd);
	return lock.l_type;
}

/* The tables refuse ranges beyond a client's quota when the storage has granted them. Local programs then see
 * the locks that the client has, as before. */
static void
a_refused_lock_leaves_the_storage_as_it_was(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rr_nfs4_quota *quota = &world->shared->tables.ranges_quota, whole = *quota;
	uint8_t copy[NFS4_FHSIZE];
	struct rpcrdma_bytes file;
	stateid4 stateid, lock;
	nfs_argop4 locku;

	file = opened(peer, "file", RW, &stateid, copy);
	assert_int_equal(RUN(peer, op_putfh(file), op_lock(&stateid, "l", READ_LT, 0, 10)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_lock(&stateid, "l", WRITE_LT, 20, 30)), NFS4_OK);
	lock = peer_res(peer, 1)->u.oplock.u.resok4.lock_stateid;
	world->storage_fails = true; /* RFC 8881, 15.2: NFS4ERR_SERVERFAULT is an error of LOCK and LOCKU */
	quota->free = quota->least = 0;
	assert_int_equal(
		RUN(peer, op_putfh(file), op_lock(&stateid, "l", WRITE_LT, 0, 40)), NFS4ERR_SERVERFAULT);
	assert_int_equal(
		RUN(peer, op_putfh(file), op_lock(&stateid, "m", WRITE_LT, 60, 10)), NFS4ERR_SERVERFAULT);
	locku = (nfs_argop4){ .argop = OP_LOCKU, .u.oplocku = { WRITE_LT, 0, lock, 30, 10 } };
	assert_int_equal(RUN(peer, op_putfh(file), locku), NFS4ERR_SERVERFAULT);
	*quota = whole;
	assert_int_equal(locked_locally(world, "file", 5), F_RDLCK);
	assert_int_equal(locked_locally(world, "file", 15), F_UNLCK);
	assert_int_equal(locked_locally(world, "file", 25), F_WRLCK);
	assert_int_equal(locked_locally(world, "file", 35), F_WRLCK);
	assert_int_equal(locked_locally(world, "file", 49), F_WRLCK);
	assert_int_equal(locked_locally(world, "file", 50), F_UNLCK);
	assert_int_equal(locked_locally(world, "file", 65), F_UNLCK);
	locku.u.oplocku.offset = 0;
	locku.u.oplocku.length = UINT64_MAX;
	assert_int_equal(RUN(peer, op_putfh(file), locku), NFS4_OK);
	assert_int_equal(locked_locally(world, "file", 25), F_UNLCK);
}

static void
names_are_checked(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	char large[301];

	memset(large, 'x', 300);
	large[300] = 0;
	assert_int_equal(RUN(peer, op_root(), op_lookup("")), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_lookup(".")), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), op_lookup("..")), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a/b")), NFS4ERR_BADCHAR);
	assert_int_equal(RUN(peer, op_root(), op_lookup(large)), NFS4ERR_NAMETOOLONG);
	assert_int_equal(RUN(peer, op_root(), op_lookup("none")), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_LOOKUPP)), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_putfh(text_bytes("junk"))), NFS4ERR_BADHANDLE);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_lookup("x")), NFS4ERR_NOTDIR);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_plain(OP_LOOKUPP)), NFS4ERR_NOTDIR);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_plain(OP_READLINK)), NFS4ERR_WRONG_TYPE);
	assert_int_equal(RUN(peer, op_root(), op_read(&stateid_anonymous, 0, 1)), NFS4ERR_ISDIR);
}

static void
several_exports_have_one_root(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 list = { .argop = OP_READDIR,
		.u.opreaddir = { .maxcount = 4096, .dircount = 1024 } };
	const dirlist4 *entries;

	assert_int_equal(RUN(peer, op_root(), op_plain(OP_GETFH), list), NFS4_OK);
	entries = &peer_res(peer, 2)->u.opreaddir.u.resok4.reply;
	assert_true(entries->eof);
	assert_memory_equal(entries->entries->name.data, "a", 1);
	assert_memory_equal(entries->entries->nextentry->name.data, "deep", 4);
	assert_null(entries->entries->nextentry->nextentry);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_open("f", "o", RW, 0, true)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_lookup("f")), NFS4ERR_NOENT);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_plain(OP_LOOKUPP),
			op_plain(OP_LOOKUPP), op_lookup("a"), op_plain(OP_LOOKUPP), op_plain(OP_LOOKUPP)),
		NFS4ERR_NOENT);
	assert_int_equal(peer->res.resarray.count, 9);
	assert_int_equal(RUN(peer, op_root(), op_open("x", "o", RW, 0, true)), NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_root(), op_open("deep", "o", R, 0, false)), NFS4ERR_ISDIR);
}

/* RFC 8881, 18.45.3 */
static void
secinfo_consumes_the_filehandle(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 here = { .argop = OP_SECINFO_NO_NAME, .u.opsecinfo_no_name = SECINFO_STYLE4_CURRENT_FH };
	nfs_argop4 above = { .argop = OP_SECINFO_NO_NAME, .u.opsecinfo_no_name = SECINFO_STYLE4_PARENT };

	assert_int_equal(RUN(peer, op_root(), here), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opsecinfo_no_name.u.resok4.values[0].flavor, AUTH_SYS);
	assert_int_equal(RUN(peer, op_root(), here, op_plain(OP_GETFH)), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(RUN(peer, op_root(), above), NFS4ERR_NOENT);
}

static void
space_and_holes(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;
	nfs_argop4 op;

	file = opened(peer, "file", RW, &stateid, copy);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 1 << 20, "data")), NFS4_OK);
	op = (nfs_argop4){ .argop = OP_SEEK, .u.opseek = { stateid, 0, NFS4_CONTENT_HOLE } };
	assert_int_equal(RUN(peer, op_putfh(file), op), NFS4_OK);
	op.u.opseek.sa_offset = (1 << 20) + 4;
	assert_int_equal(RUN(peer, op_putfh(file), op), NFS4ERR_NXIO);
	op = (nfs_argop4){ .argop = OP_READ_PLUS, .u.opread_plus = { stateid, 1 << 20, 100 } };
	assert_int_equal(RUN(peer, op_putfh(file), op), NFS4_OK);
	assert_true(peer_res(peer, 1)->u.opread_plus.u.rp_resok4.rpr_eof);
	assert_int_equal(peer_res(peer, 1)->u.opread_plus.u.rp_resok4.rpr_contents.values[0].rpc_content,
		NFS4_CONTENT_DATA);
	op = (nfs_argop4){ .argop = OP_ALLOCATE, .u.opallocate = { stateid, 0, 0 } };
	assert_int_equal(RUN(peer, op_putfh(file), op), NFS4ERR_INVAL);
}

/* 18.10.3 */
static void
a_lock_to_read_becomes_one_to_write_after_an_upgrade(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	stateid4 open;

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "m", RW, 0, true), op_close(&stateid_current)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, false),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	open = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_lock(&open, "l", WRITE_LT, 0, 10)), NFS4_OK);
}

/* A lock-owner may lock by opens of several open-owners. */
static void
a_lock_owner_locks_by_two_opens(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "m", RW, 0, true), op_close(&stateid_current)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, false),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "p", RW, 0, false),
				 op_lock(&stateid_current, "l", WRITE_LT, 0, 10)),
		NFS4_OK);
}

/* When a LOCK to write needs a new open of the storage, the earlier locks of the lock-owner are there by the
 * new open, and by no other: LOCKU removes all of them. */
static void
earlier_locks_stay_when_a_lock_owner_begins_to_write(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 op, locku;
	stateid4 open;

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "m", RW, 0, true), op_close(&stateid_current)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, false),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	open = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_lock(&open, "l", READ_LT, 20, 10)), NFS4_OK);
	op = op_lock(&open, "l", WRITE_LT, 5, 20);
	op.u.oplock.locker = (locker4){ false,
		{ .lock_owner = { .lock_stateid = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid } } };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_OPENMODE);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	assert_int_equal(locked_locally(world, "file", 4), F_RDLCK);
	assert_int_equal(locked_locally(world, "file", 5), F_WRLCK);
	assert_int_equal(locked_locally(world, "file", 24), F_WRLCK);
	assert_int_equal(locked_locally(world, "file", 25), F_RDLCK);
	assert_int_equal(locked_locally(world, "file", 30), F_UNLCK);
	locku = (nfs_argop4){ .argop = OP_LOCKU,
		.u.oplocku = {
			WRITE_LT, 0, peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid, 0, UINT64_MAX } };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), locku), NFS4_OK);
	for (off_t octet = 0; octet < 40; octet++)
		assert_int_equal(locked_locally(world, "file", octet), F_UNLCK);
}

static void
keep_line(void *ctx, enum rr_log_level level, const char *line)
{
	(void)level;
	snprintf(ctx, 200, "%s", line);
}

/* An export for which the pseudo root has no room leaves no directories there, and the log says why. */
static void
an_export_without_room_leaves_nothing(void **state)
{
	enum { FEW = RR_PSEUDO_MAX - 2 };
	static char names[FEW][8], line[200];
	static struct rr_vfs_export exports[FEW + 2];
	const struct rr_vfs vfs = { .exports = exports, .export_count = FEW + 2 };
	struct rr_env env = rr_env_system;
	struct rr_pseudo pseudo;
	struct rr_text text;

	(void)state;
	/* With the root and these exports, there is room for one more. */
	for (int i = 0; i < FEW; i++) {
		snprintf(names[i], sizeof(names[i]), "/%d", i);
		exports[i].name = names[i];
	}
	exports[FEW].name = "/x/y";
	exports[FEW + 1].name = "/z";
	env.log = keep_line;
	env.ctx = line;
	assert_int_equal(rr_pseudo_init(&pseudo, &env, &vfs, vfs.export_count, &text), 0);
	assert_int_equal(rr_pseudo_lookup(&pseudo, 0, text_bytes("x")), pseudo.count);
	assert_int_not_equal(rr_pseudo_of_export(&pseudo, FEW + 1), 0);
	assert_non_null(strstr(line, "/x/y: "));
	assert_non_null(strstr(line, "too many"));
	rr_pseudo_free(&pseudo);
}

/* exports(5), of fsid=0: "the directory is the root of all exported filesystems", as in files that make
 * directories below it from the places where the data lies. */
static void
exports_below_the_root_have_the_rest_of_their_names(void **state)
{
	const struct rr_vfs_export exports[] = { { "/export" }, { "/export/home" }, { "/exported" } };
	struct rr_vfs vfs = { .exports = exports, .export_count = 3 };
	struct rr_pseudo pseudo;
	struct rr_text text;

	(void)state;
	assert_int_equal(rr_pseudo_init(&pseudo, &rr_env_system, &vfs, 0, &text), 0);
	assert_false(pseudo.is_empty);
	assert_int_equal(rr_pseudo_lookup(&pseudo, 0, text_bytes("home")), rr_pseudo_of_export(&pseudo, 1));
	assert_int_equal(
		rr_pseudo_lookup(&pseudo, 0, text_bytes("exported")), rr_pseudo_of_export(&pseudo, 2));
	assert_int_equal(rr_pseudo_lookup(&pseudo, 0, text_bytes("export")), pseudo.count);
	rr_pseudo_free(&pseudo);
	vfs.export_count = 1;
	assert_int_equal(rr_pseudo_init(&pseudo, &rr_env_system, &vfs, 0, &text), 0);
	assert_true(pseudo.is_empty);
	assert_int_equal(pseudo.root_export, 0);
	rr_pseudo_free(&pseudo);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_made_written_and_read),
		TEST(an_open_allows_what_it_was_made_for),
		TEST(the_current_stateid_stands_for_the_last_one),
		TEST(byte_ranges_are_locked_between_clients),
		TEST(a_refused_lock_leaves_the_storage_as_it_was),
		TEST(a_lock_to_read_becomes_one_to_write_after_an_upgrade),
		TEST(a_lock_owner_locks_by_two_opens),
		TEST(earlier_locks_stay_when_a_lock_owner_begins_to_write),
		TEST(names_are_checked),
		cmocka_unit_test_setup_teardown(
			several_exports_have_one_root, world_setup_two_exports, world_teardown),
		TEST(secinfo_consumes_the_filehandle),
		TEST(space_and_holes),
		cmocka_unit_test(an_export_without_room_leaves_nothing),
		cmocka_unit_test(exports_below_the_root_have_the_rest_of_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
