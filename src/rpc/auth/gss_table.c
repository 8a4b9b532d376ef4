/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/auth/gss_table.h"

#include <rpcrdma/error.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"

const struct rr_gss_bounds rr_gss_bounds_default = { .principal = 64, .address = 1024, .all = 8192 };

enum {
	TABLE_EXPIRE = 4 /* contexts that one step ends because nobody used them: more than one, so that
			    they become fewer */
};

struct rr_gss_table {
	const struct rr_env *env;
	struct rr_gss_bounds bounds;
	uint8_t key[RR_SIPHASH_KEY]; /* of accounts */
	pthread_mutex_t lock;        /* of all that follows, and of the private members of entries */
	struct rr_map entries;       /* by the first octets of the handle */
	struct rr_map accounts;
	struct rr_list by_use; /* the longest unused first */
	uint32_t count;
};

static int64_t
table_clock(void)
{
	return time(NULL);
}

int
rr_gss_table_new(const struct rr_env *env, const struct rr_gss_bounds *bounds, struct rr_gss_table **result)
{
	struct rr_gss_table *table = rr_alloc(env, sizeof(*table));

	if (!table)
		return -RPCRDMA_ERR_NOMEM;
	table->env = env;
	table->bounds = *bounds;
	env->random(env->ctx, table->key, sizeof(table->key));
	pthread_mutex_init(&table->lock, NULL);
	rr_list_init(&table->by_use);
	if (rr_map_init(&table->entries, env, bounds->all) < 0 ||
		rr_map_init(&table->accounts, env, bounds->all) < 0) {
		rr_gss_table_free(table);
		return -RPCRDMA_ERR_NOMEM;
	}
	*result = table;
	return 0;
}

/* ---- Accounts ---- */

/* The key of the account of an address, or of a principal there. */
static uint64_t
table_account_key(const struct rr_gss_table *table, const char *host, const char *principal)
{
	struct rr_siphash hash;
	uint8_t tag[RR_SIPHASH_TAG];
	uint64_t key;

	rr_siphash_init(&hash, table->key);
	rr_siphash_add(&hash, host, strlen(host) + 1);
	rr_siphash_add(&hash, principal, strlen(principal));
	rr_siphash_end(&hash, tag);
	memcpy(&key, tag, sizeof(key));
	return key;
}

/* Returns the account, which is made if there is none; NULL: there is no memory. */
static struct rr_gss_account *
table_open_account(struct rr_gss_table *table, uint64_t key)
{
	struct rr_map_link *link = rr_map_find(&table->accounts, key);
	struct rr_gss_account *account;

	if (link)
		return rr_container(link, struct rr_gss_account, by_key);
	account = rr_alloc(table->env, sizeof(*account));
	if (account) {
		rr_list_init(&account->entries);
		rr_map_add(&table->accounts, &account->by_key, key);
	}
	return account;
}

/* Frees the account if it has no contexts. */
static void
table_close_account(struct rr_gss_table *table, struct rr_gss_account *account)
{
	if (!account || account->count > 0)
		return;
	rr_map_remove(&table->accounts, &account->by_key);
	rr_free(table->env, account);
}

/* ---- Entries ---- */

/* Gives the entry back, under the lock. Returns the entry if it is to be freed, outside of the lock. */
static struct rr_gss_entry *
table_drop(struct rr_gss_entry *entry)
{
	return --entry->holders == 0 ? entry : NULL;
}

/* Frees an entry that nobody holds; entry may be NULL. */
static void
table_free_entry(const struct rr_env *env, struct rr_gss_entry *entry)
{
	if (!entry)
		return;
	rr_gss_context_free(entry->context);
	rr_gss_user_free(&entry->user);
	rr_free(env, entry);
}

