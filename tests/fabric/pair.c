/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

struct node *initiator, *responder;
uint8_t payload[NODE_MEMORY];

int
pair_setup(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	(void)state;
	config.read_max = 2;
	initiator = node_new(&config);
	responder = node_new(&config);
	node_connect(initiator, responder);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 5);
	return 0;
}

int
pair_teardown(void **state)
{
	(void)state;
	node_free(initiator);
	node_free(responder);
	return 0;
}

void
pair_renew(void)
{
	pair_teardown(NULL);
	pair_setup(NULL);
}
