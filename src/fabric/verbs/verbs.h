/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_VERBS_H
#define RR_FABRIC_VERBS_VERBS_H

#include "fabric/fabric.h"

/*
 * The provider for RDMA adapters: libibverbs for the data, librdmacm for connections. Both are loaded when
 * the first function below is called, so that a program that has this provider runs where they are not
 * installed.
 *
 * What differs from device to device, and what it means here:
 *
 *   Memory windows of type 2 (IBV_DEVICE_MEM_WINDOW_TYPE_2A or _2B). Where the device has them, a region is a
 *   window that only its endpoint's queue pair can use: each registration has a key of its own and the peer
 * can invalidate it. Where it has not, each endpoint has a protection domain of its own and a region is a
 * memory region of it; then limits.remote_invalidation is false. Keys are then chosen by the device: siw
 * draws 24 random bits.
 *
 *   The shared receive queue. All endpoints of a device that were accepted share one, and those that
 * connected another one. Its protection domain is not that of an endpoint which has its own; the verbs say
 * that the shared queue's is the one that counts for receives, and siw does it so. rxe (Linux 6.1) looks at
 * the queue pair's instead; but rxe has windows, and so one domain.
 *
 *   An empty receive queue. InfiniBand and RoCE make the peer wait and try again; iWARP cannot, there the
 *   connection ends (limits.receives_must_suffice): who uses iWARP adapters sets receive_max so that all
 *   Sends that it allows find a receive.
 *
 * Locked memory: receives (receive_max times receive_size at most, on each side), regions and the payload of
 * work requests are pinned. Private data may arrive with zeroes behind it: InfiniBand has no length for it.
 */
int rr_verbs_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/*
 * The same, and text says why it failed. Errors: NOTSUP (no library, no device), LIMIT (locked memory),
 * SYSTEM, NOMEM, INVAL.
 */
int rr_verbs_fabric_open(struct rr_loop *loop, const struct rr_fabric_config *config,
	struct rr_fabric **fabric, struct rr_text *text);

/* ---- What is there ---- */

enum { RR_VERBS_PORTS = 8, RR_VERBS_ADDRESSES = 16, RR_VERBS_NAME = 64 };

/*
 * Whether an RDMA device has this address of this machine, which is not the one for all: 0, or text says why
 * not. UNREACHABLE: none has it. NOTSUP: there are no devices, or not what their use takes. Others: they
 * cannot be used. Nothing is loaded where the kernel has no device.
 */
int rr_verbs_has_address(const struct sockaddr *local, socklen_t size, struct rr_text *text);

struct rr_verbs_port {
	const char *state;           /* "active", "down", ... */
	const char *link_layer;      /* "InfiniBand", "Ethernet" */
	uint32_t mtu;                /* octets; of RDMA over InfiniBand and RoCE, 0 for iWARP */
	uint64_t max_message;        /* octets of one Send, Write or Read */
	char network[RR_VERBS_NAME]; /* the network interface, "" where unknown */
	uint32_t address_count, gid_count;
	char addresses[RR_VERBS_ADDRESSES][RR_ADDRESS_TEXT];
	char gids[RR_VERBS_ADDRESSES][RR_ADDRESS_TEXT];
};

struct rr_verbs_device_info {
	char name[RR_VERBS_NAME];
	const char *transport; /* "InfiniBand", "RoCE", "iWARP" or "unknown" */
	bool usable;
	struct rr_text reason; /* where it is not usable: why, and what to do */
	bool has_attributes;   /* the device could be opened: what follows is known */
	bool windows;          /* memory windows of type 2, so that the peer can invalidate */
	uint32_t max_connections, max_regions, max_sges, max_receives, max_reads, max_work;
	uint64_t max_region_size;
	uint32_t port_count;
	struct rr_verbs_port ports[RR_VERBS_PORTS];
};

typedef void rr_verbs_device_handler(void *ctx, const struct rr_verbs_device_info *info);

/*
 * Tells handler of each device. -RPCRDMA_ERR_NOTSUP: there is none, or no library; text says so.
 * -RPCRDMA_ERR_NOMEM.
 */
int rr_verbs_devices(
	const struct rr_env *env, rr_verbs_device_handler *handler, void *ctx, struct rr_text *text);

/*
 * Whether this process may lock need octets of memory; -RPCRDMA_ERR_LIMIT: text has the limit and the
 * setting. Where strict is set, the limit holds for privileged processes, too: siw does it so.
 */
int rr_verbs_check_locked_memory(uint64_t need, bool strict, struct rr_text *text);

#endif
