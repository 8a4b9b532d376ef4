/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has SECINFO and SECINFO_NO_NAME: RFC 8881, 18.29 and 18.45. */
#include <string.h>

#include "nfs/v4/proc.h"
#include "wire/gss.h"

/* Octets of the longest list that is read. */
enum { SEC_LIST = 1024 };

static void
proc_secinfo_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_sec_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->directory.data);
	if (args->name.length > 0)
		rr_v4_op(slot, OP_SECINFO, SEC_LIST)->u.opsecinfo.name = args->name;
	else
		rr_v4_op(slot, OP_SECINFO_NO_NAME, SEC_LIST)->u.opsecinfo_no_name = SECINFO_STYLE4_CURRENT_FH;
}

/* Returns the number of an entry of the list, or UINT32_MAX for one that is not known here. Kerberos has the
 * name 1.2.840.113554.1.2.2 (RFC 1964, 1), and qop 0 alone. */
static uint32_t
sec_flavor(const secinfo4 *entry)
{
	static const uint8_t oid[] = { 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02 };
	const rpcsec_gss_info *info = &entry->u.flavor_info;

	if (entry->flavor != RPCSEC_GSS)
		return entry->flavor;
	/* With its tag and length, as in most servers, or without. */
	if (info->qop != 0 || info->service < RPC_GSS_SVC_NONE || info->service > RPC_GSS_SVC_PRIVACY ||
		info->oid.length < sizeof(oid) - 2 ||
		memcmp((const uint8_t *)info->oid.data + info->oid.length - (sizeof(oid) - 2), oid + 2,
			sizeof(oid) - 2) != 0)
		return UINT32_MAX;
	return RR_FLAVOR_KRB5 + (uint32_t)info->service - RPC_GSS_SVC_NONE;
}

/* RFC 8881, 18.29.4: the client is free "to pick in the server's preference order the first one it supports."
 */
static int
proc_secinfo_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_sec_args *args = slot->outer->args;
	struct rr_sec_offer *offer = &((struct rr_v4_sec_result *)slot->outer->result)->offer;
	const SECINFO4resok *list =
		args->name.length > 0 ? &rr_v4_res(slot, OP_SECINFO)->u.opsecinfo.u.resok4
				      : &rr_v4_res(slot, OP_SECINFO_NO_NAME)->u.opsecinfo_no_name.u.resok4;

	offer->count = 0;
	for (uint32_t i = 0; i < list->count && offer->count < RR_SEC_OFFERS; i++) {
		uint32_t flavor = sec_flavor(&list->values[i]);

		if (flavor != UINT32_MAX)
			offer->flavors[offer->count++] = flavor;
	}
	return 0;
}

const struct rr_v4_work rr_v4_secinfo = {
	.build = proc_secinfo_build,
	.take = proc_secinfo_take,
	.result = sizeof(struct rr_v4_sec_result),
};
