/* SPDX-License-Identifier: BSD-3-Clause */
/* This file decides which job of a crew begins next (crew_queue.h). A job waits first for earlier jobs with a
 * key in common, as its nodes show; then it is ready, in its owner's account, and waits for a thread. */
#include "base/crew_queue.h"

#include <string.h>

#include "base/checked.h"

/* ---- keys ---- */

/* Tells whether a job of the order "later" must wait for a job of the order "earlier" that came before it and
 * has the same key: a change waits for earlier changes, a commit for earlier writes. */
static bool
queue_conflict(enum rr_crew_order earlier, enum rr_crew_order later)
{
	return (earlier == RR_CREW_CHANGE && later == RR_CREW_CHANGE) ||
	       (earlier == RR_CREW_WRITE && later == RR_CREW_COMMIT);
}

/* Returns the list that contains all nodes with this key. A hash of the key chooses the list among
 * RR_CREW_BUCKETS. */
static struct rr_list *
queue_bucket(struct rr_crew_queue *queue, uint64_t key)
{
	return &queue->buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (RR_CREW_BUCKETS - 1)];
}

/* Appends the node to the list of its key. Returns how many nodes in that list have to leave it before the
 * node's job may begin. */
static uint32_t
queue_link(struct rr_crew_queue *queue, struct rr_crew_node *node)
{
	struct rr_list *bucket = queue_bucket(queue, node->key);
	uint32_t before = 0;

	rr_list_for_each (link, bucket) {
		const struct rr_crew_node *earlier = rr_container(link, struct rr_crew_node, link);

		before += earlier->key == node->key && queue_conflict(earlier->order, node->order);
	}
	rr_list_append(bucket, &node->link);
	return before;
}

static void queue_make_ready(struct rr_crew_queue *queue, struct rr_crew_job *job);

/* Takes the node out of the list of its key; a node with key 0 is in no list. Each job that waited because of
 * this node now waits for one node less, and becomes ready where it waits for no node any more. */
static void
queue_unlink(struct rr_crew_queue *queue, struct rr_crew_node *node)
{
	struct rr_list *bucket = queue_bucket(queue, node->key);

	if (node->key == 0)
		return;
	for (struct rr_list *link = node->link.next; link != bucket; link = link->next) {
		const struct rr_crew_node *later = rr_container(link, struct rr_crew_node, link);

		if (later->key != node->key || !queue_conflict(node->order, later->order))
			continue;
		if (--later->job->before == 0)
			queue_make_ready(queue, later->job);
	}
	rr_list_remove(&node->link);
	node->key = 0;
}

/* Replaces the node "from" by the node "to", at the same position of the list of its key. "from" lies in a
 * job that begins now, and the job's memory may be freed before its node is to leave the list; "to" lies in
 * the slot of the thread that runs the job. */
static void
queue_hand_over(struct rr_crew_node *from, struct rr_crew_node *to)
{
	*to = *from;
	to->job = NULL;
	if (from->key == 0)
		return;
	rr_list_append(&from->link, &to->link);
	rr_list_remove(&from->link);
	from->key = 0;
}

/* ---- places ---- */

/* Tells whether there are jobs in the file system of this entry, or accounts of some. */
static bool
queue_is_used(const struct rr_crew_place *entry)
{
	return entry->busy > 0 || entry->share.owners > 0 || entry->share.others.jobs > 0;
}

/* Returns the index of the entry in queue->places for a place (a file system), for its bulk jobs or for the
 * others: the entry that these had last; else an entry without jobs, which then belongs to the place; else,
 * where all entries have jobs, one that the place then shares with another place. */
static uint32_t
queue_place(struct rr_crew_queue *queue, uint64_t place, bool bulk)
{
	uint32_t vacant = RR_CREW_PLACES;

	for (uint32_t i = 0; i < RR_CREW_PLACES; i++) {
		if (queue->places[i].place == place && queue->places[i].bulk == bulk)
			return i;
		if (!queue_is_used(&queue->places[i]) && vacant == RR_CREW_PLACES)
			vacant = i;
	}
	if (vacant == RR_CREW_PLACES)
		return (uint32_t)(place % RR_CREW_PLACES);
	queue->places[vacant].place = place;
	queue->places[vacant].bulk = bulk;
	rr_crew_share_init(&queue->places[vacant].share);
	return vacant;
}

/* Tells whether one more job may begin in the file system of this entry. A first job always may. A further
 * job may where fewer threads work there than are free, so that a file system that hangs leaves threads to
 * the others. Of bulk jobs, at most queue->bulk_max may run; for the other jobs of the place RR_CREW_ANYWHERE
 * there is no bound. */
static bool
queue_has_room(const struct rr_crew_queue *queue, const struct rr_crew_place *entry)
{
	if (entry->bulk && entry->busy >= queue->bulk_max)
		return false;
	return (entry->place == RR_CREW_ANYWHERE && !entry->bulk) || entry->busy == 0 ||
	       entry->busy < queue->max - queue->busy;
}

/* Puts a job that does not wait for other jobs any more behind the ready jobs of its owner. */
static void
queue_make_ready(struct rr_crew_queue *queue, struct rr_crew_job *job)
{
	struct rr_crew_share *share;

	job->at = queue_place(queue, job->place, job->bulk);
	share = &queue->places[job->at].share;
	job->account = rr_crew_share_join(&queue->accounts, share, job->at, job->host, job->owner);
	rr_list_append(&job->account->ready, &job->ready);
	rr_payer_wait(&share->payers, &job->account->payer);
	queue->ready++;
}

