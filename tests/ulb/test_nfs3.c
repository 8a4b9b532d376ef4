/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of NFS version 3 (RFC 1813), as ulb/nfs3.x describes them. */
#include "codecs.h"
#include "ulb/nfs3.h"

#define BYTES(text)                                                                                          \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}
#define HANDLE                                                                                               \
	{                                                                                                    \
		BYTES("64 octets are the largest file handle that this version can have")                    \
	}
#define WHERE                                                                                                \
	{                                                                                                    \
		HANDLE, BYTES("name")                                                                        \
	}
#define ATTRIBUTES                                                                                           \
	{                                                                                                    \
		NF3REG, 0644, 1, 1000, 100, 5, 4096, { 8, 1 }, 77, 42, { 1, 2 }, { 3, 4 },                   \
		{                                                                                            \
			5, 6                                                                                 \
		}                                                                                            \
	}
#define AFTER                                                                                                \
	{                                                                                                    \
		true,                                                                                        \
		{                                                                                            \
			ATTRIBUTES                                                                           \
		}                                                                                            \
	}
#define WCC                                                                                                  \
	{                                                                                                    \
		{ true, { { 5, { 3, 4 }, { 5, 6 } } } }, AFTER                                               \
	}
#define NEW_HANDLE                                                                                           \
	{                                                                                                    \
		true,                                                                                        \
		{                                                                                            \
			HANDLE                                                                               \
		}                                                                                            \
	}
#define SETTABLE                                                                                             \
	{                                                                                                    \
		{ true, { 0600 } }, { true, { 1 } }, { true, { 2 } }, { true, { 3 } },                       \
			{ SET_TO_CLIENT_TIME, { { 4, 5 } } },                                                \
		{                                                                                            \
			SET_TO_CLIENT_TIME,                                                                  \
			{                                                                                    \
				{                                                                            \
					6, 7                                                                 \
				}                                                                            \
			}                                                                                    \
		}                                                                                            \
	}

static const struct rpcrdma_procedure *
procedure(uint32_t number)
{
	assert_true(number < NFS_V3_program.procedure_count);
	return &NFS_V3_program.procedures[number];
}

/* Checks a message with all optional data; octets: its size by hand from the RFC. */
static void
args_take(uint32_t number, const void *args, size_t octets)
{
	assert_int_equal(rr_round_trip(rr_args_codec(procedure(number)), args), octets);
}

static void
result_takes(uint32_t number, const void *result, size_t octets)
{
	assert_int_equal(rr_round_trip(rr_result_codec(procedure(number)), result), octets);
}

/* Checks that a message with all its data is as large as the bound of its size. */
static void
result_is_largest(uint32_t number, const void *result, size_t octets)
{
	result_takes(number, result, octets);
	assert_int_equal(procedure(number)->result_max, octets);
}

static void
args_are_largest(uint32_t number, const void *args, size_t octets)
{
	args_take(number, args, octets);
	assert_int_equal(procedure(number)->args_max, octets);
}

static void
the_program_has_22_procedures(void **state)
{
	(void)state;
	assert_string_equal(NFS_V3_program.name, "NFS_V3");
	assert_int_equal(NFS_V3_program.prog, 100003);
	assert_int_equal(NFS_V3_program.vers, 3);
	assert_int_equal(NFS_V3_program.procedure_count, 22);
	assert_null(procedure(NFSPROC3_NULL)->get_args);
	assert_null(procedure(NFSPROC3_NULL)->put_result);
}

