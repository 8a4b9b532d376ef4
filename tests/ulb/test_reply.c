/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <string.h>

#include "ulb/nfs3.h"
#include "ulb/reply.h"

/* Sizes by hand, from the definitions in RFC 1813. */
enum {
	STATUS = 4,
	FATTR = 84,                              /* section 2.6, fattr3 */
	POST_OP = 4 + FATTR,                     /* post_op_attr */
	WCC = (4 + 24) + POST_OP,                /* wcc_data: pre_op_attr of size, mtime and ctime */
	FH = 4 + NFS3_FHSIZE,                    /* nfs_fh3 */
	MADE = STATUS + (4 + FH) + POST_OP + WCC /* the result of CREATE and similar procedures */
};

/* RFC 8267, section 4: "The following XDR data items in NFS versions 2 and 3 are DDP-eligible" */
static void
exactly_the_eligible_items_are_marked(void **state)
{
	(void)state;
	assert_int_equal(NFS_V3_program.procedure_count, RR_ULB_NFS3_PROCEDURES);
	for (uint32_t proc = 0; proc < RR_ULB_NFS3_PROCEDURES; proc++) {
		bool argument = proc == NFSPROC3_WRITE || proc == NFSPROC3_SYMLINK;
		bool result = proc == NFSPROC3_READ || proc == NFSPROC3_READLINK;

		assert_int_equal(rr_ulb_nfs3[proc].argument != NULL, argument);
		assert_int_equal(rr_ulb_nfs3[proc].result != NULL, result);
		assert_int_equal(NFS_V3_program.procedures[proc].args_items, argument);
		assert_int_equal(NFS_V3_program.procedures[proc].result_items, result);
	}
}

static void
every_procedure_has_its_reply_size(void **state)
{
	static const uint32_t sizes[RR_ULB_NFS3_PROCEDURES] = {
		[NFSPROC3_NULL] = 0,
		[NFSPROC3_GETATTR] = STATUS + FATTR,
		[NFSPROC3_SETATTR] = STATUS + WCC,
		[NFSPROC3_LOOKUP] = STATUS + FH + 2 * POST_OP,
		[NFSPROC3_ACCESS] = STATUS + POST_OP + 4,
		[NFSPROC3_READLINK] = STATUS + POST_OP + 4,
		[NFSPROC3_READ] = STATUS + POST_OP + 4 + 4 + 4,
		[NFSPROC3_WRITE] = STATUS + WCC + 4 + 4 + NFS3_WRITEVERFSIZE,
		[NFSPROC3_CREATE] = MADE,
		[NFSPROC3_MKDIR] = MADE,
		[NFSPROC3_SYMLINK] = MADE,
		[NFSPROC3_MKNOD] = MADE,
		[NFSPROC3_REMOVE] = STATUS + WCC,
		[NFSPROC3_RMDIR] = STATUS + WCC,
		[NFSPROC3_RENAME] = STATUS + 2 * WCC,
		[NFSPROC3_LINK] = STATUS + POST_OP + WCC,
		[NFSPROC3_FSSTAT] = STATUS + POST_OP + 6 * 8 + 4,
		[NFSPROC3_FSINFO] = STATUS + POST_OP + 7 * 4 + 8 + 8 + 4,
		[NFSPROC3_PATHCONF] = STATUS + POST_OP + 6 * 4,
		[NFSPROC3_COMMIT] = STATUS + WCC + NFS3_WRITEVERFSIZE,
	};

	(void)state;
	for (uint32_t proc = 0; proc < RR_ULB_NFS3_PROCEDURES; proc++) {
		if (proc != NFSPROC3_READDIR && proc != NFSPROC3_READDIRPLUS)
			assert_int_equal(rr_ulb_nfs3_reply_max(proc, NULL), sizes[proc]);
	}
	assert_int_equal(rr_ulb_nfs3_reply_max(RR_ULB_NFS3_PROCEDURES, NULL), 0);
}

static void
a_list_is_as_long_as_the_client_asked(void **state)
{
	READDIR3args names = { .count = 4096 };
	READDIRPLUS3args entries = { .dircount = 512, .maxcount = 32768 };

	(void)state;
	assert_int_equal(rr_ulb_nfs3_reply_max(NFSPROC3_READDIR, &names), STATUS + 4096);
	assert_int_equal(rr_ulb_nfs3_reply_max(NFSPROC3_READDIRPLUS, &entries), STATUS + 32768);
}

static void
a_failed_list_is_not_longer_than_estimated(void **state)
{
	READDIR3args names = { .count = 0 };
	READDIRPLUS3args entries = { .maxcount = UINT32_MAX };

	(void)state;
	assert_int_equal(rr_ulb_nfs3_reply_max(NFSPROC3_READDIR, &names), STATUS + POST_OP);
	assert_int_equal(rr_ulb_nfs3_reply_max(NFSPROC3_READDIRPLUS, &entries), UINT32_MAX);
	entries.maxcount = 10;
	assert_int_equal(rr_ulb_nfs3_reply_max(NFSPROC3_READDIRPLUS, &entries), STATUS + POST_OP);
}

/* A result with all its optional data is as large as estimated. It is the largest of those that hold an
 * item. */
static void
the_largest_read_result_fills_its_estimate(void **state)
{
	static uint8_t memory[1024], data[100];
	struct rpcrdma_item item;
	struct rpcrdma_xdr_writer writer;
	READ3res read = { .status = NFS3_OK };

	(void)state;
	read.u.resok.file_attributes.attributes_follow = true;
	read.u.resok.file_attributes.u.attributes.type = NF3REG;
	read.u.resok.data = (struct rpcrdma_bytes){ data, sizeof data };
	rpcrdma_xdr_writer_init(&writer, memory, sizeof memory, &item, 1);
	xdr_put_READ3res(&writer, &read);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), rr_ulb_nfs3_reply_max(NFSPROC3_READ, NULL));
	assert_ptr_equal(item.data, data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_the_eligible_items_are_marked),
		cmocka_unit_test(every_procedure_has_its_reply_size),
		cmocka_unit_test(a_list_is_as_long_as_the_client_asked),
		cmocka_unit_test(a_failed_list_is_not_longer_than_estimated),
		cmocka_unit_test(the_largest_read_result_fills_its_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
