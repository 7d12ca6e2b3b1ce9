/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: polls for a while (spins), and then sleeps as ping-sr-3 does. How long it spins is
 * the spin budget: see the README.
 */
#include <sched.h>
#include <stdatomic.h>

#include "common/waiting.h"
#include "ping-sr-3/comp_channel.h"
#include "ping-sr-5/spin.h"

#define POLLS_A_LOOK 16 /* looking at the clock costs as much as a few polls */
#define WAKE_UPS     2  /* longer than a sleeping peer needs to wake up */

uint64_t our_spin_us = UINT64_MAX; /* UINT64_MAX: WAKE_UPS wake-ups */

static _Atomic uint64_t budget_ns; /* all connections have the same budget */

static int create_cq(struct our_control *control)
{
	uint64_t spin_ns = our_spin_us * OUR_NS_PER_US, wake_up_ns;
	int ret;

	if (our_spin_us == UINT64_MAX) {
		ret = our_measure_wake_up(control->config, &wake_up_ns);
		if (ret)
			return ret;
		spin_ns = WAKE_UPS * wake_up_ns;
	}
	atomic_store(&budget_ns, spin_ns);
	return our_comp_channel.create_cq(control); /* ping-sr-3/completions.c */
}

static void destroy_cq(struct our_control *control)
{
	our_comp_channel.destroy_cq(control);
}

/*
 * While we spin, the CQ is not armed, which saves the device an interrupt and us an event.
 * sched_yield(2) gives the CPU to a thread that wants it, perhaps the peer, or the driver, or returns at
 * once. If the peer has left, polls once more: its last messages may be in the CQ before their event.
 */
static int await(struct our_control *control)
{
	uint64_t now_ns, spin_until_ns, spin_ns = atomic_load(&budget_ns);
	int polled, polls = 0, ret = 0;

	if (!spin_ns)
		return our_comp_channel.await(control); /* ping-sr-3/completions.c */
	spin_until_ns = our_now_ns() + spin_ns;
	for (;;) {
		polled = our_poll_cq(control); /* ibv_poll_cq */
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (ret)
			return ret;
		if (++polls % POLLS_A_LOOK)
			continue;
		sched_yield();
		now_ns = our_now_ns();
		if (now_ns >= control->wait_until_ns)
			ret = our_keep_waiting(control);
		else if (now_ns >= spin_until_ns)
			return our_comp_channel.await(control); /* ibv_req_notify_cq, sleep */
	}
}

const struct our_completion_ops our_spin_then_sleep = {
	.name = "spinning, then a completion channel",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
};
