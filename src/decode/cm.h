/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_CM_H
#define RR_DECODE_CM_H

#include <rpcrdma/xdr.h>
#include <stdbool.h>

/*
 * These are the messages by which the connection managers of two hosts open a connection between queue pairs
 * (InfiniBand Architecture Specification, volume 1, 12.6), with what librdmacm puts into them (annex A11: the
 * ports and the private data of a connection by IP address).
 */

enum rr_cm_kind { RR_CM_REQUEST, RR_CM_REPLY, RR_CM_REJECT };

struct rr_cm {
	enum rr_cm_kind kind;
	/* The numbers that both managers have chosen for the connection: the sender's; and, in a reply and a
	 * rejection, that of the other side. */
	uint32_t local_id, remote_id;
	uint32_t qp, psn; /* queue pair of the sender, and the PSN of its first request; not in a rejection */
	uint16_t mtu;     /* octets of payload in a packet; 0: not known; only in a request */
	uint8_t ird, ord; /* RDMA Reads at a time that the sender answers, and that it sends */
	uint16_t reason;  /* of a rejection */
	uint16_t source_port, port; /* of a request; 0: the connection is not by IP address */
	struct rpcrdma_bytes private_data;
};

/* Parses a Management Datagram. cm->private_data then points into data. Returns false if the datagram is not
 * one of these messages. */
bool rr_cm_parse(const void *data, size_t size, struct rr_cm *cm);

/* Returns the meaning of the reason in a rejection, or NULL if it is not known here. */
const char *rr_cm_reason_name(uint16_t reason);

#endif
