/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses as text and as octets, and the search for addresses: address.h. */
#include "base/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/confine/helper.h"
#include "base/text.h"

void
rr_address_text(const struct sockaddr *address, char *text, size_t size)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_un *un = (const void *)address;
	char host[INET6_ADDRSTRLEN] = "?";

	switch (address->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(text, size, "%s:%u", host, ntohs(in->sin_port));
		return;
	case AF_INET6:
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(text, size, "[%s]:%u", host, ntohs(in6->sin6_port));
		return;
	case AF_UNIX:
		/* unix(7): the path need not end with a zero, if it fills sun_path. */
		snprintf(text, size, "%.*s", (int)sizeof(un->sun_path), un->sun_path);
		return;
	default: snprintf(text, size, "address family %d", address->sa_family);
	}
}

/* A question for the helper, and its answer. */
struct address_question {
	uint32_t port;
	char host[NI_MAXHOST];
};

enum { ADDRESS_MOST = 64 }; /* of a host, in an answer */

struct address_answer {
	int32_t count; /* negative: an error, with its text */
	struct rr_text text;
	struct sockaddr_storage addresses[ADDRESS_MOST];
};

/* Returns the octets of an answer with this number of addresses. */
static size_t
address_answer_size(int32_t count)
{
	return offsetof(struct address_answer, addresses) +
	       (count > 0 ? (size_t)count : 0) * sizeof(struct sockaddr_storage);
}

/* Has the helper find the addresses. The arguments and the result are those of rr_address_resolve(). */
static int
address_ask(
	const char *host, uint16_t port, struct sockaddr_storage *addresses, int max, struct rr_text *text)
{
	struct address_question question = { .port = port };
	struct address_answer answer;
	ptrdiff_t size;

	if (strlen(host) >= sizeof(question.host))
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS, "the name %.120s... is too long", host);
	strcpy(question.host, host);
	size = rr_helper_ask(RR_HELPER_ADDRESSES, &question, sizeof(question), &answer, sizeof(answer));
	if (size < (ptrdiff_t)address_answer_size(0) || answer.count > ADDRESS_MOST || answer.count == 0 ||
		(size_t)size != address_answer_size(answer.count))
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS, "the host %.120s cannot be looked up now", host);
	answer.text.text[sizeof(answer.text.text) - 1] = '\0';
	if (answer.count < 0)
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS, "%s", answer.text.text);
	if (answer.count < max)
		max = answer.count;
	memcpy(addresses, answer.addresses, (size_t)max * sizeof(addresses[0]));
	return max;
}

size_t
rr_address_help(const void *ctx, const void *question, size_t size, void *result)
{
	const struct address_question *asked = question;
	struct address_answer *answer = result;

	(void)ctx;
	if (size != sizeof(*asked) || asked->host[sizeof(asked->host) - 1] != '\0')
		return 0;
	memset(&answer->text, 0, sizeof(answer->text));
	answer->count = rr_address_resolve(
		asked->host, (uint16_t)asked->port, answer->addresses, ADDRESS_MOST, &answer->text);
	return address_answer_size(answer->count);
}

int
rr_address_resolve(
	const char *host, uint16_t port, struct sockaddr_storage *addresses, int max, struct rr_text *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *found;
	char service[8];
	int result, count = 0;

	if (rr_helper_has(RR_HELPER_ADDRESSES))
		return address_ask(host, port, addresses, max, text);
	snprintf(service, sizeof(service), "%u", port);
	result = getaddrinfo(host, service, &hints, &found);
	if (result != 0)
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS,
			"the host %.120s cannot be found: %s; check its name", host, gai_strerror(result));
	memset(addresses, 0, (size_t)max * sizeof(*addresses));
	for (const struct addrinfo *next = found; next && count < max; next = next->ai_next) {
		if (next->ai_family == AF_INET || next->ai_family == AF_INET6)
			memcpy(&addresses[count++], next->ai_addr, next->ai_addrlen);
	}
	freeaddrinfo(found);
	if (count == 0)
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS,
			"the host %.120s has neither an IPv4 nor an IPv6 address", host);
	return count;
}

socklen_t
rr_address_size(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* Writes the IPv4 address to octets in the form of IPv6 (RFC 4291, 2.5.5.2: "IPv4-Mapped IPv6 Address"): ten
 * octets of zero, two octets of 0xff, and the four octets of the IPv4 address. */
static void
address_map(const struct in_addr *address, uint8_t octets[16])
{
	memset(octets, 0, 10);
	memset(octets + 10, 0xff, 2);
	memcpy(octets + 12, address, 4);
}

bool
rr_address_octets(const struct sockaddr *address, uint8_t octets[16])
{
	if (address->sa_family == AF_INET)
		address_map(&((const struct sockaddr_in *)(const void *)address)->sin_addr, octets);
	else if (address->sa_family == AF_INET6)
		memcpy(octets, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
	return address->sa_family == AF_INET || address->sa_family == AF_INET6;
}

struct rr_source
rr_address_source_of(const char *text)
{
	struct rr_source source = { 0 };
	bool brackets = text[0] == '[';
	const char *end = strrchr(text, brackets ? ']' : ':');
	char host[INET6_ADDRSTRLEN] = "";
	struct in_addr in;

	if (!end || (size_t)(end - text) - brackets >= sizeof(host))
		return source;
	memcpy(host, text + brackets, (size_t)(end - text) - brackets);
	source.port = (uint16_t)atoi(end + 1 + brackets);
	if (brackets)
		source.known = inet_pton(AF_INET6, host, source.address) == 1;
	else if (inet_pton(AF_INET, host, &in) == 1)
		source.known = true;
	if (source.known && !brackets)
		address_map(&in, source.address);
	return source;
}

void
rr_address_source_text(const struct rr_source *source, char text[RR_ADDRESS_TEXT])
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(source->port) };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = in6.sin6_port };
	bool is4;

	memcpy(&in6.sin6_addr, source->address, sizeof(in6.sin6_addr));
	memcpy(&in.sin_addr, source->address + 12, sizeof(in.sin_addr));
	is4 = IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr);
	rr_address_text(
		is4 ? (const struct sockaddr *)&in : (const struct sockaddr *)&in6, text, RR_ADDRESS_TEXT);
}

void
rr_address_set_port(struct sockaddr *address, uint16_t port)
{
	if (address->sa_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

uint16_t
rr_address_port(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

bool
rr_address_is_any(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return in->sin_addr.s_addr == htonl(INADDR_ANY);
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
}

int
rr_address_source(const struct sockaddr *peer, socklen_t size, struct sockaddr_storage *source)
{
	/* connect() of a datagram socket sends nothing: the system only chooses the route and the source. */
	int fd = socket(peer->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t source_size = sizeof(*source);
	bool known;

	memset(source, 0, sizeof(*source));
	known = fd >= 0 && connect(fd, peer, size) == 0 &&
		getsockname(fd, (struct sockaddr *)source, &source_size) == 0;
	if (fd >= 0)
		close(fd);
	return known ? 0 : -RPCRDMA_ERR_UNREACHABLE;
}
