/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_TABLE_H
#define RR_DECODE_ROCE_TABLE_H

#include "decode/roce_connection.h"

/*
 * The RoCE connections of a capture. A packet names the queue pair that it goes to, and not the one that it
 * comes from: the connection managers' messages say which two belong together. Where these were not captured,
 * answers do, which have the PSNs of what they answer.
 */
struct rr_roce_table {
	struct rr_decode_connections *shared;
	struct rr_list connections; /* the one with the last packet comes first */
	uint32_t count, max;
};

void rr_roce_table_init(struct rr_roce_table *table, struct rr_decode_connections *shared, uint32_t max);

/* A datagram to RR_ROCE_PORT. */
void rr_roce_table_packet(struct rr_roce_table *table, const struct rr_packet *packet);

/* No more packets will come: connections are decoded to their end, and freed. */
void rr_roce_table_finish(struct rr_roce_table *table);
void rr_roce_table_free(struct rr_roce_table *table);

#endif
