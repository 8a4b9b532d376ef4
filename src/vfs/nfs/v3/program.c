/* SPDX-License-Identifier: BSD-3-Clause */
/* NFS version 3 as clients call it. The table that is made of the schema has the codecs of servers, too,
 * which a program that is only a client need not have. */
#include "vfs/nfs/v3/work.h"

/* Makes the functions that encode the arguments of a procedure, and decode its result. */
#define PROGRAM_CODECS(name)                                                                                 \
	static void program_put_##name(struct rpcrdma_xdr_writer *writer, const void *value)                 \
	{                                                                                                    \
		xdr_put_##name##3args(writer, value);                                                        \
	}                                                                                                    \
	static void program_get_##name(struct rpcrdma_xdr_reader *reader, void *value)                       \
	{                                                                                                    \
		xdr_get_##name##3res(reader, value);                                                         \
	}

PROGRAM_CODECS(GETATTR)
PROGRAM_CODECS(SETATTR)
PROGRAM_CODECS(LOOKUP)
PROGRAM_CODECS(ACCESS)
PROGRAM_CODECS(READLINK)
PROGRAM_CODECS(READ)
PROGRAM_CODECS(WRITE)
PROGRAM_CODECS(CREATE)
PROGRAM_CODECS(MKDIR)
PROGRAM_CODECS(SYMLINK)
PROGRAM_CODECS(MKNOD)
PROGRAM_CODECS(REMOVE)
PROGRAM_CODECS(RMDIR)
PROGRAM_CODECS(RENAME)
PROGRAM_CODECS(LINK)
PROGRAM_CODECS(READDIR)
PROGRAM_CODECS(READDIRPLUS)
PROGRAM_CODECS(FSSTAT)
PROGRAM_CODECS(FSINFO)
PROGRAM_CODECS(PATHCONF)
PROGRAM_CODECS(COMMIT)

#define PROGRAM_ROW(name)                                                                                    \
	[NFSPROC3_##name] = { "NFSPROC3_" #name, .args_max = XDR_MAX_##name##3args,                          \
		.result_min = XDR_MIN_##name##3res, .result_max = XDR_MAX_##name##3res,                      \
		.put_args = program_put_##name, .get_result = program_get_##name }

static const struct rpcrdma_procedure program_procedures[] = {
	[NFSPROC3_NULL] = { "NFSPROC3_NULL" },
	PROGRAM_ROW(GETATTR),
	PROGRAM_ROW(SETATTR),
	PROGRAM_ROW(LOOKUP),
	PROGRAM_ROW(ACCESS),
	PROGRAM_ROW(READLINK),
	PROGRAM_ROW(READ),
	PROGRAM_ROW(WRITE),
	PROGRAM_ROW(CREATE),
	PROGRAM_ROW(MKDIR),
	PROGRAM_ROW(SYMLINK),
	PROGRAM_ROW(MKNOD),
	PROGRAM_ROW(REMOVE),
	PROGRAM_ROW(RMDIR),
	PROGRAM_ROW(RENAME),
	PROGRAM_ROW(LINK),
	PROGRAM_ROW(READDIR),
	PROGRAM_ROW(READDIRPLUS),
	PROGRAM_ROW(FSSTAT),
	PROGRAM_ROW(FSINFO),
	PROGRAM_ROW(PATHCONF),
	PROGRAM_ROW(COMMIT),
};

const struct rpcrdma_program rr_v3_program = { "NFS_V3", NFS_PROGRAM, NFS_V3,
	sizeof(program_procedures) / sizeof(*program_procedures), program_procedures, NULL };
