/* SPDX-License-Identifier: BSD-3-Clause */
/* The domain behind the '@' in names of users: RFC 8881, 5.9. */
#include <ctype.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "vfs/idmap/idmap_private.h"
#include "vfs/idmap/names.h"

/* The most octets of a line of idmapd.conf, and of its lines that are read. */
enum { DOMAIN_LINE = 1024, DOMAIN_LINES = 4096 };

/* Removes blanks at both ends of the text. */
static char *
domain_trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return text;
}

/* Takes the value of a line "Domain = VALUE"; a line of another form changes nothing. */
static void
domain_take_line(char *line, char domain[RR_IDMAP_NAME + 1])
{
	char *value = strchr(line, '=');

	if (!value)
		return;
	*value++ = '\0';
	value = domain_trim(value);
	if (strcasecmp(domain_trim(line), "Domain") == 0 && strlen(value) <= RR_IDMAP_NAME)
		strcpy(domain, value);
}

void
rr_idmap_read_domain(const char *path, char domain[RR_IDMAP_NAME + 1])
{
	FILE *file = fopen(path, "re");
	char line[DOMAIN_LINE];
	bool general = false;

	domain[0] = '\0';
	for (int i = 0; file && i < DOMAIN_LINES && fgets(line, sizeof(line), file); i++) {
		char *text = domain_trim(line);

		if (text[0] == '[')
			general = strcasecmp(text, "[General]") == 0;
		else if (general && text[0] != '#' && text[0] != ';')
			domain_take_line(text, domain);
	}
	if (file)
		fclose(file);
}

/* Stores what follows the first dot of a host's name. Returns whether there is anything. */
static bool
domain_of(const char *host, struct rr_idmap_found *found)
{
	const char *dot = strchr(host, '.');

	if (!dot || !dot[1] || strlen(dot + 1) > RR_IDMAP_NAME)
		return false;
	strcpy(found->name, dot + 1);
	return true;
}

void
rr_idmap_find_domain(struct rr_idmap_found *found)
{
	const struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM };
	char host[HOST_NAME_MAX + 1] = "";
	struct addrinfo *list = NULL;
	int error;

	found->status = RR_IDMAP_NONE;
	if (gethostname(host, sizeof(host) - 1) != 0)
		return;
	if (domain_of(host, found)) {
		found->status = RR_IDMAP_FOUND;
		return;
	}
	error = getaddrinfo(host, NULL, &hints, &list);
	if (error == 0 && list->ai_canonname && domain_of(list->ai_canonname, found))
		found->status = RR_IDMAP_FOUND;
	else if (error == EAI_AGAIN)
		found->status = RR_IDMAP_BUSY;
	if (error == 0)
		freeaddrinfo(list);
}

void
rr_idmap_domain(char domain[RR_IDMAP_NAME + 1])
{
	struct rr_idmap_found found = { .status = RR_IDMAP_NONE };

	rr_idmap_read_domain(RR_IDMAP_CONF, domain);
	if (domain[0])
		return;
	rr_idmap_find_domain(&found);
	if (found.status == RR_IDMAP_FOUND)
		strcpy(domain, found.name);
}
