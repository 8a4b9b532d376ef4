/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SERVE_H
#define RR_TOOL_SERVE_H

#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>

#include "nfs/server.h"
#include "nfs4/server.h"
#include "tool/filters.h"
#include "tool/rpcbind.h"
#include "tool/tool.h"
#include "tool/workers.h"
#include "vfs/ceph/ceph.h"
#include "vfs/posix/posix.h"

enum { RR_SERVE_ADDRESSES = 16, RR_SERVE_EXPORTS = 64, RR_SERVE_ALLOWS = 64 };

/* What begins the argument that names a directory in CephFS. */
#define RR_SERVE_CEPH "ceph:"

struct rr_serve_address {
	struct sockaddr_storage rdma; /* the TCP address differs in the port alone */
	socklen_t size;
	const char *providers; /* "iwarp", "verbs" or both: what came of --transport */
};

/* The options of `rpcrdma serve`. */
struct rr_serve {
	struct rr_serve_address addresses[RR_SERVE_ADDRESSES];
	struct rr_tree_export exports[RR_SERVE_EXPORTS];
	struct rr_workers workers;
	struct rr_tree_config tree;
	struct rr_filters filters;
	const char *key_path, *state_path;
	bool ceph; /* the exports are paths in CephFS, each with RR_SERVE_CEPH in front */
	const char *ceph_conf, *ceph_user, *file_system;
	bool version3, version4; /* of NFS: those that are served */
	struct rr_option_config config;
	struct rr_rpcbind rpcbind;
	char *texts[RR_SERVE_EXPORTS];    /* of the exports that the command line and the file name */
	unsigned lines[RR_SERVE_EXPORTS]; /* of the file; 0: an operand of the command line */
	bool ruled[RR_SERVE_EXPORTS];     /* it has rules */
	const char *allow[RR_SERVE_ALLOWS];
	uint32_t allow_count;
	struct rr_right right;          /* of clients that no rule of the file describes */
	struct rr_rules *rules;         /* by the number of the export, RR_SERVE_EXPORTS of them */
	const struct rr_serve *running; /* the server that takes these rules; NULL: none runs yet */
	int argc;                       /* the command line */
	char **argv;
	uint32_t address_count;
	uint32_t tcp_port; /* 0: no TCP */
};

/* The directory of --state, or one beside the key of file handles, by what is served at which addresses.
 * Errors: SYSTEM with text. */
int rr_serve_state(const struct rr_serve *serve, char path[PATH_MAX], struct rr_text *text);

/* How a directory without "=/NAME" is named: "/"; its last component; the path as it was written. */
enum rr_serve_naming { RR_SERVE_AS_ROOT, RR_SERVE_BY_COMPONENT, RR_SERVE_BY_PATH };

/* serve_exports.c: takes DIRECTORY[=/NAME]. The other functions are for the table of options, and for what
 * stands behind it. Each returns an exit status, after a message if it is not OK. */
int rr_serve_add(const struct rr_tool *tool, struct rr_serve *serve, const char *argument,
	enum rr_serve_naming naming, uint32_t *number);

/* serve_rules.c */
int rr_serve_take_line(const struct rr_tool *tool, void *state, const char *first, struct rr_conf *conf);
int rr_serve_take_allow(const struct rr_tool *tool, void *state, const char *text);
int rr_serve_rules(const struct rr_tool *tool, struct rr_serve *serve);

/* serve.c: what the command line says, and the file that it names: RR_OPTIONS_GO_ON, or an exit status. To be
 * freed in any case. */
int rr_serve_load(const struct rr_tool *tool, const struct rr_serve *running, int argc, char **argv,
	struct rr_serve **serve);
void rr_serve_free(struct rr_serve *serve);

/* serve_reload.c: the rules that count, which are read again while the server runs. rr_serve_fresh() gives a
 * reference. rr_serve_rules_end() is to be called when no worker runs any more and all are still there: no
 * thread reads after it. It may be called more than once. rr_serve_rules_free() may get NULL. */
struct rr_serve_rules;
int rr_serve_rules_new(
	const struct rr_tool *tool, const struct rr_serve *serve, struct rr_serve_rules **result);
void rr_serve_rules_end(struct rr_serve_rules *fresh);
void rr_serve_rules_free(struct rr_serve_rules *fresh);
struct rr_rules *rr_serve_fresh(struct rr_serve_rules *fresh);
void rr_serve_reload(struct rr_serve_rules *fresh, struct rr_workers_run *workers);

/* serve_rpcbind.c: registers with rpcbind where that is wanted, and takes away what was registered, once. */
void rr_serve_register(const struct rr_tool *tool, struct rr_serve *serve);
void rr_serve_withdraw(const struct rr_tool *tool, struct rr_serve *serve);

/* Serves until a signal ends it; returns the exit status. */
int rr_serve_run(const struct rr_tool *tool, struct rr_serve *serve);

#endif
