/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SERVE_SERVE_H
#define RR_TOOL_SERVE_SERVE_H

#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>

#include "server/nfs3/server.h"
#include "server/nfs4/server.h"
#include "server/nlm/server.h"
#include "tool/filters.h"
#include "tool/rpcbind.h"
#include "tool/secure.h"
#include "tool/serve/provider.h"
#include "tool/tool.h"
#include "tool/workers.h"
#include "vfs/posix/posix.h"

/* The most addresses, exports, and options --allow. */
enum { RR_SERVE_ADDRESSES = 16, RR_SERVE_EXPORTS = 64, RR_SERVE_ALLOWS = 64 };

struct rr_serve_address {
	struct sockaddr_storage rdma; /* the TCP address differs in the port alone */
	socklen_t size;
	const char *providers; /* "iwarp", "verbs" or both: the result of --transport */
};

/* The options of `rpcrdma serve`. */
struct rr_serve {
	struct rr_serve_address addresses[RR_SERVE_ADDRESSES];
	/* The directories that are served. A server that starts has tree.export_count of them. If `running`
	 * is not NULL, those of the new configuration, each at the index that it has in the running
	 * server. */
	struct rr_tree_export exports[RR_SERVE_EXPORTS];
	struct rr_workers workers;
	struct rr_tree_config tree;
	struct rr_filters filters;
	const char *key_path, *state_path;
	const struct rr_serve_provider *provider; /* of all exports; NULL: there is no export yet */
	union rr_serve_storage storage;
	bool version3, version4;  /* the versions of NFS that are served */
	uint32_t minors;          /* RR_NFS4_MINOR_*: those of version 4 */
	uint32_t lease;           /* of version 4, in seconds */
	bool manage_gids;         /* the groups of users are those that this machine knows */
	const char *idmap_domain; /* of names of users in version 4; NULL: that of this machine */
	struct rr_option_config config;
	struct rr_rpcbind rpcbind;
	struct rr_tool_secure secure;
	const char
		*keytab; /* of Kerberos; NULL: that of the environment, if a rule has flavors of Kerberos */
	bool kerberos;   /* RPCSEC_GSS is served */
	struct rr_gss_shared *gss; /* of a server that starts; NULL: it is not served */
	/* The arguments of exports. NULL: there is no such export in this configuration. */
	char *texts[RR_SERVE_EXPORTS];
	unsigned lines[RR_SERVE_EXPORTS]; /* their lines in the file; 0: an operand of the command line */
	bool ruled[RR_SERVE_EXPORTS];     /* the export has rules */
	bool bad[RR_SERVE_EXPORTS];       /* a line of the export has an error: its rules stay as they are */
	const char *allow[RR_SERVE_ALLOWS];
	uint32_t allow_count;
	struct rr_right right;          /* of clients that no rule of the file describes */
	struct rr_rules *rules;         /* by the number of the export; there are RR_SERVE_EXPORTS */
	const struct rr_serve *running; /* the server that takes these rules; NULL: no server runs yet */
	int argc;                       /* the command line */
	char **argv;
	uint32_t address_count;
	uint32_t tcp_port; /* 0: no TCP */
};

/* Writes into path the directory that --state gives. Without that option, writes a path beside the key of
 * file handles, whose last name depends on the exports and addresses. Returns 0; or the error SYSTEM, with a
 * text. */
int rr_serve_state(const struct rr_serve *serve, char path[PATH_MAX], struct rr_text *text);

/* The name of a directory without "=/NAME": "/"; its last component; or the path as it was written. */
enum rr_serve_naming { RR_SERVE_AS_ROOT, RR_SERVE_BY_COMPONENT, RR_SERVE_BY_PATH };

/* exports.c: takes the argument DIRECTORY[=/NAME] as a directory to serve, and stores its index in
 * *number. This function and the next ones return an exit status, after a message if it is not OK. */
int rr_serve_add(const struct rr_tool *tool, struct rr_serve *serve, const char *argument,
	enum rr_serve_naming naming, uint32_t *number);

/* rules.c: takes a line of the configuration file that names a directory and its clients. */
int rr_serve_take_line(const struct rr_tool *tool, void *state, const char *first, struct rr_conf *conf);
/* Takes the argument of an --allow. */
int rr_serve_take_allow(const struct rr_tool *tool, void *state, const char *text);
/* Gives rules to all exports that have none of their own. */
int rr_serve_rules(const struct rr_tool *tool, struct rr_serve *serve);

/* serve.c: reads the command line and the configuration file into *serve, which the caller frees in any case.
 * running is the server that is to get the new rules; NULL if the server is only starting. Returns
 * RR_OPTIONS_GO_ON, or an exit status. */
int rr_serve_load(const struct rr_tool *tool, const struct rr_serve *running, int argc, char **argv,
	struct rr_serve **serve);
void rr_serve_free(struct rr_serve *serve);

/* reload.c: the rules in force, which a thread reads again while the server runs. */
struct rr_serve_rules;
/* Puts the rules of the configuration `serve` in force, which the caller keeps. Returns an exit status, after
 * a message if it is not OK; the caller frees *result in any case. */
int rr_serve_rules_new(
	const struct rr_tool *tool, const struct rr_serve *serve, struct rr_serve_rules **result);
/* Waits for the thread that reads rules, if it runs, and ends the process if the thread does not end in time.
 * Called when no worker runs any more but all workers still exist; may be called more than once. */
void rr_serve_rules_end(struct rr_serve_rules *fresh);
/* fresh may be NULL. */
void rr_serve_rules_free(struct rr_serve_rules *fresh);
/* Returns a reference to the rules in force, which the caller releases. */
struct rr_rules *rr_serve_fresh(struct rr_serve_rules *fresh);
/* Begins to read the configuration again, in a thread; returns at once. If it has no errors, its rules come
 * into force, and each worker is asked to take them (rr_workers_renew()). */
void rr_serve_reload(struct rr_serve_rules *fresh, struct rr_workers_run *workers);

/* rpcbind.c: registers the server with rpcbind, if --rpcbind was given. */
void rr_serve_register(const struct rr_tool *tool, struct rr_serve *serve);
/* Withdraws the entries that were registered. */
void rr_serve_withdraw(const struct rr_tool *tool, struct rr_serve *serve);

/* sandbox.c: makes a helper (base/confine/helper.h), and has this process keep only what this server uses,
 * unless --no-sandbox was given. There are no threads yet. Returns an exit status, after a message if it is
 * not OK. */
int rr_serve_confine(const struct rr_tool *tool, const struct rr_serve *serve);

/* Serves until a signal ends that. Returns the exit status. */
int rr_serve_run(const struct rr_tool *tool, struct rr_serve *serve);

#endif
