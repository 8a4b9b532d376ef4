/* SPDX-License-Identifier: BSD-3-Clause */
/* The minor versions: 0 (RFC 7530), 1 (RFC 8881) and 2 (RFC 7862, with the operations of RFC 8276). */
#include "server/nfs4/minor.h"

enum {
	MINOR_ACCESS = ACCESS4_READ | ACCESS4_LOOKUP | ACCESS4_MODIFY | ACCESS4_EXTEND | ACCESS4_DELETE |
		       ACCESS4_EXECUTE,
	MINOR_XATTR_ACCESS = ACCESS4_XAREAD | ACCESS4_XAWRITE | ACCESS4_XALIST,
	MINOR_EXCHANGE_FLAGS = EXCHGID4_FLAG_SUPP_MOVED_REFER | EXCHGID4_FLAG_SUPP_MOVED_MIGR |
			       EXCHGID4_FLAG_BIND_PRINC_STATEID | EXCHGID4_FLAG_MASK_PNFS |
			       EXCHGID4_FLAG_UPD_CONFIRMED_REC_A
};

static const struct rr_nfs4_minor minor_table[] = {
	{ 0, OP_ACCESS, OP_RELEASE_LOCKOWNER, 0, MINOR_ACCESS, false },
	{ 1, OP_ACCESS, OP_RECLAIM_COMPLETE, MINOR_EXCHANGE_FLAGS, MINOR_ACCESS, true },
	/* RFC 7862, 14.1, defines one more flag; RFC 8276, 8.2, three more rights. */
	{ 2, OP_ACCESS, OP_REMOVEXATTR, MINOR_EXCHANGE_FLAGS | EXCHGID4_FLAG_SUPP_FENCE_OPS,
		MINOR_ACCESS | MINOR_XATTR_ACCESS, true },
};

const struct rr_nfs4_minor *
rr_nfs4_minor(uint32_t number)
{
	const struct rr_nfs4_minor *end = minor_table + sizeof(minor_table) / sizeof(minor_table[0]);
	const struct rr_nfs4_minor *minor = minor_table;

	while (minor < end && minor->number != number)
		minor++;
	return minor < end ? minor : NULL;
}
