/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Polls, and lets others use the CPU each time that the CQ is empty: with sched_yield(2), which returns
 * at once if nobody wants it; or with a nap, which costs a timer, and the rest of the nap when a
 * completion comes.
 */
#include <sched.h>
#include <time.h>

#include "ways/ways.h"

#define NAP_NS 50000 /* the kernel may add as much: its timer slack, prctl(2) */

/* Polls until a completion comes. If the wait has to end, polls the CQ once more before that. */
static int poll_with(struct our_control *control, void (*pause_once)(void))
{
	int polled, ret = 0;

	for (;;) {
		polled = our_poll_cq(control); /* ibv_poll_cq */
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (ret)
			return ret;
		pause_once();
		ret = our_keep_polling(control);
	}
}

static void yield(void)
{
	sched_yield();
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL); /* a signal may end the nap early */
}

static int await_yielding(struct our_control *control)
{
	return poll_with(control, yield);
}

static int await_napping(struct our_control *control)
{
	return poll_with(control, nap);
}

const struct our_completion_ops our_polling_yields = {
	.name = "polling, with sched_yield",
	.await = await_yielding,
};

const struct our_completion_ops our_polling_naps = {
	.name = "polling, with naps",
	.await = await_napping,
};
