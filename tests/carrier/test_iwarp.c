/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/iwarp.h"

#include "suite.h"

int
main(void)
{
	return suite_run(rr_iwarp_fabric_new);
}
