/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SEC_OFFER_H
#define RR_NFS_SEC_OFFER_H

#include <stdint.h>

/* The flavors by which a server lets an export be used, that which it prefers first: numbers of flavors, or,
 * for Kerberos, pseudo-flavors (RR_FLAVOR_KRB5 and so on). Others are left out. */
enum { RR_SEC_OFFERS = 8 };

struct rr_sec_offer {
	uint32_t count;
	uint32_t flavors[RR_SEC_OFFERS];
};

#endif
