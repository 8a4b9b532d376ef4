/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest results of each operation of NFS version 4: sizes by hand, from the definitions of results
 * in RFC 7531, RFC 5662, RFC 7863 and RFC 8276. */
#include "../test.h"

#include <string.h>

#include "ulb/binding.h"
#include "ulb/estimate.h"
#include "ulb/nfs42.h"

/* The headers that declare these share names with the header above. */
extern const struct rpcrdma_program nfs40_NFS_V4_program, nfs41_NFS_V4_program;

enum {
	STATUS = 4,
	BEFORE = 12, /* COMPOUND4res: status, an empty tag, the count of results */
	VERIFIER = 8,
	CLIENTID = 8,
	STATEID = 4 + 12,
	SESSIONID = 16,
	CHANGE_INFO = 4 + 8 + 8,
	BITMAP = 4 + 4 * 4, /* as large as the estimate assumes */
	NAME = 4 + 1024,    /* as large as the estimate assumes */
	OWNER = CLIENTID + NAME,
	DENIED = 8 + 8 + 4 + OWNER,                   /* LOCK4denied */
	ACE = 4 + 4 + 4 + NAME,                       /* nfsace4 */
	DELEGATION = 4 + STATEID + 4 + (4 + 8) + ACE, /* open_write_delegation4 */
	CHANNEL = 6 * 4 + (4 + 4),                    /* channel_attrs4 */
	WRITTEN = (4 + STATEID) + 8 + 4 + VERIFIER,   /* write_response4 */
	UNKNOWN = -1
};

struct operation {
	uint32_t number;
	int max;       /* without the number of the operation in front */
	uint32_t each; /* octets for each unit that is asked for */
};