/* RFC 1813, section 2.5: "Note that the precise enum encoding must be followed." */
static void
numbers_are_those_of_the_rfc(void **state)
{
	(void)state;
	assert_int_equal(NF3REG, 1);
	assert_int_equal(NF3DIR, 2);
	assert_int_equal(NF3BLK, 3);
	assert_int_equal(NF3CHR, 4);
	assert_int_equal(NF3LNK, 5);
	assert_int_equal(NF3SOCK, 6);
	assert_int_equal(NF3FIFO, 7);
	assert_int_equal(DONT_CHANGE, 0);
	assert_int_equal(SET_TO_SERVER_TIME, 1);
	assert_int_equal(SET_TO_CLIENT_TIME, 2);
	assert_int_equal(UNSTABLE, 0);
	assert_int_equal(DATA_SYNC, 1);
	assert_int_equal(FILE_SYNC, 2);
	assert_int_equal(UNCHECKED, 0);
	assert_int_equal(GUARDED, 1);
	assert_int_equal(EXCLUSIVE, 2);
	assert_int_equal(ACCESS3_READ, 1);
	assert_int_equal(ACCESS3_LOOKUP, 2);
	assert_int_equal(ACCESS3_MODIFY, 4);
	assert_int_equal(ACCESS3_EXTEND, 8);
	assert_int_equal(ACCESS3_DELETE, 16);
	assert_int_equal(ACCESS3_EXECUTE, 32);
	assert_int_equal(FSF3_LINK, 1);
	assert_int_equal(FSF3_SYMLINK, 2);
	assert_int_equal(FSF3_HOMOGENEOUS, 8);
	assert_int_equal(FSF3_CANSETTIME, 16);
}

/* RFC 1813, section 2.5: the values of nfsstat3, in their order there. */
static void
statuses_are_those_of_the_rfc(void **state)
{
	static const nfsstat3 statuses[] = { NFS3_OK, NFS3ERR_PERM, NFS3ERR_NOENT, NFS3ERR_IO, NFS3ERR_NXIO,
		NFS3ERR_ACCES, NFS3ERR_EXIST, NFS3ERR_XDEV, NFS3ERR_NODEV, NFS3ERR_NOTDIR, NFS3ERR_ISDIR,
		NFS3ERR_INVAL, NFS3ERR_FBIG, NFS3ERR_NOSPC, NFS3ERR_ROFS, NFS3ERR_MLINK, NFS3ERR_NAMETOOLONG,
		NFS3ERR_NOTEMPTY, NFS3ERR_DQUOT, NFS3ERR_STALE, NFS3ERR_REMOTE, NFS3ERR_BADHANDLE,
		NFS3ERR_NOT_SYNC, NFS3ERR_BAD_COOKIE, NFS3ERR_NOTSUPP, NFS3ERR_TOOSMALL, NFS3ERR_SERVERFAULT,
		NFS3ERR_BADTYPE, NFS3ERR_JUKEBOX };
	static const int numbers[] = { 0, 1, 2, 5, 6, 13, 17, 18, 19, 20, 21, 22, 27, 28, 30, 31, 63, 66, 69,
		70, 71, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008 };

	(void)state;
	assert_int_equal(sizeof(statuses) / sizeof(*statuses), sizeof(numbers) / sizeof(*numbers));
	for (size_t index = 0; index < sizeof(numbers) / sizeof(*numbers); index++)
		assert_int_equal(statuses[index], numbers[index]);
}

static void
procedures_have_the_numbers_of_the_rfc(void **state)
{
	static const char *const names[] = { "NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK",
		"READ", "WRITE", "CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK",
		"READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT" };

	(void)state;
	for (uint32_t number = 0; number < 22; number++)
		assert_string_equal(procedure(number)->name + strlen("NFSPROC3_"), names[number]);
}

static void
getattr_and_setattr(void **state)
{
	const GETATTR3args getattr = { HANDLE };
	const GETATTR3res attributes = { NFS3_OK, { { ATTRIBUTES } } }, stale = { .status = NFS3ERR_STALE };
	const SETATTR3args setattr = { HANDLE, SETTABLE, { true, { { 5, 6 } } } };
	const SETATTR3res set = { NFS3_OK, { .resok = { WCC } } },
			  failed = { NFS3ERR_NOT_SYNC, { .resfail = { WCC } } };

	(void)state;
	args_are_largest(NFSPROC3_GETATTR, &getattr, 68);
	result_is_largest(NFSPROC3_GETATTR, &attributes, 88);
	result_takes(NFSPROC3_GETATTR, &stale, 4);
	args_are_largest(NFSPROC3_SETATTR, &setattr, 68 + 8 + 8 + 8 + 12 + 12 + 12 + 12);
	result_is_largest(NFSPROC3_SETATTR, &set, 4 + 28 + 88);
	result_takes(NFSPROC3_SETATTR, &failed, 4 + 28 + 88);
}

