/* SPDX-License-Identifier: BSD-3-Clause */
/* Edge cases of the operations of RFC 7862 (section 15) and RFC 8276 (section 8.4), on storage in memory. */
#include "world.h"

#include <string.h>

enum { RW = OPEN4_SHARE_ACCESS_BOTH, R = OPEN4_SHARE_ACCESS_READ };

struct file {
	uint8_t data[NFS4_FHSIZE];
	struct rpcrdma_bytes handle;
	stateid4 stateid;
};

static void
open_file(struct peer *peer, const char *name, uint32_t access, struct file *file)
{
	struct rpcrdma_bytes handle;

	assert_int_equal(
		RUN(peer, op_root(), op_open(name, name, access, 0, true), op_plain(OP_GETFH)), NFS4_OK);
	file->stateid = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	handle = peer_res(peer, 2)->u.opgetfh.u.resok4.object;
	memcpy(file->data, handle.data, handle.length);
	file->handle = (struct rpcrdma_bytes){ file->data, handle.length };
}

static nfs_argop4
op_space(nfs_opnum4 number, const stateid4 *stateid, uint64_t offset, uint64_t length)
{
	return (nfs_argop4){ .argop = number, .u.opallocate = { *stateid, offset, length } };
}

static nfs_argop4
op_seek(const stateid4 *stateid, uint64_t offset, data_content4 what)
{
	return (nfs_argop4){ .argop = OP_SEEK, .u.opseek = { *stateid, offset, what } };
}

/* 15.1.3, 15.4.3 */
static void
space_is_of_regular_files_open_for_writing(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	static const nfs_opnum4 numbers[] = { OP_ALLOCATE, OP_DEALLOCATE };
	struct file file, read;
	nfs_argop4 get = { .argop = OP_GETATTR };
	uint32_t words = UINT32_C(1) << FATTR4_SIZE;

	get.u.opgetattr.attr_request.count = 1;
	get.u.opgetattr.attr_request.values = &words;
	open_file(peer, "file", RW, &file);
	open_file(peer, "read", R, &read);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(RUN(peer, op_root(), op_space(numbers[i], &stateid_anonymous, 0, 1)),
			NFS4ERR_WRONG_TYPE);
		assert_int_equal(RUN(peer, op_putfh(file.handle), op_space(numbers[i], &file.stateid, 0, 0)),
			NFS4ERR_INVAL);
		assert_int_equal(RUN(peer, op_putfh(file.handle), op_space(numbers[i], &read.stateid, 0, 1)),
			NFS4ERR_BAD_STATEID);
		assert_int_equal(RUN(peer, op_putfh(read.handle), op_space(numbers[i], &read.stateid, 0, 1)),
			NFS4ERR_OPENMODE);
		assert_int_equal(
			RUN(peer, op_putfh(file.handle), op_space(numbers[i], &stateid_anonymous, 0, 1)),
			NFS4_OK);
	}
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_space(OP_ALLOCATE, &file.stateid, 100, 28), get),
		NFS4_OK);
	assert_int_equal(
		((const uint8_t *)peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes.attr_vals.data)[7],
		128);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_write(&file.stateid, 0, "text")), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_space(OP_DEALLOCATE, &file.stateid, 1, 1000),
				 op_read(&file.stateid, 0, 4), get),
		NFS4_OK);
	assert_memory_equal(peer_res(peer, 2)->u.opread.u.resok4.data.data, "t\0\0\0", 4);
	assert_int_equal(
		((const uint8_t *)peer_res(peer, 3)->u.opgetattr.u.resok4.obj_attributes.attr_vals.data)[7],
		128);
}

/* 15.11.3 */
static void
holes_are_found(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	struct file file;

	open_file(peer, "file", RW, &file);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_seek(&file.stateid, 0, NFS4_CONTENT_HOLE)), NFS4ERR_NXIO);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_write(&file.stateid, 0, "data")), NFS4_OK);
	/* "All files MUST have a virtual hole at the end of the file." */
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_seek(&file.stateid, 0, NFS4_CONTENT_HOLE)), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opseek.u.resok4.sr_offset, 4);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_seek(&file.stateid, 0, NFS4_CONTENT_DATA)), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opseek.u.resok4.sr_offset, 0);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_seek(&file.stateid, 5, NFS4_CONTENT_DATA)), NFS4ERR_NXIO);
	assert_int_equal(
		RUN(peer, op_root(), op_seek(&stateid_anonymous, 0, NFS4_CONTENT_DATA)), NFS4ERR_ISDIR);
}

