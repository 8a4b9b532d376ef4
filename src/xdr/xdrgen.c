/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/xdr.h"

/* Runs the schema compiler as a separate program, which the build of the library uses: the build needs the
 * compiler before the library and the command exist. */
int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: xdrgen SCHEMA OUTPUT_BASE\n");
		return 2;
	}
	return rr_xdr_compile(argv[1], argv[2], stderr) ? 1 : 0;
}
