/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Claims of a program about itself, for verbs-sim. Include this file, and link nothing: outside of
 * verbs-sim the macros do nothing, and do not evaluate their conditions.
 *
 *	sim_always(outstanding <= DEPTH, "the send queue has room");
 *	sim_sometimes(attempts > 1, "a second attempt to connect");
 *
 * sim_always: a run in which the condition is false fails, with exit status 124. sim_sometimes: a set of
 * runs, as of `verbs-sim --seeds 100`, in which the condition is never true when this line is reached
 * fails with 124, because it has not tested that case.
 *
 * Any thread may use both. They cannot stand in inline functions or templates of C++. With
 * VERBS_SIM_OFF defined they are empty.
 */
#ifndef VERBS_SIM_H
#define VERBS_SIM_H

/* A line that has one of the macros. */
struct sim_claim {
	const char *text, *file;
	int line;
	int always;
	int told; /* it has failed, or was reached */
};

/* Requests of ioctl(2) with descriptor -1, which verbs-sim answers. */
#define SIM_CLAIM_EXISTS 0x53494d01ul
#define SIM_CLAIM_TELLS  0x53494d02ul

#ifdef VERBS_SIM_OFF

#define sim_always(condition, text)    ((void)0)
#define sim_sometimes(condition, text) ((void)0)

#else

#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* The linker sets these to the lines of this program, or this shared object. */
extern struct sim_claim *sim_first_claim[] __asm__("__start_sim_claims")
	__attribute__((weak, visibility("hidden")));
extern struct sim_claim *sim_behind_claims[] __asm__("__stop_sim_claims")
	__attribute__((weak, visibility("hidden")));

static int sim_is_simulated;

__attribute__((constructor, unused)) static void sim_show_claims(void)
{
	struct sim_claim **claim;

	sim_is_simulated = getenv("VERBS_SIM_PROGRAM") != NULL;
	if (!sim_is_simulated)
		return;
	for (claim = sim_first_claim; (uintptr_t)claim < (uintptr_t)sim_behind_claims; claim++)
		ioctl(-1, SIM_CLAIM_EXISTS, *claim);
}

#define SIM_CLAIM(holds, words, is_always)                                                       \
	do {                                                                                     \
		static struct sim_claim sim_claim = { words, __FILE__, __LINE__, is_always, 0 }; \
		static struct sim_claim *sim_listed                                              \
			__attribute__((section("sim_claims"), used)) = &sim_claim;               \
		if (sim_is_simulated && !sim_claim.told && ((holds) ? 1 : 0) != (is_always)) {   \
			sim_claim.told = 1;                                                      \
			ioctl(-1, SIM_CLAIM_TELLS, sim_listed);                                  \
		}                                                                                \
	} while (0)

#define sim_always(condition, text)    SIM_CLAIM(condition, text, 1)
#define sim_sometimes(condition, text) SIM_CLAIM(condition, text, 0)

#endif
#endif
