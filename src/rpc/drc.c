/* SPDX-License-Identifier: BSD-3-Clause */
/* The duplicate request cache. Calls that are being executed are in one map, answers in another map and, in
 * the order of their age, in a list. An answer is one allocation. The cache owns it until it is too old, or
 * until other answers need its room and its connection has the most (drc_share.h). */
#include "rpc/drc.h"

#include <pthread.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "base/host.h"
#include "base/list.h"
#include "base/siphash.h"
#include "carrier/carrier.h"
#include "rpc/drc_share.h"

enum { BUCKETS_OPEN = 1024 };

const struct rr_drc_config rr_drc_config_default = {
	.entries = 16384,
	.octets = 8 << 20,
	.age = 120 * RR_SECOND,
};

/* A connection has little (drc_share.h) if its answers weigh no more than the memory of the cache divided by
 * this number. */
enum { LITTLE = 32 };

/* The answer to a call. */
struct drc_answer {
	struct rr_map_link link;
	struct rr_list age;         /* in the cache's ages */
	struct rr_list own;         /* in its share */
	struct rr_drc_share *share; /* of the connection whose call it answers */
	uint64_t since;             /* ns, rr_now(): when the answer was kept */
	uint32_t length;
	uint8_t octets[];
};

/* The cache. */
struct rr_drc {
	const struct rr_env *env;
	struct rr_drc_config config;
	/* Makes the hash of a call unknown to peers, who could otherwise make two calls with the same
	 * hash. */
	uint8_t secret[RR_SIPHASH_KEY];
	pthread_mutex_t lock; /* for all that follows */
	struct rr_map open, answers;
	struct rr_list ages; /* the oldest first */
	struct rr_drc_shares shares;
	uint64_t octets, hits; /* octets of all answers; repeated calls that got their answer */
};

struct rr_drc *
rr_drc_new(const struct rr_env *env, const struct rr_drc_config *config)
{
	struct rr_drc *drc = rr_alloc(env, sizeof(*drc));

	if (!drc)
		return NULL;
	drc->env = env;
	drc->config = *config;
	env->random(env->ctx, drc->secret, sizeof(drc->secret));
	pthread_mutex_init(&drc->lock, NULL);
	rr_list_init(&drc->ages);
	if (rr_map_init(&drc->open, env, BUCKETS_OPEN) == 0 &&
		rr_map_init(&drc->answers, env, config->entries) == 0 &&
		rr_drc_shares_init(&drc->shares, env, config->entries, config->octets / LITTLE) == 0)
		return drc;
	rr_drc_free(drc);
	return NULL;
}

/* Returns how much an answer weighs in the shares of the cache: the octets of the answer, and a fixed part of
 * the cache's memory. With the fixed part, many small answers have weight, too. */
static uint64_t
drc_weight_of(const struct rr_drc *drc, uint32_t length)
{
	return sizeof(struct drc_answer) + length + drc->config.octets / drc->config.entries;
}

/* Removes an answer from the cache and frees it. */
static void
drc_forget(struct rr_drc *drc, struct drc_answer *answer)
{
	rr_map_remove(&drc->answers, &answer->link);
	rr_list_remove(&answer->age);
	rr_drc_share_remove(&drc->shares, answer->share, &answer->own, drc_weight_of(drc, answer->length));
	drc->octets -= sizeof(*answer) + answer->length;
	rr_free(drc->env, answer);
}

void
rr_drc_free(struct rr_drc *drc)
{
	if (!drc)
		return;
	rr_list_for_each (link, &drc->ages)
		drc_forget(drc, rr_container(link, struct drc_answer, age));
	rr_drc_shares_end(&drc->shares);
	rr_map_free(&drc->answers, drc->env);
	rr_map_free(&drc->open, drc->env);
	pthread_mutex_destroy(&drc->lock);
	rr_free(drc->env, drc);
}

/* ---- The identity of a call ---- */

/* Adds a data item that travelled apart from the stream to the hash, and then its padding as zeroes, as the
 * padding may be any octets (RFC 8166, 8.2.2.3). item->length may include the padding. The length without
 * padding is the word of the stream in front of the item. */
static void
drc_hash_item(struct rr_siphash *hash, const uint8_t *stream, const struct rpcrdma_item *item)
{
	static const uint8_t zeroes[3];
	uint32_t length = item->length;

	if (item->offset >= sizeof(uint32_t))
		length = rr_min(length, rr_get_be32(stream + item->offset - sizeof(uint32_t)));
	rr_siphash_add(hash, item->data, length);
	rr_siphash_add(hash, zeroes, rr_pad(length));
}

/* Adds the arguments, which begin at octet `at` of the stream, to the hash. Data items that travelled apart
 * from the stream are added at their places in it, so a repetition that travels in another way has the same
 * hash (RFC 8166, 3.4: reduction does not change the message). */
static void
drc_hash_arguments(struct rr_siphash *hash, const struct rpcrdma_message *call, uint32_t at)
{
	const uint8_t *stream = call->stream;

	for (uint32_t i = 0; i < call->item_count; i++) {
		const struct rpcrdma_item *item = &call->items[i];

		rr_siphash_add(hash, stream + at, item->offset - at);
		drc_hash_item(hash, stream, item);
		at = item->offset;
	}
	rr_siphash_add(hash, stream + at, call->length - at);
}

