/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_IDMAP_IDMAP_PRIVATE_H
#define RR_VFS_IDMAP_IDMAP_PRIVATE_H

#include "base/confine/helper.h"
#include "base/crew.h"
#include "base/map.h"
#include "base/siphash.h"
#include "vfs/idmap/idmap.h"

/* Who owns what: the idmap owns its entries. While the directory is asked (looking), a thread of the crew
 * reads `asked` and writes `next`; the loop's thread uses all else. */
struct rr_idmap_entry {
	struct rr_map_link link; /* in `entries`, by a hash of the question */
	struct rr_list age;      /* in `ages`: the entry that was used last stands last */
	struct rr_list look;     /* in `looks`, while the directory is asked */
	struct rr_list waiters;
	struct rr_crew_job job;
	struct rr_idmap *idmap;
	struct rr_idmap_question asked; /* its name is text */
	char text[RR_IDMAP_NAME + 1];
	bool looking, known;  /* known: `now` has an answer */
	bool late;            /* the directory has been asked for longer than waiters have patience */
	uint64_t patience;    /* until then they have */
	uint64_t fresh, gone; /* until when the answer is new, and until when it counts */
	struct rr_idmap_found now, next;
};

struct rr_idmap {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_crew *crew;
	rr_idmap_directory *directory;
	char domain[RR_IDMAP_NAME + 1]; /* "": that of this machine, which the crew finds out */
	bool manage_gids, ends;
	uint8_t key[RR_SIPHASH_KEY];
	struct rr_map entries;
	uint32_t count;      /* of entries */
	uint64_t octets;     /* of their groups */
	struct rr_list ages; /* all entries */
	struct rr_list looks;
	uint32_t looking;
	struct rr_timer patience; /* of the first of `looks` whose waiters have any left */
};

/* ask.c: has the helper of this process answer. */
void rr_idmap_ask_helper(enum rr_helper_kind kind, const struct rr_env *env,
	const struct rr_idmap_question *question, struct rr_idmap_found *found);

#define RR_IDMAP_CONF "/etc/idmapd.conf"

/* domain.c: reads the domain from a file in the form of idmapd.conf(5): Domain in its section General. Stores
 * "" if there is no such file or no domain in it. */
void rr_idmap_read_domain(const char *path, char domain[RR_IDMAP_NAME + 1]);
/* hosts.c: answers RR_IDMAP_HOST and RR_IDMAP_MEMBER, and waits for name servers. */
void rr_idmap_find_host(const struct rr_idmap_question *question, struct rr_idmap_found *found);
/* domain.c: finds out the DNS domain of this machine, and waits for its name server. */
void rr_idmap_find_domain(struct rr_idmap_found *found);

#endif
