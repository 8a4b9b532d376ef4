/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake4.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../fabric/loop/loop.h"
#include "base/checked.h"

static const uint8_t directory_handle[4] = "dir", file_handle[4] = "file";

/* ---- Attributes ---- */

static void
fake4_attribute(const struct fake4 *fake, struct rpcrdma_xdr_writer *writer, uint32_t number, bool directory)
{
	switch (number) {
	case FATTR4_TYPE: rpcrdma_put_u32(writer, directory ? NF4DIR : NF4REG); break;
	case FATTR4_SIZE: rpcrdma_put_u64(writer, FAKE4_SIZE); break;
	case FATTR4_FSID:
	case FATTR4_TIME_ACCESS:
	case FATTR4_TIME_METADATA:
	case FATTR4_TIME_MODIFY:
		rpcrdma_put_u64(writer, 1);
		rpcrdma_put_u32(writer, 0);
		if (number == FATTR4_FSID)
			rpcrdma_put_u32(writer, 1);
		break;
	case FATTR4_OWNER:
		if (fake->user.length > 0) {
			rpcrdma_put_bytes(writer, fake->user, RPCRDMA_XDR_UNBOUNDED);
			break;
		}
		/* fall through */
	case FATTR4_OWNER_GROUP: rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ "1000", 4 }, 4); break;
	case FATTR4_FILEHANDLE: rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ file_handle, 4 }, 4); break;
	case FATTR4_MODE:
	case FATTR4_NUMLINKS:
	case FATTR4_LEASE_TIME:
	case FATTR4_RDATTR_ERROR: rpcrdma_put_u32(writer, number == FATTR4_LEASE_TIME ? 30 : 0644); break;
	case FATTR4_RAWDEV: rpcrdma_put_u64(writer, 0); break;
	default: rpcrdma_put_u64(writer, 1 << 20); break;
	}
}

static fattr4
fake4_attributes(struct fake4 *fake, const bitmap4 *asked, bool directory)
{
	struct rpcrdma_xdr_writer writer;
	fattr4 given = { *asked, { fake->values, 0 } };

	rpcrdma_xdr_writer_init(&writer, fake->values, sizeof(fake->values), NULL, 0);
	for (uint32_t i = 0; i < 32 * asked->count; i++) {
		if (asked->values[i / 32] >> i % 32 & 1)
			fake4_attribute(fake, &writer, i, directory);
	}
	given.attr_vals.length = (uint32_t)rpcrdma_xdr_length(&writer);
	if (fake->lie == FAKE4_ATTRIBUTE_NOT_ASKED_FOR)
		asked->values[0] |= 1 << FATTR4_ACLSUPPORT;
	if (fake->lie == FAKE4_ATTRIBUTES_TOO_SHORT)
		given.attr_vals.length -= 4;
	if (fake->lie == FAKE4_ATTRIBUTES_TOO_LONG)
		given.attr_vals.length += 4;
	return given;
}

/* ---- Operations: the status of each ---- */

typedef nfsstat4 fake4_operation(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res);

static nfsstat4
fake4_exchange(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	EXCHANGE_ID4resok *ok = &res->u.opexchange_id.u.eir_resok4;

	(void)op;
	ok->eir_clientid = ++fake->clientid;
	ok->eir_sequenceid = 7;
	ok->eir_flags = EXCHGID4_FLAG_USE_NON_PNFS;
	if (fake->major)
		ok->eir_server_owner.so_major_id =
			(struct rpcrdma_bytes){ fake->major, (uint32_t)strlen(fake->major) };
	fake->fresh = true;
	return NFS4_OK;
}

static nfsstat4
fake4_create_session(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	CREATE_SESSION4resok *ok = &res->u.opcreate_session.u.csr_resok4;

	if (op->u.opcreate_session.csa_clientid != fake->clientid)
		return NFS4ERR_STALE_CLIENTID;
	fake->session++;
	ok->csr_sessionid[0] = (uint8_t)fake->session;
	ok->csr_fore_chan_attrs = op->u.opcreate_session.csa_fore_chan_attrs;
	ok->csr_fore_chan_attrs.ca_maxrequests = fake->lie == FAKE4_NO_SLOTS ? 0 : fake->slots;
	if (fake->operations)
		ok->csr_fore_chan_attrs.ca_maxoperations = fake->operations;
	ok->csr_back_chan_attrs = op->u.opcreate_session.csa_back_chan_attrs;
	memset(fake->sequence, 0, sizeof(fake->sequence));
	return NFS4_OK;
}

