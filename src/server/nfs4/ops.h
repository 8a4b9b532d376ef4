/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_OPS_H
#define RR_SERVER_NFS4_OPS_H

#include "server/nfs4/compound.h"

/* The first steps of all operations: each reads c->op and fills c->res. */
rr_nfs4_step rr_op_access, rr_op_close, rr_op_commit, rr_op_create, rr_op_delegreturn, rr_op_getattr,
	rr_op_getfh, rr_op_link, rr_op_lock, rr_op_lockt, rr_op_locku, rr_op_lookup, rr_op_lookupp,
	rr_op_nverify, rr_op_open, rr_op_open_downgrade, rr_op_putfh, rr_op_putrootfh, rr_op_read,
	rr_op_readdir, rr_op_readlink, rr_op_remove, rr_op_rename, rr_op_restorefh, rr_op_savefh,
	rr_op_secinfo, rr_op_setattr, rr_op_verify, rr_op_write;
rr_nfs4_step rr_op_backchannel_ctl, rr_op_bind_conn_to_session, rr_op_exchange_id, rr_op_create_session,
	rr_op_destroy_session, rr_op_free_stateid, rr_op_secinfo_no_name, rr_op_sequence, rr_op_test_stateid,
	rr_op_destroy_clientid, rr_op_reclaim_complete, rr_op_set_ssv;
rr_nfs4_step rr_op_open_confirm, rr_op_renew, rr_op_setclientid, rr_op_setclientid_confirm,
	rr_op_release_lockowner;
rr_nfs4_step rr_op_allocate, rr_op_deallocate, rr_op_copy, rr_op_clone, rr_op_offload, rr_op_io_advise,
	rr_op_read_plus, rr_op_seek, rr_op_getxattr, rr_op_setxattr, rr_op_listxattrs, rr_op_removexattr;

#endif