/* Returns the hash by which a repetition of the call is recognised. The peer's port is not part of it, as a
 * client that connects again comes from another port. */
static uint64_t
drc_identity(const struct rr_drc *drc, const struct rr_drc_key *key)
{
	struct {
		uint32_t xid, prog, vers, proc;
		char host[RR_ADDRESS_TEXT];
	} who;
	const char *port = strrchr(key->peer, ':');
	size_t length = port ? (size_t)(port - key->peer) : strlen(key->peer);
	uint8_t tag[RR_SIPHASH_TAG];
	struct rr_siphash hash;
	uint64_t id;

	memset(&who, 0, sizeof(who));
	who.xid = key->xid;
	who.prog = key->prog;
	who.vers = key->vers;
	who.proc = key->proc;
	memcpy(who.host, key->peer, rr_min(length, sizeof(who.host)));
	rr_siphash_init(&hash, drc->secret);
	rr_siphash_add(&hash, &who, sizeof(who));
	rr_caller_hash(key->caller, &hash);
	drc_hash_arguments(&hash, key->call, key->args_at);
	rr_siphash_end(&hash, tag);
	memcpy(&id, tag, sizeof(id));
	return id;
}

/* ---- The answers ---- */

/* Forgets the answers that are too old, and then as many more as are needed to make room for `count` answers
 * of `octets` octets. */
static void
drc_expire(struct rr_drc *drc, uint32_t count, uint64_t octets)
{
	uint64_t now = rr_now(drc->env);
	struct rr_list *first;

	rr_list_for_each (link, &drc->ages) {
		struct drc_answer *answer = rr_container(link, struct drc_answer, age);

		if (now - answer->since < drc->config.age)
			break;
		drc_forget(drc, answer);
	}
	while ((drc->answers.count + count > drc->config.entries ||
		       drc->octets + octets > drc->config.octets) &&
		(first = rr_drc_shares_first(&drc->shares)))
		drc_forget(drc, rr_container(first, struct drc_answer, own));
}

/* Sets the hashes of the peer's connection and of its host. They name the shares of the cache to which the
 * answer to the call will belong. */
static void
drc_set_share(const struct rr_drc *drc, struct rr_drc_call *call, const char *peer)
{
	char host[RR_HOST_NAME];

	rr_host_name(peer, host);
	call->host = rr_siphash_64(drc->secret, host, strlen(host));
	call->connection = rr_siphash_64(drc->secret, peer, strlen(peer));
}

enum rr_drc_state
rr_drc_begin(struct rr_drc *drc, struct rr_drc_call *call, const struct rr_drc_key *key, void *reply,
	uint32_t *length)
{
	uint64_t id = drc_identity(drc, key);
	enum rr_drc_state state = RR_DRC_NEW;
	struct rr_map_link *found;

	pthread_mutex_lock(&drc->lock);
	drc_expire(drc, 0, 0);
	found = rr_map_find(&drc->answers, id);
	if (rr_map_find(&drc->open, id)) {
		state = RR_DRC_BUSY;
	} else if (found) {
		const struct drc_answer *answer = rr_container(found, struct drc_answer, link);

		memcpy(reply, answer->octets, answer->length);
		*length = answer->length;
		drc->hits++;
		state = RR_DRC_ANSWERED;
	} else {
		drc_set_share(drc, call, key->peer);
		rr_map_add(&drc->open, &call->link, id);
	}
	pthread_mutex_unlock(&drc->lock);
	return state;
}

/* Copies the answer to a call into the cache, unless the answer is too large or some of its data is outside
 * the stream. RFC 1813, 4.5: "the original completion status of a request is remembered and the operation
 * attempted only once." So the answers of calls that failed are kept as well: if a REMOVE that found no file
 * is repeated late, it must not remove a file that was made under that name meanwhile. */
static void
drc_keep(struct rr_drc *drc, const struct rr_drc_call *call, const struct rpcrdma_message *reply)
{
	struct drc_answer *answer;
	size_t size = sizeof(*answer) + reply->length;

	if (reply->item_count > 0 || reply->length > RR_DRC_REPLY_MAX || size > drc->config.octets ||
		drc->config.entries == 0)
		return;
	drc_expire(drc, 1, size);
	answer = rr_alloc(drc->env, size);
	if (!answer)
		return;
	answer->share = rr_drc_share_add(
		&drc->shares, call->connection, call->host, &answer->own, drc_weight_of(drc, reply->length));
	if (!answer->share) {
		rr_free(drc->env, answer);
		return;
	}
	answer->since = rr_now(drc->env);
	answer->length = reply->length;
	memcpy(answer->octets, reply->stream, reply->length);
	rr_map_add(&drc->answers, &answer->link, call->link.key);
	rr_list_append(&drc->ages, &answer->age);
	drc->octets += size;
}

void
rr_drc_end(struct rr_drc *drc, struct rr_drc_call *call, const struct rpcrdma_message *reply)
{
	pthread_mutex_lock(&drc->lock);
	rr_map_remove(&drc->open, &call->link);
	if (reply)
		drc_keep(drc, call, reply);
	pthread_mutex_unlock(&drc->lock);
}

uint64_t
rr_drc_hits(struct rr_drc *drc)
{
	uint64_t hits;

	pthread_mutex_lock(&drc->lock);
	hits = drc->hits;
	pthread_mutex_unlock(&drc->lock);
	return hits;
}