static nfsstat4
fake4_sequence(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	const SEQUENCE4args *args = &op->u.opsequence;
	SEQUENCE4resok *ok = &res->u.opsequence.u.sr_resok4;

	if (args->sa_sessionid[0] != fake->session || fake->lie == FAKE4_DEAD_SESSIONS)
		return NFS4ERR_BADSESSION;
	assert_true(args->sa_slotid < fake->slots);
	if (args->sa_sequenceid != fake->sequence[args->sa_slotid] + 1)
		return NFS4ERR_SEQ_MISORDERED;
	fake->sequence[args->sa_slotid]++;
	fake->beside += args->sa_highest_slotid > args->sa_slotid;
	if (args->sa_slotid > fake->highest)
		fake->highest = args->sa_slotid;
	memcpy(ok->sr_sessionid, args->sa_sessionid, sizeof(ok->sr_sessionid));
	ok->sr_sessionid[1] = fake->lie == FAKE4_WRONG_SESSION;
	ok->sr_sequenceid = args->sa_sequenceid + (fake->lie == FAKE4_WRONG_SEQUENCE);
	ok->sr_slotid = args->sa_slotid + (fake->lie == FAKE4_WRONG_SLOT);
	ok->sr_highest_slotid = fake->slots - 1;
	ok->sr_target_highest_slotid = fake->one_slot ? 0 : fake->slots - 1;
	return NFS4_OK;
}

static nfsstat4
fake4_bind(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	(void)fake;
	res->u.opbind_conn_to_session.u.bctsr_resok4.bctsr_dir = CDFS4_FORE;
	return op->u.opbind_conn_to_session.bctsa_dir == CDFC4_FORE ? NFS4_OK : NFS4ERR_INVAL;
}

static nfsstat4
fake4_complete(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	(void)op, (void)res;
	fake->fresh = fake->grace = false;
	return NFS4_OK;
}

static nfsstat4
fake4_lookup(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	(void)fake, (void)res;
	return op->u.oplookup.objname.length == 4 ? NFS4_OK : NFS4ERR_NOENT;
}

static nfsstat4
fake4_open_file(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	OPEN4resok *ok = &res->u.opopen.u.resok4;
	bool reclaims = op->u.opopen.claim.claim == CLAIM_PREVIOUS;

	/* RFC 8881, 18.51.3: "the server MUST NOT grant ... until RECLAIM_COMPLETE". */
	if (reclaims != fake->fresh)
		return reclaims ? NFS4ERR_NO_GRACE : NFS4ERR_GRACE;
	assert_int_equal(op->u.opopen.share_deny, OPEN4_SHARE_DENY_NONE);
	fake->owner = op->u.opopen.owner.owner.length;
	fake->reclaims += reclaims;
	fake->opens++;
	ok->stateid.seqid = 1;
	ok->stateid.other[0] = (uint8_t)++fake->stateid;
	ok->stateid.other[1] = 1; /* the stateid is never all zeros */
	if (fake->delegates)
		ok->delegation.delegation_type = OPEN_DELEGATE_READ;
	return NFS4_OK;
}

static nfsstat4
fake4_close(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	(void)res;
	/* An OPEN that is closed in the same COMPOUND has an owner that other OPENs do not have. */
	if (memcmp(&op->u.opclose.open_stateid, &(stateid4){ .seqid = 1 }, sizeof(stateid4)) == 0)
		assert_true(fake->owner > strlen("rpcrdma"));
	fake->opens--;
	return NFS4_OK;
}

static nfsstat4
fake4_read(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	const READ4args *args = &op->u.opread;
	uint64_t left = args->offset < FAKE4_SIZE ? FAKE4_SIZE - args->offset : 0;
	READ4resok *ok = &res->u.opread.u.resok4;

	/* RFC 8881, 8.2.3: the current stateid is that of the OPEN. */
	if (op[-1].argop == OP_OPEN) {
		assert_memory_equal(&args->stateid, &(stateid4){ .seqid = 1 }, sizeof(stateid4));
	} else {
		if (args->stateid.other[0] != fake->stateid || fake->opens == 0)
			return NFS4ERR_BAD_STATEID;
		/* RFC 8881, 8.2.2: a seqid of 0 stands for the most recent stateid. */
		assert_int_equal(args->stateid.seqid, 0);
	}
	ok->data = (struct rpcrdma_bytes){ fake->data + args->offset, (uint32_t)rr_min(left, args->count) };
	ok->eof = ok->data.length == left;
	return NFS4_OK;
}

static nfsstat4
fake4_getfh(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	/* The object that LOOKUP finds is a file; without a LOOKUP it is the directory. */
	bool directory = op[-1].argop == OP_PUTROOTFH;

	if (op[-1].argop == OP_OPEN && op[-1].u.opopen.claim.claim == CLAIM_NULL) {
		res->u.opgetfh.u.resok4.object = op[-1].u.opopen.claim.u.file;
		return NFS4_OK;
	}
	res->u.opgetfh.u.resok4.object = (struct rpcrdma_bytes){ directory ? directory_handle : file_handle,
		fake->lie == FAKE4_EMPTY_HANDLE ? 0 : 4 };
	return NFS4_OK;
}