static nfs_argop4
op_copy(const struct file *from, const struct file *to, uint64_t offset, uint64_t count)
{
	return (nfs_argop4){ .argop = OP_COPY,
		.u.opcopy = { from->stateid, to->stateid, offset, 0, count, true, true, { 0, NULL } } };
}

static nfs_argop4
op_clone(const struct file *from, const struct file *to, uint64_t offset, uint64_t count)
{
	return (nfs_argop4){ .argop = OP_CLONE,
		.u.opclone = { from->stateid, to->stateid, offset, 0, count } };
}

#define COPY_RUN(peer, from, to, op)                                                                         \
	RUN(peer, op_putfh((from)->handle), op_plain(OP_SAVEFH), op_putfh((to)->handle), op)

/* 15.2.3, 15.13.3 */
static void
files_are_copied_within_the_server(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 save = op_plain(OP_SAVEFH);
	struct file from, to, bad;
	nfs_argop4 op;

	open_file(peer, "from", RW, &from);
	open_file(peer, "to", RW, &to);
	assert_int_equal(RUN(peer, op_putfh(from.handle), op_write(&from.stateid, 0, "0123456789")), NFS4_OK);
	assert_int_equal(COPY_RUN(peer, &from, &to, op_copy(&from, &to, 0, 0)), NFS4_OK);
	assert_int_equal(peer_res(peer, 3)->u.opcopy.u.cr_resok4.cr_response.wr_count, 10);
	assert_true(peer_res(peer, 3)->u.opcopy.u.cr_resok4.cr_requirements.cr_synchronous);
	assert_int_equal(COPY_RUN(peer, &from, &to, op_copy(&from, &to, 4, 6)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(to.handle), op_read(&to.stateid, 0, 100)), NFS4_OK);
	assert_memory_equal(peer_res(peer, 1)->u.opread.u.resok4.data.data, "4567896789", 10);
	assert_int_equal(COPY_RUN(peer, &from, &to, op_copy(&from, &to, 11, 0)), NFS4ERR_INVAL);
	assert_int_equal(COPY_RUN(peer, &from, &to, op_copy(&from, &to, 5, 6)), NFS4ERR_INVAL);
	assert_int_equal(COPY_RUN(peer, &from, &from, op_copy(&from, &from, 0, 1)), NFS4ERR_INVAL);
	assert_int_equal(COPY_RUN(peer, &from, &to, op_clone(&from, &to, 11, 0)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), save, op_putfh(to.handle), op_copy(&from, &to, 0, 1)),
		NFS4ERR_WRONG_TYPE);
	assert_int_equal(RUN(peer, op_putfh(from.handle), save, op_root(), op_copy(&from, &to, 0, 1)),
		NFS4ERR_WRONG_TYPE);
	assert_int_equal(RUN(peer, op_root(), save, op_putfh(to.handle), op_clone(&from, &to, 0, 1)),
		NFS4ERR_WRONG_TYPE);
	assert_int_equal(RUN(peer, op_putfh(to.handle), op_copy(&from, &to, 0, 1)), NFS4ERR_NOFILEHANDLE);
	bad = from;
	memset(bad.stateid.other, 0x5a, sizeof(bad.stateid.other));
	assert_int_equal(COPY_RUN(peer, &from, &to, op_copy(&bad, &to, 0, 1024)), NFS4ERR_BAD_STATEID);
	assert_int_equal(COPY_RUN(peer, &from, &to, op_copy(&from, &bad, 0, 1024)), NFS4ERR_BAD_STATEID);
	op = op_copy(&from, &to, 0, 1);
	op.u.opcopy.ca_source_server.count = 1;
	op.u.opcopy.ca_source_server.values = &(netloc4){ NL4_NAME, { .nl_name = text_bytes("elsewhere") } };
	assert_int_equal(COPY_RUN(peer, &from, &to, op), NFS4ERR_NOTSUPP);
}

static nfs_argop4
op_setxattr(setxattr_option4 how, const char *name, const char *value)
{
	return (nfs_argop4){ .argop = OP_SETXATTR,
		.u.opsetxattr = { how, text_bytes(name), text_bytes(value) } };
}

/* 15.11.3: the stateid is as for READ_PLUS. RFC 8881, 9.1.2, lets a server allow READ on an open for writing,
 * and lseek(2) works on such a descriptor. */
