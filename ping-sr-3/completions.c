/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-3: sleeps until there is a completion. A completion channel reports when there is
 * something in the CQ; until then other programs can use the CPU. What a stage provides: see
 * common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "ping-sr-3/comp_channel.h"
#include "program/report.h"

#define POLL_BATCH 16

/* Completions are taken from the CQ in batches and handed out one by one. */
struct our_completions {
	struct ibv_wc wc[POLL_BATCH];
	int next;
	int polled;
	struct our_comp_channel channel;
};

const struct our_option *const our_waiting_options = NULL;

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);
	int ret;

	control->completions = calloc(1, sizeof(*control->completions));
	if (!control->completions)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_create_comp_channel(control, &control->completions->channel);
	if (ret)
		goto err_free_completions;
	errno = 0;
	/* Completion vector 0: with many connections, see the README. */
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
 * something to do the CQ is not armed, which saves the device an interrupt and us an event. What the
 * peer sent before it left may be in the CQ, and its event late: then we poll once more, too.
 */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	struct our_comp_channel *channel = &completions->channel;
	bool woken = false;
	int polled, ret = 0;

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
			return ret;
		control->statistics.empty_wake_ups += woken;
		woken = channel->armed;
		ret = woken ? our_wait_for_notification(control, channel)
			    : our_arm_cq(control, channel);
		if (ret && ret != ECONNRESET)
			return ret;
	}
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
