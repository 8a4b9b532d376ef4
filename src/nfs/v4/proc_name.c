/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has procedures on objects and names that change nothing. The functions ..._build() append the
 * operations of a procedure to the COMPOUND, and the functions ..._take() fill in the result of the procedure
 * when all of them succeeded (struct rr_v4_work). */
#include <string.h>

#include "base/checked.h"
#include "nfs/v4/proc.h"

/* AROUND_DATA: octets of a session's largest message that are left for the parts around the data of a READ or
 * a WRITE. */
enum { AROUND_DATA = 1024, READDIR_PREFERRED = 1 << 20 };

/* ---- FSINFO ---- */

static void
proc_fsinfo_build(struct rr_v4_slot *slot)
{
	rr_v4_putfh(slot, ((const FSINFO3args *)slot->outer->args)->fsroot.data);
	rr_v4_getattr(slot, &rr_v4_attr_limits);
}

/* Returns the most octets of a READ or a WRITE: the smaller one of two limits. The server may name a limit by
 * an attribute, which has this number and the value said (RFC 8881, 5.8.2.20: "Maximum amount of data the
 * READ operation will return"). The other limit is what fits into the session's largest message, whose size
 * is message. */
static uint32_t
proc_fsinfo_limit(const struct rr_attr_values *taken, uint32_t number, uint64_t said, uint32_t message)
{
	uint64_t limit = message > AROUND_DATA ? message - AROUND_DATA : 0;

	return (uint32_t)(rr_attr_in(&taken->have, number) && said < limit ? said : limit);
}

/* Makes the result of FSINFO from the attributes and the limits of the session. Also notes how long the
 * server's lease lasts. */
static int
proc_fsinfo_take(struct rr_v4_slot *slot)
{
	FSINFO3resok *ok = &((FSINFO3res *)slot->outer->result)->u.resok;
	struct rr_v4 *v4 = slot->v4;
	struct rr_attr_values taken;

	if (!rr_v4_res_attributes(slot, &rr_v4_attr_limits, &taken))
		return rr_v4_broken(v4, "attributes that cannot be read, or that were not asked for");
	ok->rtmax = proc_fsinfo_limit(&taken, FATTR4_MAXREAD, taken.read_max, v4->reply_max);
	ok->wtmax = proc_fsinfo_limit(&taken, FATTR4_MAXWRITE, taken.write_max, v4->request_max);
	ok->dtpref = (uint32_t)rr_min(
		v4->reply_max > AROUND_DATA ? v4->reply_max - AROUND_DATA : 0, READDIR_PREFERRED);
	ok->maxfilesize = rr_attr_in(&taken.have, FATTR4_MAXFILESIZE) ? taken.file_max : INT64_MAX;
	rr_v4_note_lease(v4, &taken);
	return 0;
}

const struct rr_v4_work rr_v4_fsinfo3 = {
	.build = proc_fsinfo_build,
	.take = proc_fsinfo_take,
	.result = sizeof(FSINFO3res),
};
