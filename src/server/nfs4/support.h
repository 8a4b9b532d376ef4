/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_SUPPORT_H
#define RR_SERVER_NFS4_SUPPORT_H

#include "server/nfs4/compound.h"

/* What several operations have in common: filehandles, stateids, attributes, names. */

/* Returns the object of the filehandle in the form that the storage takes: the handle and the open, if there
 * is one. */
static inline struct rr_vfs_object
rr_nfs4_object(const struct rr_nfs4_fh *fh)
{
	return (struct rr_vfs_object){ { fh->handle.data, fh->handle.length }, fh->open };
}

/* Sets the filehandle to another object. RFC 8881, 16.2.3.1.2: operations that set the current filehandle
 * without a stateid leave an anonymous stateid as the current stateid. fh->has_stateid is then false, and an
 * operation that asks for the current stateid gets NFS4ERR_BAD_STATEID: RFC 8881, 8.2.3. */
void rr_nfs4_set_fh(struct rr_nfs4_fh *fh, const struct rr_vfs_handle *handle);
/* Like rr_nfs4_set_fh(), from the octets of a handle, which are RR_VFS_HANDLE_MAX at most. */
void rr_nfs4_set_octets(struct rr_nfs4_fh *fh, nfs_fh4 octets);
/* Sets the current stateid, which belongs to the current filehandle. */
void rr_nfs4_set_stateid(struct rr_nfs4_compound *c, const stateid4 *stateid);

/* Sets the current filehandle to an entry of the pseudo root: a directory, or the root of an export. */
void rr_nfs4_set_entry(struct rr_nfs4_compound *c, uint32_t entry);

/* Copies the stateid `given` to *stateid; if it is the special stateid that stands for the current stateid,
 * copies the current stateid instead. */
nfsstat4 rr_nfs4_current_stateid(const struct rr_nfs4_compound *c, const stateid4 *given, stateid4 *stateid);

/* Finds the open that a stateid of the operation stands for and holds it in c->opened[index] until the
 * operation ends; c->opened[index] stays NULL for the special stateids. Returns an error if the stateid does
 * not allow the operation now. access: OPEN4_SHARE_ACCESS_*, what the open must allow; 0: nothing. */
nfsstat4 rr_nfs4_use_stateid(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t access, uint32_t index);

/* Asks the storage whether the caller may read the file, for an operation that itself reads no octet: then()
 * runs with the answer in c->vfs_status. If c->opened[0] holds an open, the storage is not asked again. */
uint32_t rr_nfs4_may_read(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/* Finds the state that the stateid `given` of the operation names, and stores it in *state. kinds: the kinds
 * of state that are accepted. The state must be of the file that fh belongs to. If the attributes of fh are
 * not known, only a state that was made with this very filehandle is found; for any other state, the caller
 * gets NFS4ERR_BAD_STATEID and may try again with the attributes. The caller holds the lock of the tables. */
nfsstat4 rr_nfs4_find_state(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t kinds, struct rr_nfs4_state **state);

/* Returns the object of the filehandle in the form that the storage takes: the handle, with the open in
 * c->opened[index] if there is one, else with the open of the filehandle. */
static inline struct rr_vfs_object
rr_nfs4_object_as(const struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, uint32_t index)
{
	return (struct rr_vfs_object){ { fh->handle.data, fh->handle.length },
		c->opened[index] ? c->opened[index]->open : fh->open, c->reserved[index] };
}

/* Called by an operation that reclaims. Returns NFS4_OK if the client may reclaim what it had before the
 * server started; the end of the grace period is then delayed. Else returns NFS4ERR_NO_GRACE or
 * NFS4ERR_RECLAIM_BAD. The caller holds the lock of the tables. */
nfsstat4 rr_nfs4_may_reclaim(struct rr_nfs4_compound *c);

/* Returns NFS4ERR_GRACE in the grace period, as a client may still reclaim a state that conflicts with the
 * operation; else NFS4_OK. The caller does not hold the lock of the tables, which this function takes. */
nfsstat4 rr_nfs4_no_grace(const struct rr_nfs4_compound *c);

/* Returns the value of NFS for how safely the storage keeps data that it has written. */
stable_how4 rr_nfs4_committed(enum rr_vfs_stable stable);

/* Returns NFS4_OK for a regular file, else NFS4ERR_ISDIR, NFS4ERR_SYMLINK or NFS4ERR_WRONG_TYPE. */
nfsstat4 rr_nfs4_regular(const struct rr_nfs4_fh *fh);

/* Returns NFS4_OK for a regular file, else NFS4ERR_WRONG_TYPE, as the operations of RFC 7862 demand: "If ...
 * not a regular file, the operation MUST fail and return NFS4ERR_WRONG_TYPE" (15.1.3, 15.2.3, 15.4.3,
 * 15.13.3). */
nfsstat4 rr_nfs4_regular_only(const struct rr_nfs4_fh *fh);

/* Fills *info, which tells the client how the operation has changed a directory or file. */
void rr_nfs4_change_info(const struct rr_vfs_change *change, change_info4 *info);

/* Checks a name, and returns NFS4_OK or an error: NFS4ERR_INVAL if it is empty or not UTF-8, NFS4ERR_BADCHAR,
 * NFS4ERR_NAMETOOLONG, NFS4ERR_BADNAME. */
nfsstat4 rr_nfs4_name(component4 name);

/* Reads the attributes of the filehandle's object into fh->attributes, and goes on with `then`; at once if
 * this compound knows the attributes already. c->vfs_status tells `then` whether that succeeded. */
uint32_t rr_nfs4_attributes(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, rr_nfs4_step *then);

#endif
