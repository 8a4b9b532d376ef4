/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/advice.h"

#include <stdio.h>
#include <unistd.h>

#include <rpcrdma/error.h>
#include <rpcrdma/nfs.h>

static const char *const advice_texts[RPCRDMA_ERR_COUNT] = {
	[RPCRDMA_ERR_NOTSUP] =
		"`rpcrdma devices` says what is in the way of each adapter; --transport iwarp needs no "
		"adapter",
	[RPCRDMA_ERR_ADDRESS] = "check the spelling, and what `getent hosts NAME` says; or give an address",
	[RPCRDMA_ERR_REFUSED] =
		"start the server, or give its port: `rpcrdma serve`, or on Linux `modprobe rpcrdma` "
		"and `echo rdma 20049 > /proc/fs/nfsd/portlist`",
	[RPCRDMA_ERR_UNREACHABLE] =
		"see `ip route get ADDRESS`: an interface may be down, or a route missing",
	[RPCRDMA_ERR_REJECTED] =
		"the server is there, and does not want this connection: its log says why (on Linux: "
		"dmesg); it may want other private data, or more RDMA Reads",
	[RPCRDMA_ERR_TIMEDOUT] =
		"the server may hang, or have too few threads (on Linux: /proc/fs/nfsd/threads), what "
		"listens there may be another service, or a firewall drops packets: `ping` it, and see "
		"its rules (nft list ruleset, iptables -L) for the port",
	[RPCRDMA_ERR_PEER] =
		"what listens at this port may be no RDMA service, such as NFS over TCP (2049): the "
		"server's RDMA port is needed, usually 20049",
	[RPCRDMA_ERR_VERS] = "leave --rpcrdma-version out, or give a version that the server speaks",
	[RPCRDMA_ERR_PROG_UNAVAIL] =
		"the server does not have this version of NFS: enable it: on Linux, vers3=y in "
		"the section nfsd of /etc/nfs.conf",
	[RPCRDMA_ERR_PROG_MISMATCH] =
		"the server does not have this version of NFS: enable it: on Linux, vers3=y in "
		"the section nfsd of /etc/nfs.conf",
};

const char *
rr_advice(int error)
{
	if (error == RPCRDMA_NFS_ACCESS)
		return "the server's rules must name this host: --allow or the file of `rpcrdma serve`, "
		       "whose log has "
		       "a line about each address that it refuses; /etc/exports on Linux";
	return error < 0 && error > -RPCRDMA_ERR_COUNT ? advice_texts[-error] : NULL;
}

const char *
rr_advice_tcp(int error)
{
	if (error == -RPCRDMA_ERR_REFUSED)
		return "start the server, or give its port: NFS over TCP is usually at 2049";
	/* Over TCP, only TLS refuses a connection (REJECTED), and its text says what to do. */
	return error == -RPCRDMA_ERR_PEER || error == -RPCRDMA_ERR_REJECTED ? NULL : rr_advice(error);
}

int
rr_advice_fail(const struct rr_tool *tool, const struct rr_url *url, const char *name, int error,
	const struct rr_text *text)
{
	/* A failure of TLS says itself what to do. */
	bool is_tls = url->xprtsec != RR_URL_XPRTSEC_NONE && error == -RPCRDMA_ERR_REJECTED;
	const char *advice =
		url->transport == RR_TRANSPORT_TCP || is_tls ? rr_advice_tcp(error) : rr_advice(error);
	int status = rr_tool_fail(tool, "%s: %s", name, text->text);

	if (advice)
		fprintf(stderr, "to do: %s; `rpcrdma doctor URL` looks at each step\n", advice);
	return status;
}
