/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_TABLE_H
#define RR_DECODE_ROCE_TABLE_H

#include "decode/roce/connection.h"

/* This is the table of a capture's RoCE connections. A packet names the queue pair that it goes to, but
 * not the queue pair that it comes from. The messages of connection managers show which two queue pairs
 * belong together; where these messages were not captured, answers show it, as they have the PSNs of the
 * requests. */
struct rr_roce_table {
	struct rr_decode_connections *shared;
	struct rr_list connections; /* the connection with the last packet comes first */
	uint32_t count, max;        /* connections: those in the list, and the most that are kept */
};

void rr_roce_table_init(struct rr_roce_table *table, struct rr_decode_connections *shared, uint32_t max);

/* Decodes a UDP datagram to RR_ROCE_PORT. Octets of it that were not captured count as 0. If there is no
 * memory for them, the datagram is ignored. */
void rr_roce_table_packet(struct rr_roce_table *table, const struct rr_packet *packet);

/* rr_roce_table_finish() decodes all connections to their end, as no more packets will come, and frees them.
 * rr_roce_table_free() frees them without that. */
void rr_roce_table_finish(struct rr_roce_table *table);
void rr_roce_table_free(struct rr_roce_table *table);

#endif