static const struct operation operations[] = {
	{ OP_ACCESS, STATUS + 4 + 4, 0 },
	{ OP_CLOSE, STATUS + STATEID, 0 },
	{ OP_COMMIT, STATUS + VERIFIER, 0 },
	{ OP_CREATE, STATUS + CHANGE_INFO + BITMAP, 0 },
	{ OP_DELEGPURGE, STATUS, 0 },
	{ OP_DELEGRETURN, STATUS, 0 },
	{ OP_GETATTR, STATUS + 4 + 4, 0 }, /* without attributes */
	{ OP_GETFH, STATUS + 4 + 128, 0 },
	{ OP_LINK, STATUS + CHANGE_INFO, 0 },
	{ OP_LOCK, STATUS + DENIED, 0 },
	{ OP_LOCKT, STATUS + DENIED, 0 },
	{ OP_LOCKU, STATUS + STATEID, 0 },
	{ OP_LOOKUP, STATUS, 0 },
	{ OP_LOOKUPP, STATUS, 0 },
	{ OP_NVERIFY, STATUS, 0 },
	{ OP_OPEN, STATUS + STATEID + CHANGE_INFO + 4 + BITMAP + 4 + DELEGATION - 4, 0 },
	{ OP_OPENATTR, STATUS, 0 },
	{ OP_OPEN_CONFIRM, STATUS + STATEID, 0 },
	{ OP_OPEN_DOWNGRADE, STATUS + STATEID, 0 },
	{ OP_PUTFH, STATUS, 0 },
	{ OP_PUTPUBFH, STATUS, 0 },
	{ OP_PUTROOTFH, STATUS, 0 },
	{ OP_READ, STATUS + 4 + 4, 0 }, /* its data is an item */
	/* RFC 7530, 16.24.4: maxcount "represents all of the data being returned within the READDIR4resok
	 * structure and includes the XDR overhead" */
	{ OP_READDIR, STATUS, 1 },
	{ OP_READLINK, STATUS + 4, 0 },
	{ OP_REMOVE, STATUS + CHANGE_INFO, 0 },
	{ OP_RENAME, STATUS + 2 * CHANGE_INFO, 0 },
	{ OP_RENEW, STATUS, 0 },
	{ OP_RESTOREFH, STATUS, 0 },
	{ OP_SAVEFH, STATUS, 0 },
	{ OP_SECINFO, UNKNOWN, 0 }, /* as many flavors as the server has */
	{ OP_SETATTR, STATUS + BITMAP, 0 },
	{ OP_SETCLIENTID, STATUS + 2 * NAME, 0 }, /* NFS4ERR_CLID_INUSE names the other client */
	{ OP_SETCLIENTID_CONFIRM, STATUS, 0 },
	{ OP_VERIFY, STATUS, 0 },
	{ OP_WRITE, STATUS + 4 + 4 + VERIFIER, 0 },
	{ OP_RELEASE_LOCKOWNER, STATUS, 0 },
	{ OP_BACKCHANNEL_CTL, STATUS, 0 },
	{ OP_BIND_CONN_TO_SESSION, STATUS + SESSIONID + 4 + 4, 0 },
	{ OP_EXCHANGE_ID,
		STATUS + CLIENTID + 4 + 4 + (4 + 2 * BITMAP) + (8 + NAME) + NAME + (4 + 2 * NAME + 12), 0 },
	{ OP_CREATE_SESSION, STATUS + SESSIONID + 4 + 4 + 2 * CHANNEL, 0 },
	{ OP_DESTROY_SESSION, STATUS, 0 },
	{ OP_FREE_STATEID, STATUS, 0 },
	{ OP_GET_DIR_DELEGATION, STATUS + 4 + VERIFIER + STATEID + 3 * BITMAP, 0 },
	/* RFC 8881, 18.40.3: gdia_maxcount limits "all of the data being returned within the
	 * GETDEVICEINFO4resok structure"; if it is 0, there still are a type, an empty body, and a bitmap. */
	{ OP_GETDEVICEINFO, STATUS + 4 + 4 + BITMAP, 1 },
	{ OP_GETDEVICELIST, STATUS + 8 + VERIFIER + 4 + 4, 16 },
	{ OP_LAYOUTCOMMIT, STATUS + 4 + 8, 0 },
	{ OP_LAYOUTGET, UNKNOWN, 0 }, /* RFC 8267, 6.2: loc_body */
	{ OP_LAYOUTRETURN, STATUS + 4 + STATEID, 0 },
	{ OP_SECINFO_NO_NAME, UNKNOWN, 0 },
	{ OP_SEQUENCE, STATUS + SESSIONID + 5 * 4, 0 },
	{ OP_SET_SSV, UNKNOWN, 0 }, /* a digest of any length */
	{ OP_TEST_STATEID, STATUS + 4, 4 },
	{ OP_WANT_DELEGATION, STATUS + DELEGATION, 0 },
	{ OP_DESTROY_CLIENTID, STATUS, 0 },
	{ OP_RECLAIM_COMPLETE, STATUS, 0 },
	{ OP_ALLOCATE, STATUS, 0 },
	{ OP_COPY, STATUS + WRITTEN + 4 + 4, 0 },
	{ OP_COPY_NOTIFY, UNKNOWN, 0 }, /* as many servers as there are */
	{ OP_DEALLOCATE, STATUS, 0 },
	{ OP_IO_ADVISE, STATUS + BITMAP, 0 },
	{ OP_LAYOUTERROR, STATUS, 0 },
	{ OP_LAYOUTSTATS, STATUS, 0 },
	{ OP_OFFLOAD_CANCEL, STATUS, 0 },
	{ OP_OFFLOAD_STATUS, STATUS + 8 + 4 + 4, 0 },
	{ OP_READ_PLUS, UNKNOWN, 0 }, /* as many segments as the file has holes */
	{ OP_SEEK, STATUS + 4 + 8, 0 },
	{ OP_WRITE_SAME, STATUS + WRITTEN, 0 },
	{ OP_CLONE, STATUS, 0 },
	{ OP_GETXATTR, UNKNOWN, 0 }, /* RFC 8276, 8.4.1: the value's length has no limit of the protocol */
	{ OP_SETXATTR, STATUS + CHANGE_INFO, 0 },
	/* RFC 8276, 8.4.3.2: lxa_maxcount is "the maximum number of bytes for the result", XDR included. */
	{ OP_LISTXATTRS, STATUS, 1 },
	{ OP_REMOVEXATTR, STATUS + CHANGE_INFO, 0 },
};

enum { OPERATIONS = sizeof(operations) / sizeof(*operations), ASKED = 3 };

static uint8_t stream[4096];

