/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_RECORD_FILE_H
#define RR_SERVER_NFS4_TABLES_RECORD_FILE_H

#include "base/text.h"
#include "server/nfs4/tables/client.h"

/*
 * A directory with a file for each client that may have opens or locks: a server that starts again knows its
 * clients by these files. RFC 8881, section 8.4.2.1.
 *
 * The files are plain, as a record is written once in the life of a client and never changed, and records do
 * not depend on each other: a file is written under another name, synced, renamed, and its directory synced,
 * so that a record is there as a whole or not at all. A data base would bring a log of its own for that.
 */
struct rr_nfs4_record_dir;

/* A client as its record has it. */
struct rr_nfs4_recorded {
	uint64_t name;              /* of the file: different for all records of a directory */
	struct rr_caller principal; /* as rr_caller_keep() keeps it */
	uint32_t lease;             /* the lease period that the client knows, in seconds */
	struct rpcrdma_bytes owner;
	bool plain; /* of version 4.0, without sessions */
};

/* Opens the directory of records, makes it if it is not there (mode 0700), and locks it against other
 * servers. Errors: NOMEM; SYSTEM with text. */
int rr_nfs4_record_dir_open(
	const struct rr_env *env, const char *path, struct rr_nfs4_record_dir **dir, struct rr_text *text);
/* Unlocks and closes the directory. dir may be NULL. */
void rr_nfs4_record_dir_close(struct rr_nfs4_record_dir *dir);

/* The name of a directory in that directory: what NLM keeps. */
#define RR_NFS4_RECORDS_BESIDE "nlm"

enum { RR_NFS4_IDENTITY = 16 };

/* Reads the random octets that are the server's identity from their file in the directory. If the file is
 * missing or too short, makes new octets and the file. Errors: SYSTEM with text, also if the file cannot be
 * read. */
int rr_nfs4_record_dir_identity(
	struct rr_nfs4_record_dir *dir, uint8_t identity[RR_NFS4_IDENTITY], struct rr_text *text);

/* Gives each record to take(), until take() returns an error. A file that is not a record is left alone, with
 * a warning; a file that a crash has left unfinished is removed. Errors: what take() returned; SYSTEM. Both
 * have a text. */
int rr_nfs4_record_dir_read(struct rr_nfs4_record_dir *dir,
	int (*take)(void *ctx, const struct rr_nfs4_recorded *recorded), void *ctx, struct rr_text *text);

/* Write a record to the disk, and remove it; any thread may call them. They return true if the change is on
 * the disk; else they have logged the error. A record that is not there counts as removed. */
bool rr_nfs4_record_write(struct rr_nfs4_record_dir *dir, const struct rr_nfs4_recorded *recorded);
bool rr_nfs4_record_remove(struct rr_nfs4_record_dir *dir, uint64_t name);

#endif