/* Takes the entry out of all lists, under the lock. Returns it if it is to be freed. */
static struct rr_gss_entry *
table_unlist(struct rr_gss_table *table, struct rr_gss_entry *entry)
{
	if (!entry->listed)
		return NULL;
	entry->listed = false;
	rr_map_remove(&table->entries, &entry->by_handle);
	rr_list_remove(&entry->by_use);
	rr_list_remove(&entry->of_principal);
	rr_list_remove(&entry->of_address);
	table->count--;
	entry->principal_account->count--;
	entry->address_account->count--;
	table_close_account(table, entry->principal_account);
	table_close_account(table, entry->address_account);
	return table_drop(entry);
}

/* Notes that the entry is used now. */
static void
table_use(struct rr_gss_table *table, struct rr_gss_entry *entry, int64_t now)
{
	entry->used = now;
	rr_list_remove(&entry->by_use);
	rr_list_append(&table->by_use, &entry->by_use);
	rr_list_remove(&entry->of_principal);
	rr_list_append(&entry->principal_account->entries, &entry->of_principal);
	rr_list_remove(&entry->of_address);
	rr_list_append(&entry->address_account->entries, &entry->of_address);
}

/* Frees the entries of an array. Called without the lock, as it takes time. */
static void
table_free_some(const struct rr_env *env, struct rr_gss_entry **some, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		table_free_entry(env, some[i]);
}

/* Takes out a few contexts that nobody has used for long. Returns how many of them are to be freed. */
static uint32_t
table_expire(struct rr_gss_table *table, int64_t now, struct rr_gss_entry *some[TABLE_EXPIRE])
{
	uint32_t count = 0;

	for (int i = 0; i < TABLE_EXPIRE && !rr_list_empty(&table->by_use); i++) {
		struct rr_gss_entry *entry = rr_container(table->by_use.next, struct rr_gss_entry, by_use);

		if (now - entry->used < RR_GSS_IDLE && now < entry->until)
			break;
		entry = table_unlist(table, entry);
		if (entry)
			some[count++] = entry;
	}
	return count;
}

/* Takes out the context of an account, or of the table, that was not used for the longest time, if there are
 * too many with the entry, which is counted, but in no list yet. Returns it if it is to be freed. */
static struct rr_gss_entry *
table_make_room(struct rr_gss_table *table, const struct rr_gss_entry *entry)
{
	const struct rr_gss_account *principal = entry->principal_account, *address = entry->address_account;
	struct rr_gss_entry *oldest = NULL;

	if (principal->count > table->bounds.principal)
		oldest = rr_container(principal->entries.next, struct rr_gss_entry, of_principal);
	else if (address->count > table->bounds.address)
		oldest = rr_container(address->entries.next, struct rr_gss_entry, of_address);
	else if (table->count > table->bounds.all)
		oldest = rr_container(table->by_use.next, struct rr_gss_entry, by_use);
	return oldest ? table_unlist(table, oldest) : NULL;
}

static uint64_t
table_handle_key(const void *handle)
{
	uint64_t key;

	memcpy(&key, handle, sizeof(key));
	return key;
}

/* Puts the entry into all lists, under the lock, and takes out another one if there are too many then.
 * Returns that one if it is to be freed. */
static struct rr_gss_entry *
table_list(struct rr_gss_table *table, struct rr_gss_entry *entry)
{
	struct rr_gss_entry *freed;

	entry->principal_account->count++;
	entry->address_account->count++;
	table->count++;
	freed = table_make_room(table, entry);
	entry->listed = true;
	entry->holders = 2; /* the table and the caller */
	entry->used = table_clock();
	rr_map_add(&table->entries, &entry->by_handle, table_handle_key(entry->handle));
	rr_list_append(&table->by_use, &entry->by_use);
	rr_list_append(&entry->principal_account->entries, &entry->of_principal);
	rr_list_append(&entry->address_account->entries, &entry->of_address);
	return freed;
}

/* Opens the accounts of the entry, under the lock. Returns false if there is no memory. */
static bool
table_open_accounts(struct rr_gss_table *table, struct rr_gss_entry *entry, const char *host)
{
	uint64_t keys[] = { table_account_key(table, host, entry->principal),
		table_account_key(table, host, "") };

	entry->principal_account = table_open_account(table, keys[0]);
	entry->address_account = table_open_account(table, keys[1]);
	if (entry->principal_account && entry->address_account)
		return true;
	table_close_account(table, entry->principal_account);
	table_close_account(table, entry->address_account);
	return false;
}

