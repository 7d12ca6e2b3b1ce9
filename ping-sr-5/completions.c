/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: polls for a while, and then sleeps as ping-sr-3 does. spin.h decides for how long.
 *  */
#include <errno.h>
#include <stdlib.h>

#include "common/waiting.h"
#include "measure/clock.h"
#include "ping-sr-3/comp_channel.h"
#include "ping-sr-5/spin.h"
#include "ping-sr-5/wake_up.h"
#include "program/report.h"

struct spinner {
	struct our_comp_channel channel;
	struct our_spin spin;
};

static uint64_t spin_us = UINT64_MAX; /* --spin; UINT64_MAX: what start_spin finds */

const struct our_option our_spin_options[] = {
	{ "spin", 0, "MICROSECONDS",
	  "poll so long for a completion before going to sleep (default: two wake-ups)",
	  OUR_OWN_NUMBER(spin_us, 0, 1000000) },
	{ 0 },
};

/*
 * Polling for two wake-ups before each sleep, and finding nothing, costs little more than the sleep
 * itself: a message that is slept for takes two wake-ups, for the completions of its send and of
 * its receive.
 */
static int start_spin(struct our_spin *spin)
{
	uint64_t wake_up_ns;
	int ret = our_measure_wake_up(&wake_up_ns);

	if (ret)
		return ret;
	our_start_spin(spin, wake_up_ns,
		       spin_us == UINT64_MAX ? 2 * wake_up_ns : spin_us * OUR_NS_PER_US);
	return 0;
}

static int create_cq(struct our_control *control)
{
	struct spinner *spinner = calloc(1, sizeof(*spinner));
	int ret;

	if (!spinner)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = start_spin(&spinner->spin);
	if (ret)
		goto err_free;
	ret = our_create_comp_channel(control, &spinner->channel);
	if (ret)
		goto err_free;
	ret = our_make_cq(control, spinner->channel.channel);
	if (ret)
		goto err_destroy_comp_channel;
	control->completion_state = spinner;
	return 0;

err_destroy_comp_channel:
	our_destroy_comp_channel(&spinner->channel);
err_free:
	free(spinner);
	return ret;
}

static void destroy_cq(struct our_control *control)
{
	struct spinner *spinner = control->completion_state;

	our_ack_events(control, &spinner->channel);
	our_free_cq(control);
	our_destroy_comp_channel(&spinner->channel);
	free(spinner);
}

/*
 * An event announces only the first completion after the arming. So: drain the CQ, arm it, poll
 * once more for completions that came between the two, and only then sleep. While there is
 * something to do, and while we spin, the CQ is not armed, which saves the device an interrupt and
 * us an event. What the peer sent before it left may be in the CQ, and its event late: then we poll
 * once more, too.
 */
static int await(struct our_control *control)
{
	struct spinner *spinner = control->completion_state;
	struct our_comp_channel *channel = &spinner->channel;
	bool woken = false, slept = false;
	int polled, ret = 0;

	our_begin_look(&spinner->spin);
	for (;;) {
		polled = our_poll_cq(control);
		if (polled < 0)
			return -polled;
		if (polled || ret)
			break;
		if (!slept && our_look_again(&spinner->spin, control->wait_until_ns))
			continue;
		slept = slept || our_now_ns() < control->wait_until_ns;
		control->statistics.empty_wake_ups += woken;
		woken = channel->armed;
		if (!slept)
			ret = our_keep_waiting(control); /* it is time, or soon */
		else
			ret = woken ? our_wait_for_notification(control, channel)
				    : our_arm_cq(control, channel);
		if (ret && ret != ECONNRESET)
			break;
	}
	our_end_look(&spinner->spin, slept);
	return polled ? 0 : ret;
}

const struct our_completion_ops our_spin_then_sleep = {
	.name = "spinning, then a completion channel",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
};
