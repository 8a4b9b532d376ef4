/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The duplicate request cache. Calls being executed are in one map, answers
 * in another and, in their order of age, in a list. An answer is one
 * allocation, owned by the cache until it is too old or others need its room.
 */
#include "rpc/drc.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/list.h"
#include "transport/carrier.h"

enum { BUCKETS_OPEN = 64 }; /* at most one call of each thread is open */

const struct rr_drc_config rr_drc_config_default = {
	.entries = 16384,
	.octets = 8 << 20,
	.age = 120 * RR_SECOND,
};

struct answer {
	struct rr_map_link link;
	struct rr_list age;
	uint64_t since;
	uint32_t length;
	uint8_t octets[];
};

struct rr_drc {
	const struct rr_env *env;
	struct rr_drc_config config;
	uint8_t secret[crypto_shorthash_KEYBYTES]; /* else a peer could make a call that is taken for another
						    */
	pthread_mutex_t lock;                      /* of all that follows */
	pthread_cond_t ended;
	struct rr_map open, answers;
	struct rr_list ages; /* the oldest first */
	uint64_t octets, hits;
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
	pthread_cond_init(&drc->ended, NULL);
	rr_list_init(&drc->ages);
	if (rr_map_init(&drc->open, env, BUCKETS_OPEN) == 0 &&
		rr_map_init(&drc->answers, env, config->entries) == 0)
		return drc;
	rr_drc_free(drc);
	return NULL;
}

static void
forget(struct rr_drc *drc, struct answer *answer)
{
	rr_map_remove(&drc->answers, &answer->link);
	rr_list_remove(&answer->age);
	drc->octets -= sizeof(*answer) + answer->length;
	rr_free(drc->env, answer);
}

void
rr_drc_free(struct rr_drc *drc)
{
	if (!drc)
		return;
	rr_list_for_each (link, &drc->ages)
		forget(drc, rr_container(link, struct answer, age));
	rr_map_free(&drc->answers, drc->env);
	rr_map_free(&drc->open, drc->env);
	pthread_cond_destroy(&drc->ended);
	pthread_mutex_destroy(&drc->lock);
	rr_free(drc->env, drc);
}

static uint64_t
keyed_hash(const struct rr_drc *drc, const void *data, size_t size)
{
	unsigned char out[crypto_shorthash_BYTES];
	uint64_t hash;

	crypto_shorthash(out, data, size, drc->secret);
	memcpy(&hash, out, sizeof(hash));
	return hash;
}

/* A client may renew the stamp of its credential with every transmission: only who it is counts. */
static uint64_t
identity(const struct rr_drc *drc, const struct rr_drc_key *key)
{
	struct {
		uint64_t args;
		uint32_t size, xid, prog, vers, proc, uid;
		char host[RR_ADDRESS_TEXT];
	} all;
	const char *port = strrchr(key->peer, ':');
	size_t length = port ? (size_t)(port - key->peer) : strlen(key->peer);

	memset(&all, 0, sizeof(all));
	all.args = keyed_hash(drc, key->args.data, key->args.length);
	all.size = key->args.length;
	all.xid = key->xid;
	all.prog = key->prog;
	all.vers = key->vers;
	all.proc = key->proc;
	all.uid = key->uid;
	memcpy(all.host, key->peer, length < sizeof(all.host) ? length : sizeof(all.host));
	return keyed_hash(drc, &all, sizeof(all));
}

/* Forgets what is too old, and as many more as make room for so many answers, of so many octets. */
static void
expire(struct rr_drc *drc, uint32_t count, uint64_t octets)
{
	uint64_t now = rr_now(drc->env);

	rr_list_for_each (link, &drc->ages) {
		struct answer *answer = rr_container(link, struct answer, age);

		if (now - answer->since < drc->config.age &&
			drc->answers.count + count <= drc->config.entries &&
			drc->octets + octets <= drc->config.octets)
			return;
		forget(drc, answer);
	}
}

bool
rr_drc_begin(struct rr_drc *drc, struct rr_drc_call *call, const struct rr_drc_key *key, void *reply,
	uint32_t *length)
{
	uint64_t id = identity(drc, key);
	struct rr_map_link *found;

	pthread_mutex_lock(&drc->lock);
	while (rr_map_find(&drc->open, id))
		pthread_cond_wait(&drc->ended, &drc->lock);
	expire(drc, 0, 0);
	found = rr_map_find(&drc->answers, id);
	if (found) {
		const struct answer *answer = rr_container(found, struct answer, link);

		memcpy(reply, answer->octets, answer->length);
		*length = answer->length;
		drc->hits++;
	} else {
		rr_map_add(&drc->open, &call->link, id);
	}
	pthread_mutex_unlock(&drc->lock);
	return found;
}

static void
keep(struct rr_drc *drc, uint64_t id, const struct rpcrdma_message *reply)
{
	struct answer *answer;
	size_t size = sizeof(*answer) + reply->length;

	if (reply->item_count > 0 || reply->length > RR_DRC_REPLY_MAX || size > drc->config.octets ||
		drc->config.entries == 0)
		return;
	expire(drc, 1, size);
	answer = rr_alloc(drc->env, size);
	if (!answer)
		return;
	answer->since = rr_now(drc->env);
	answer->length = reply->length;
	memcpy(answer->octets, reply->stream, reply->length);
	rr_map_add(&drc->answers, &answer->link, id);
	rr_list_append(&drc->ages, &answer->age);
	drc->octets += size;
}

void
rr_drc_end(struct rr_drc *drc, struct rr_drc_call *call, const struct rpcrdma_message *reply)
{
	pthread_mutex_lock(&drc->lock);
	rr_map_remove(&drc->open, &call->link);
	if (reply)
		keep(drc, call->link.key, reply);
	pthread_cond_broadcast(&drc->ended);
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
