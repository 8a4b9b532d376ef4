/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads connections over the engines that listen at one address: spread.h. A connection on its way to
 * another engine is a gift. */
#include "base/share/spread.h"

#include <pthread.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The engines among which connections are spread. */
struct rr_spread {
	const struct rr_env *env;
	pthread_mutex_t lock;   /* of all that follows, and of all members */
	struct rr_list members; /* in the order in which they joined */
};

/* One engine among those of a spread. */
struct rr_spread_member {
	struct rr_spread *spread;
	struct rr_list link;
	struct rr_loop *loop;
	struct rr_watch wake;        /* an eventfd: readable when there are gifts */
	uint32_t count;              /* connections, those that other engines have handed on included */
	struct rr_list seats, gifts; /* its listeners; connections that it has not accepted yet */
};

/* A connection on its way to another engine, in the list of gifts of that engine's member. */
struct spread_gift {
	struct rr_list link;
	int fd; /* belongs to the gift until a listener takes it */
	struct sockaddr_storage peer;
	char address[RR_ADDRESS_TEXT]; /* the address that its seat must have */
};

struct rr_spread *
rr_spread_new(const struct rr_env *env)
{
	struct rr_spread *spread = rr_alloc(env, sizeof(*spread));

	if (!spread)
		return NULL;
	spread->env = env;
	pthread_mutex_init(&spread->lock, NULL);
	rr_list_init(&spread->members);
	return spread;
}

void
rr_spread_free(struct rr_spread *spread)
{
	if (!spread)
		return;
	pthread_mutex_destroy(&spread->lock);
	rr_free(spread->env, spread);
}

/* ---- Connections that come from other engines ---- */

/* Returns the member's seat (listener) with that address, or NULL if the member does not listen there. */
static struct rr_spread_seat *
spread_seat_at(const struct rr_spread_member *member, const char *address)
{
	rr_list_for_each (link, &member->seats) {
		struct rr_spread_seat *seat = rr_container(link, struct rr_spread_seat, link);

		if (strcmp(seat->address, address) == 0)
			return seat;
	}
	return NULL;
}

/* Closes the connection in gift, which another engine handed on, because the member no longer listens at its
 * address. Counts one connection less of the member. */
static void
spread_refuse(struct rr_spread_member *member, struct spread_gift *gift)
{
	close(gift->fd);
	rr_spread_ended(member);
}

/* Passes the connection in gift, which another engine handed on, to the member's listener at gift->address,
 * or closes the connection if there is no such listener. Frees the gift. Needs no lock, as only the member
 * itself changes its list of seats (listeners). */
static void
spread_unwrap(struct rr_spread_member *member, struct spread_gift *gift)
{
	struct rr_spread_seat *seat = spread_seat_at(member, gift->address);

	if (seat)
		seat->take(seat, gift->fd, &gift->peer);
	else
		spread_refuse(member, gift);
	rr_free(member->spread->env, gift);
}

/* Takes the next gift, a connection that another engine handed on, out of the member's list, under the lock.
 * Returns NULL if there is no gift. */
static struct spread_gift *
spread_next_gift(struct rr_spread_member *member)
{
	struct rr_list *link;

	pthread_mutex_lock(&member->spread->lock);
	link = rr_list_pop(&member->gifts);
	pthread_mutex_unlock(&member->spread->lock);
	return link ? rr_container(link, struct spread_gift, link) : NULL;
}

/* Accepts all connections that other engines have handed on to this member. */
static void
spread_woken(struct rr_watch *watch, unsigned events)
{
	struct rr_spread_member *member = rr_container(watch, struct rr_spread_member, wake);
	struct spread_gift *gift;
	eventfd_t count;

	(void)events;
	(void)eventfd_read(watch->fd, &count);
	while ((gift = spread_next_gift(member)))
		spread_unwrap(member, gift);
}

/* ---- Members ---- */

