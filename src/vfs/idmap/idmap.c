/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache of answers, and the questions under way. README.md says how long an answer counts. */
#include "vfs/idmap/idmap_private.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

/* The threads of the crew; entries; octets of all groups; questions under way, of all clients and of one. */
enum {
	IDMAP_THREADS = 8,
	IDMAP_ENTRIES = 4096,
	IDMAP_OCTETS = 8 << 20,
	IDMAP_LOOKS = 256,
	IDMAP_LOOKS_OF_HOST = 64
};

/* An answer is new for this time, and counts for as long again while the directory is asked anew: of a user
 * that there is, of one that there is not, and of a directory that fails. */
#define IDMAP_FOUND_TIME (600 * RR_SECOND)
#define IDMAP_NONE_TIME  (60 * RR_SECOND)
#define IDMAP_BUSY_TIME  (1 * RR_SECOND)
/* Waiters wait so long. */
#define IDMAP_PATIENCE (5 * RR_SECOND)

static uint64_t
idmap_hash(const struct rr_idmap *idmap, const struct rr_idmap_question *question)
{
	uint8_t text[8 + RR_IDMAP_NAME];
	const uint32_t head[2] = { (uint32_t)question->kind, question->number };

	memcpy(text, head, sizeof(head));
	if (question->name.length > 0)
		memcpy(text + sizeof(head), question->name.data, question->name.length);
	return rr_siphash_64(idmap->key, text, sizeof(head) + question->name.length);
}

static bool
idmap_same(const struct rr_idmap_question *a, const struct rr_idmap_question *b)
{
	return a->kind == b->kind && a->number == b->number && a->name.length == b->name.length &&
	       (a->name.length == 0 || memcmp(a->name.data, b->name.data, a->name.length) == 0);
}

static struct rr_idmap_entry *
idmap_find(const struct rr_idmap *idmap, const struct rr_idmap_question *question, uint64_t hash)
{
	struct rr_map_link *link = rr_map_find(&idmap->entries, hash);

	for (; link; link = rr_map_next(link)) {
		struct rr_idmap_entry *entry = rr_container(link, struct rr_idmap_entry, link);

		if (idmap_same(&entry->asked, question))
			return entry;
	}
	return NULL;
}

/* Frees an entry that the directory is not asked for. */
static void
idmap_remove(struct rr_idmap_entry *entry)
{
	struct rr_idmap *idmap = entry->idmap;

	rr_map_remove(&idmap->entries, &entry->link);
	rr_list_remove(&entry->age);
	idmap->count--;
	idmap->octets -= entry->now.group_count * sizeof(uint32_t);
	rr_free(idmap->env, entry->now.groups);
	rr_free(idmap->env, entry);
}

/* Removes the entries that were used longest ago, but for `except`, until there is room for one more. At most
 * IDMAP_LOOKS entries are passed over, as the directory is asked for them. */
static void
idmap_make_room(struct rr_idmap *idmap, const struct rr_idmap_entry *except)
{
	rr_list_for_each (link, &idmap->ages) {
		struct rr_idmap_entry *entry = rr_container(link, struct rr_idmap_entry, age);

		if (idmap->count < IDMAP_ENTRIES && idmap->octets <= IDMAP_OCTETS)
			return;
		if (!entry->looking && entry != except)
			idmap_remove(entry);
	}
}