/* Sets the enums that have no value 0. */
static void
set_values(nfs_argop4 *operation)
{
	switch (operation->argop) {
	case OP_CREATE: operation->u.opcreate.objtype.type = NF4DIR; break;
	case OP_LOCK: operation->u.oplock.locktype = READ_LT; break;
	case OP_LOCKT: operation->u.oplockt.locktype = READ_LT; break;
	case OP_LOCKU: operation->u.oplocku.locktype = READ_LT; break;
	case OP_BIND_CONN_TO_SESSION: operation->u.opbind_conn_to_session.bctsa_dir = CDFC4_FORE; break;
	case OP_LAYOUTCOMMIT:
		operation->u.oplayoutcommit.loca_layoutupdate.lou_type = LAYOUT4_NFSV4_1_FILES;
		break;
	case OP_LAYOUTGET:
		operation->u.oplayoutget.loga_layout_type = LAYOUT4_NFSV4_1_FILES;
		operation->u.oplayoutget.loga_iomode = LAYOUTIOMODE4_READ;
		break;
	case OP_LAYOUTRETURN:
		operation->u.oplayoutreturn.lora_layout_type = LAYOUT4_NFSV4_1_FILES;
		operation->u.oplayoutreturn.lora_iomode = LAYOUTIOMODE4_READ;
		operation->u.oplayoutreturn.lora_layoutreturn.lr_returntype = LAYOUTRETURN4_ALL;
		break;
	case OP_WANT_DELEGATION: operation->u.opwant_delegation.wda_claim.dc_claim = CLAIM_FH; break;
	case OP_COPY_NOTIFY: operation->u.opoffload_notify.cna_destination_server.nl_type = NL4_NAME; break;
	case OP_LAYOUTSTATS:
		operation->u.oplayoutstats.lsa_layoutupdate.lou_type = LAYOUT4_NFSV4_1_FILES;
		break;
	default: break;
	}
}

/* Asks for that much, if the operation has a member for it. */
static void
fill(nfs_argop4 *operation, uint32_t asked)
{
	static stateid4 stateids[ASKED];

	switch (operation->argop) {
	case OP_READDIR: operation->u.opreaddir.maxcount = asked; break;
	case OP_LISTXATTRS: operation->u.oplistxattrs.lxa_maxcount = asked; break;
	case OP_GETDEVICEINFO:
		operation->u.opgetdeviceinfo.gdia_layout_type = LAYOUT4_NFSV4_1_FILES;
		operation->u.opgetdeviceinfo.gdia_maxcount = asked;
		break;
	case OP_GETDEVICELIST:
		operation->u.opgetdevicelist.gdla_layout_type = LAYOUT4_NFSV4_1_FILES;
		operation->u.opgetdevicelist.gdla_maxdevices = asked;
		break;
	case OP_TEST_STATEID:
		operation->u.optest_stateid.ts_stateids.count = asked;
		operation->u.optest_stateid.ts_stateids.values = stateids;
		break;
	default: set_values(operation);
	}
}

/* Returns the size that is estimated for the reply to a COMPOUND with this one operation. */
static struct rr_reply_size
estimate(const struct rpcrdma_program *program, const nfs_argop4 *operation, uint32_t minor)
{
	const COMPOUND4args args = { .minorversion = minor,
		.argarray = { 1, (nfs_argop4 *)(uintptr_t)operation } };
	struct rpcrdma_item items[1];
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_message message;
	struct rr_reply_size size;

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), items, 1);
	nfs42_put_COMPOUND4args(&writer, &args);
	if (writer.failed)
		fail_msg("operation %d cannot be encoded", (int)operation->argop);
	message = rpcrdma_xdr_written(&writer);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_true(rr_ulb_reply_size(program, NFSPROC4_COMPOUND, &reader, &size));
	return size;
}

/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2: "The actual size of a READDIR reply is often
 * unpredictable but is frequently large." */
static void
of_all_operations_a_list_of_a_directory_is_often_large(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		nfs_argop4 operation = { .argop = operations[i].number };

		fill(&operation, ASKED);
		assert_int_equal(estimate(rr_ulb_find(100003, 4), &operation, 2).often_large,
			operations[i].number == OP_READDIR);
	}
}