static nfsstat4
fake4_getattr(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	bool directory =
		op[-1].argop == OP_PUTROOTFH || op[-2].argop == OP_PUTROOTFH ||
		(op[-1].argop == OP_PUTFH && memcmp(op[-1].u.opputfh.object.data, directory_handle, 4) == 0);

	res->u.opgetattr.u.resok4.obj_attributes =
		fake4_attributes(fake, &op->u.opgetattr.attr_request, directory);
	return NFS4_OK;
}

static nfsstat4
fake4_seek(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	assert_int_equal(op->u.opseek.sa_stateid.seqid, 0);
	res->u.opseek.u.resok4 = fake->seek;
	return fake->opens > 0 ? NFS4_OK : NFS4ERR_BAD_STATEID;
}

static nfsstat4
fake4_copy(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	static stateid4 later;
	const COPY4args *args = &op->u.opcopy;
	COPY4resok *ok = &res->u.opcopy.u.cr_resok4;
	uint64_t most = fake->copy_most ? fake->copy_most : args->ca_count;

	assert_true(args->ca_synchronous && args->ca_consecutive && args->ca_source_server.count == 0);
	/* RFC 8881, 8.2.3: the source has the anonymous stateid. */
	assert_memory_equal(&args->ca_src_stateid, &(stateid4){ 0 }, sizeof(stateid4));
	assert_int_equal(args->ca_dst_stateid.seqid, 0);
	assert_int_not_equal(args->ca_src_stateid.other[0], args->ca_dst_stateid.other[0]);
	assert_true(fake->copied_to == 0 || args->ca_dst_offset == fake->copied_to);
	fake->copied = *args;
	ok->cr_response.wr_count = fake->copy_nothing ? 0 : rr_min(args->ca_count, most) + fake->copy_more;
	if (fake->copy_later) {
		ok->cr_response.wr_callback_id.count = 1;
		ok->cr_response.wr_callback_id.values = &later;
	}
	ok->cr_response.wr_committed = UNSTABLE4;
	ok->cr_response.wr_writeverf[0] = (uint8_t)(fake->verifier_step * fake->calls[OP_COPY]);
	ok->cr_requirements = (copy_requirements4){ !fake->copy_anyhow, true };
	fake->copied_to = ok->cr_response.wr_count < args->ca_count
				  ? args->ca_dst_offset + ok->cr_response.wr_count
				  : 0;
	return NFS4_OK;
}

static nfsstat4
fake4_clone(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	(void)res;
	fake->cloned = op->u.opclone;
	return NFS4_OK;
}

static nfsstat4
fake4_list_xattrs(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	const LISTXATTRS4args *args = &op->u.oplistxattrs;

	res->u.oplistxattrs.u.lxr_value = fake->names;
	fake->names.lxr_eof = true;
	assert_int_equal(args->lxa_cookie, fake->calls[OP_LISTXATTRS] > 1 ? fake->names.lxr_cookie : 0);
	return NFS4_OK;
}

static nfsstat4
fake4_get_xattr(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	assert_memory_equal(op->u.opgetxattr.gxa_name.data, "name", 4);
	res->u.opgetxattr.u.gxr_value = fake->value;
	return NFS4_OK;
}

static fake4_operation *const fake4_operations[FAKE4_OPS] = {
	[OP_EXCHANGE_ID] = fake4_exchange,
	[OP_CREATE_SESSION] = fake4_create_session,
	[OP_BIND_CONN_TO_SESSION] = fake4_bind,
	[OP_SEQUENCE] = fake4_sequence,
	[OP_RECLAIM_COMPLETE] = fake4_complete,
	[OP_LOOKUP] = fake4_lookup,
	[OP_OPEN] = fake4_open_file,
	[OP_CLOSE] = fake4_close,
	[OP_READ] = fake4_read,
	[OP_GETFH] = fake4_getfh,
	[OP_GETATTR] = fake4_getattr,
	[OP_SEEK] = fake4_seek,
	[OP_COPY] = fake4_copy,
	[OP_GETXATTR] = fake4_get_xattr,
	[OP_LISTXATTRS] = fake4_list_xattrs,
	[OP_CLONE] = fake4_clone,
};

/* ---- COMPOUND ---- */

static nfsstat4
fake4_operate(struct fake4 *fake, const nfs_argop4 *op, nfs_resop4 *res)
{
	nfsstat4 status = NFS4_OK;

	memset(res, 0, sizeof(*res));
	res->resop = op->argop;
	fake->calls[op->argop]++;
	if (fake->times > 0 && fake->refused == op->argop) {
		fake->times--;
		status = fake->refusal;
	} else if (fake4_operations[op->argop]) {
		status = fake4_operations[op->argop](fake, op, res);
	}
	*(nfsstat4 *)&res->u = status;
	return status;
}

