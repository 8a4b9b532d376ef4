/* SPDX-License-Identifier: BSD-3-Clause */
/* This file parses the clients of rules: "*", addresses, networks, names of hosts, patterns, netgroups. */
#include <arpa/inet.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "vfs/idmap/idmap.h"
#include "vfs/rules_private.h"

/* Rules keep each address as an IPv6 address of 128 bits. An IPv4 address is mapped: its 32 bits stand behind
 * the 96 bits of ::ffff:0:0 (see struct rr_source). */
enum { CLIENT_MAPPED = 96, CLIENT_BITS = 128 };

/* Returns the length of the prefix that a network mask describes: the number of set bits at its beginning.
 * The first "from" bits are not looked at and count as set. Returns -1 where a set bit follows a zero bit, so
 * that the mask is invalid. */
static int
client_mask_bits(const uint8_t mask[16], unsigned from)
{
	unsigned bits = from;

	while (bits < CLIENT_BITS && mask[bits / 8] & 0x80 >> bits % 8)
		bits++;
	for (unsigned i = bits; i < CLIENT_BITS; i++)
		if (mask[i / 8] & 0x80 >> i % 8)
			return -1;
	return (int)bits;
}

/* Parses an IP address, such as "192.0.2.1" or "2001:db8::1", into the 16 octets of an IPv6 address (an IPv4
 * address is mapped), and sets *is_ipv4. Returns false for any other text. */
static bool
client_address(const char *text, uint8_t octets[16], bool *is_ipv4)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	*is_ipv4 = inet_pton(AF_INET, text, &in.sin_addr) == 1;
	if (*is_ipv4)
		return rr_address_octets((struct sockaddr *)&in, octets);
	return inet_pton(AF_INET6, text, &in6.sin6_addr) == 1 &&
	       rr_address_octets((struct sockaddr *)&in6, octets);
}

/* Parses the length of a network's prefix, written as a number of bits ("24") or as a mask ("255.255.255.0").
 * Returns that length in bits of an IPv6 address, which is 96 more for IPv4; -1 for any other text. */
static int
client_prefix(const char *text, bool is_ipv4)
{
	unsigned base = is_ipv4 ? CLIENT_MAPPED : 0;
	size_t digits = strspn(text, "0123456789");
	uint8_t mask[16];
	bool mask_is_ipv4;

	if (digits > 0 && digits <= 3 && !text[digits])
		return atoi(text) <= (int)(CLIENT_BITS - base) ? atoi(text) + (int)base : -1;
	if (!client_address(text, mask, &mask_is_ipv4) || mask_is_ipv4 != is_ipv4)
		return -1;
	return client_mask_bits(mask, base);
}

/* Parses draft->client, which is "ADDRESS/PREFIX" or "ADDRESS/MASK" with its '/' at slash, into the network's
 * address and prefix in draft. Returns 0, or INVAL with the reason in why. */
static int
client_network(struct rr_rule_draft *draft, const char *slash, struct rr_text *why)
{
	char address[RR_RULES_CLIENT + 1] = "";
	uint8_t *octets = draft->addresses[0];
	bool is_ipv4;
	int prefix;

	if (strncmp(draft->client, "gss/", strlen("gss/")) == 0)
		return rr_fail(why, -RPCRDMA_ERR_INVAL,
			"'%s' stands for all callers with Kerberos, which is not known here; write "
			"addresses or networks",
			draft->client);
	memcpy(address, draft->client, (size_t)(slash - draft->client));
	if (!client_address(address, octets, &is_ipv4))
		return rr_fail(why, -RPCRDMA_ERR_INVAL, "'%s' is no network: '%s' is no address",
			draft->client, address);
	prefix = client_prefix(slash + 1, is_ipv4);
	if (prefix < 0)
		return rr_fail(why, -RPCRDMA_ERR_INVAL,
			"'%s' is no network: '%s' is neither a number of bits up to %d nor a mask",
			draft->client, slash + 1, is_ipv4 ? 32 : 128);
	for (unsigned i = (unsigned)prefix; i < CLIENT_BITS; i++)
		octets[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
	draft->rule.kind = RR_RULE_NETWORK;
	draft->rule.prefix = (uint8_t)prefix;
	draft->count = 1;
	return 0;
}

/* Looks up the host name in draft->client, and adds all its addresses to the draft of the rule. Returns 0, or
 * an error with the reason in why. */
static int
client_name(struct rr_rule_draft *draft, struct rr_text *why)
{
	struct sockaddr_storage found[RR_RULE_ADDRESSES];
	int count = rr_address_resolve(draft->client, 0, found, RR_RULE_ADDRESSES, why);

	for (int i = 0; i < count; i++)
		draft->count +=
			rr_address_octets((struct sockaddr *)&found[i], draft->addresses[draft->count]);
	return count < 0 ? count : 0;
}

/* Takes draft->client, "@group", as a rule for the hosts of a netgroup. */
static int
client_group(struct rr_rule_draft *draft, struct rr_text *why)
{
	/* "GROUP ADDRESS" is what is asked for: RR_IDMAP_MEMBER. */
	enum { GROUP_MAX = RR_IDMAP_NAME - INET6_ADDRSTRLEN - 1 };
	size_t length = strlen(draft->client + 1);

	if (length == 0 || length > GROUP_MAX || strchr(draft->client, ' '))
		return rr_fail(why, -RPCRDMA_ERR_INVAL,
			"'%.24s': behind '@' stands the name of a netgroup, of at most %d octets and without "
			"blanks",
			draft->client, GROUP_MAX);
	draft->rule.kind = RR_RULE_GROUP;
	draft->rule.by_name = true;
	draft->count = 1;
	return 0;
}

/* Takes draft->client as a pattern: of addresses if it has no letters, as 192.168.*.*, else of names. */
static int
client_pattern(struct rr_rule_draft *draft, struct rr_text *why)
{
	const char *client = draft->client;

	for (const char *set = strchr(client, '['); set; set = strchr(set + 1, '['))
		if (!strchr(set + 1, ']'))
			return rr_fail(why, -RPCRDMA_ERR_INVAL, "'%s': a '[' has no ']' behind it", client);
	draft->rule.kind = RR_RULE_PATTERN;
	draft->rule.by_name = client[strspn(client, "0123456789.*?[]!^-")] != '\0' ||
			      client[strcspn(client, "0123456789")] == '\0';
	draft->count = 1;
	return 0;
}

int
rr_rule_client(struct rr_rule_draft *draft, struct rr_text *why)
{
	const char *client = draft->client, *slash = strchr(client, '/');
	bool is_ipv4;

	if (strcmp(client, "*") == 0) {
		draft->rule.kind = RR_RULE_ALL;
		draft->count = 1; /* one rule, whose address is not looked at */
		return 0;
	}
	if (client[0] == '@')
		return client_group(draft, why);
	if (!slash && strpbrk(client, "*?["))
		return client_pattern(draft, why);
	if (slash)
		return client_network(draft, slash, why);
	draft->rule.kind = RR_RULE_HOST;
	draft->rule.prefix = CLIENT_BITS;
	/* One address if the text is an address; none if it is a name, which is then looked up. */
	draft->count = client_address(client, draft->addresses[0], &is_ipv4);
	return draft->count ? 0 : client_name(draft, why);
}