static void
data_is_looked_for_by_an_open_for_writing(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	struct file file;

	open_file(peer, "file", OPEN4_SHARE_ACCESS_WRITE, &file);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_write(&file.stateid, 0, "text")), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_seek(&file.stateid, 1, NFS4_CONTENT_DATA)), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opseek.u.resok4.sr_offset, 1);
}

static nfs_argop4
op_xattr(nfs_opnum4 number, const char *name)
{
	return (nfs_argop4){ .argop = number, .u.opgetxattr.gxa_name = text_bytes(name) };
}

/* Linux lists the extended attributes of every object, and takes NFS4ERR_WRONG_TYPE for an I/O error. */
static void
what_has_no_extended_attributes_lists_none(void **state)
{
	static const char *const names[] = { "link", "fifo", "sock" };
	struct peer *peer = world_kinds(*state);
	const nfs_argop4 list = { .argop = OP_LISTXATTRS, .u.oplistxattrs = { 0, 4096 } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(RUN(peer, op_root(), op_lookup(names[i]), list), NFS4_OK);
		assert_int_equal(peer_res(peer, 2)->u.oplistxattrs.u.lxr_value.lxr_names.count, 0);
		assert_true(peer_res(peer, 2)->u.oplistxattrs.u.lxr_value.lxr_eof);
	}
}

/* RFC 8276, 8.4 */
static void
extended_attributes_are_kept(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 list = { .argop = OP_LISTXATTRS, .u.oplistxattrs = { 0, 4096 } };
	const LISTXATTRS4resok *ok;
	struct file file;
	change_info4 info;

	open_file(peer, "file", RW, &file);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_xattr(OP_GETXATTR, "a")), NFS4ERR_NOXATTR);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_xattr(OP_REMOVEXATTR, "a")), NFS4ERR_NOXATTR);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_REPLACE, "a", "v")), NFS4ERR_NOXATTR);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_CREATE, "a", "v")), NFS4_OK);
	info = peer_res(peer, 1)->u.opsetxattr.u.sxr_info;
	assert_true(info.before != info.after);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_CREATE, "a", "v")), NFS4ERR_EXIST);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_EITHER, "a", "value")), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_xattr(OP_GETXATTR, "a")), NFS4_OK);
	assert_memory_equal(peer_res(peer, 1)->u.opgetxattr.u.gxr_value.data, "value", 5);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_EITHER, "", "v")), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_EITHER, "bb", "")), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file.handle), list), NFS4_OK);
	ok = &peer_res(peer, 1)->u.oplistxattrs.u.lxr_value;
	assert_int_equal(ok->lxr_names.count, 2);
	assert_true(ok->lxr_eof);
	list.u.oplistxattrs.lxa_maxcount = 26;
	assert_int_equal(RUN(peer, op_putfh(file.handle), list), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.oplistxattrs.u.lxr_value.lxr_names.count, 1);
	assert_false(peer_res(peer, 1)->u.oplistxattrs.u.lxr_value.lxr_eof);
	list.u.oplistxattrs.lxa_cookie = peer_res(peer, 1)->u.oplistxattrs.u.lxr_value.lxr_cookie;
	assert_int_equal(RUN(peer, op_putfh(file.handle), list), NFS4_OK);
	assert_true(peer_res(peer, 1)->u.oplistxattrs.u.lxr_value.lxr_eof);
	list.u.oplistxattrs = (LISTXATTRS4args){ 0, 18 };
	assert_int_equal(RUN(peer, op_putfh(file.handle), list), NFS4ERR_TOOSMALL);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_xattr(OP_REMOVEXATTR, "a")), NFS4_OK);
	peer->minor = 1;
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_xattr(OP_GETXATTR, "bb")), NFS4ERR_OP_ILLEGAL);
}

/* Tells whether the value of GETXATTR, or the data of READ_PLUS, has `octet` throughout. */
static bool
is_all(struct rpcrdma_bytes bytes, uint8_t octet)
{
	for (uint32_t i = 0; i < bytes.length; i++) {
		if (((const uint8_t *)bytes.data)[i] != octet)
			return false;
	}
	return true;
}

enum { LARGE = 24 << 10 };

static nfs_argop4
op_read_plus(const struct file *file)
{
	return (nfs_argop4){ .argop = OP_READ_PLUS, .u.opread_plus = { file->stateid, 0, LARGE } };
}

