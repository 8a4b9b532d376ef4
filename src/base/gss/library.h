/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_GSS_LIBRARY_H
#define RR_BASE_GSS_LIBRARY_H

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5.h>

#include "base/gss/gss.h"

/* All functions of MIT's Kerberos that are used. RR_GSS_API() and RR_GSS_KRB5() apply a macro to each of
 * their names, those of libgssapi_krb5 and those of libkrb5. Each is a member of struct rr_gss_library under
 * its own name: a pointer to the function. */
/* clang-format off */
#define RR_GSS_API(function)                                                                                 \
	function(gss_acquire_cred_from) function(gss_release_cred) function(gss_inquire_cred)                \
	function(gss_import_name) function(gss_display_name) function(gss_release_name)                      \
	function(gss_init_sec_context) function(gss_accept_sec_context) function(gss_inquire_context)        \
	function(gss_delete_sec_context) function(gss_export_sec_context) function(gss_import_sec_context)   \
	function(gss_get_mic_iov) function(gss_get_mic_iov_length) function(gss_verify_mic_iov)              \
	function(gss_wrap_iov) function(gss_wrap_iov_length) function(gss_unwrap_iov)                        \
	function(gss_display_status) function(gss_release_buffer)

#define RR_GSS_KRB5(function)                                                                                \
	function(krb5_init_context) function(krb5_free_context) function(krb5_parse_name)                    \
	function(krb5_free_principal) function(krb5_aname_to_localname) function(krb5_get_error_message)     \
	function(krb5_free_error_message) function(krb5_kt_resolve) function(krb5_kt_default)                \
	function(krb5_kt_close) function(krb5_kt_start_seq_get) function(krb5_kt_next_entry)                 \
	function(krb5_kt_end_seq_get) function(krb5_free_keytab_entry_contents)                              \
	function(krb5_unparse_name) function(krb5_free_unparsed_name) function(krb5_kt_get_name)
/* clang-format on */

struct rr_gss_library {
#define RR_GSS_MEMBER(name) __typeof__(&name) name;
	RR_GSS_API(RR_GSS_MEMBER)
	RR_GSS_KRB5(RR_GSS_MEMBER)
#undef RR_GSS_MEMBER
	gss_OID name_type_service; /* GSS_C_NT_HOSTBASED_SERVICE */
};

/* The functions, once rr_gss_library_load() has returned 0. */
extern struct rr_gss_library rr_gss_library;

/* Loads the libraries, which are never unloaded. May be called by any thread. Error: NOTSUP, with a text that
 * says what to install. */
int rr_gss_library_load(struct rr_text *text);

/* Kerberos version 5, the one mechanism that is used: RFC 1964, 1: 1.2.840.113554.1.2.2. */
extern gss_OID_desc rr_gss_krb5;

/* context.c: makes a context of one of the library that is established, which is gone afterwards, also after
 * an error. deadline: when it expires, on the clock CLOCK_REALTIME, in seconds. Errors, with a text: NOMEM;
 * NOTSUP: the library cannot do what RPC needs with it. */
int rr_gss_context_new(
	gss_ctx_id_t *made, int64_t deadline, struct rr_gss_context **context, struct rr_text *text);

/* Returns now on that clock. */
int64_t rr_gss_clock(void);

/* keytab.c: tells whether the keytab (NULL: the library's own) can be read, and has a key of nfs/HOST.
 * Returns 0 or INVAL, with a text. */
int rr_gss_keytab_check(const char *keytab, struct rr_text *text);

/* reason.c: writes into text what the statuses of the library mean, and what to do. */
void rr_gss_reason(uint32_t major, uint32_t minor, struct rr_text *text);

#endif
