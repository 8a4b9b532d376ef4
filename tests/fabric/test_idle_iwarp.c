/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/iwarp.h"
#include "idle.h"

int
main(void)
{
	return idle_run(rr_iwarp_fabric_new);
}
