/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_FAKE_H
#define RR_TESTS_NFS_FAKE_H

#include "../stage.h"

#include "nfs/client.h"
#include "rpc/server.h"

/* This is an NFS server for tests: a table of objects in memory, served in the engine of the client, and
 * settings for what real servers do now and then (short answers, restarts, lost answers) and for what hostile
 * servers do. The clock belongs to the test: it goes on by a millisecond in each turn. */

enum { FAKE_OBJECTS = 64, FAKE_FILE_MAX = 4 << 20 };

struct fake_object {
	bool used;
	uint32_t parent;
	char name[256];
	ftype3 type;
	uint8_t *data; /* of FAKE_FILE_MAX */
	uint64_t size,
		stable; /* octets: all, and those that survive a restart (which fills the others with '?') */
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
	FAKE_COOKIE_SAME,    /* all cookies are equal */
	FAKE_COOKIE_CIRCLE,  /* the first entry follows the last */
	FAKE_COOKIE_GROWING, /* the same, with cookies that never came before */
	FAKE_EMPTY_HANDLE
};

struct fake {
	struct stage stage;
	struct rpcrdma_server *server, *mountd;
	struct sockaddr_storage address, mount_address;
	struct fake_object objects[FAKE_OBJECTS]; /* number 0 is the root */
	uint32_t calls[32], mounts;               /* how often each procedure was called, and how often MNT */
	bool interrupt;

	/* The settings of the test. */
	const char *export;     /* what MNT accepts */
	nfsstat3 refusal;       /* its answer to every other path */
	nfsstat3 refusal_above; /* and to the paths after the first; 0: the same answer */
	int32_t flavor;
	bool mount_apart; /* MOUNT is served over TCP only */
	uint32_t rtmax, wtmax;
	uint32_t read_most, write_most; /* octets that a READ returns and a WRITE accepts, at most */
	uint32_t entry_most;            /* entries in an answer to READDIR, at most */
	bool no_readdirplus, no_attributes, no_handles;
	bool other_handles; /* LOOKUP gives another handle of the object, which is an octet longer */
	uint32_t jukebox;   /* this many calls are answered NFS3ERR_JUKEBOX */
	uint64_t verifier;
	uint64_t verifier_step; /* added after each WRITE */
	stable_how committed;
	bool silent; /* it never answers NULL and GETATTR */
	enum fake_lie lie;
	uint32_t crash_at; /* this procedure, once: it is executed, but the server restarts before it answers
			    */
	uint32_t crash_after; /* calls of that procedure before the one that meets the restart */
	bool crash_before;    /* the procedure is not executed before the restart */
	struct rr_timer crash;
};

/* Makes a server that is honest, complete and generous, with the empty export "/export". */
struct fake *fake_new(void);
void fake_serve(struct fake *fake);
void fake_free(struct fake *fake);

/* These make an object and return its number. */
uint32_t fake_add(struct fake *fake, uint32_t parent, const char *name, ftype3 type);
uint32_t fake_file(struct fake *fake, uint32_t parent, const char *name, uint64_t size);
uint32_t fake_link(struct fake *fake, uint32_t parent, const char *name, const char *target);

/* Returns the octet at offset of a file of fake_file(). */
uint8_t fake_octet(uint64_t offset);

/* Restarts the server: unstable data is lost, the verifier changes, and connections are closed. */
void fake_restart(struct fake *fake);

/* These open the export as a client; fake_must_open() fails the test where that fails. */
int fake_open(struct fake *fake, const char *path, struct rpcrdma_nfs **nfs, struct rr_text *text);
struct rpcrdma_nfs *fake_must_open(struct fake *fake, const char *path);

#endif
