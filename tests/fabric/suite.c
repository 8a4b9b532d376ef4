/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "world.h"

int
suite_run(suite_fabric_new *make)
{
	world_provider(make);
	return suite_connect() + suite_send() + suite_rdma() + suite_faults() + suite_end();
}
