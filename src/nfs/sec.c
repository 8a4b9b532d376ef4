/* SPDX-License-Identifier: BSD-3-Clause */
/* The flavor of a client: by its URL, or by what the server offers. */
#include "nfs/sec.h"

#include <stdio.h>

#include "base/text.h"

/* The flavors that have a word. */
static const struct {
	uint32_t flavor;
	enum rr_url_sec sec;
	const char *word;
} sec_words[] = {
	{ RR_AUTH_NONE, RR_URL_SEC_ANY, "none" },
	{ RR_AUTH_SYS, RR_URL_SEC_SYS, "sys" },
	{ RR_FLAVOR_KRB5, RR_URL_SEC_KRB5, "krb5" },
	{ RR_FLAVOR_KRB5I, RR_URL_SEC_KRB5I, "krb5i" },
	{ RR_FLAVOR_KRB5P, RR_URL_SEC_KRB5P, "krb5p" },
};

enum { SEC_WORDS = sizeof(sec_words) / sizeof(sec_words[0]) };

int
rr_sec_begin(struct rpcrdma_engine *engine, const char *host, enum rr_url_sec sec, uint64_t timeout,
	struct rr_gss_client **gss, struct rr_text *text)
{
	static const enum rr_gss_service services[] = { [RR_URL_SEC_KRB5] = RR_GSS_SVC_NONE,
		[RR_URL_SEC_KRB5I] = RR_GSS_SVC_INTEGRITY,
		[RR_URL_SEC_KRB5P] = RR_GSS_SVC_PRIVACY };
	const struct rr_gss_client_config config = {
		.engine = engine, .host = host, .service = services[sec], .timeout = timeout
	};

	*gss = NULL;
	return sec < RR_URL_SEC_KRB5 ? 0 : rr_gss_client_new(&config, gss, text);
}

enum rr_url_sec
rr_sec_of(uint32_t flavor)
{
	for (int i = 0; i < SEC_WORDS; i++) {
		if (sec_words[i].flavor == flavor)
			return sec_words[i].sec;
	}
	return RR_URL_SEC_ANY;
}

bool
rr_sec_takes(const struct rr_sec_offer *offer, const struct rr_auth *auth)
{
	uint32_t own = auth && auth->pseudo_flavor ? auth->pseudo_flavor : RR_AUTH_SYS;

	for (uint32_t i = 0; i < offer->count; i++) {
		/* AUTH_NONE stands for what the server makes of any user. */
		if (offer->flavors[i] == own || (own == RR_AUTH_SYS && offer->flavors[i] == RR_AUTH_NONE))
			return true;
	}
	return offer->count == 0;
}

void
rr_sec_list(const struct rr_sec_offer *offer, char *text, size_t size)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < offer->count; i++) {
		char number[16];
		const char *word = number;

		snprintf(number, sizeof(number), "%u", offer->flavors[i]);
		for (int j = 0; j < SEC_WORDS; j++)
			word = offer->flavors[i] == sec_words[j].flavor ? sec_words[j].word : word;
		if (!rr_text_list(text, size, word))
			return;
	}
}
