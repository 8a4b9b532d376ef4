/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_RECORD_H
#define RR_NFS4_RECORD_H

#include "nfs4/record_file.h"

/*
 * Which clients are to be recorded, and what is under way for that. Pure, like client.h: what is to be done
 * with the disk is handed out by rr_nfs4_records_next(), done by a thread without the lock of the tables, and
 * reported by rr_nfs4_record_done().
 *
 * Who owns what: the table owns the records. A client points to its record until it leaves; the record goes
 * when its file has gone, or with the table.
 */

enum rr_nfs4_record_phase {
	RR_NFS4_RECORD_ABSENT,
	RR_NFS4_RECORD_WRITING,
	RR_NFS4_RECORD_WRITING_UNWANTED, /* to be removed when it is written */
	RR_NFS4_RECORD_PRESENT,
	RR_NFS4_RECORD_REMOVING,
	RR_NFS4_RECORD_REMOVING_WANTED, /* to be written when it is removed */
	RR_NFS4_RECORD_PHASES
};

struct rr_nfs4_records;

struct rr_nfs4_record {
	struct rr_list link; /* in the table's list of all */
	struct rr_list todo; /* in its list of those that have something to do with the disk */
	enum rr_nfs4_record_phase phase;
	struct rr_nfs4_recorded recorded;
	struct rr_nfs4_client *client; /* of this start, which points to it; or NULL */
	bool may_come;                 /* of the last start: its client may come back and reclaim */
	uint8_t owner[];
};

struct rr_nfs4_records {
	const struct rr_env *env;
	bool kept; /* false: there is no place for records, and none are made */
	bool ends; /* the server ends: records stay as they are */
	struct rr_list all, todo;
	uint32_t count, max;
	uint64_t name; /* of the last record */
};

void rr_nfs4_records_init(struct rr_nfs4_records *records, const struct rr_env *env, uint32_t max);
void rr_nfs4_records_free(struct rr_nfs4_records *records);

/* A record of the last start. Errors: NOMEM. */
int rr_nfs4_records_add(struct rr_nfs4_records *records, const struct rr_nfs4_recorded *recorded);

/* A record for a client, which is not written yet; NULL: no memory, or too many. */
struct rr_nfs4_record *rr_nfs4_record_new(struct rr_nfs4_records *records, struct rr_nfs4_client *client);

/* It is to be on the disk, or not. */
void rr_nfs4_record_want(struct rr_nfs4_records *records, struct rr_nfs4_record *record, bool wanted);

/* The next record that the disk is to be changed for: to be written, or to be removed, as its phase says;
 * NULL: none. */
struct rr_nfs4_record *rr_nfs4_records_next(struct rr_nfs4_records *records);

/* That has been done, or failed. A record that is on the disk no more, and that no client has, is freed. */
void rr_nfs4_record_done(struct rr_nfs4_records *records, struct rr_nfs4_record *record, bool done);

/* No client points to the record any more. */
void rr_nfs4_record_leave(struct rr_nfs4_records *records, struct rr_nfs4_record *record);

/* Whether a client of the last start may come back as this one. */
bool rr_nfs4_records_known(const struct rr_nfs4_records *records, const struct rr_nfs4_client *client);
/* It has come back, or time is over for all (client NULL): its records of the last start are to go. */
void rr_nfs4_records_forget(struct rr_nfs4_records *records, const struct rr_nfs4_client *client);
/* Owners of the last start that have not come back. */
uint32_t rr_nfs4_records_missing(const struct rr_nfs4_records *records);
/* Whether a record of the last start is still to be removed. */
bool rr_nfs4_records_removing(const struct rr_nfs4_records *records);

#endif