int
rr_spread_join(struct rr_spread *spread, struct rr_loop *loop, struct rr_spread_member **result)
{
	struct rr_spread_member *member = rr_alloc(spread->env, sizeof(*member));

	if (!member)
		return -RPCRDMA_ERR_NOMEM;
	member->spread = spread;
	member->loop = loop;
	member->wake.ready = spread_woken;
	member->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rr_list_init(&member->seats);
	rr_list_init(&member->gifts);
	if (member->wake.fd < 0 || rr_loop_watch(loop, &member->wake, member->wake.fd, RR_READABLE) < 0) {
		if (member->wake.fd >= 0)
			close(member->wake.fd);
		rr_free(spread->env, member);
		return -RPCRDMA_ERR_SYSTEM;
	}
	pthread_mutex_lock(&spread->lock);
	rr_list_append(&spread->members, &member->link);
	pthread_mutex_unlock(&spread->lock);
	*result = member;
	return 0;
}

void
rr_spread_leave(struct rr_spread_member *member)
{
	struct spread_gift *gift;

	if (!member)
		return;
	pthread_mutex_lock(&member->spread->lock);
	rr_list_remove(&member->link);
	pthread_mutex_unlock(&member->spread->lock);
	rr_loop_unwatch(member->loop, &member->wake);
	close(member->wake.fd);
	while ((gift = spread_next_gift(member))) {
		spread_refuse(member, gift);
		rr_free(member->spread->env, gift);
	}
	rr_free(member->spread->env, member);
}

void
rr_spread_sit(struct rr_spread_member *member, struct rr_spread_seat *seat, int fd)
{
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);

	seat->member = member;
	rr_list_init(&seat->link);
	/* If the address is not known, the seat is in no list: other engines hand on no connections to it. */
	if (!member || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return;
	rr_address_text((const struct sockaddr *)&address, seat->address, sizeof(seat->address));
	pthread_mutex_lock(&member->spread->lock);
	rr_list_append(&member->seats, &seat->link);
	pthread_mutex_unlock(&member->spread->lock);
}

void
rr_spread_stand(struct rr_spread_seat *seat)
{
	if (!seat->member)
		return;
	pthread_mutex_lock(&seat->member->spread->lock);
	rr_list_remove(&seat->link);
	pthread_mutex_unlock(&seat->member->spread->lock);
}

/* ---- Connections ---- */

/* Returns the member with the fewest connections among those that listen at the address of the seat, a
 * listener. If the seat's own member has no more connections than any other, it is that member. The caller
 * holds the lock. */
static struct rr_spread_member *
spread_choose(const struct rr_spread_seat *seat)
{
	struct rr_spread_member *best = seat->member;

	rr_list_for_each (link, &best->spread->members) {
		struct rr_spread_member *member = rr_container(link, struct rr_spread_member, link);

		if (member->count < best->count && spread_seat_at(member, seat->address))
			best = member;
	}
	return best;
}

bool
rr_spread_offer(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer)
{
	struct rr_spread_member *own = seat->member, *other;
	struct spread_gift *gift;

	if (!own)
		return false;
	gift = rr_alloc(own->spread->env, sizeof(*gift));
	pthread_mutex_lock(&own->spread->lock);
	/* Without memory for a gift, the engine keeps the connection. */
	other = gift ? spread_choose(seat) : own;
	other->count++;
	if (other != own) {
		gift->fd = fd;
		gift->peer = *peer;
		memcpy(gift->address, seat->address, sizeof(gift->address));
		rr_list_append(&other->gifts, &gift->link);
		/* The call fails only where the descriptor is readable already. */
		(void)eventfd_write(other->wake.fd, 1);
	}
	pthread_mutex_unlock(&own->spread->lock);
	if (other == own)
		rr_free(own->spread->env, gift);
	return other != own;
}

void
rr_spread_ended(struct rr_spread_member *member)
{
	if (!member)
		return;
	pthread_mutex_lock(&member->spread->lock);
	member->count--;
	pthread_mutex_unlock(&member->spread->lock);
}

uint32_t
rr_spread_count(struct rr_spread_member *member)
{
	uint32_t count;

	pthread_mutex_lock(&member->spread->lock);
	count = member->count;
	pthread_mutex_unlock(&member->spread->lock);
	return count;
}
