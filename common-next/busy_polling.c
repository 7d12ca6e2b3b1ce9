/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A way to wait for completions: asking the CQ again and again. This gives the shortest round trip,
 * and takes a whole CPU.
 */
#include <errno.h>

#include "waiting.h"

#define POLLS_A_MOMENT 64 /* looking at the clock and the CM costs as much as a few polls */

static int polling_create_cq(struct our_control *control)
{
	return our_create_cq(control, NULL);
}

/* When there is nothing to wait for any more, polls the CQ once more before it says so. */
static int polling_await(struct our_control *control)
{
	unsigned int empty_polls = 0;
	int polled, ret = 0;

	while (!(polled = our_poll_cq(control)) && !ret) { /* ibv_poll_cq */
		if (++empty_polls % POLLS_A_MOMENT == 0)
			ret = our_keep_waiting(control);
	}
	return polled > 0 ? 0 : polled ? -polled : ret;
}

static int polling_take(struct our_control *control)
{
	int polled = our_poll_cq(control);

	return polled > 0 ? 0 : polled ? -polled : EAGAIN;
}

static int polling_fd(const struct our_control *control)
{
	(void)control;
	return -1;
}

const struct our_completion_ops our_busy_polling = {
	.name = "busy polling",
	.create_cq = polling_create_cq,
	.destroy_cq = our_destroy_cq,
	.await = polling_await,
	.take = polling_take,
	.fd = polling_fd,
};
