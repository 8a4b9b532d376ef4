/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a keytab, before a client finds out. */
#include <rpcrdma/error.h>
#include <string.h>

#include "base/gss/library.h"

enum { KEYTAB_NAME = 160 }; /* octets of its name, for messages */

/* Tells whether the keytab has a key of a principal nfs/HOST. */
static bool
keytab_has_service(krb5_context krb5, krb5_keytab keytab, krb5_kt_cursor *cursor)
{
	const struct rr_gss_library *library = &rr_gss_library;
	krb5_keytab_entry entry;
	bool found = false;

	while (!found && library->krb5_kt_next_entry(krb5, keytab, &entry, cursor) == 0) {
		char *name;

		if (library->krb5_unparse_name(krb5, entry.principal, &name) == 0) {
			found = strncmp(name, "nfs/", 4) == 0;
			library->krb5_free_unparsed_name(krb5, name);
		}
		library->krb5_free_keytab_entry_contents(krb5, &entry);
	}
	return found;
}

/* Writes what the library says of an error with the keytab. */
static int
keytab_fail(krb5_context krb5, krb5_error_code code, const char *name, struct rr_text *text)
{
	const char *said = rr_gss_library.krb5_get_error_message(krb5, code);

	rr_fail(text, 0, "%s cannot be read (%.100s): give the keytab of this server by --keytab", name,
		said);
	rr_gss_library.krb5_free_error_message(krb5, said);
	return -RPCRDMA_ERR_INVAL;
}

static int
keytab_look(krb5_context krb5, krb5_keytab keytab, struct rr_text *text)
{
	const struct rr_gss_library *library = &rr_gss_library;
	char name[KEYTAB_NAME] = "the keytab";
	krb5_kt_cursor cursor;
	krb5_error_code code;
	bool found;

	library->krb5_kt_get_name(krb5, keytab, name, sizeof(name));
	code = library->krb5_kt_start_seq_get(krb5, keytab, &cursor);
	if (code)
		return keytab_fail(krb5, code, name, text);
	found = keytab_has_service(krb5, keytab, &cursor);
	library->krb5_kt_end_seq_get(krb5, keytab, &cursor);
	return found ? 0
		     : rr_fail(text, -RPCRDMA_ERR_INVAL,
			       "%s has no key of nfs/HOST, the service that clients ask for: add one "
			       "(kadmin: "
			       "addprinc -randkey nfs/HOST, ktadd)",
			       name);
}

int
rr_gss_keytab_check(const char *path, struct rr_text *text)
{
	const struct rr_gss_library *library = &rr_gss_library;
	krb5_keytab keytab;
	krb5_context krb5;
	krb5_error_code code = library->krb5_init_context(&krb5);
	int error;

	if (code)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"Kerberos cannot begin (%d): see krb5.conf, which names the realm", (int)code);
	code = path ? library->krb5_kt_resolve(krb5, path, &keytab) : library->krb5_kt_default(krb5, &keytab);
	error = code ? keytab_fail(krb5, code, path ? path : "the keytab", text)
		     : keytab_look(krb5, keytab, text);
	if (!code)
		library->krb5_kt_close(krb5, keytab);
	library->krb5_free_context(krb5);
	return error;
}
