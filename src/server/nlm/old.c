/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nlm/old.h"

#include <string.h>

#include "base/checked.h"
#include "ulb/nlm3.h"

/* Version 1 has the procedures 0 to 15 of version 3. */
enum { OLD_PROCEDURES = 16 };

static struct rpcrdma_program old_version1;

const struct rpcrdma_program *
rr_nlm_program(uint32_t vers)
{
	if (vers == NLM4_VERS)
		return &nlm4_NLM4_VERS_program;
	return vers == NLM_VERSX ? &nlm3_NLM_VERSX_program : &old_version1;
}

static void __attribute__((constructor)) old_begin(void)
{
	old_version1 = nlm3_NLM_VERSX_program;
	old_version1.name = "NLM_VERS";
	old_version1.vers = 1;
	old_version1.procedure_count = OLD_PROCEDURES;
}

/* ---- To version 4 ---- */

/* A length that reaches the last octet that 32 bits can name is one to the end of the file, as is 0. */
static nlm4_lock
old_lock(const nlm_lock *from)
{
	return (nlm4_lock){ from->caller_name, from->fh, from->oh, from->uppid, from->l_offset,
		from->l_len == UINT32_MAX ? 0 : from->l_len };
}

static void
old_lockargs(const nlm_lockargs *from, nlm4_lockargs *to)
{
	*to = (nlm4_lockargs){ from->cookie, from->block, from->exclusive, old_lock(&from->alock),
		from->reclaim, from->state };
}

static void
old_shareargs(const nlm_shareargs *from, nlm4_shareargs *to)
{
	to->cookie = from->cookie;
	to->share = (nlm4_share){ from->share.caller_name, from->share.fh, from->share.oh,
		(fsh4_mode)(from->share.mode & 3), (fsh4_access)(from->share.access & 3) };
	to->reclaim = from->reclaim;
}

const void *
rr_nlm_widen(struct rpcrdma_request *request, const void *args)
{
	union {
		nlm4_testargs test;
		nlm4_lockargs lock;
		nlm4_cancargs cancel;
		nlm4_unlockargs unlock;
		nlm4_shareargs share;
		nlm4_res res;
		nlm4_notify notify;
	} *wide = rpcrdma_request_alloc(request, sizeof(*wide));
	const nlm_testargs *test = args;
	const nlm_cancargs *cancel = args;
	const nlm_unlockargs *unlock = args;
	const nlm_res *res = args;
	const nlm_notify *notify = args;

	if (!wide)
		return NULL;
	switch (request->proc) {
	case NLM_TEST:
	case NLM_TEST_MSG:
	case NLM_GRANTED:
	case NLM_GRANTED_MSG:
		wide->test = (nlm4_testargs){ test->cookie, test->exclusive, old_lock(&test->alock) };
		break;
	case NLM_LOCK:
	case NLM_LOCK_MSG:
	case NLM_NM_LOCK: old_lockargs(args, &wide->lock); break;
	case NLM_CANCEL:
	case NLM_CANCEL_MSG:
		wide->cancel = (nlm4_cancargs){ cancel->cookie, cancel->block, cancel->exclusive,
			old_lock(&cancel->alock) };
		break;
	case NLM_UNLOCK:
	case NLM_UNLOCK_MSG:
		wide->unlock = (nlm4_unlockargs){ unlock->cookie, old_lock(&unlock->alock) };
		break;
	case NLM_SHARE:
	case NLM_UNSHARE: old_shareargs(args, &wide->share); break;
	case NLM_FREE_ALL: wide->notify = (nlm4_notify){ notify->name, notify->state }; break;
	default: wide->res = (nlm4_res){ res->cookie, { (nlm4_stats)res->stat.stat } };
	}
	return wide;
}

/* ---- From version 4 ---- */

/* Statuses that only version 4 has become DENIED_NOLOCKS. */
static nlm_stats
old_stat(nlm4_stats stat)
{
	return stat > NLM4_DEADLCK ? LCK_DENIED_NOLOCKS : (nlm_stats)stat;
}

static uint32_t
old_offset(uint64_t offset)
{
	return (uint32_t)rr_min(offset, (uint64_t)UINT32_MAX);
}

void
rr_nlm_narrow(const nlm4_res *from, nlm_res *to)
{
	to->cookie = from->cookie;
	to->stat.stat = old_stat(from->stat.stat);
}

void
rr_nlm_narrow_share(const nlm4_shareres *from, nlm_shareres *to)
{
	*to = (nlm_shareres){ from->cookie, old_stat(from->stat), from->sequence };
}

void
rr_nlm_narrow_test(const nlm4_testres *from, nlm_testres *to)
{
	const nlm4_holder *holder = &from->stat.u.holder;

	to->cookie = from->cookie;
	to->test_stat.stat = old_stat(from->stat.stat);
	if (from->stat.stat == NLM4_DENIED)
		to->test_stat.u.holder = (nlm_holder){ holder->exclusive, holder->svid, holder->oh,
			old_offset(holder->l_offset), old_offset(holder->l_len) };
}

void
rr_nlm_narrow_granted(const nlm4_testargs *from, void *to)
{
	const nlm4_lock *lock = &from->alock;
	const nlm_testargs args = { from->cookie, from->exclusive,
		{ lock->caller_name, lock->fh, lock->oh, lock->svid, old_offset(lock->l_offset),
			old_offset(lock->l_len) } };

	_Static_assert(sizeof(args) <= RR_NLM_OLD_ARGS, "there is room");
	memcpy(to, &args, sizeof(args));
}

void
rr_nlm_narrow_result(uint32_t proc, const void *from, void *to)
{
	_Static_assert(sizeof(nlm_testres) <= RR_NLM_OLD_ARGS, "there is room");
	if (proc == NLM_TEST_RES)
		rr_nlm_narrow_test(from, to);
	else
		rr_nlm_narrow(from, to);
}

nlm4_stats
rr_nlm_granted_stat(const void *result)
{
	return (nlm4_stats)((const nlm_res *)result)->stat.stat;
}
