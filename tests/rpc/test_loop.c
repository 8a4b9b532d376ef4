/* SPDX-License-Identifier: BSD-3-Clause */
#include "../fabric/loop/loop.h"

#include "suite.h"

int
main(void)
{
	return suite_run(rr_loop_fabric_new);
}