/* Takes a job out of the ready jobs of its owner. */
static void
queue_take_ready(struct rr_crew_queue *queue, struct rr_crew_job *job)
{
	struct rr_payers *payers = &queue->places[job->at].share.payers;

	rr_list_remove(&job->ready);
	if (rr_list_empty(&job->account->ready))
		rr_payer_leave(payers, &job->account->payer);
	queue->ready--;
}

/* ---- jobs ---- */

int
rr_crew_queue_init(struct rr_crew_queue *queue, const struct rr_env *env, uint32_t max, uint32_t processors)
{
	memset(queue, 0, sizeof(*queue));
	queue->max = max;
	queue->bulk_max = processors < 2 ? 2 : rr_min(processors, RR_CREW_BULK_MAX);
	for (uint32_t i = 0; i < RR_CREW_PLACES; i++)
		rr_crew_share_init(&queue->places[i].share);
	for (uint32_t i = 0; i < RR_CREW_BUCKETS; i++)
		rr_list_init(&queue->buckets[i]);
	return rr_crew_accounts_init(&queue->accounts, env);
}

void
rr_crew_queue_free(struct rr_crew_queue *queue)
{
	rr_crew_accounts_end(&queue->accounts);
}

void
rr_crew_queue_add(struct rr_crew_queue *queue, struct rr_crew_job *job)
{
	/* queue_link() counts in job->before the earlier jobs for which this job has to wait. */
	job->waits = true;
	job->before = 0;
	rr_list_init(&job->link);
	rr_list_init(&job->ready);
	for (int i = 0; i < RR_CREW_KEYS; i++) {
		job->nodes[i] = (struct rr_crew_node){ .key = job->keys[i], .order = job->order, .job = job };
		/* A job with one key twice must not wait for itself. */
		if (i > 0 && job->keys[i] == job->keys[0])
			job->nodes[i].key = 0;
		if (job->nodes[i].key != 0)
			job->before += queue_link(queue, &job->nodes[i]);
	}
	queue->count++;
	if (job->before == 0)
		queue_make_ready(queue, job);
}

/* Places take turns: queue->turn is the place behind that of the job that began last. */
struct rr_crew_job *
rr_crew_queue_next(const struct rr_crew_queue *queue)
{
	for (uint32_t i = 0; i < RR_CREW_PLACES && queue->count > 0; i++) {
		const struct rr_crew_place *entry = &queue->places[(queue->turn + i) % RR_CREW_PLACES];
		const struct rr_payer *payer = rr_payers_first(&entry->share.payers);

		if (payer && queue_has_room(queue, entry)) {
			const struct rr_crew_owner *owner = payer->ctx;

			return rr_container(owner->ready.next, struct rr_crew_job, ready);
		}
	}
	return NULL;
}

void
rr_crew_queue_begin(struct rr_crew_queue *queue, struct rr_crew_job *job, struct rr_crew_slot *slot)
{
	struct rr_crew_share *share = &queue->places[job->at].share;

	rr_payer_begin(&share->payers, &job->account->payer);
	queue_take_ready(queue, job);
	slot->account = job->account;
	slot->charged = rr_crew_share_begin(share, job->account);
	job->waits = false;
	slot->job = job;
	slot->place = slot->shared = job->at;
	for (int i = 0; i < RR_CREW_KEYS; i++)
		queue_hand_over(&job->nodes[i], &slot->nodes[i]);
	queue->places[job->at].busy++;
	queue->busy++;
	queue->count--;
	queue->turn = (job->at + 1) % RR_CREW_PLACES;
}

void
rr_crew_queue_end(struct rr_crew_queue *queue, struct rr_crew_slot *slot, uint64_t spent)
{
	struct rr_crew_share *share = &queue->places[slot->shared].share;

	rr_crew_share_end(share, slot->account, slot->charged, spent);
	rr_crew_share_leave(&queue->accounts, share, slot->account);
	slot->job = NULL;
	queue->places[slot->place].busy--;
	queue->busy--;
	for (int i = 0; i < RR_CREW_KEYS; i++)
		queue_unlink(queue, &slot->nodes[i]);
}

bool
rr_crew_queue_move(struct rr_crew_queue *queue, struct rr_crew_slot *slot, uint64_t place)
{
	uint32_t to = queue_place(queue, place, queue->places[slot->place].bulk);

	if (to == slot->place)
		return true;
	if (!queue_has_room(queue, &queue->places[to]))
		return false;
	queue->places[slot->place].busy--;
	queue->places[to].busy++;
	slot->place = to;
	return true;
}

void
rr_crew_queue_withdraw(struct rr_crew_queue *queue, struct rr_crew_job *job)
{
	/* A job that waits for no earlier job is ready. */
	if (job->before == 0) {
		queue_take_ready(queue, job);
		rr_crew_share_leave(&queue->accounts, &queue->places[job->at].share, job->account);
	}
	job->waits = false;
	queue->count--;
	for (int i = 0; i < RR_CREW_KEYS; i++)
		queue_unlink(queue, &job->nodes[i]);
}