static void
lookup_access_and_readlink(void **state)
{
	const LOOKUP3args lookup = { WHERE };
	const LOOKUP3res found = { NFS3_OK, { .resok = { HANDLE, AFTER, AFTER } } };
	const LOOKUP3res absent = { NFS3ERR_NOENT, { .resfail = { AFTER } } };
	const ACCESS3args access = { HANDLE, ACCESS3_READ | ACCESS3_EXECUTE };
	const ACCESS3res granted = { NFS3_OK, { .resok = { AFTER, ACCESS3_READ } } };
	const READLINK3args readlink = { HANDLE };
	const READLINK3res target = { NFS3_OK, { .resok = { AFTER, BYTES("../there") } } };

	(void)state;
	args_take(NFSPROC3_LOOKUP, &lookup, 68 + 8);
	result_is_largest(NFSPROC3_LOOKUP, &found, 4 + 68 + 88 + 88);
	result_takes(NFSPROC3_LOOKUP, &absent, 4 + 88);
	args_are_largest(NFSPROC3_ACCESS, &access, 72);
	result_is_largest(NFSPROC3_ACCESS, &granted, 4 + 88 + 4);
	args_are_largest(NFSPROC3_READLINK, &readlink, 68);
	result_takes(NFSPROC3_READLINK, &target, 4 + 88 + 4 + 8);
}

static void
read_write_and_commit(void **state)
{
	const READ3args read = { HANDLE, 1u << 31, 65536 };
	const READ3res data = { NFS3_OK, { .resok = { AFTER, 5, true, BYTES("hello") } } };
	const READ3res failed = { NFS3ERR_IO, { .resfail = { AFTER } } };
	const WRITE3args write = { HANDLE, 0, 5, FILE_SYNC, BYTES("hello") };
	const WRITE3res written = { NFS3_OK, { .resok = { WCC, 5, FILE_SYNC, "verifier" } } };
	const COMMIT3args commit = { HANDLE, 0, 0 };
	const COMMIT3res committed = { NFS3_OK, { .resok = { WCC, "verifier" } } };

	(void)state;
	args_are_largest(NFSPROC3_READ, &read, 68 + 8 + 4);
	result_takes(NFSPROC3_READ, &data, 4 + 88 + 4 + 4 + 4 + 8);
	result_takes(NFSPROC3_READ, &failed, 4 + 88);
	args_take(NFSPROC3_WRITE, &write, 68 + 8 + 4 + 4 + 4 + 8);
	result_is_largest(NFSPROC3_WRITE, &written, 4 + 116 + 4 + 4 + 8);
	args_are_largest(NFSPROC3_COMMIT, &commit, 80);
	result_is_largest(NFSPROC3_COMMIT, &committed, 4 + 116 + 8);
}

