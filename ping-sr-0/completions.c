/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: waits for completions by polling the CQ all the time (busy polling). This has the
 * shortest round trip, and takes a whole CPU.
 */
#include "common/waiting.h"

#define POLLS_A_MOMENT 64 /* looking at the clock and the CM costs as much as a few polls */

/* If the wait has to end, polls the CQ once more before it returns the reason. */
static int await(struct our_control *control)
{
	unsigned int empty_polls = 0;
	int polled, ret = 0;

	for (;;) {
		polled = our_poll_cq(control); /* ibv_poll_cq */
		if (polled)
			break;
		if (ret)
			return ret;
		if (++empty_polls % POLLS_A_MOMENT == 0)
			ret = our_keep_polling(control);
	}
	return polled > 0 ? 0 : -polled;
}

const struct our_completion_ops our_busy_polling = {
	.name = "busy polling",
	.await = await,
};
