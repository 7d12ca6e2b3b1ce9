/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: polls for a while, and then sleeps as ping-sr-3 does. spin.h decides for how long.
 * What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-sr-3/comp_channel.h"
#include "ping-sr-5/spin.h"
#include "ping-sr-5/wake_up.h"
#include "program/report.h"

#define POLL_BATCH 16

/* Completions are taken from the CQ in batches and handed out one by one. */
struct our_completions {
	struct ibv_wc wc[POLL_BATCH];
	int next;
	int polled;
	struct our_comp_channel channel;
	struct our_spin spin;
};

static uint64_t spin_us = UINT64_MAX; /* --spin; UINT64_MAX: what start_spin finds */

static const struct our_option spin_options[] = {
	{ "spin", 0, "MICROSECONDS",
	  "poll so long for a completion before going to sleep (default: two wake-ups)",
	  OUR_OWN_NUMBER(spin_us, 0, 1000000) },
	{ 0 },
};

const struct our_option *const our_waiting_options = spin_options;

/*
 * Polling for two wake-ups before each sleep, and finding nothing, costs little more than the sleep
 * itself: a message that is slept for takes two wake-ups, for the completions of its send and of
 * its receive.
 */
static int start_spin(struct our_control *control)
{
	uint64_t wake_up_ns;
	int ret = our_measure_wake_up(&wake_up_ns);

	if (ret)
		return ret;
	our_start_spin(&control->completions->spin, wake_up_ns,
		       spin_us == UINT64_MAX ? 2 * wake_up_ns : spin_us * OUR_NS_PER_US);
	return 0;
}

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);
	int ret;

	control->completions = calloc(1, sizeof(*control->completions));
	if (!control->completions)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = start_spin(control);
	if (ret)
		goto err_free_completions;
	ret = our_create_comp_channel(control, &control->completions->channel);
	if (ret)
		goto err_free_completions;
	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control,
				    control->completions->channel.channel, 0);
	if (!control->cq) {
		ret = our_report_no_queue(control, "ibv_create_cq", errno);
		goto err_destroy_comp_channel;
	}
	return 0;

err_destroy_comp_channel:
	our_destroy_comp_channel(&control->completions->channel);
err_free_completions:
	free(control->completions);
	return ret;
}

void our_destroy_cq(struct our_control *control)
{
	int ret;

	our_ack_events(control, &control->completions->channel);
	ret = ibv_destroy_cq(control->cq);
	if (ret)
		our_report_error("ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
	our_destroy_comp_channel(&control->completions->channel);
	free(control->completions);
	control->completions = NULL;
}

/*
 * An event announces only the first completion after the arming. So: drain the CQ, arm it, poll
 * once more for completions that came between the two, and only then sleep. While there is
 * something to do, and while we spin, the CQ is not armed, which saves the device an interrupt and
 * us an event. What the peer sent before it left may be in the CQ, and its event late: then we poll
 * once more, too.
 */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	struct our_comp_channel *channel = &completions->channel;
	bool woken = false, slept = false;
	int polled, ret = 0;

	our_begin_look(&completions->spin);
	for (;;) {
		polled = ibv_poll_cq(control->cq, POLL_BATCH, completions->wc);
		control->statistics.cq_polls++;
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (control->keepalive.under_way)
			polled = our_take_out_keepalive(control, completions->wc, polled);
		if (polled > 0)
			break;
		control->statistics.cq_empty_polls++;
		if (ret)
			break;
		if (!slept && our_look_again(&completions->spin, control->wait_until_ns))
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
	our_end_look(&completions->spin, slept);
	if (!polled)
		return ret;
	control->statistics.completions += (uint64_t)polled;
	control->keepalive.heard = true;
	completions->polled = polled;
	completions->next = 0;
	return 0;
}

int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	struct our_completions *completions = control->completions;
	int ret;

	if (completions->next == completions->polled) {
		ret = poll_cq(control);
		if (ret)
			return ret;
	}
	return our_take_wc(control, &completions->wc[completions->next++], completion);
}

int our_completions_at_hand(const struct our_control *control)
{
	return control->completions->polled - control->completions->next;
}