static void
create_mkdir_symlink_and_mknod(void **state)
{
	const CREATE3args unchecked = { WHERE, { UNCHECKED, { .obj_attributes = SETTABLE } } };
	const CREATE3args exclusive = { WHERE, { EXCLUSIVE, { .verf = "verifier" } } };
	const CREATE3res created = { NFS3_OK, { .resok = { NEW_HANDLE, AFTER, WCC } } };
	const CREATE3res exists = { NFS3ERR_EXIST, { .resfail = { WCC } } };
	const MKDIR3args mkdir = { WHERE, SETTABLE };
	const MKDIR3res made = { NFS3_OK, { .resok = { NEW_HANDLE, AFTER, WCC } } };
	const SYMLINK3args symlink = { WHERE, { SETTABLE, BYTES("to") } };
	const SYMLINK3res linked = { NFS3_OK, { .resok = { NEW_HANDLE, AFTER, WCC } } };
	const MKNOD3args device = { WHERE, { NF3CHR, { .device = { SETTABLE, { 1, 3 } } } } };
	const MKNOD3args fifo = { WHERE, { NF3FIFO, { .pipe_attributes = SETTABLE } } };
	const MKNOD3args wrong = { WHERE, { .type = NF3REG } };
	const MKNOD3res node = { NFS3_OK, { .resok = { NEW_HANDLE, AFTER, WCC } } };

	(void)state;
	args_take(NFSPROC3_CREATE, &unchecked, 76 + 4 + 60);
	args_take(NFSPROC3_CREATE, &exclusive, 76 + 4 + 8);
	result_is_largest(NFSPROC3_CREATE, &created, 4 + 72 + 88 + 116);
	result_takes(NFSPROC3_CREATE, &exists, 4 + 116);
	args_take(NFSPROC3_MKDIR, &mkdir, 76 + 60);
	result_is_largest(NFSPROC3_MKDIR, &made, 280);
	args_take(NFSPROC3_SYMLINK, &symlink, 76 + 60 + 8);
	result_is_largest(NFSPROC3_SYMLINK, &linked, 280);
	args_take(NFSPROC3_MKNOD, &device, 76 + 4 + 60 + 8);
	args_take(NFSPROC3_MKNOD, &fifo, 76 + 4 + 60);
	args_take(NFSPROC3_MKNOD, &wrong, 76 + 4);
	result_is_largest(NFSPROC3_MKNOD, &node, 280);
}

static void
remove_rmdir_rename_and_link(void **state)
{
	const REMOVE3args remove = { WHERE };
	const REMOVE3res removed = { NFS3_OK, { .resok = { WCC } } };
	const RMDIR3args rmdir = { WHERE };
	const RMDIR3res not_empty = { NFS3ERR_NOTEMPTY, { .resfail = { WCC } } };
	const RENAME3args rename = { WHERE, WHERE };
	const RENAME3res renamed = { NFS3_OK, { .resok = { WCC, WCC } } };
	const LINK3args link = { HANDLE, WHERE };
	const LINK3res linked = { NFS3_OK, { .resok = { AFTER, WCC } } };

	(void)state;
	args_take(NFSPROC3_REMOVE, &remove, 76);
	result_is_largest(NFSPROC3_REMOVE, &removed, 120);
	args_take(NFSPROC3_RMDIR, &rmdir, 76);
	result_is_largest(NFSPROC3_RMDIR, &not_empty, 120);
	args_take(NFSPROC3_RENAME, &rename, 152);
	result_is_largest(NFSPROC3_RENAME, &renamed, 4 + 116 + 116);
	args_take(NFSPROC3_LINK, &link, 68 + 76);
	result_is_largest(NFSPROC3_LINK, &linked, 4 + 88 + 116);
}

