/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_PROBE_H
#define RR_BASE_PROBE_H

/*
 * Static probes (USDT), for bpftrace, SystemTap, perf and gdb. A probe is one instruction that does nothing
 * until somebody looks. The probes stand where events are counted; docs/probes.md lists them, and
 * tests/check-probes compares that list with the probes in the library.
 *
 * RR_PROBE(name, arguments...): one to twelve arguments: pointers, and integers no smaller than int (gdb
 * cannot read smaller ones), which must cost nothing to compute. Without <sys/sdt.h> (Debian:
 * systemtap-sdt-dev) there are no probes.
 */
#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
/* clang would warn of the header's empty arguments as if they were ours. */
#define RR_PROBE(...)                                                                                        \
	do {                                                                                                 \
		_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpedantic\"")              \
			STAP_PROBEV(rpcrdma, __VA_ARGS__);                                                   \
		_Pragma("GCC diagnostic pop")                                                                \
	} while (0)
#endif
#endif

#ifndef RR_PROBE
#define RR_PROBE(...) ((void)0)
#endif

#endif
