/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_IDMAP_NAMES_H
#define RR_VFS_IDMAP_NAMES_H

#include "vfs/idmap/idmap.h"

/* Owners and groups as the attributes of NFS version 4 have them: RFC 8881, 5.9. */

/* The most octets of an owner: a name, '@' and a domain. */
enum { RR_IDMAP_OWNER = 2 * RR_IDMAP_NAME + 1 };

/* What is asked about an owner: of a user, or of a group. */
struct rr_idmap_asking {
	struct rr_idmap *idmap; /* NULL: there are no names but numbers */
	uint64_t host;          /* as in struct rr_idmap_question */
	struct rr_idmap_waiter *waiter;
	/* NULL, or finds the numbers of names, instead of idmap: of a client that has its own way. */
	enum rr_idmap_status (*number)(
		void *ctx, struct rpcrdma_bytes owner, bool is_group, uint32_t *number);
	void *ctx;
};

/* Finds the number of an owner, which is a number as text, or name@domain with the domain of this machine.
 * RR_IDMAP_NONE: nobody has that name here. RR_IDMAP_WAIT, RR_IDMAP_BUSY: as rr_idmap_ask(). */
enum rr_idmap_status rr_idmap_number(
	const struct rr_idmap_asking *asking, struct rpcrdma_bytes owner, bool group, uint32_t *number);

/* Writes the owner that stands for a number, as name@domain; RR_IDMAP_NONE: there is no name, so the number
 * itself stands for the owner. */
enum rr_idmap_status rr_idmap_owner(
	const struct rr_idmap_asking *asking, uint32_t number, bool group, char owner[RR_IDMAP_OWNER + 1]);

/* Tells whether the text of an owner is a number in the form of RFC 8881, 5.9, and stores that. */
bool rr_idmap_is_number(struct rpcrdma_bytes owner, uint32_t *number);

/* Finds the domain of names on this machine, as an idmap does without an option. May wait for a name server.
 * Stores "" if there is none. */
void rr_idmap_domain(char domain[RR_IDMAP_NAME + 1]);

#endif
