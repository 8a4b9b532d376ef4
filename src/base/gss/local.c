/* SPDX-License-Identifier: BSD-3-Clause */
/* Which user of this machine a principal is: krb5.conf has the rules (auth_to_local). Without rules, a
 * principal of the machine's own realm with a name of one part is the user of that name. */
#include "base/gss/library.h"

bool
rr_gss_local_name(const char *text, char *name, size_t size)
{
	const struct rr_gss_library *library = &rr_gss_library;
	krb5_principal principal;
	krb5_context krb5;
	bool found;

	if (library->krb5_init_context(&krb5) != 0)
		return false;
	found = library->krb5_parse_name(krb5, text, &principal) == 0;
	if (found) {
		found = library->krb5_aname_to_localname(krb5, principal, (int)size, name) == 0;
		library->krb5_free_principal(krb5, principal);
	}
	library->krb5_free_context(krb5);
	return found;
}