/* In versions 2 and 3 it depends on the procedure alone. */
static void
of_earlier_versions_a_list_of_a_directory_is_often_large(void **state)
{
	enum { NFS2_READDIR = 16, NFS3_READDIR = 16, NFS3_READDIRPLUS = 17 };
	static const struct rpcrdma_message zeroes = { .stream = stream, .length = 256 };

	(void)state;
	memset(stream, 0, zeroes.length);
	for (uint32_t vers = 2; vers <= 3; vers++) {
		const struct rpcrdma_program *program = rr_ulb_find(100003, vers);

		for (uint32_t proc = 0; proc < program->procedure_count; proc++) {
			bool listed = vers == 2 ? proc == NFS2_READDIR
						: proc == NFS3_READDIR || proc == NFS3_READDIRPLUS;
			struct rpcrdma_xdr_reader reader;
			struct rr_reply_size size;

			rpcrdma_xdr_reader_init(&reader, &zeroes, NULL);
			rr_ulb_reply_size(program, proc, &reader, &size);
			assert_int_equal(size.often_large, listed);
		}
	}
}

static void
every_operation_has_an_estimate(void **state)
{
	(void)state;
	assert_int_equal(OPERATIONS, OP_REMOVEXATTR - OP_ACCESS + 1);
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		const struct operation *expected = &operations[i];
		nfs_argop4 operation = { .argop = expected->number };
		struct rr_reply_size size;

		assert_int_equal(expected->number, OP_ACCESS + i);
		fill(&operation, ASKED);
		size = estimate(rr_ulb_find(100003, 4), &operation, 2);
		/* A server may refuse the whole COMPOUND without a result. */
		assert_int_equal(size.min, BEFORE);
		if (expected->max == UNKNOWN)
			assert_int_equal(size.max, RPCRDMA_XDR_UNBOUNDED);
		else if (size.max != BEFORE + 4 + (uint32_t)expected->max + ASKED * expected->each)
			fail_msg("operation %u: %u octets", expected->number, size.max);
		assert_int_equal(
			size.result_count, expected->number == OP_READ || expected->number == OP_READLINK);
	}
}

static void
what_no_memory_can_hold_is_not_known(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		nfs_argop4 operation = { .argop = operations[i].number };

		if (operations[i].each == 0 || operations[i].number == OP_TEST_STATEID)
			continue;
		fill(&operation, UINT32_MAX);
		assert_int_equal(estimate(rr_ulb_find(100003, 4), &operation, 2).max, RPCRDMA_XDR_UNBOUNDED);
	}
}

/* The result has as many handles as the server gives. */
static void
state_that_is_protected_by_ssv_has_no_estimate(void **state)
{
	nfs_argop4 operation = { .argop = OP_EXCHANGE_ID };

	(void)state;
	operation.u.opexchange_id.eia_clientowner.co_ownerid = (struct rpcrdma_bytes){ "owner", 5 };
	assert_int_not_equal(estimate(rr_ulb_find(100003, 4), &operation, 1).max, RPCRDMA_XDR_UNBOUNDED);
	operation.u.opexchange_id.eia_state_protect.spa_how = SP4_SSV;
	assert_int_equal(estimate(rr_ulb_find(100003, 4), &operation, 1).max, RPCRDMA_XDR_UNBOUNDED);
}

/* The schemas of earlier minor versions have the same messages. */
static void
the_schema_of_any_minor_version_will_do(void **state)
{
	nfs_argop4 operation = { .argop = OP_READ };

	(void)state;
	operation.u.opread.count = 100;
	for (uint32_t minor = 0; minor < 2; minor++) {
		struct rr_reply_size size =
			estimate(minor ? &nfs41_NFS_V4_program : &nfs40_NFS_V4_program, &operation, minor);

		assert_int_equal(size.max, BEFORE + 4 + STATUS + 4 + 4);
		assert_int_equal(size.result_count, 1);
		assert_int_equal(size.results[0], 100);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_all_operations_a_list_of_a_directory_is_often_large),
		cmocka_unit_test(of_earlier_versions_a_list_of_a_directory_is_often_large),
		cmocka_unit_test(every_operation_has_an_estimate),
		cmocka_unit_test(what_no_memory_can_hold_is_not_known),
		cmocka_unit_test(state_that_is_protected_by_ssv_has_no_estimate),
		cmocka_unit_test(the_schema_of_any_minor_version_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