static struct rr_idmap_entry *
idmap_add(struct rr_idmap *idmap, const struct rr_idmap_question *question, uint64_t hash)
{
	struct rr_idmap_entry *entry;

	idmap_make_room(idmap, NULL);
	entry = rr_alloc(idmap->env, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->idmap = idmap;
	entry->asked = *question;
	entry->asked.name.data = entry->text;
	if (question->name.length > 0)
		memcpy(entry->text, question->name.data, question->name.length);
	rr_list_init(&entry->look);
	rr_list_init(&entry->waiters);
	rr_map_add(&idmap->entries, &entry->link, hash);
	rr_list_append(&idmap->ages, &entry->age);
	idmap->count++;
	return entry;
}

/* In a thread of the crew. */
static bool
idmap_run(struct rr_crew_job *job, void *member)
{
	struct rr_idmap_entry *entry = rr_container(job, struct rr_idmap_entry, job);

	(void)member;
	entry->idmap->directory(entry->idmap->env, &entry->asked, &entry->next);
	return true;
}

/* Wakes all that wait for the entry, which may not exist any more afterwards. */
static void
idmap_wake(struct rr_idmap_entry *entry)
{
	struct rr_list waiters, *link;

	rr_list_init(&waiters);
	while ((link = rr_list_pop(&entry->waiters)))
		rr_list_append(&waiters, link);
	while ((link = rr_list_pop(&waiters))) {
		struct rr_idmap_waiter *waiter = rr_container(link, struct rr_idmap_waiter, link);

		waiter->wake(waiter);
	}
}

/* Arms the timer for the question that has been under way for longest, of those whose waiters still wait. */
static void
idmap_arm(struct rr_idmap *idmap)
{
	uint64_t now = rr_loop_now(idmap->loop);

	rr_loop_disarm(idmap->loop, &idmap->patience);
	rr_list_for_each (link, &idmap->looks) {
		const struct rr_idmap_entry *entry = rr_container(link, struct rr_idmap_entry, look);

		if (entry->late)
			continue;
		rr_loop_arm(idmap->loop, &idmap->patience, entry->patience > now ? entry->patience - now : 0);
		return;
	}
}

static void
idmap_expired(struct rr_timer *timer)
{
	struct rr_idmap *idmap = rr_container(timer, struct rr_idmap, patience);
	uint64_t now = rr_loop_now(idmap->loop);

	/* An entry that is looked for stays in the list, whatever the woken ones ask. */
	rr_list_for_each (link, &idmap->looks) {
		struct rr_idmap_entry *entry = rr_container(link, struct rr_idmap_entry, look);

		if (entry->late || entry->patience > now)
			continue;
		entry->late = true;
		idmap_wake(entry);
	}
	idmap_arm(idmap);
}

static uint64_t
idmap_time(enum rr_idmap_status status)
{
	return status == RR_IDMAP_FOUND  ? IDMAP_FOUND_TIME
	       : status == RR_IDMAP_NONE ? IDMAP_NONE_TIME
					 : IDMAP_BUSY_TIME;
}

/* Takes the answer of the directory. A directory that fails leaves an answer that counts still as it is. */
static void
idmap_take(struct rr_idmap_entry *entry)
{
	struct rr_idmap *idmap = entry->idmap;
	uint64_t now = rr_loop_clock(idmap->loop), time = idmap_time(entry->next.status);

	if (entry->next.status == RR_IDMAP_BUSY && entry->known && now < entry->gone) {
		entry->fresh = now + time;
		return;
	}
	idmap->octets -= entry->now.group_count * sizeof(uint32_t);
	rr_free(idmap->env, entry->now.groups);
	entry->now = entry->next;
	idmap->octets += entry->now.group_count * sizeof(uint32_t);
	entry->known = true;
	entry->fresh = now + time;
	entry->gone = entry->fresh + time;
}

/* Called in the loop's thread when the directory has answered. */
static void
idmap_done(struct rr_crew_job *job)
{
	struct rr_idmap_entry *entry = rr_container(job, struct rr_idmap_entry, job);
	struct rr_idmap *idmap = entry->idmap;

	idmap_take(entry);
	entry->looking = entry->late = false;
	rr_list_remove(&entry->look);
	idmap->looking--;
	idmap_arm(idmap);
	idmap_make_room(idmap, entry);
	idmap_wake(entry);
}

/* Has the crew ask the directory. The place of the job is that of the client: a client whose users hang
 * leaves threads to the others. */
static void
idmap_look(struct rr_idmap_entry *entry, uint64_t host)
{
	struct rr_idmap *idmap = entry->idmap;

	entry->asked.host = host;
	entry->looking = true;
	entry->late = false;
	entry->patience = rr_loop_now(idmap->loop) + IDMAP_PATIENCE;
	memset(&entry->next, 0, sizeof(entry->next));
	entry->next.status = RR_IDMAP_BUSY;
	entry->job = (struct rr_crew_job){
		.place = host | 1, .host = host, .owner = 1, .run = idmap_run, .done = idmap_done
	};
	rr_list_append(&idmap->looks, &entry->look);
	idmap->looking++;
	if (!rr_timer_armed(&idmap->patience))
		idmap_arm(idmap);
	rr_crew_add(idmap->crew, &entry->job);
}

/* Tells whether one more question may be under way for this client. */
static bool
idmap_may_look(const struct rr_idmap *idmap, uint64_t host)
{
	uint32_t same = 0;

	if (idmap->ends || idmap->looking == IDMAP_LOOKS)
		return false;
	rr_list_for_each (link, &idmap->looks) {
		const struct rr_idmap_entry *entry = rr_container(link, struct rr_idmap_entry, look);

		same += host != 0 && entry->asked.host == host;
	}
	return same < IDMAP_LOOKS_OF_HOST;
}

static enum rr_idmap_status
idmap_answer(struct rr_idmap_entry *entry, struct rr_idmap_answer *answer)
{
	const struct rr_idmap_found *now = &entry->now;

	rr_list_remove(&entry->age);
	rr_list_append(&entry->idmap->ages, &entry->age);
	if (now->status == RR_IDMAP_FOUND)
		*answer = (struct rr_idmap_answer){ now->number, now->gid, now->group_count, now->groups,
			{ now->name, (uint32_t)strlen(now->name) } };
	return now->status;
}

enum rr_idmap_status
rr_idmap_ask(struct rr_idmap *idmap, const struct rr_idmap_question *question, struct rr_idmap_waiter *waiter,
	struct rr_idmap_answer *answer)
{
	uint64_t now = rr_loop_now(idmap->loop), hash;
	struct rr_idmap_entry *entry;

	/* A name with a zero octet is no name of a user. */
	if (question->name.length > RR_IDMAP_NAME ||
		(question->name.length > 0 && memchr(question->name.data, 0, question->name.length)))
		return RR_IDMAP_NONE;
	hash = idmap_hash(idmap, question);
	entry = idmap_find(idmap, question, hash);
	if (entry && entry->known && now < entry->gone) {
		if (now >= entry->fresh && !entry->looking && idmap_may_look(idmap, question->host))
			idmap_look(entry, question->host);
		return idmap_answer(entry, answer);
	}
	if (entry && entry->late)
		return RR_IDMAP_BUSY;
	if ((!entry || !entry->looking) && !idmap_may_look(idmap, question->host))
		return RR_IDMAP_BUSY;
	if (!entry)
		entry = idmap_add(idmap, question, hash);
	if (!entry)
		return RR_IDMAP_BUSY;
	if (!entry->looking)
		idmap_look(entry, question->host);
	if (waiter)
		rr_list_append(&entry->waiters, &waiter->link);
	return RR_IDMAP_WAIT;
}

uint32_t
rr_idmap_under_way(const struct rr_idmap *idmap)
{
	return idmap ? idmap->looking : 0;
}

bool
rr_idmap_manages_gids(const struct rr_idmap *idmap)
{
	return idmap && idmap->manage_gids;
}

int
rr_idmap_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_idmap_config *config,
	struct rr_idmap **result)
{
	const struct rr_crew_config crew = { .max = IDMAP_THREADS };
	struct rr_idmap *idmap = rr_alloc(env, sizeof(*idmap));
	int error;

