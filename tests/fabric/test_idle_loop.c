/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"
#include "idle.h"

int
main(void)
{
	return idle_run(rr_loop_fabric_new);
}
