/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TRANSPORT_VERSION_H
#define RR_TRANSPORT_VERSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Versions of RPC-over-RDMA: which ones a side speaks, which one two of them
 * have in common, and which servers turned out not to speak version 2
 * (draft-cel-nfsv4-rpcrdma-version-two-00, section 5).
 */

/* What an engine is told to speak. A responder answers in the version of the call. */
enum rr_versions {
	RR_VERSIONS_AUTO, /* 1 and 2: a requester tries 2 first */
	RR_VERSIONS_1,
	RR_VERSIONS_2
};

enum { RR_VERSIONS = 2 }; /* that there are: 1 and 2 */

struct rr_version_range {
	uint32_t low, high;
};

struct rr_version_range rr_version_range(enum rr_versions versions);

static inline bool
rr_version_in(uint32_t version, struct rr_version_range range)
{
	return version >= range.low && version <= range.high;
}

/* The highest version but `refused` that both ranges have; 0 where there is none. */
uint32_t rr_version_other(uint32_t refused, struct rr_version_range own, struct rr_version_range peer);

/* Servers that version 2 is not tried with, each for an hour. The one that is oldest makes room. */
enum { RR_REFUSALS_MAX = 64 };

struct rr_refusals {
	struct {
		uint8_t address[16]; /* IPv4: mapped */
		uint16_t port;
		uint64_t until; /* 0: not used */
	} servers[RR_REFUSALS_MAX];
};

/* An address of a family that is neither IPv4 nor IPv6 is not remembered. */
void rr_refusals_add(struct rr_refusals *refusals, const struct sockaddr *address, uint64_t now);
void rr_refusals_remove(struct rr_refusals *refusals, const struct sockaddr *address);
bool rr_refusals_has(const struct rr_refusals *refusals, const struct sockaddr *address, uint64_t now);

#endif
