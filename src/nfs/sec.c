/* SPDX-License-Identifier: BSD-3-Clause */
/* The flavor of a client: what its URL says about it. */
#include "nfs/sec.h"

#include <stdio.h>

#include "base/text.h"

int
rr_sec_begin(struct rpcrdma_engine *engine, const struct rr_url *url, uint64_t timeout,
	struct rr_gss_client **gss, const struct rr_auth **auth, struct rr_text *text)
{
	static const enum rr_gss_service services[] = { [RR_URL_SEC_KRB5] = RR_GSS_SVC_NONE,
		[RR_URL_SEC_KRB5I] = RR_GSS_SVC_INTEGRITY,
		[RR_URL_SEC_KRB5P] = RR_GSS_SVC_PRIVACY };
	const struct rr_gss_client_config config = {
		.engine = engine, .host = url->host, .service = services[url->sec], .timeout = timeout
	};
	int error;

	if (url->sec < RR_URL_SEC_KRB5)
		return 0;
	error = rr_gss_client_new(&config, gss, text);
	if (error == 0)
		*auth = rr_gss_client_auth(*gss);
	return error;
}

void
rr_sec_list(const int32_t *flavors, uint32_t count, char *text, size_t size)
{
	static const struct {
		uint32_t flavor;
		const char *word;
	} words[] = { { RR_AUTH_NONE, "none" }, { RR_AUTH_SYS, "sys" }, { RR_FLAVOR_KRB5, "krb5" },
		{ RR_FLAVOR_KRB5I, "krb5i" }, { RR_FLAVOR_KRB5P, "krb5p" } };

	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		char number[16];
		const char *word = number;

		snprintf(number, sizeof(number), "%u", (uint32_t)flavors[i]);
		for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			word = (uint32_t)flavors[i] == words[j].flavor ? words[j].word : word;
		if (!rr_text_list(text, size, word))
			return;
	}
}