	if (!idmap)
		return -RPCRDMA_ERR_NOMEM;
	*idmap = (struct rr_idmap){ .env = env,
		.loop = loop,
		.directory = config->directory ? config->directory : rr_idmap_system,
		.manage_gids = config->manage_gids };
	env->random(env->ctx, idmap->key, sizeof(idmap->key));
	rr_list_init(&idmap->ages);
	rr_list_init(&idmap->looks);
	rr_timer_init(&idmap->patience, idmap_expired);
	if (config->domain && config->domain[0])
		snprintf(idmap->domain, sizeof(idmap->domain), "%s", config->domain);
	else
		rr_idmap_read_domain(RR_IDMAP_CONF, idmap->domain);
	error = rr_map_init(&idmap->entries, env, IDMAP_ENTRIES / 4);
	if (!error)
		error = rr_crew_new(env, loop, &crew, &idmap->crew);
	if (error) {
		rr_map_free(&idmap->entries, env);
		rr_free(env, idmap);
		return error;
	}
	*result = idmap;
	return 0;
}

void
rr_idmap_free(struct rr_idmap *idmap)
{
	if (!idmap)
		return;
	/* Those who are woken ask on: the crew gets no further jobs. */
	idmap->ends = true;
	rr_crew_free(idmap->crew);
	rr_loop_disarm(idmap->loop, &idmap->patience);
	rr_list_for_each (link, &idmap->ages)
		idmap_remove(rr_container(link, struct rr_idmap_entry, age));
	rr_map_free(&idmap->entries, idmap->env);
	rr_free(idmap->env, idmap);
}
