/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/names.h"

#include <string.h>

#include "ulb/binding.h"
#include "wire/rpc.h"

/* The "Transient" numbers of RFC 5531, 8.3, which are "intended for applications that generate program
 * numbers dynamically". */
enum { TRANSIENT_FIRST = 0x40000000, TRANSIENT_LAST = 0x5fffffff };

/* A program number in the transient range is taken for that of an NFSv4 callback program. */
const struct rpcrdma_program *
rr_decode_program(uint32_t prog, uint32_t vers)
{
	if (prog >= TRANSIENT_FIRST && prog <= TRANSIENT_LAST)
		return rr_ulb_callback();
	return rr_ulb_find(prog, vers);
}

const char *
rr_decode_program_name(uint32_t prog, uint32_t vers)
{
	const struct rpcrdma_program *program = rr_decode_program(prog, vers);

	return program ? program->name : NULL;
}

const char *
rr_decode_procedure_name(uint32_t prog, uint32_t vers, uint32_t proc)
{
	const struct rpcrdma_program *program = rr_decode_program(prog, vers);
	const char *name, *stem;

	if (!program || proc >= program->procedure_count || !program->procedures[proc].name)
		return NULL;
	name = program->procedures[proc].name;
	/* The name "NFSPROC3_READ" becomes "READ". */
	stem = strstr(name, "PROC");
	stem = stem ? strchr(stem, '_') : NULL;
	return stem ? stem + 1 : name;
}

const char *
rr_decode_accept_name(uint32_t accept_stat)
{
	static const char *const names[] = { "SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL",
		"GARBAGE_ARGS", "SYSTEM_ERR" };

	return accept_stat <= RR_SYSTEM_ERR ? names[accept_stat] : NULL;
}