/* Makes a file with LARGE octets 'x' and opens it. */
static void
open_large_file(struct peer *peer, struct file *file)
{
	static char text[LARGE + 1];

	memset(text, 'x', LARGE);
	open_file(peer, "file", RW, file);
	assert_int_equal(RUN(peer, op_putfh(file->handle), op_write(&file->stateid, 0, text)), NFS4_OK);
}

/* An operation behind large results has less memory, but nothing of it is overwritten while it is read. */
static void
a_second_large_answer_has_its_data(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	struct file file;

	open_large_file(peer, &file);
	assert_int_equal(RUN(peer, op_putfh(file.handle), op_read_plus(&file), op_read_plus(&file)), NFS4_OK);
	for (uint32_t i = 1; i <= 2; i++) {
		const read_plus_res4 *ok = &peer_res(peer, i)->u.opread_plus.u.rp_resok4;

		assert_int_equal(ok->rpr_contents.count, 1);
		assert_true(ok->rpr_contents.values[0].u.rpc_data.d_data.length > 0);
		assert_true(is_all(ok->rpr_contents.values[0].u.rpc_data.d_data, 'x'));
	}
}

/* A value that does not fit behind the other results is refused; it is never a part, nor other octets. */
static void
a_value_behind_a_large_answer_is_whole_or_refused(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	static char value[LARGE + 1];
	struct file file;
	nfs_argop4 get = op_xattr(OP_GETXATTR, "a");
	nfsstat4 status;

	memset(value, 'v', LARGE);
	open_large_file(peer, &file);
	assert_int_equal(
		RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_CREATE, "a", value)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file.handle), get), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opgetxattr.u.gxr_value.length, LARGE);
	status = RUN(peer, op_putfh(file.handle), op_read_plus(&file), get);
	if (status == NFS4ERR_REP_TOO_BIG)
		return;
	assert_int_equal(status, NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opgetxattr.u.gxr_value.length, LARGE);
	assert_true(is_all(peer_res(peer, 2)->u.opgetxattr.u.gxr_value, 'v'));
}

/* Names behind results of any size are those of the file: the list ends where the memory does. */
static void
names_behind_a_large_answer_are_right(void **state)
{
	enum { NAMES = 90, NAME = 240 };
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 list = { .argop = OP_LISTXATTRS, .u.oplistxattrs = { 0, 1 << 16 } };
	struct file file;
	char name[NAME + 1] = { 0 };

	memset(name, 'n', NAME);
	open_large_file(peer, &file);
	for (int i = 0; i < NAMES; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		assert_int_equal(
			RUN(peer, op_putfh(file.handle), op_setxattr(SETXATTR4_CREATE, name, "")), NFS4_OK);
	}
	for (uint32_t large = 0; large <= LARGE; large += 1024) {
		nfs_argop4 plus = op_read_plus(&file);
		const LISTXATTRS4resok *ok;

		plus.u.opread_plus.rpa_count = large;
		assert_int_equal(RUN(peer, op_putfh(file.handle), plus, list), NFS4_OK);
		ok = &peer_res(peer, 2)->u.oplistxattrs.u.lxr_value;
		assert_true(ok->lxr_names.count > 0);
		for (uint32_t i = 0; i < ok->lxr_names.count; i++) {
			const struct rpcrdma_bytes *got = &ok->lxr_names.values[i];

			assert_int_equal(got->length, NAME);
			assert_true(
				is_all((struct rpcrdma_bytes){ (const char *)got->data + 2, NAME - 2 }, 'n'));
		}
	}
}

/* 15.5.3 */
static void
advice_is_taken_without_an_error(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	uint32_t hints = 0x7fff;
	nfs_argop4 op = { .argop = OP_IO_ADVISE };
	struct file file;

	open_file(peer, "file", RW, &file);
	op.u.opio_advise = (IO_ADVISE4args){ file.stateid, 0, 100, { 1, &hints } };
	assert_int_equal(RUN(peer, op_putfh(file.handle), op), NFS4_OK);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_memory, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(space_is_of_regular_files_open_for_writing),
		TEST(data_is_looked_for_by_an_open_for_writing),
		TEST(what_has_no_extended_attributes_lists_none),
		TEST(holes_are_found),
		TEST(files_are_copied_within_the_server),
		TEST(extended_attributes_are_kept),
		TEST(a_second_large_answer_has_its_data),
		TEST(a_value_behind_a_large_answer_is_whole_or_refused),
		TEST(names_behind_a_large_answer_are_right),
		TEST(advice_is_taken_without_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
