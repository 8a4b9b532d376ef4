/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_NAMES_H
#define RR_SERVER_NFS4_NAMES_H

#include "server/nfs4/compound.h"
#include "vfs/fattr4/attr.h"
#include "vfs/idmap/names.h"

/* Owners and groups as names, which the directory of users is asked for: RFC 8881, 5.9. A step that has to
 * wait for an answer returns RR_NFS4_PENDING, and is run once more, from its beginning. */

/* Prepares the compound to wait for answers of the directory. */
void rr_nfs4_names_init(struct rr_nfs4_compound *c);

/* Gives the caller the groups that the directory has for it, if the server is to do that. Returns false if
 * the compound has to wait, to begin once more. c->late: the directory does not answer, so the first
 * operation is to fail with NFS4ERR_DELAY. */
bool rr_nfs4_know_caller(struct rr_nfs4_compound *c);

/* What the functions of vfs/idmap/names.h want to know. */
struct rr_idmap_asking rr_nfs4_asking(struct rr_nfs4_compound *c);

/* Tells whether the caller gets names of owners, and not numbers: the mask has owners, and the caller has a
 * name, as its principal. A caller by AUTH_SYS says its own number, and so gets those of others. */
bool rr_nfs4_wants_names(const struct rr_nfs4_compound *c, const struct rr_attr_mask *mask);

/* An owner and a group as names; "" where there is only a number. */
struct rr_nfs4_owners {
	char owner[RR_IDMAP_OWNER + 1], group[RR_IDMAP_OWNER + 1];
};

/* Finds the names of the owner and the group in attributes, and has *source tell them from *owners. Returns
 * RR_IDMAP_FOUND, RR_IDMAP_WAIT or RR_IDMAP_BUSY. */
enum rr_idmap_status rr_nfs4_owners(const struct rr_idmap_asking *asking,
	const struct rr_vfs_attributes *attributes, struct rr_nfs4_owners *owners,
	struct rr_attr_source *source);

/* Asks for the names of all users and groups in a list, so that they are known when it is written. */
enum rr_idmap_status rr_nfs4_acl_names(const struct rr_idmap_asking *asking, const struct rr_vfs_acl *acl);

/* Reads what a fattr4 of the arguments sets, as rr_attr_get() does, with a list into *acl, whose memory lives
 * until the operation ends; NULL: no list can be set. Returns RR_NFS4_PENDING if the step `again` will run
 * once more. */
uint32_t rr_nfs4_attr_get(struct rr_nfs4_compound *c, const fattr4 *fattr, struct rr_attr_acl *acl,
	struct rr_vfs_set *set, rr_nfs4_step *again);

/* Waits for the answer to the question that was asked last, and goes on with `again`. */
uint32_t rr_nfs4_wait_names(struct rr_nfs4_compound *c, rr_nfs4_step *again);

#endif
