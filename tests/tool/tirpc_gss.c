/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tirpc_gss PORT krb5|krb5i|krb5p FILE: a client of RPCSEC_GSS that is libtirpc's, against a server of NFS
 * version 3 over TCP at this machine: a context with nfs@localhost, MNT of "/", LOOKUP and READ of the file,
 * whose octets are written to standard output; then the context is destroyed.
 */
#include <arpa/inet.h>
#include <rpc/auth_gss.h>
#include <rpc/rpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOUNT = 100005,
	NFS = 100003,
	VERSION = 3,
	MNT = 1,
	LOOKUP = 3,
	READ = 6,
	HANDLE = 64,
	PIECE = 300000
};

struct handle {
	u_int length;
	char octets[HANDLE];
};

struct name {
	struct handle directory;
	char *text;
};

struct piece {
	struct handle file;
	uint64_t offset;
	u_int count;
};

struct data {
	u_int length;
	char *octets;
	bool_t eof;
};

static bool_t
xdr_handle(XDR *xdrs, struct handle *handle)
{
	char *octets = handle->octets;

	return xdr_bytes(xdrs, &octets, &handle->length, HANDLE);
}

static bool_t
xdr_mount(XDR *xdrs, struct handle *handle)
{
	int status = 0, flavor = 0;
	u_int count = 0;

	if (!xdr_int(xdrs, &status) || status != 0 || !xdr_handle(xdrs, handle) || !xdr_u_int(xdrs, &count))
		return FALSE;
	for (u_int i = 0; i < count; i++) {
		if (!xdr_int(xdrs, &flavor))
			return FALSE;
		fprintf(stderr, "flavor %d\n", flavor);
	}
	return TRUE;
}

static bool_t
xdr_name(XDR *xdrs, struct name *name)
{
	return xdr_handle(xdrs, &name->directory) && xdr_string(xdrs, &name->text, 255);
}

/* Attributes that may be there: RFC 1813, 2.6: 84 octets. */
static bool_t
xdr_attributes(XDR *xdrs)
{
	char octets[84];
	bool_t follow = FALSE;

	return xdr_bool(xdrs, &follow) && (!follow || xdr_opaque(xdrs, octets, sizeof(octets)));
}

static bool_t
xdr_found(XDR *xdrs, struct handle *handle)
{
	int status = 0;

	return xdr_int(xdrs, &status) && status == 0 && xdr_handle(xdrs, handle) && xdr_attributes(xdrs) &&
	       xdr_attributes(xdrs);
}

static bool_t
xdr_piece(XDR *xdrs, struct piece *piece)
{
	return xdr_handle(xdrs, &piece->file) && xdr_uint64_t(xdrs, &piece->offset) &&
	       xdr_u_int(xdrs, &piece->count);
}

static bool_t
xdr_data(XDR *xdrs, struct data *data)
{
	int status = 0;
	u_int count = 0;

	return xdr_int(xdrs, &status) && status == 0 && xdr_attributes(xdrs) && xdr_u_int(xdrs, &count) &&
	       xdr_bool(xdrs, &data->eof) && xdr_bytes(xdrs, &data->octets, &data->length, PIECE);
}

/* Connects to a program, with a context of its own. */
static CLIENT *
attach(u_short port, rpcprog_t program, rpc_gss_svc_t service)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	static gss_OID_desc krb5 = { 9, (void *)(uintptr_t) "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" };
	struct rpc_gss_sec security = {
		.mech = &krb5, .svc = service, .cred = GSS_C_NO_CREDENTIAL, .req_flags = GSS_C_MUTUAL_FLAG
	};
	int socket = RPC_ANYSOCK;
	char service_name[] = "nfs@localhost";
	CLIENT *client = clnttcp_create(&address, program, VERSION, &socket, 1 << 20, 1 << 20);

	if (!client) {
		clnt_pcreateerror("connecting");
		exit(1);
	}
	client->cl_auth = authgss_create_default(client, service_name, &security);
	if (!client->cl_auth) {
		clnt_pcreateerror("making a context");
		exit(1);
	}
	return client;
}

static void
call(CLIENT *client, rpcproc_t procedure, xdrproc_t put, void *arguments, xdrproc_t get, void *result)
{
	const struct timeval limit = { 60, 0 };
	enum clnt_stat status = clnt_call(client, procedure, put, arguments, get, result, limit);

	if (status != RPC_SUCCESS) {
		clnt_perror(client, "calling");
		exit(1);
	}
}

static void
detach(CLIENT *client)
{
	auth_destroy(client->cl_auth);
	clnt_destroy(client);
}

int
main(int argc, char **argv)
{
	static const char *const services[] = { "", "krb5", "krb5i", "krb5p" };
	struct handle root = { 0 };
	struct name name = { .text = argv[argc - 1] };
	struct piece piece = { .count = PIECE };
	struct data data = { 0 };
	rpc_gss_svc_t service = RPCSEC_GSS_SVC_PRIVACY;
	CLIENT *client;
	char *top = strdup("/");

	if (argc != 4)
		return 2;
	while (service > RPCSEC_GSS_SVC_NONE && strcmp(argv[2], services[service]) != 0)
		service--;
	client = attach((u_short)atoi(argv[1]), MOUNT, service);
	call(client, MNT, (xdrproc_t)xdr_wrapstring, &top, (xdrproc_t)xdr_mount, &root);
	detach(client);
	client = attach((u_short)atoi(argv[1]), NFS, service);
	name.directory = root;
	call(client, LOOKUP, (xdrproc_t)xdr_name, &name, (xdrproc_t)xdr_found, &piece.file);
	while (!data.eof) {
		call(client, READ, (xdrproc_t)xdr_piece, &piece, (xdrproc_t)xdr_data, &data);
		fwrite(data.octets, 1, data.length, stdout);
		piece.offset += data.length;
	}
	detach(client);
	free(data.octets);
	free(top);
	return 0;
}
