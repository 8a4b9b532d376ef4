/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "world.h"

static int
run(void)
{
	return suite_connect() + suite_send() + suite_rdma() + suite_faults() + suite_end();
}

int
suite_run(suite_fabric_new *make)
{
	world_provider(make, NULL);
	return run();
}

int
suite_run_adapter(suite_fabric_new *make, const struct suite_adapter *adapter)
{
	world_provider(make, adapter);
	return run();
}
