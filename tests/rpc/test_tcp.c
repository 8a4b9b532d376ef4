/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

int
main(void)
{
	return suite_run(NULL);
}
