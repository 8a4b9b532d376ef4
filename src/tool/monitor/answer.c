/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tool/monitor/monitor_private.h"

bool
rr_monitor_is_whole(const struct rr_monitor_peer *peer)
{
	return strstr(peer->request, peer->kind == RR_MONITOR_UNIX ? "\n" : "\r\n\r\n") != NULL;
}

/* Tells whether the peer's request begins with that word. */
static bool
answer_begins(const struct rr_monitor_peer *peer, const char *word)
{
	return strncmp(peer->request, word, strlen(word)) == 0;
}

/* Tells whether the target of a request is /metrics, with or without a query. RFC 9112, 3.2.2: "a server MUST
 * accept the absolute-form in requests". */
static bool
answer_is_metrics(const char *target)
{
	static const char scheme[] = "http://", path[] = "/metrics";

	if (strncasecmp(target, scheme, sizeof(scheme) - 1) == 0) {
		target += sizeof(scheme) - 1;
		target += strcspn(target, "/? \r\n");
	}
	return strncmp(target, path, sizeof(path) - 1) == 0 && strchr(" ?", target[sizeof(path) - 1]) &&
	       target[sizeof(path) - 1];
}

/* Writes the HTTP answer to the peer's request: the counts in measure if the peer asks for /metrics with GET,
 * otherwise the status 404. RFC 9112: an answer without a Content-Length ends where the connection ends.
 * RFC 9110, 9.3.2: "The HEAD method is identical to GET except that the server MUST NOT send content in the
 * response." */
static void
answer_http(FILE *out, const struct rr_monitor_peer *peer, const struct rr_measure *measure)
{
	bool is_head = answer_begins(peer, "HEAD "), is_get = answer_begins(peer, "GET ");

	if ((!is_head && !is_get) || !answer_is_metrics(strchr(peer->request, ' ') + 1)) {
		fputs("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", out);
		return;
	}
	fputs("HTTP/1.1 200 OK\r\nConnection: close\r\n"
	      "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n\r\n",
		out);
	if (is_get)
		rr_measure_prometheus(out, measure);
}

static void
answer_unix(FILE *out, const struct rr_monitor_peer *peer, const struct rr_measure *measure)
{
	if (answer_begins(peer, "prometheus\n"))
		rr_measure_prometheus(out, measure);
	else if (answer_begins(peer, "json\n"))
		rr_measure_json(out, measure);
	else
		fputs("{\"error\":\"a request is json or prometheus\"}\n", out);
}

bool
rr_monitor_answer(struct rr_monitor_peer *peer, const struct rr_measure *measure)
{
	FILE *out = open_memstream(&peer->reply, &peer->size);

	if (!out)
		return false;
	(peer->kind == RR_MONITOR_UNIX ? answer_unix : answer_http)(out, peer, measure);
	return fclose(out) == 0 && peer->reply;
}