struct rr_gss_entry *
rr_gss_table_add(struct rr_gss_table *table, struct rr_gss_context *context, const char *principal,
	const struct rr_gss_user *user, const char *host)
{
	const struct rr_env *env = table->env;
	struct rr_gss_entry *entry = rr_alloc(env, sizeof(*entry)), *freed = NULL;

	if (!entry)
		return NULL;
	entry->env = env;
	entry->table = table;
	entry->context = context;
	entry->user = *user;
	strncpy(entry->principal, principal, sizeof(entry->principal) - 1);
	env->random(env->ctx, entry->handle, sizeof(entry->handle));
	entry->until = rr_gss_context_deadline(context);
	if (!user->known && entry->until > table_clock() + RR_GSS_UNKNOWN)
		entry->until = table_clock() + RR_GSS_UNKNOWN;
	pthread_mutex_lock(&table->lock);
	if (table_open_accounts(table, entry, host)) {
		freed = table_list(table, entry);
	} else {
		rr_free(env, entry);
		entry = NULL;
	}
	pthread_mutex_unlock(&table->lock);
	table_free_entry(env, freed);
	return entry;
}

struct rr_gss_entry *
rr_gss_table_find(struct rr_gss_table *table, const void *handle, size_t size)
{
	struct rr_gss_entry *entry = NULL, *some[TABLE_EXPIRE];
	int64_t now = table_clock();
	struct rr_map_link *link;
	uint32_t count;

	if (size != RR_GSS_HANDLE)
		return NULL;
	pthread_mutex_lock(&table->lock);
	for (link = rr_map_find(&table->entries, table_handle_key(handle)); link && !entry;
		link = rr_map_next(link)) {
		struct rr_gss_entry *here = rr_container(link, struct rr_gss_entry, by_handle);

		if (memcmp(here->handle, handle, RR_GSS_HANDLE) == 0)
			entry = here;
	}
	if (entry) {
		entry->holders++;
		table_use(table, entry, now);
	}
	count = table_expire(table, now, some);
	pthread_mutex_unlock(&table->lock);
	table_free_some(table->env, some, count);
	return entry;
}

bool
rr_gss_table_ended(const struct rr_gss_entry *entry)
{
	return table_clock() >= entry->until;
}

bool
rr_gss_table_take(struct rr_gss_entry *entry, uint32_t number)
{
	bool taken;

	pthread_mutex_lock(&entry->table->lock);
	taken = rr_gss_window_take(&entry->window, number);
	pthread_mutex_unlock(&entry->table->lock);
	return taken;
}

void
rr_gss_table_forget(struct rr_gss_entry *entry)
{
	struct rr_gss_table *table = entry->table;

	pthread_mutex_lock(&table->lock);
	entry = table_unlist(table, entry);
	pthread_mutex_unlock(&table->lock);
	table_free_entry(table->env, entry);
}

void
rr_gss_table_release(struct rr_gss_entry *entry)
{
	struct rr_gss_table *table = entry->table;

	pthread_mutex_lock(&table->lock);
	entry = table_drop(entry);
	pthread_mutex_unlock(&table->lock);
	table_free_entry(table->env, entry);
}

uint32_t
rr_gss_table_count(struct rr_gss_table *table)
{
	uint32_t count;

	pthread_mutex_lock(&table->lock);
	count = table->count;
	pthread_mutex_unlock(&table->lock);
	return count;
}

void
rr_gss_table_free(struct rr_gss_table *table)
{
	if (!table)
		return;
	while (!rr_list_empty(&table->by_use))
		rr_gss_table_forget(rr_container(table->by_use.next, struct rr_gss_entry, by_use));
	rr_map_free(&table->entries, table->env);
	rr_map_free(&table->accounts, table->env);
	pthread_mutex_destroy(&table->lock);
	explicit_bzero(table->key, sizeof(table->key));
	rr_free(table->env, table);
}
