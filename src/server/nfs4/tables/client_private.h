/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_CLIENT_PRIVATE_H
#define RR_SERVER_NFS4_TABLES_CLIENT_PRIVATE_H

#include "server/nfs4/tables/client.h"

/* What EXCHANGE_ID (client.c) and SETCLIENTID (setclientid.c) have in common. */

/* Returns the record of the owner that the arguments name, of a client with sessions or without as they say:
 * the confirmed record if `from` is NULL, else the unconfirmed record that was made from the address `from`.
 * Returns NULL if there is no such record. */
struct rr_nfs4_client *rr_nfs4_client_of_owner(const struct rr_nfs4_clients *clients,
	const struct rr_nfs4_exchange *exchange, const struct rr_nfs4_origin *from);

/* Returns the origin under which the new client is counted: that of its connection. If the connection has
 * ended already, returns the origin that all such clients share; NULL if there is no memory for it. */
struct rr_nfs4_origin *rr_nfs4_client_origin(
	struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange);

/* Makes an unconfirmed record for the owner, whose client comes from `origin`, in place of the one that its
 * owner had from there, and stores it in *made; another client ends if the table is full. Returns
 * NFS4ERR_DELAY if there is no memory, or no room in the table. */
nfsstat4 rr_nfs4_client_replace(struct rr_nfs4_clients *clients, const struct rr_nfs4_exchange *exchange,
	struct rr_nfs4_origin *origin, uint64_t now, struct rr_nfs4_client **made);

/* Notes that the client has come from this address. */
void rr_nfs4_client_note(struct rr_nfs4_client *client, const struct rr_nfs4_origin *origin);

/* Tells whether another principal than that of the confirmed record may not have its owner: the record has
 * sessions, opens or locks, and its lease is not over. */
bool rr_nfs4_client_is_taken(
	const struct rr_nfs4_client *confirmed, const struct rr_caller *caller, uint64_t now);

#endif
