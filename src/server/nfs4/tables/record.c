/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of clients in memory, and which of them are to be written to the disk or removed from it. */
#include "server/nfs4/tables/record.h"

#include <string.h>

#include <rpcrdma/error.h>

enum record_event { RECORD_WANT, RECORD_UNWANT, RECORD_DONE, RECORD_FAILED, RECORD_EVENTS };

/* The phases that follow by the events. An action on the disk ends before the next action begins for the same
 * record: a record that is no longer wanted while it is written is removed after that, and the other way
 * round. After a write that failed, the file may be there or not: it is removed if the record is no longer
 * wanted. */
static const enum rr_nfs4_record_phase record_next[RR_NFS4_RECORD_PHASES][RECORD_EVENTS] = {
	[RR_NFS4_RECORD_ABSENT] = { RR_NFS4_RECORD_WRITING, RR_NFS4_RECORD_ABSENT, RR_NFS4_RECORD_ABSENT,
		RR_NFS4_RECORD_ABSENT },
	[RR_NFS4_RECORD_WRITING] = { RR_NFS4_RECORD_WRITING, RR_NFS4_RECORD_WRITING_UNWANTED,
		RR_NFS4_RECORD_PRESENT, RR_NFS4_RECORD_ABSENT },
	[RR_NFS4_RECORD_WRITING_UNWANTED] = { RR_NFS4_RECORD_WRITING, RR_NFS4_RECORD_WRITING_UNWANTED,
		RR_NFS4_RECORD_REMOVING, RR_NFS4_RECORD_REMOVING },
	[RR_NFS4_RECORD_PRESENT] = { RR_NFS4_RECORD_PRESENT, RR_NFS4_RECORD_REMOVING, RR_NFS4_RECORD_PRESENT,
		RR_NFS4_RECORD_PRESENT },
	/* A removal that failed is not tried again before the next start. */
	[RR_NFS4_RECORD_REMOVING] = { RR_NFS4_RECORD_REMOVING_WANTED, RR_NFS4_RECORD_REMOVING,
		RR_NFS4_RECORD_ABSENT, RR_NFS4_RECORD_ABSENT },
	[RR_NFS4_RECORD_REMOVING_WANTED] = { RR_NFS4_RECORD_REMOVING_WANTED, RR_NFS4_RECORD_REMOVING,
		RR_NFS4_RECORD_WRITING, RR_NFS4_RECORD_WRITING },
};

/* Sets the next phase of the record: the table record_next has it for the present phase and this event. A
 * record that must now be written to the disk, or removed from the disk, is added to records->todo; but not
 * if it returns to WRITING from WRITING_UNWANTED, or to REMOVING from REMOVING_WANTED, as that action is
 * still under way. */
static void
record_set_phase(struct rr_nfs4_records *records, struct rr_nfs4_record *record, enum record_event event)
{
	enum rr_nfs4_record_phase old = record->phase;
	bool begins;

	record->phase = record_next[old][event];
	begins = (record->phase == RR_NFS4_RECORD_WRITING && old != RR_NFS4_RECORD_WRITING_UNWANTED) ||
		 (record->phase == RR_NFS4_RECORD_REMOVING && old != RR_NFS4_RECORD_REMOVING_WANTED);
	if (begins && record->phase != old)
		rr_list_append(&records->todo, &record->todo);
}

void
rr_nfs4_records_init(struct rr_nfs4_records *records, const struct rr_env *env, uint32_t max)
{
	*records = (struct rr_nfs4_records){ .env = env, .max = max };
	rr_list_init(&records->all);
	rr_list_init(&records->todo);
	records->name = rr_random_u64(env);
}

/* Removes the record from its lists and frees it. */
static void
record_free(struct rr_nfs4_records *records, struct rr_nfs4_record *record)
{
	rr_list_remove(&record->link);
	rr_list_remove(&record->todo);
	records->count--;
	rr_caller_drop(records->env, &record->recorded.principal);
	rr_free(records->env, record);
}

void
rr_nfs4_records_free(struct rr_nfs4_records *records)
{
	rr_list_for_each (link, &records->all)
		record_free(records, rr_container(link, struct rr_nfs4_record, link));
}

/* Makes a record in memory and adds it to the list of all records; the disk is not changed. Returns NULL if
 * there are too many records, or there is no memory. */
static struct rr_nfs4_record *
record_make(struct rr_nfs4_records *records, const struct rr_nfs4_recorded *recorded)
{
	struct rr_nfs4_record *record;

	if (records->count == records->max)
		return NULL;
	record = rr_alloc(records->env, sizeof(*record) + recorded->owner.length);
	if (!record)
		return NULL;
	memcpy(record->owner, recorded->owner.data, recorded->owner.length);
	record->recorded = *recorded;
	if (!rr_caller_keep(records->env, &recorded->principal, &record->recorded.principal)) {
		rr_free(records->env, record);
		return NULL;
	}
	record->recorded.owner.data = record->owner;
	rr_list_append(&records->all, &record->link);
	rr_list_init(&record->todo);
	records->count++;
	return record;
}

