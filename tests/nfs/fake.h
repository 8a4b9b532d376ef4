/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_FAKE_H
#define RR_TESTS_NFS_FAKE_H

#include "../stage.h"

#include "nfs/client.h"
#include "rpc/server.h"

/*
 * An NFS server that does what a test tells it: a table of objects in memory,
 * served in the engine of the client, and knobs for what real servers do now
 * and then (short answers, restarts, lost answers) and what hostile ones do.
 * The clock is the test's: it goes on by a millisecond in each turn.
 */

enum { FAKE_OBJECTS = 64, FAKE_FILE_MAX = 4 << 20 };

struct fake_object {
	bool used;
	uint32_t parent;
	char name[256];
	ftype3 type;
	uint8_t *data; /* of FAKE_FILE_MAX */
	uint64_t size,
		stable; /* octets: all, and those that survive a restart (which fills the rest with '?') */
	char target[512];
	uint32_t same; /* another name of the object of this number; 0: an object of its own */
	sattr3 set;
};

enum fake_lie {
	FAKE_HONEST,
	FAKE_READ_TOO_MUCH,
	FAKE_READ_COUNT,
	FAKE_READ_NOTHING,
	FAKE_WRITE_NOTHING,
	FAKE_WRITE_TOO_MUCH,
	FAKE_WRITE_LESS_STABLE,
	FAKE_DIRECTORY_ENDLESS,
	FAKE_COOKIE_SAME,    /* all cookies are one */
	FAKE_COOKIE_CIRCLE,  /* behind the last entry comes the first */
	FAKE_COOKIE_GROWING, /* the same, with cookies that never came before */
	FAKE_EMPTY_HANDLE
};

struct fake {
	struct stage stage;
	struct rpcrdma_server *server, *mountd;
	struct sockaddr_storage address, mount_address;
	struct fake_object objects[FAKE_OBJECTS]; /* 0: the root */
	uint32_t calls[32], mounts;               /* how often each procedure was called, and MNT */
	bool interrupt;

	/* Knobs. */
	const char *export;     /* what MNT accepts */
	nfsstat3 refusal;       /* what it says to everything else */
	nfsstat3 refusal_above; /* and to what comes after the first; 0: the same */
	int32_t flavor;
	bool mount_apart; /* MOUNT is served over TCP alone */
	uint32_t rtmax, wtmax;
	uint32_t read_most, write_most; /* octets that a READ gives and a WRITE takes at most */
	uint32_t entry_most;            /* entries in an answer to READDIR */
	bool no_readdirplus, no_attributes, no_handles;
	uint32_t jukebox; /* so many calls are to come again */
	uint64_t verifier;
	uint64_t verifier_step; /* added after each WRITE */
	stable_how committed;
	bool silent; /* never answers NULL */
	enum fake_lie lie;
	uint32_t crash_at;    /* this procedure, once: executed, but the server restarts before it answers */
	uint32_t crash_after; /* not at the first of them, but after so many more */
	bool crash_before;    /* it is not executed before the restart */
	struct rr_timer crash;
};

/* A server that is honest, complete and generous, with the empty export "/export". */
struct fake *fake_new(void);
void fake_serve(struct fake *fake);
void fake_free(struct fake *fake);

/* Makes an object; returns its number. */
uint32_t fake_add(struct fake *fake, uint32_t parent, const char *name, ftype3 type);
uint32_t fake_file(struct fake *fake, uint32_t parent, const char *name, uint64_t size);
uint32_t fake_link(struct fake *fake, uint32_t parent, const char *name, const char *target);

/* The octet of a file of fake_file() at offset. */
uint8_t fake_octet(uint64_t offset);

/* Unstable data is forgotten, the verifier is another one, connections are gone. */
void fake_restart(struct fake *fake);

/* The client's side. */
int fake_open(struct fake *fake, const char *path, struct rpcrdma_nfs **nfs, struct rr_text *text);
struct rpcrdma_nfs *fake_must_open(struct fake *fake, const char *path);

#endif