static void
readdir_and_readdirplus(void **state)
{
	entry3 last = { 2, BYTES(".."), 2, NULL }, first = { 1, BYTES("."), 1, &last };
	entryplus3 bare = { 2, BYTES("x"), 2, { false, { { 0 } } }, { false, { { { 0 } } } }, NULL };
	entryplus3 full = { 1, BYTES("file"), 1, AFTER, NEW_HANDLE, &bare };
	const READDIR3args readdir = { HANDLE, 5, "verifier", 4096 };
	const READDIR3res entries = { NFS3_OK, { .resok = { AFTER, "verifier", { &first, true } } } };
	const READDIR3res none = { NFS3_OK, { .resok = { AFTER, "verifier", { NULL, true } } } };
	const READDIRPLUS3args readdirplus = { HANDLE, 5, "verifier", 4096, 32768 };
	const READDIRPLUS3res entriesplus = { NFS3_OK, { .resok = { AFTER, "verifier", { &full, false } } } };

	(void)state;
	args_are_largest(NFSPROC3_READDIR, &readdir, 68 + 8 + 8 + 4);
	result_takes(NFSPROC3_READDIR, &entries, 4 + 88 + 8 + 2 * (4 + 8 + 8 + 8) + 4 + 4);
	result_takes(NFSPROC3_READDIR, &none, 4 + 88 + 8 + 4 + 4);
	assert_int_equal(procedure(NFSPROC3_READDIR)->result_max, RPCRDMA_XDR_UNBOUNDED);
	args_are_largest(NFSPROC3_READDIRPLUS, &readdirplus, 92);
	result_takes(NFSPROC3_READDIRPLUS, &entriesplus,
		4 + 88 + 8 + (4 + 8 + 8 + 8 + 88 + 72) + (4 + 8 + 8 + 8 + 4 + 4) + 4 + 4);
}

static void
fsstat_fsinfo_and_pathconf(void **state)
{
	const FSSTAT3args fsstat = { HANDLE };
	const FSSTAT3res space = { NFS3_OK, { .resok = { AFTER, 1, 2, 3, 4, 5, 6, 7 } } };
	const FSINFO3args fsinfo = { HANDLE };
	const FSINFO3res limits = { NFS3_OK,
		{ .resok = { AFTER, 1, 2, 3, 4, 5, 6, 7, 8, { 0, 1 }, FSF3_LINK | FSF3_CANSETTIME } } };
	const PATHCONF3args pathconf = { HANDLE };
	const PATHCONF3res names = { NFS3_OK, { .resok = { AFTER, 32000, 255, true, true, false, true } } };

	(void)state;
	args_are_largest(NFSPROC3_FSSTAT, &fsstat, 68);
	result_is_largest(NFSPROC3_FSSTAT, &space, 4 + 88 + 6 * 8 + 4);
	args_are_largest(NFSPROC3_FSINFO, &fsinfo, 68);
	result_is_largest(NFSPROC3_FSINFO, &limits, 4 + 88 + 7 * 4 + 8 + 8 + 4);
	args_are_largest(NFSPROC3_PATHCONF, &pathconf, 68);
	result_is_largest(NFSPROC3_PATHCONF, &names, 4 + 88 + 6 * 4);
}

/* RFC 1813, section 3.3.1, octet by octet. */
static void
attributes_are_where_the_rfc_has_them(void **state)
{
	const struct rr_octets reply = rr_hex("00000000 00000002 000001ed 00000003 000003e8 00000064"
					      "0000000000001000 0000000000002000 00000008 00000001"
					      "000000000000004d 000000000000002a"
					      "00000001 00000002 00000003 00000004 00000005 00000006");
	const struct rr_codec codec = rr_result_codec(procedure(NFSPROC3_GETATTR));
	const GETATTR3res *result = rr_read_object(&codec, reply.data, reply.size);
	const fattr3 *attributes;

	(void)state;
	assert_non_null(result);
	assert_int_equal(result->status, NFS3_OK);
	attributes = &result->u.resok.obj_attributes;
	assert_int_equal(attributes->type, NF3DIR);
	assert_int_equal(attributes->mode, 0755);
	assert_int_equal(attributes->nlink, 3);
	assert_int_equal(attributes->uid, 1000);
	assert_int_equal(attributes->gid, 100);
	assert_int_equal(attributes->size, 4096);
	assert_int_equal(attributes->used, 8192);
	assert_int_equal(attributes->rdev.specdata1, 8);
	assert_int_equal(attributes->fsid, 77);
	assert_int_equal(attributes->fileid, 42);
	assert_int_equal(attributes->ctime.nseconds, 6);
}

