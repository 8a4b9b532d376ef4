/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_VERBS_H
#define RR_FABRIC_VERBS_VERBS_H

#include "fabric/fabric.h"

/*
 * Makes a fabric of the provider for RDMA adapters: libibverbs for the data, librdmacm for connections. Both
 * are loaded when a function of this file first needs them, so that a program with this provider also runs
 * where they are not installed.
 *
 * The differences between devices, and their effects here:
 *
 *   Memory windows of type 2 (IBV_DEVICE_MEM_WINDOW_TYPE_2A or _2B). Where the device has them, a region is a
 *   window that only its endpoint's queue pair can use: each registration has a key of its own and the peer
 *   can invalidate it. Where the device has no windows, each endpoint has a protection domain of its own and
 *   a region is a memory region of it; limits.remote_invalidation is then false. The device chooses the keys
 *   then: siw draws 24 random bits.
 *
 *   The shared receive queue. All endpoints of a device that were accepted share a queue, and those that
 *   connected share another one. An endpoint that has a protection domain of its own thus uses a queue
 *   of another domain; the verbs say that the shared queue's domain counts for receives, and siw does
 *   so. rxe (Linux 6.1) looks at the queue pair's domain instead; but rxe has windows, and so one domain.
 *
 *   An empty receive queue. InfiniBand and RoCE make the peer wait and try again; over iWARP the connection
 *   ends (limits.receives_must_suffice): users of iWARP adapters set receive_max so that all Sends that they
 *   allow find a receive.
 *
 * Locked memory: receives (receive_max times receive_size at most, on each side), regions and the payload of
 * work requests are pinned. Private data may arrive with zeroes behind it, as InfiniBand has no length for
 * it.
 *
 * Errors: those of rr_verbs_fabric_open().
 */
int rr_verbs_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* Makes a fabric as rr_verbs_fabric_new() does, but also sets text to the reason of an error. Errors: NOTSUP
 * (there is no library or no device), LIMIT (the limit of locked memory is too low), SYSTEM, NOMEM and
 * INVAL. */
int rr_verbs_fabric_open(struct rr_loop *loop, const struct rr_fabric_config *config,
	struct rr_fabric **fabric, struct rr_text *text);

/* ---- The devices of this machine ---- */

enum { RR_VERBS_PORTS = 8, RR_VERBS_ADDRESSES = 16, RR_VERBS_NAME = 64 };

/*
 * Returns 0 if an RDMA device has this address of this machine, which must not be the wildcard address.
 * Returns -RPCRDMA_ERR_UNREACHABLE if no device has it, -RPCRDMA_ERR_NOTSUP if there are no devices or
 * something is missing to use them, and other errors if the devices cannot be used; text then has the
 * reason. No library is loaded if the kernel has no device.
 */
int rr_verbs_has_address(const struct sockaddr *local, socklen_t size, struct rr_text *text);

/* A port of a device. */
struct rr_verbs_port {
	const char *state;           /* "active", "down", ... */
	const char *link_layer;      /* "InfiniBand", "Ethernet" */
	uint32_t mtu;                /* octets; of RDMA over InfiniBand and RoCE, 0 for iWARP */
	uint64_t max_message;        /* octets of one Send, Write or Read */
	char network[RR_VERBS_NAME]; /* "" where it is not known */
	uint32_t address_count, gid_count;
	char addresses[RR_VERBS_ADDRESSES][RR_ADDRESS_TEXT];
	char gids[RR_VERBS_ADDRESSES][RR_ADDRESS_TEXT];
};

/* A device, as rr_verbs_devices() describes it. */
struct rr_verbs_device_info {
	char name[RR_VERBS_NAME];
	const char *transport; /* "InfiniBand", "RoCE", "iWARP" or "unknown" */
	bool usable;
	struct rr_text reason; /* where it is not usable: the reason, and what to do */
	bool has_attributes;   /* the device could be opened: the members below are known */
	bool windows;          /* memory windows of type 2, so that the peer can invalidate regions */
	uint32_t max_connections, max_regions, max_sges, max_receives, max_reads, max_work;
	uint64_t max_region_size;
	uint32_t port_count;
	struct rr_verbs_port ports[RR_VERBS_PORTS];
};

typedef void rr_verbs_device_handler(void *ctx, const struct rr_verbs_device_info *info);

/* Calls handler with a description of each device of this machine, even if the device cannot be used.
 * Returns -RPCRDMA_ERR_NOTSUP, with the reason in text, if there is no device or no library. Returns
 * -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_verbs_devices(
	const struct rr_env *env, rr_verbs_device_handler *handler, void *ctx, struct rr_text *text);

/* Returns 0 if this process may lock as many octets of memory as need says. Else returns -RPCRDMA_ERR_LIMIT,
 * with the limit and the setting that raises it in text. strict: the limit holds for privileged processes,
 * too, as with siw. */
int rr_verbs_check_locked_memory(uint64_t need, bool strict, struct rr_text *text);

#endif
