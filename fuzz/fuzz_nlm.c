/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target: the server of NLM and NSM, on a directory. The input is calls, one after the other: an octet that
 * chooses NLM 4, 3 or 1 or NSM in its two lowest bits, and has 40 s pass first if its highest bit is set; an
 * octet with the number of the procedure; a count of 32-bit words in two octets; and these words, the
 * arguments. The word "FH!!" stands for the file handle of a file, with its length.
 *
 * After any input, a host that does nothing wrong gets its lock when the others have given up theirs.
 */
#include "../tests/server/nlm/lockd.h"
#include "fuzz.h"
#include "server/nlm/old.h"

enum { HEAD = 4, CALLS = 16, WORDS = 1200, TIME_PASSES = 0x80 };

struct octets {
	uint32_t length;
	uint8_t data[4 * WORDS + 4 * 128];
};

static void
take_words(struct octets *octets, const uint8_t *data, uint32_t length, struct rpcrdma_bytes fh)
{
	octets->length = 0;
	for (uint32_t i = 0; i + 4 <= length && octets->length + 4 + fh.length + 4 <= sizeof(octets->data);
		i += 4) {
		uint8_t *to = octets->data + octets->length;

		if (memcmp(data + i, "FH!!", 4) != 0) {
			memcpy(to, data + i, 4);
			octets->length += 4;
			continue;
		}
		memset(to, 0, 4 + fh.length + 4);
		to[3] = (uint8_t)fh.length;
		memcpy(to + 4, fh.data, fh.length);
		octets->length += 4 + (fh.length + 3) / 4 * 4;
	}
}

static void
run(struct lockd_scene *scene, const uint8_t *data, size_t size)
{
	static const uint32_t versions[] = { 4, 3, 1 };
	static struct octets octets;

	for (uint32_t i = 0; i < CALLS && size >= HEAD; i++) {
		size_t length = 4 * ((((uint32_t)data[2] << 8) | data[3]) % (WORDS + 1));
		uint32_t which = data[0] & 3;

		length = length <= size - HEAD ? length : (size - HEAD) / 4 * 4;
		if (data[0] & TIME_PASSES)
			stage_pass(&scene->world->stage, 40 * RR_SECOND);
		take_words(&octets, data + HEAD, (uint32_t)length, scene->fh);
		/* An answer of any kind is good. */
		lockd_raw(&scene->hosts[i & 1],
			which < 3 ? rr_nlm_program(versions[which]) : &nsm1_SM_VERS_program, data[1],
			octets.data, octets.length);
		stage_settle(&scene->world->stage);
		data += HEAD + length;
		size -= HEAD + length;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lockd_scene scene;
	void *state;

	rr_require(scene_begin_deaf(&state, &scene) == 0);
	run(&scene, data, size);
	/* All hosts of the last start are gone after the next one that had no time to reclaim. */
	scene_restart(&scene);
	stage_pass(&scene.world->stage, 100 * RR_SECOND);
	stage_pass(&scene.world->stage, 100 * RR_SECOND);
	rr_require(scene_held(&scene).claims == 0 && scene_held(&scene).ranges == 0);
	rr_require(lockd_lock(&scene.hosts[0], 1, 0, 0, true) == NLM4_GRANTED);
	return scene_end(&state, &scene);
}
