/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of hosts on the disk. A host's name is there before its first lock is answered, and is removed
 * some time after its last one went: so after a restart the server knows whom to tell of it. A thread of its
 * own writes and removes.
 */
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "server/locks/keep.h"
#include "server/nlm/record.h"

/* A host keeps its file so long after its last lock: its next lock need not be written then. */
#define RECORD_IDLE (90 * RR_SECOND)

/* The most files that are removed at a time. */
enum { RECORD_TIDY = 16 };

/* The work of the thread on one host's file. */
struct record_task {
	struct rr_crew_job job;
	struct rr_nlm_server *server;
	struct rr_nlm_host *host;
	struct rr_nlm_op *op; /* that waits for it; NULL: the file is removed */
	void (*then)(struct rr_nlm_op *op);
	struct rr_nlm_recorded_host recorded;
	bool done;
};

void
rr_nlm_record_name(const struct rr_nlm_recorded_host *host, char name[RR_KEEP_NAME])
{
	/* The name of the file says nothing of the host: a name that a host chooses never becomes one. */
	static const uint8_t key[RR_SIPHASH_KEY];
	uint8_t tag[RR_SIPHASH_TAG];
	struct rr_siphash hash;

	rr_siphash_init(&hash, key);
	rr_siphash_add(&hash, host->address, sizeof(host->address));
	rr_siphash_add(&hash, host->name, host->length);
	rr_siphash_end(&hash, tag);
	snprintf(name, RR_KEEP_NAME, "%016llx%016llx", (unsigned long long)rr_get_be64(tag),
		(unsigned long long)rr_get_be64(tag + 8));
}

/* The format of a file: the mark and the length of the name in four octets each, the address, the name, and
 * the CRC-32C of all these. */
enum { RECORD_MARK = 0x72724e01, RECORD_HEAD = 24, RECORD_MAX = RECORD_HEAD + RR_NLM_NAME + 4 };

static bool
record_write(const struct rr_keep *keep, const struct rr_nlm_recorded_host *host)
{
	size_t end = RECORD_HEAD + host->length;
	uint8_t data[RECORD_MAX];
	char name[RR_KEEP_NAME];

	rr_put_be32(data, RECORD_MARK);
	rr_put_be32(data + 4, host->length);
	memcpy(data + 8, host->address, sizeof(host->address));
	memcpy(data + RECORD_HEAD, host->name, host->length);
	rr_put_be32(data + end, rr_crc32c(0, data, end));
	rr_nlm_record_name(host, name);
	return rr_keep_put(keep, name, data, end + 4);
}

bool
rr_nlm_record_read(const struct rr_keep *keep, const char *name, struct rr_nlm_recorded_host *host)
{
	uint8_t data[RECORD_MAX + 1];
	ptrdiff_t got = rr_keep_get(keep, name, data, sizeof(data));
	size_t end = (size_t)got - 4;

	if (got < RECORD_HEAD + 4 || got > RECORD_MAX || rr_get_be32(data) != RECORD_MARK ||
		rr_get_be32(data + 4) != end - RECORD_HEAD ||
		rr_get_be32(data + end) != rr_crc32c(0, data, end))
		return false;
	host->length = rr_get_be32(data + 4);
	memcpy(host->address, data + 8, sizeof(host->address));
	memcpy(host->name, data + RECORD_HEAD, host->length);
	return true;
}

/* ---- The thread ---- */

static bool
record_run(struct rr_crew_job *job, void *member)
{
	struct record_task *task = rr_container(job, struct record_task, job);
	const struct rr_keep *keep = task->server->shared->keep;
	char name[RR_KEEP_NAME];

	(void)member;
	rr_nlm_record_name(&task->recorded, name);
	task->done = task->op ? record_write(keep, &task->recorded) : rr_keep_remove(keep, name);
	return true;
}

static void
record_done(struct rr_crew_job *job)
{
	struct record_task *task = rr_container(job, struct record_task, job);
	struct rr_nlm_server *server = task->server;
	struct rr_nlm_op *op = task->op;
	bool present = op ? task->done : !task->done;

	rr_nlm_enter(server);
	task->host->recorded = present ? RR_NLM_PRESENT : RR_NLM_ABSENT;
	task->host->users--;
	rr_nlm_leave(server);
	if (op && present)
		task->then(op);
	else if (op)
		rr_nlm_op_end(op, NLM4_DENIED_NOLOCKS);
	rr_free(server->env, task);
}

/* Hands the host's file to the thread. The mutex is held. Returns false if there is no memory. */
static bool
record_begin(struct rr_nlm_server *server, struct rr_nlm_host *host, struct rr_nlm_op *op,
	void (*then)(struct rr_nlm_op *op))
{
	struct record_task *task = rr_alloc(server->env, sizeof(*task));

	if (!task)
		return false;
	task->job.run = record_run;
	task->job.done = record_done;
	task->job.owner = task->job.host = host->number;
	task->server = server;
	task->host = host;
	task->op = op;
	task->then = then;
	task->recorded.length = host->name_length;
	memcpy(task->recorded.address, host->source.address, sizeof(task->recorded.address));
	memcpy(task->recorded.name, host->name, host->name_length);
	host->users++;
	host->recorded = op ? RR_NLM_WRITING : RR_NLM_REMOVING;
	rr_crew_add(server->recorder, &task->job);
	return true;
}

/* Another operation has the file written, or it is being removed. */
static void
record_again(struct rr_nlm_op *op)
{
	rr_nlm_record(op, op->recorded);
}

void
rr_nlm_record(struct rr_nlm_op *op, void (*then)(struct rr_nlm_op *op))
{
	struct rr_nlm_server *server = op->server;
	struct rr_nlm_host *host = op->host;
	enum rr_nlm_recorded recorded;
	bool begun = true;

	op->recorded = then;
	rr_nlm_enter(server);
	recorded = server->recorder ? host->recorded : RR_NLM_PRESENT;
	if (recorded == RR_NLM_ABSENT)
		begun = record_begin(server, host, op, then);
	rr_nlm_leave(server);
	if (recorded == RR_NLM_PRESENT)
		then(op);
	else if (recorded != RR_NLM_ABSENT)
		rr_nlm_op_retry(op, record_again);
	else if (!begun)
		rr_nlm_op_end(op, NLM4_DENIED_NOLOCKS);
}

void
rr_nlm_records_tidy(struct rr_nlm_server *server)
{
	struct rr_nlm_tables *tables = rr_nlm_enter(server);
	uint64_t now = rr_now(server->env);
	int left = RECORD_TIDY;

	/* The list is in the order of their last use. */
	for (struct rr_list *link = tables->all.next; link != &tables->all && left > 0 && server->recorder;
		link = link->next) {
		struct rr_nlm_host *host = rr_container(link, struct rr_nlm_host, of_all);

		if (now - host->used < RECORD_IDLE)
			break;
		if (host->recorded == RR_NLM_PRESENT && host->users == 0 && rr_list_empty(&host->claims)) {
			record_begin(server, host, NULL, NULL);
			left--;
		}
	}
	rr_nlm_leave(server);
}
