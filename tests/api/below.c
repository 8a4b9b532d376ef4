/* SPDX-License-Identifier: BSD-3-Clause */
/* below URL PATH...: finds each path below the URL, and prints its result and how many octets the object has.
 */
#include <rpcrdma/nfs.h>

#include <inttypes.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	struct rpcrdma_nfs_config config = { .size = sizeof(config), .url = argc > 1 ? argv[1] : "" };
	struct rpcrdma_engine *engine;
	struct rpcrdma_nfs *nfs;

	if (rpcrdma_engine_new(NULL, &engine) < 0)
		return 1;
	if (rpcrdma_nfs_open(engine, &config, &nfs) != 0) {
		fprintf(stderr, "%s\n", rpcrdma_engine_error(engine));
		rpcrdma_engine_free(engine);
		return 1;
	}
	for (int i = 2; i < argc; i++) {
		struct rpcrdma_nfs_object object = { .size = sizeof(object) };
		int error = rpcrdma_nfs_find(nfs, argv[i], true, &object);

		printf("%s %d %" PRIu64 "\n", argv[i], error,
			object.type == RPCRDMA_NFS_FILE ? object.length : 0);
	}
	rpcrdma_nfs_close(nfs);
	rpcrdma_engine_free(engine);
	return 0;
}
