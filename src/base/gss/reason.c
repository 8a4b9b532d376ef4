/* SPDX-License-Identifier: BSD-3-Clause */
/* What the statuses of the library mean, in one sentence that says what to do. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/gss/library.h"

/* Sentences for statuses of Kerberos, which the library gives as minor statuses. */
static const struct {
	krb5_error_code code;
	const char *text;
} reason_sentences[] = {
	{ KRB5KRB_AP_ERR_SKEW, "the clocks of client and server differ by too much: set both by NTP" },
	{ KRB5KRB_AP_ERR_TKT_EXPIRED, "the ticket has expired: renew it (kinit)" },
	{ KRB5KRB_AP_ERR_TKT_NYV, "the ticket is not valid yet: set the clocks by NTP" },
	{ KRB5KRB_AP_ERR_REPEAT, "the token was sent before: somebody repeats it, or a client does" },
	{ KRB5KRB_AP_ERR_MODIFIED, "the ticket is encrypted by a key that is not in the keytab: the key was "
				   "changed, or the name belongs to another machine" },
	{ KRB5KRB_AP_ERR_BAD_INTEGRITY, "the ticket is encrypted by another key than that of the keytab: "
					"write the keytab anew (kadmin, ktadd)" },
	{ KRB5KRB_AP_ERR_NOT_US, "the keytab has no key of the name that the ticket is for: add it (kadmin, "
				 "ktadd)" },
	{ KRB5KRB_AP_WRONG_PRINC, "the ticket is for a name that the keytab does not have" },
	{ KRB5KRB_AP_ERR_BADKEYVER,
		"the keytab does not have the version of the key that the ticket was made "
		"with: write the keytab anew (kadmin, ktadd)" },
	{ KRB5KRB_AP_ERR_NOKEY, "the keytab has no key of the name that the ticket is for: add it (kadmin, "
				"ktadd)" },
	{ KRB5_KT_KVNONOTFOUND, "the keytab does not have the version of the key that the ticket was made "
				"with: write the keytab anew (kadmin, ktadd)" },
	{ KRB5_KT_NOTFOUND, "the keytab has no key of that name: add it (kadmin, ktadd)" },
	{ KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, "the server's name is not known in the realm: use the name that "
					   "its keytab has, or add nfs/NAME there (kadmin, addprinc)" },
	{ KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN, "the client's name is not known in the realm" },
	{ KRB5_KDC_UNREACH, "no key distribution centre of the realm can be reached: see [realms] in "
			    "krb5.conf, and whether it runs" },
	{ KRB5_REALM_UNKNOWN, "no key distribution centre of the realm is known: name it in krb5.conf" },
	{ KRB5_CC_NOTFOUND, "there is no ticket: get one (kinit)" },
	{ KRB5_FCC_NOFILE, "there is no ticket: get one (kinit)" },
	{ KRB5_NO_TKT_SUPPLIED, "there is no ticket: get one (kinit)" },
	{ KRB5_CONFIG_CANTOPEN, "krb5.conf cannot be read" },
	{ KRB5_CONFIG_BADFORMAT, "krb5.conf is not well formed" },
};

/* Writes one line of what the library says of a status, without control characters. */
static void
reason_display(uint32_t status, int type, char *line, size_t size)
{
	gss_buffer_desc said = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, more = 0;
	size_t length = 0;

	rr_gss_library.gss_display_status(&minor, status, type, &rr_gss_krb5, &more, &said);
	for (size_t i = 0; i < said.length && length + 1 < size; i++) {
		unsigned char c = ((const unsigned char *)said.value)[i];

		line[length++] = c < 0x80 && isprint(c) ? (char)c : '?';
	}
	line[length] = '\0';
	rr_gss_library.gss_release_buffer(&minor, &said);
}

void
rr_gss_reason(uint32_t major, uint32_t minor, struct rr_text *text)
{
	char line[160];

	for (size_t i = 0; i < sizeof(reason_sentences) / sizeof(reason_sentences[0]); i++) {
		if (minor == (uint32_t)reason_sentences[i].code) {
			rr_fail(text, 0, "%s", reason_sentences[i].text);
			return;
		}
	}
	reason_display(minor, GSS_C_MECH_CODE, line, sizeof(line));
	/* Of a token that makes no sense, the minor status is nothing, or a number of the library's own that
	 * stands for no error. */
	if (minor == 0 || strcmp(line, "Success") == 0)
		reason_display(major, GSS_C_GSS_CODE, line, sizeof(line));
	/* The library has no words for statuses of which another machine has told the numbers alone. */
	if (line[0] == '\0')
		snprintf(line, sizeof(line), "status %" PRIu32 " (%" PRId32 ")", major, (int32_t)minor);
	rr_fail(text, 0, "Kerberos says: %s", line);
}
