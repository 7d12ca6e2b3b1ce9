/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Polls, and lets others use the CPU each time that the CQ is empty: with sched_yield(2), which returns
 * at once if nobody wants it; or with a nap, which costs a timer, and the rest of the nap when a
 * completion comes; or with one and then the other, longer and longer.
 */
#include <sched.h>
#include <time.h>

#include "ways/ways.h"

#define NAP_NS 50000 /* the kernel may add as much: its timer slack, prctl(2) */
#define LOOKS  20    /* at each step of a backoff */

/*
 * Polls until a completion comes, with a pause after each look that finds none; it is told the
 * number of such looks. If the wait has to end, polls the CQ once more before that.
 */
static int poll_with(struct our_control *control, void (*pause_once)(unsigned int looks))
{
	unsigned int looks;
	int polled, ret = 0;

	for (looks = 0;; looks++) {
		polled = our_poll_cq(control); /* ibv_poll_cq */
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (ret)
			return ret;
		pause_once(looks);
		ret = our_keep_polling(control);
	}
}

static void yield(unsigned int looks)
{
	(void)looks;
	sched_yield();
}

static void nap_for(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL); /* a signal may end the nap early */
}

static void nap(unsigned int looks)
{
	(void)looks;
	nap_for(NAP_NS);
}

static void back_off(unsigned int looks)
{
	static const long naps_ns[] = { 10000, 50000, 200000 };
	unsigned int step = looks / LOOKS;

	if (step == 0)
		sched_yield();
	else
		nap_for(naps_ns[step < 3 ? step - 1 : 2]);
}

static int await_yielding(struct our_control *control)
{
	return poll_with(control, yield);
}

static int await_napping(struct our_control *control)
{
	return poll_with(control, nap);
}

static int await_backing_off(struct our_control *control)
{
	return poll_with(control, back_off);
}

const struct our_completion_ops our_polling_yields = {
	.name = "polling, with sched_yield",
	.await = await_yielding,
};

const struct our_completion_ops our_polling_naps = {
	.name = "polling, with naps",
	.await = await_napping,
};

const struct our_completion_ops our_polling_backs_off = {
	.name = "polling, with a backoff",
	.await = await_backing_off,
};