/* RFC 1813, section 2.5: "No other values may be returned by a server." */
static void
a_status_of_no_name_is_refused(void **state)
{
	const struct rr_octets reply = rr_hex("00000003");
	const struct rr_codec codec = rr_result_codec(procedure(NFSPROC3_GETATTR));

	(void)state;
	assert_null(rr_read_object(&codec, reply.data, reply.size));
}

static void
a_handle_of_65_octets_is_refused(void **state)
{
	uint8_t call[4 + 68] = { 0, 0, 0, 65 };
	const struct rr_codec codec = rr_args_codec(procedure(NFSPROC3_GETATTR));

	(void)state;
	assert_null(rr_read_object(&codec, call, sizeof(call)));
	call[3] = 64;
	assert_non_null(rr_read_object(&codec, call, sizeof(call) - 4));
}

/*
 * RFC 8267, section 4: "the opaque file data argument in the NFS WRITE procedure", "the pathname argument in
 * the NFS SYMLINK procedure", "the opaque file data result in the NFS READ procedure", "the pathname result
 * in the NFS READLINK procedure"; "All other argument or result data items ... are not DDP-eligible."
 */
static void
four_items_may_be_placed(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < 22; number++) {
		bool call = number == NFSPROC3_WRITE || number == NFSPROC3_SYMLINK;
		bool reply = number == NFSPROC3_READ || number == NFSPROC3_READLINK;

		assert_int_equal(procedure(number)->args_items, call);
		assert_int_equal(procedure(number)->result_items, reply);
	}
	/* With the data out of the stream, 4 octets of length stay in its place. */
	assert_int_equal(procedure(NFSPROC3_WRITE)->args_max, 68 + 8 + 4 + 4 + 4);
	assert_int_equal(procedure(NFSPROC3_READ)->result_max, 4 + 88 + 4 + 4 + 4);
	assert_int_equal(procedure(NFSPROC3_READLINK)->result_max, 4 + 88 + 4);
}

static void
placed_data_is_not_copied(void **state)
{
	static const char data[1 << 20];
	const READ3res result = { NFS3_OK,
		{ .resok = { AFTER, sizeof(data), false, { data, sizeof(data) } } } };
	const struct rpcrdma_procedure *read = procedure(NFSPROC3_READ);
	uint8_t stream[104];
	struct rpcrdma_item item;
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_message message;
	READ3res copy;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), &item, 1);
	read->put_result(&writer, &result);
	assert_false(writer.failed);
	assert_ptr_equal(item.data, data);
	assert_int_equal(item.length, sizeof(data));
	assert_int_equal(item.offset, sizeof(stream));

	/* The requester knows only that a Write chunk came back. */
	message = rpcrdma_xdr_written(&writer);
	item.offset = RPCRDMA_ITEM_NEXT;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	read->get_result(&reader, &copy);
	assert_true(rpcrdma_xdr_done(&reader));
	assert_ptr_equal(copy.u.resok.data.data, data);
	assert_int_equal(copy.u.resok.data.length, sizeof(data));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_has_22_procedures),
		cmocka_unit_test(numbers_are_those_of_the_rfc),
		cmocka_unit_test(statuses_are_those_of_the_rfc),
		cmocka_unit_test(procedures_have_the_numbers_of_the_rfc),
		cmocka_unit_test(getattr_and_setattr),
		cmocka_unit_test(lookup_access_and_readlink),
		cmocka_unit_test(read_write_and_commit),
		cmocka_unit_test(create_mkdir_symlink_and_mknod),
		cmocka_unit_test(remove_rmdir_rename_and_link),
		cmocka_unit_test(readdir_and_readdirplus),
		cmocka_unit_test(fsstat_fsinfo_and_pathconf),
		cmocka_unit_test(attributes_are_where_the_rfc_has_them),
		cmocka_unit_test(a_status_of_no_name_is_refused),
		cmocka_unit_test(a_handle_of_65_octets_is_refused),
		cmocka_unit_test(four_items_may_be_placed),
		cmocka_unit_test(placed_data_is_not_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
