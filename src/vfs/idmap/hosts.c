/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about hosts: which names an address has, and whether it is in a netgroup. These functions wait
 * for name servers, and are called in threads of the crew. */
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "vfs/idmap/idmap_private.h"

/* Octets for what is known of one address; the most names of it that are looked at. */
enum { HOSTS_ROOM = 8192, HOSTS_NAMES = 8 };

/* The functions for netgroups are not made for several threads at a time. */
static pthread_mutex_t hosts_netgroups = PTHREAD_MUTEX_INITIALIZER;

/* An address of either family, as questions have it in text. */
struct hosts_address {
	int family;
	socklen_t size;
	union {
		struct in_addr in;
		struct in6_addr in6;
	} u;
};

static bool
hosts_parse(const char *text, struct hosts_address *address)
{
	address->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	address->size = address->family == AF_INET ? sizeof(address->u.in) : sizeof(address->u.in6);
	return inet_pton(address->family, text, &address->u) == 1;
}

static bool
hosts_is(const struct addrinfo *info, const struct hosts_address *address)
{
	if (info->ai_family != address->family)
		return false;
	if (address->family == AF_INET)
		return memcmp(&((const struct sockaddr_in *)(const void *)info->ai_addr)->sin_addr,
			       &address->u.in, address->size) == 0;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)info->ai_addr)->sin6_addr, &address->u.in6,
		       address->size) == 0;
}

/* The owner of an address can write any name for it: a name counts where it has that address, in turn.
 * A name that is an address as text proves nothing, and one with a blank is no name. */
static enum rr_idmap_status
hosts_confirm(const char *name, const struct hosts_address *address)
{
	const struct addrinfo hints = { .ai_family = address->family, .ai_socktype = SOCK_STREAM };
	struct hosts_address other;
	struct addrinfo *list;
	bool same = false;
	int error;

	if (hosts_parse(name, &other) || strchr(name, ' '))
		return RR_IDMAP_NONE;
	error = getaddrinfo(name, NULL, &hints, &list);
	if (error)
		return error == EAI_AGAIN || error == EAI_SYSTEM || error == EAI_MEMORY ? RR_IDMAP_BUSY
											: RR_IDMAP_NONE;
	for (const struct addrinfo *info = list; info && !same; info = info->ai_next)
		same = hosts_is(info, address);
	freeaddrinfo(list);
	return same ? RR_IDMAP_FOUND : RR_IDMAP_NONE;
}

/* Adds the name to those that were found, if it is confirmed and there is room. */
static enum rr_idmap_status
hosts_add(const char *name, const struct hosts_address *address, struct rr_idmap_found *found)
{
	size_t length = strlen(found->name), more = strlen(name);
	enum rr_idmap_status status = hosts_confirm(name, address);

	if (status != RR_IDMAP_FOUND || length + 1 + more > RR_IDMAP_NAME)
		return status;
	snprintf(found->name + length, sizeof(found->name) - length, "%s%s", length ? " " : "", name);
	return RR_IDMAP_FOUND;
}

/* Finds the names of an address that is given as text, and writes them into found->name, with blanks between.
 */
static void
hosts_names(const char *text, struct rr_idmap_found *found)
{
	char room[HOSTS_ROOM];
	struct hosts_address address;
	struct hostent entry, *host = NULL;
	enum rr_idmap_status status;
	int why = HOST_NOT_FOUND;

	found->status = RR_IDMAP_NONE;
	if (!hosts_parse(text, &address))
		return;
	if (gethostbyaddr_r(
		    &address.u, address.size, address.family, &entry, room, sizeof(room), &host, &why) != 0 ||
		!host) {
		found->status = why == TRY_AGAIN || why == NETDB_INTERNAL ? RR_IDMAP_BUSY : RR_IDMAP_NONE;
		return;
	}
	status = hosts_add(host->h_name, &address, found);
	for (int i = 0; i < HOSTS_NAMES && host->h_aliases[i] && status != RR_IDMAP_BUSY; i++)
		status = hosts_add(host->h_aliases[i], &address, found);
	found->status = status == RR_IDMAP_BUSY ? status : found->name[0] ? RR_IDMAP_FOUND : RR_IDMAP_NONE;
}

static bool
hosts_in_netgroup(const char *group, const char *host)
{
	bool in;

	pthread_mutex_lock(&hosts_netgroups);
	in = innetgr(group, host, NULL, NULL) == 1;
	pthread_mutex_unlock(&hosts_netgroups);
	return in;
}

/* exports(5): "NIS netgroups may be given as @group. Only the host part of each netgroup members is
 * consider in checking for membership." A host is in it by its address, by any of its names, or by the first
 * label of one. names: with blanks between; cut into pieces here. */
static bool
hosts_are_in(const char *group, const char *address, char *names)
{
	char *rest = NULL;

	if (hosts_in_netgroup(group, address))
		return true;
	for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		char *dot = strchr(name, '.');

		if (hosts_in_netgroup(group, name))
			return true;
		if (dot)
			*dot = '\0';
		if (dot && hosts_in_netgroup(group, name))
			return true;
	}
	return false;
}

/* question->name is "GROUP ADDRESS". */
static void
hosts_member(const char *text, struct rr_idmap_found *found)
{
	const char *blank = strchr(text, ' ');
	char group[RR_IDMAP_NAME + 1] = "";

	found->status = RR_IDMAP_NONE;
	if (!blank)
		return;
	memcpy(group, text, (size_t)(blank - text));
	hosts_names(blank + 1, found);
	if (hosts_are_in(group, blank + 1, found->name))
		found->status = RR_IDMAP_FOUND;
	else if (found->status == RR_IDMAP_FOUND)
		found->status = RR_IDMAP_NONE;
	found->name[0] = '\0';
}

void
rr_idmap_find_host(const struct rr_idmap_question *question, struct rr_idmap_found *found)
{
	char text[RR_IDMAP_NAME + 1] = "";

	memcpy(text, question->name.data, question->name.length);
	if (question->kind == RR_IDMAP_HOST)
		hosts_names(text, found);
	else
		hosts_member(text, found);
}
