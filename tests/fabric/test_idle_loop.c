/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle.h"
#include "loop/loop.h"

int
main(void)
{
	return idle_run(rr_loop_fabric_new);
}
