/* SPDX-License-Identifier: BSD-3-Clause */
/* rpcb_prot.x of libtirpc: SET appends to a list, and DUMP returns the list; the other procedures do not
 * answer. */
#include "served.h"

#include <stdlib.h>
#include <string.h>

extern void rpcbprog_3(struct svc_req *request, SVCXPRT *transport);
extern void rpcbprog_4(struct svc_req *request, SVCXPRT *transport);

static rpcblist_ptr entries;

static char *
copy(const char *text)
{
	return strdup(text ? text : "");
}

/* Adds an entry. */
bool_t *
rpcbproc_set_3_svc(rpcb *entry, struct svc_req *request)
{
	static bool_t done = TRUE;
	rpcblist_ptr added = calloc(1, sizeof(*added));

	(void)request;
	added->rpcb_map = (rpcb){ entry->r_prog, entry->r_vers, copy(entry->r_netid), copy(entry->r_addr),
		copy(entry->r_owner) };
	added->rpcb_next = entries;
	entries = added;
	return &done;
}

/* Removes all entries, whichever is named. */
bool_t *
rpcbproc_unset_3_svc(rpcb *entry, struct svc_req *request)
{
	static bool_t done = TRUE;

	(void)entry;
	(void)request;
	while (entries) {
		rpcblist_ptr next = entries->rpcb_next;

		free(entries->rpcb_map.r_netid);
		free(entries->rpcb_map.r_addr);
		free(entries->rpcb_map.r_owner);
		free(entries);
		entries = next;
	}
	return &done;
}

/* Finds the address of the program, or returns an empty one. */
char **
rpcbproc_getaddr_3_svc(rpcb *entry, struct svc_req *request)
{
	static char *address;
	static char nothing[] = "";

	(void)request;
	address = nothing;
	for (rpcblist_ptr at = entries; at; at = at->rpcb_next)
		if (at->rpcb_map.r_prog == entry->r_prog)
			address = at->rpcb_map.r_addr;
	return &address;
}

rpcblist_ptr *
rpcbproc_dump_3_svc(void *nothing, struct svc_req *request)
{
	(void)nothing;
	(void)request;
	return &entries;
}

u_int *
rpcbproc_gettime_3_svc(void *nothing, struct svc_req *request)
{
	(void)nothing;
	(void)request;
	return NULL;
}

#define SILENT(result, name, argument)                                                                       \
	result *name(argument *given, struct svc_req *request);                                              \
	result *name(argument *given, struct svc_req *request)                                               \
	{                                                                                                    \
		(void)given;                                                                                 \
		(void)request;                                                                               \
		return NULL;                                                                                 \
	}

SILENT(rpcb_rmtcallres, rpcbproc_callit_3_svc, rpcb_rmtcallargs)
SILENT(struct netbuf, rpcbproc_uaddr2taddr_3_svc, char *)
SILENT(char *, rpcbproc_taddr2uaddr_3_svc, struct netbuf)
SILENT(bool_t, rpcbproc_set_4_svc, rpcb)
SILENT(bool_t, rpcbproc_unset_4_svc, rpcb)
SILENT(char *, rpcbproc_getaddr_4_svc, rpcb)
SILENT(rpcblist_ptr, rpcbproc_dump_4_svc, void)
SILENT(rpcb_rmtcallres, rpcbproc_bcast_4_svc, rpcb_rmtcallargs)
SILENT(u_int, rpcbproc_gettime_4_svc, void)
SILENT(struct netbuf, rpcbproc_uaddr2taddr_4_svc, char *)
SILENT(char *, rpcbproc_taddr2uaddr_4_svc, struct netbuf)
SILENT(char *, rpcbproc_getversaddr_4_svc, rpcb)
SILENT(rpcb_rmtcallres, rpcbproc_indirect_4_svc, rpcb_rmtcallargs)
SILENT(rpcb_entry_list_ptr, rpcbproc_getaddrlist_4_svc, rpcb)
SILENT(rpcb_stat, rpcbproc_getstat_4_svc, void)

void
served_rpcb(SVCXPRT *transport)
{
	if (!svc_register(transport, RPCBPROG, RPCBVERS, rpcbprog_3, 0) ||
		!svc_register(transport, RPCBPROG, RPCBVERS4, rpcbprog_4, 0))
		abort();
}
