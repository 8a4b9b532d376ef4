/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_RECORD_H
#define RR_SERVER_NFS4_TABLES_RECORD_H

#include "server/nfs4/tables/record_file.h"

/*
 * The records of clients on the disk, one file for each (record_file.h), as they are in memory: which of them
 * are on the disk, and which are still to be written or removed. No function here calls the system:
 * rr_nfs4_records_next() hands out a record to be written or removed, a thread does that without the lock of
 * the tables, and rr_nfs4_record_done() takes the report.
 *
 * Ownership: the table owns the records. A client points to its record until the client leaves; the record
 * goes when its file has gone, or with the table.
 */

enum rr_nfs4_record_phase {
	RR_NFS4_RECORD_ABSENT, /* not on the disk, and not wanted there */
	RR_NFS4_RECORD_WRITING,
	RR_NFS4_RECORD_WRITING_UNWANTED, /* to be removed when it has been written */
	RR_NFS4_RECORD_PRESENT,
	RR_NFS4_RECORD_REMOVING,
	RR_NFS4_RECORD_REMOVING_WANTED, /* to be written when it has been removed */
	RR_NFS4_RECORD_PHASES
};

struct rr_nfs4_records;

/* A record says that a client may have opens and locks, so that the client can reclaim them. */
struct rr_nfs4_record {
	struct rr_list link; /* in the table's list of all records */
	struct rr_list todo; /* in the table's list of records that the disk is to be changed for */
	enum rr_nfs4_record_phase phase;
	struct rr_nfs4_recorded recorded;
	struct rr_nfs4_client *client; /* of this start, which points to the record; or NULL */
	const void *server; /* the server whose thread was given the record last, to be written or removed */
	bool may_come;      /* the record is of the last start: its client may come back and reclaim */
	uint8_t owner[];
};

struct rr_nfs4_records {
	const struct rr_env *env;
	bool kept; /* false: there is no place for records, and no records are made */
	bool ends; /* the server ends: records stay as they are */
	struct rr_list all, todo;
	uint32_t count, max;
	uint64_t name; /* name of the last record's file */
};

/* Makes an empty table, which can have `max` records. Records are not kept until `kept` is set. */
void rr_nfs4_records_init(struct rr_nfs4_records *records, const struct rr_env *env, uint32_t max);
void rr_nfs4_records_free(struct rr_nfs4_records *records);

/* Adds a record that the last start of the server has left on the disk. Errors: NOMEM. */
int rr_nfs4_records_add(struct rr_nfs4_records *records, const struct rr_nfs4_recorded *recorded);

/* Makes a record for a client. The record is not on the disk yet. Returns NULL if there is no memory, or
 * there are too many records. */
struct rr_nfs4_record *rr_nfs4_record_new(struct rr_nfs4_records *records, struct rr_nfs4_client *client);

/* Sets whether the record is to be on the disk; the disk is changed later, see rr_nfs4_records_next(). Does
 * nothing when the server ends. */
void rr_nfs4_record_want(struct rr_nfs4_records *records, struct rr_nfs4_record *record, bool wanted);

/* Returns the next record that a thread has to write or to remove, as the phase of the record says; NULL if
 * there is none. */
struct rr_nfs4_record *rr_nfs4_records_next(struct rr_nfs4_records *records);
/* Takes this record, so that rr_nfs4_records_next() does not return it. Returns false where nothing is to be
 * written or removed. */
bool rr_nfs4_record_take(struct rr_nfs4_record *record);

/* Handles the report that a thread has tried to write or to remove the record; done: whether that succeeded.
 * A record that is neither on the disk nor of a client is freed. */
void rr_nfs4_record_done(struct rr_nfs4_records *records, struct rr_nfs4_record *record, bool done);

/* Parts the record from its client, which has ended; the record is to be removed from the disk. A record that
 * is not on the disk is freed at once. */
void rr_nfs4_record_leave(struct rr_nfs4_records *records, struct rr_nfs4_record *record);

/* Tells whether a record that the last start has left on the disk names this client (its owner and
 * principal). */
bool rr_nfs4_records_known(const struct rr_nfs4_records *records, const struct rr_nfs4_client *client);
/* Has the records of the last start removed that name this client, as it has come back; if client is NULL,
 * all records of the last start, as the time to come back is over. */
void rr_nfs4_records_forget(struct rr_nfs4_records *records, const struct rr_nfs4_client *client);
/* Returns the number of records of the last start whose clients have not come back. */
uint32_t rr_nfs4_records_missing(const struct rr_nfs4_records *records);
/* Returns the longest of the lease periods that these clients know and of `lease`, in nanoseconds. */
uint64_t rr_nfs4_records_lease(const struct rr_nfs4_records *records, uint64_t lease);
/* Tells whether a record that belongs to no client is being removed from the disk. The grace period ends only
 * when there is no such record: with the record, the client could come back after another restart and reclaim
 * what other clients have got since. */
bool rr_nfs4_records_removing(const struct rr_nfs4_records *records);

#endif
