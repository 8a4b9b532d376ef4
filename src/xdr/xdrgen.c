/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/xdr.h"

/* The compiler as a program of the build, which runs before the library and its command exist. */
int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: xdrgen SCHEMA OUTPUT_BASE\n");
		return 2;
	}
	return rr_xdr_compile(argv[1], argv[2], stderr) ? 1 : 0;
}
