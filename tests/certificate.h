/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_CERTIFICATE_H
#define RR_TESTS_CERTIFICATE_H

/* A certificate for localhost and 127.0.0.1 that signs itself, and its key, for tests and fuzz targets alone:
 * nobody trusts it, and everybody knows the key. */
static const char rr_test_certificate[] = "-----BEGIN CERTIFICATE-----\n"
					  "MIIBkjCCATegAwIBAgIUMYR5pViy2y3BQQA/ZhobffpApSAwCgYIKoZIzj0EAwIw\n"
					  "DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjkxMjI0NTVaGA8yMTI2MTEwNTEyMjQ1\n"
					  "NVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHp1\n"
					  "t8pkUf7Zq2JicMgfXr+msYNy+tAhWSx8iOKI3HNkesMXDsytzIf4FQ9/AR0c2xMH\n"
					  "sZ/qDBuI/5Ye5jZhkbKjbzBtMB0GA1UdDgQWBBTnL1cI2QT9BEwsbRQ+6V6Ro0bK\n"
					  "TDAfBgNVHSMEGDAWgBTnL1cI2QT9BEwsbRQ+6V6Ro0bKTDAPBgNVHRMBAf8EBTAD\n"
					  "AQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAKBggqhkjOPQQDAgNJADBG\n"
					  "AiEAw/yEiY+iK8f7OoDGfNNvWigi8zwnW/zYlpgNVZF0ILECIQCu0sk4FNOSuEws\n"
					  "66/UM1Czjpnof3iLRGyKJjszHGAQlA==\n"
					  "-----END CERTIFICATE-----\n"
					  "-----BEGIN PRIVATE KEY-----\n"
					  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgH1hMhPfYz/D0TpjL\n"
					  "Bpz0wO2LEWt4ubPx0V5j72gpA3ChRANCAAR6dbfKZFH+2atiYnDIH16/prGDcvrQ\n"
					  "IVksfIjiiNxzZHrDFw7MrcyH+BUPfwEdHNsTB7Gf6gwbiP+WHuY2YZGy\n"
					  "-----END PRIVATE KEY-----\n";

#endif