int
rr_nfs4_records_add(struct rr_nfs4_records *records, const struct rr_nfs4_recorded *recorded)
{
	struct rr_nfs4_record *record = record_make(records, recorded);

	if (!record)
		return -RPCRDMA_ERR_NOMEM;
	record->phase = RR_NFS4_RECORD_PRESENT;
	record->may_come = true;
	return 0;
}

struct rr_nfs4_record *
rr_nfs4_record_new(struct rr_nfs4_records *records, struct rr_nfs4_client *client)
{
	const struct rr_nfs4_recorded recorded = { ++records->name, client->principal,
		(uint32_t)(client->table->lease / RR_SECOND), { client->owner, client->owner_length },
		rr_nfs4_client_is_plain(client) };
	struct rr_nfs4_record *record = record_make(records, &recorded);

	if (record)
		record->client = client;
	return record;
}

void
rr_nfs4_record_want(struct rr_nfs4_records *records, struct rr_nfs4_record *record, bool wanted)
{
	if (!records->ends)
		record_set_phase(records, record, wanted ? RECORD_WANT : RECORD_UNWANT);
}

struct rr_nfs4_record *
rr_nfs4_records_next(struct rr_nfs4_records *records)
{
	struct rr_list *link = rr_list_pop(&records->todo);

	if (!link)
		return NULL;
	rr_list_init(link);
	return rr_container(link, struct rr_nfs4_record, todo);
}

bool
rr_nfs4_record_take(struct rr_nfs4_record *record)
{
	bool taken = !rr_list_empty(&record->todo);

	rr_list_remove(&record->todo);
	return taken;
}

/* Frees the record if it has no file on the disk and belongs to no client. */
static void
record_look(struct rr_nfs4_records *records, struct rr_nfs4_record *record)
{
	if (record->phase == RR_NFS4_RECORD_ABSENT && !record->client)
		record_free(records, record);
}

void
rr_nfs4_record_done(struct rr_nfs4_records *records, struct rr_nfs4_record *record, bool done)
{
	record_set_phase(records, record, done ? RECORD_DONE : RECORD_FAILED);
	record_look(records, record);
}

void
rr_nfs4_record_leave(struct rr_nfs4_records *records, struct rr_nfs4_record *record)
{
	record->client = NULL;
	rr_nfs4_record_want(records, record, false);
	record_look(records, record);
}

/* Tells whether the record is of this client: both have the same owner and the same principal, with sessions
 * or without. So no principal can reclaim under the name of another. */
static bool
record_is_of(const struct rr_nfs4_record *record, const struct rr_nfs4_client *client)
{
	const struct rr_nfs4_recorded *recorded = &record->recorded;

	return recorded->plain == rr_nfs4_client_is_plain(client) &&
	       recorded->owner.length == client->owner_length &&
	       memcmp(record->owner, client->owner, client->owner_length) == 0 &&
	       rr_caller_same_principal(&recorded->principal, &client->principal);
}

bool
rr_nfs4_records_known(const struct rr_nfs4_records *records, const struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &records->all) {
		const struct rr_nfs4_record *record = rr_container(link, struct rr_nfs4_record, link);

		if (record->may_come && record_is_of(record, client))
			return true;
	}
	return false;
}

void
rr_nfs4_records_forget(struct rr_nfs4_records *records, const struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &records->all) {
		struct rr_nfs4_record *record = rr_container(link, struct rr_nfs4_record, link);

		if (!record->may_come || (client && !record_is_of(record, client)))
			continue;
		record->may_come = false;
		rr_nfs4_record_want(records, record, false);
	}
}

uint32_t
rr_nfs4_records_missing(const struct rr_nfs4_records *records)
{
	uint32_t count = 0;

	rr_list_for_each (link, &records->all)
		count += rr_container(link, struct rr_nfs4_record, link)->may_come;
	return count;
}

uint64_t
rr_nfs4_records_lease(const struct rr_nfs4_records *records, uint64_t longest)
{
	rr_list_for_each (link, &records->all) {
		const struct rr_nfs4_record *record = rr_container(link, struct rr_nfs4_record, link);

		if (record->may_come && record->recorded.lease * RR_SECOND > longest)
			longest = record->recorded.lease * RR_SECOND;
	}
	return longest;
}

bool
rr_nfs4_records_removing(const struct rr_nfs4_records *records)
{
	rr_list_for_each (link, &records->all) {
		const struct rr_nfs4_record *record = rr_container(link, struct rr_nfs4_record, link);

		if (!record->client && record->phase == RR_NFS4_RECORD_REMOVING)
			return true;
	}
	return false;
}