static void
fake4_lies(struct fake4 *fake, COMPOUND4res *res)
{
	/* The server lies only inside a session, so that there is a session. */
	if (res->resarray.count < 3 || res->status != NFS4_OK)
		return;
	if (fake->lie == FAKE4_TOO_MANY_RESULTS)
		fake->results[res->resarray.count++] = (nfs_resop4){ .resop = OP_PUTFH };
	if (fake->lie == FAKE4_TOO_FEW_RESULTS)
		res->resarray.count--;
	if (fake->lie == FAKE4_OTHER_OPERATION)
		fake->results[1].resop = OP_SAVEFH;
	if (fake->lie == FAKE4_ERROR_IN_THE_MIDDLE)
		fake->results[1].u.opputfh.status = NFS4ERR_STALE;
}

static enum rpcrdma_handled
fake4_compound(void *ctx, struct rpcrdma_request *request, const void *arguments, void *result)
{
	const COMPOUND4args *args = arguments;
	COMPOUND4res *res = result;
	struct fake4 *fake = ctx;

	(void)request;
	if (fake->silent)
		return RPCRDMA_HANDLE_DROP;
	*res = (COMPOUND4res){ .status = NFS4_OK, .resarray.values = fake->results };
	if (args->minorversion > fake->minor_max) {
		res->status = NFS4ERR_MINOR_VERS_MISMATCH;
		return RPCRDMA_HANDLED;
	}
	if (fake->lost)
		fake4_restart(fake);
	assert_true(fake->operations == 0 || args->argarray.count <= fake->operations);
	for (uint32_t i = 0; i < args->argarray.count && res->status == NFS4_OK; i++) {
		assert_true((uint32_t)args->argarray.values[i].argop < FAKE4_OPS);
		res->status = fake4_operate(fake, &args->argarray.values[i], &fake->results[i]);
		res->resarray.count++;
	}
	fake4_lies(fake, res);
	return RPCRDMA_HANDLED;
}

static rpcrdma_handler *const fake4_handlers[] = { NULL, fake4_compound };

/* ---- The whole ---- */

void
fake4_refuse(struct fake4 *fake, uint32_t op, nfsstat4 status, uint32_t times)
{
	fake->refused = op;
	fake->refusal = status;
	fake->times = times;
}

void
fake4_restart(struct fake4 *fake)
{
	fake->lost = false;
	fake->clientid += 100;
	fake->session += 100;
	fake->opens = 0;
	fake->grace = true;
}

struct fake4 *
fake4_new(void)
{
	struct fake4 *fake = calloc(1, sizeof(*fake));
	struct rr_service service = { &nfs42_NFS_V4_program, fake4_handlers, fake, NULL };
	struct rr_text text;

	assert_non_null(fake);
	stage_init(&fake->stage);
	stage_engine(&fake->stage, NULL, rr_loop_fabric_new);
	stage_tick(&fake->stage);
	fake->minor_max = 2;
	fake->path = "/";
	fake->slots = FAKE4_SLOTS;
	for (uint32_t i = 0; i < FAKE4_SIZE; i++)
		fake->data[i] = (uint8_t)(i * 2654435761u >> 13);
	*(struct sockaddr_in *)&fake->address = stage_loopback();
	assert_int_equal(
		rr_server_new(fake->stage.engine, &rr_server_config_default, &service, 1, &fake->server), 0);
	if (rr_server_listen(fake->server, RR_TRANSPORT_AUTO, (struct sockaddr *)&fake->address,
		    sizeof(struct sockaddr_in), NULL, &text) < 0)
		fail_msg("%s", text.text);
	return fake;
}

void
fake4_free(struct fake4 *fake)
{
	rr_server_free(fake->server);
	stage_end(&fake->stage);
	free(fake);
}

int
fake4_open(struct fake4 *fake, enum rr_nfs_version version, struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct rr_nfs_config config = {
		.rpc = { .transport = RR_TRANSPORT_AUTO,
			.address = fake->address,
			.address_size = sizeof(struct sockaddr_in),
			.user = { .machine = "test" },
			.retry = 60 * RR_SECOND },
		.server = "fake",
		.path = fake->path,
		.version = version,
		.timeout = 60 * RR_SECOND,
	};

	return rr_nfs_open(fake->stage.engine, &config, nfs, text);
}

struct rpcrdma_nfs *
fake4_must_open(struct fake4 *fake)
{
	struct rpcrdma_nfs *nfs;
	struct rr_text text;

	if (fake4_open(fake, RR_NFS_VERSION_42, &nfs, &text) != 0)
		fail_msg("%s", text.text);
	return nfs;
}
