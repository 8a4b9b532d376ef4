/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FAULT_PRIVATE_H
#define RR_FABRIC_FILTER_FAULT_PRIVATE_H

#include "fabric/filter/fault.h"
#include "fabric/filter/filter.h"

/* Shared by the files of the fault filter. */

/* The filter's fabric: its script, and the operations counted so far. */
struct rr_fault_fabric {
	struct rr_filter_fabric filter; /* comes first */
	struct rr_fault_script script;
	uint64_t counts[RR_FAULT_OPERATIONS];
	uint64_t state; /* of the random numbers */
	uint64_t total; /* faults brought about */
};

/* A work request from its posting to its completion, or an event on its way to the owner. */
struct rr_fault_item {
	struct rr_list link;
	struct rr_event event;
	uint64_t at; /* the time at which it may go on: the request to the provider, or the event to the owner
		      */
	bool alone;  /* events of other streams (receives, Sends, Reads: fault_events.c) may overtake this
			event */
	bool drops;  /* the connection ends when the request completes */
	struct rr_work work;
	struct rr_sge sges[RR_MAX_SGE];
};

/* The most private data of a rejection, in octets. */
enum { RR_FAULT_REASON = 512 };

/* An endpoint of the filter. */
struct rr_fault_endpoint {
	struct rr_filter_endpoint filter; /* comes first */
	struct rr_list posted;            /* items at the provider */
	struct rr_list waiting;           /* items to be posted later */
	struct rr_list held;              /* items whose event goes to the owner later */
	struct rr_timer posting, telling; /* for the first item of waiting; for the first item of held */
	struct rr_fault_item last;        /* for DISCONNECTED, with its text and reason */
	struct rr_text text;
	uint8_t reason[RR_FAULT_REASON]; /* private data of a rejection */
	uint64_t start_delay;            /* ns by which ESTABLISHED is delayed */
	bool drops_at_start;             /* the connection drops in place of ESTABLISHED */
	bool breaking; /* a request that was cut has left, and no other one leaves after it */
	bool up;       /* the owner has had ESTABLISHED */
	bool ended;    /* the connection has ended: no event of the provider follows */
};

static inline struct rr_fault_endpoint *
rr_fault_of(struct rr_filter_endpoint *endpoint)
{
	return rr_container(endpoint, struct rr_fault_endpoint, filter);
}

/* Counts an operation and returns the fault that it is to have, or RR_FAULT_NONE. The first rule of the
 * script that names the operation decides; if there is no such rule, a random fault is possible. size: the
 * number of octets that the operation moves. *argument becomes the delay in ns, or the number of octets to
 * which a cut shortens the operation. */
enum rr_fault_action rr_fault_decide(struct rr_filter_fabric *fabric, enum rr_fault_operation operation,
	uint64_t size, uint64_t *argument);

/* ---- fault_events.c ---- */

/* Makes an item (a work request or an event that the filter keeps), which is in no list. data: octets of
 * memory for private data, which lies behind the item. Returns NULL if there is no memory. */
struct rr_fault_item *rr_fault_item_new(struct rr_fault_endpoint *endpoint, size_t data);
/* Takes an item out of its list and frees it. The item endpoint->last is not freed, as it is a part of the
 * endpoint. */
void rr_fault_item_free(struct rr_fault_endpoint *endpoint, struct rr_fault_item *item);

/* Handles an event of the endpoint below: this is the function for the member event of struct
 * rr_filter_fabric. */
void rr_fault_event(struct rr_filter_endpoint *endpoint, const struct rr_event *event);

/* Ends the connection as if it were lost: closes the endpoint below the filter, and cancels all outstanding
 * work requests. Then the owner of the filter's endpoint gets DISCONNECTED, with status and text. Has no
 * effect if the connection has ended already. */
void rr_fault_drop(struct rr_fault_endpoint *endpoint, int status, const char *text);

/* Called by the timer `telling`: passes the held events to the owner, in their order, up to the first whose
 * time has not come. */
void rr_fault_told(struct rr_timer *timer);

#endif
