/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: whether spinning pays. See spin.h.
 */
#include <string.h>

#include "measure/clock.h"
#include "ping-sr-5/spin.h"

#define POLLS_A_MOMENT 16 /* looking at the clock costs as much as a few polls */
#define WAITS_A_TRIAL  16 /* after so many it is decided whether spinning pays */
#define SHORTEST_PAUSE 64 /* waits asleep before spinning is tried again */
#define LONGEST_PAUSE  4096

void our_start_spin(struct our_spin *spin, uint64_t wake_up_ns, uint64_t budget_ns)
{
	memset(spin, 0, sizeof(*spin));
	spin->wake_up_ns = wake_up_ns;
	spin->budget_ns = budget_ns;
	spin->asleep = true; /* otherwise a connection with little traffic would pay for trials */
	spin->waits = SHORTEST_PAUSE;
	spin->pause = SHORTEST_PAUSE;
}

void our_begin_look(struct our_spin *spin)
{
	spin->began_ns = 0;
	spin->polls = 0;
}

bool our_look_again(struct our_spin *spin, uint64_t until_ns)
{
	uint64_t now_ns;

	if (spin->asleep || !spin->budget_ns)
		return false;
	if (++spin->polls % POLLS_A_MOMENT)
		return true;
	now_ns = our_now_ns();
	if (!spin->began_ns)
		spin->began_ns = now_ns;
	return now_ns < until_ns && now_ns - spin->began_ns < spin->budget_ns;
}

/* A trial is over: goes on spinning, or sleeps for a while, each time for twice as long. */
static void decide(struct our_spin *spin)
{
	if (spin->looked_ns <= spin->saved_ns) {
		spin->pause = SHORTEST_PAUSE;
	} else {
		spin->asleep = true;
		spin->waits = spin->pause;
		spin->pause = 2 * spin->pause < LONGEST_PAUSE ? 2 * spin->pause : LONGEST_PAUSE;
	}
	spin->looked_ns = 0;
	spin->saved_ns = 0;
}

void our_end_look(struct our_spin *spin, bool slept)
{
	if (!spin->budget_ns)
		return;
	if (spin->asleep) {
		if (!--spin->waits)
			spin->asleep = false;
		return;
	}
	if (spin->began_ns)
		spin->looked_ns += slept ? spin->budget_ns : our_now_ns() - spin->began_ns;
	if (!slept && spin->polls)
		spin->saved_ns += spin->wake_up_ns;
	if (++spin->waits == WAITS_A_TRIAL) {
		spin->waits = 0;
		decide(spin);
	}
}
