/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST_STATEID, FREE_STATEID, DELEGRETURN: RFC 8881, sections 18.48, 18.38 and 18.6. */
#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

uint32_t
rr_op_test_stateid(struct rr_nfs4_compound *c)
{
	const TEST_STATEID4args *args = &c->op->u.optest_stateid;
	TEST_STATEID4resok *ok = &c->res.u.optest_stateid.u.tsr_resok4;
	uint32_t count = args->ts_stateids.count;
	struct rr_nfs4_tables *tables;

	ok->tsr_status_codes.values = rr_nfs4_alloc(c, count * sizeof(nfsstat4));
	/* The arena has too little memory for the statuses, so the result would not fit either. */
	if (!ok->tsr_status_codes.values)
		return NFS4ERR_REP_TOO_BIG;
	tables = rr_nfs4_lock_tables(c->server);
	for (uint32_t i = 0; i < count; i++)
		ok->tsr_status_codes.values[i] =
			rr_nfs4_test_stateid(tables, c->client, &args->ts_stateids.values[i]);
	rr_nfs4_unlock_tables(c->server);
	ok->tsr_status_codes.count = count;
	return NFS4_OK;
}

uint32_t
rr_op_free_stateid(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_tables *tables;
	stateid4 stateid;
	nfsstat4 status = rr_nfs4_current_stateid(c, &c->op->u.opfree_stateid.fsa_stateid, &stateid);

	if (status != NFS4_OK)
		return status;
	tables = rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_free_stateid(tables, c->client, &stateid);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* Runs when the attributes of the file are known: finds the delegation of the DELEGRETURN and ends it. */
static uint32_t
op_delegreturn_typed(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_state *state;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(
		c, &c->current, &c->op->u.opdelegreturn.deleg_stateid, RR_NFS4_DELEGATION, &state);
	if (status == NFS4_OK)
		rr_nfs4_state_end(state);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

uint32_t
rr_op_delegreturn(struct rr_nfs4_compound *c)
{
	return rr_nfs4_attributes(c, &c->current, op_delegreturn_typed);
}
