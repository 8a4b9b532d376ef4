/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SERVE_H
#define RR_TOOL_SERVE_H

#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>

#include "nfs/server.h"
#include "nfs4/server.h"
#include "tool/filters.h"
#include "tool/tool.h"
#include "tool/workers.h"
#include "vfs/ceph/ceph.h"
#include "vfs/posix/posix.h"

enum { RR_SERVE_ADDRESSES = 16, RR_SERVE_EXPORTS = 64 };

/* What begins the argument that names a directory in CephFS. */
#define RR_SERVE_CEPH "ceph:"

struct rr_serve_address {
	struct sockaddr_storage rdma; /* the TCP address differs in the port alone */
	socklen_t size;
	const char *providers; /* "iwarp", "verbs" or both: what came of --transport */
};

/* What `rpcrdma serve` was asked to do. */
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
	struct rr_right right;   /* of everybody, by the options */
	struct rr_rules *rules;
	uint32_t address_count;
	uint32_t tcp_port; /* 0: no TCP */
};

/* The directory of --state, or one beside the key of file handles, by what is served at which addresses.
 * Errors: SYSTEM with text. */
int rr_serve_state(const struct rr_serve *serve, char path[PATH_MAX], struct rr_text *text);

/* Serves until a signal ends it; returns the exit status. */
int rr_serve_run(const struct rr_tool *tool, struct rr_serve *serve);

#endif
