/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for completions by sleeping, in a flattened program: one at a time.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "program/report.h"

struct our_completions {
	bool armed; /* the next completion makes an event, or has made one that is not read yet */
};

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr), ret;
	struct ibv_comp_channel *channel;

	control->completions = calloc(1, sizeof(*control->completions));
	if (!control->completions)
		return our_report_error("calloc", ENOMEM, NULL);
	channel = ibv_create_comp_channel(control->verbs);
	if (!channel) {
		ret = our_report_error("ibv_create_comp_channel", errno, NULL);
		goto err_free_completions;
	}
	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control, channel, 0);
	if (!control->cq) {
		ret = our_report_no_queue(control, "ibv_create_cq", errno);
		goto err_destroy_comp_channel;
	}
	return 0;

err_destroy_comp_channel:
	ibv_destroy_comp_channel(channel);
err_free_completions:
	free(control->completions);
	return ret;
}

void our_destroy_cq(struct our_control *control)
{
	struct ibv_comp_channel *channel = control->cq->channel;

	report_end("ibv_destroy_cq", ibv_destroy_cq(control->cq));
	report_end("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel));
	free(control->completions);
}

/* Sleeps until the CQ, which is armed, makes its event, or there is something else to look at. */
static int await_notification(struct our_control *control)
{
	struct pollfd fds[] = {
		{ .fd = control->cq->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;

	if (poll(fds, 2, our_ms_until(our_wake_up_ns(control))) <= 0 || !fds[0].revents)
		return our_keep_waiting(control);
	if (ibv_get_cq_event(control->cq->channel, &cq, &context))
		return our_report_error("ibv_get_cq_event", errno, NULL);
	control->completions->armed = false;
	ibv_ack_cq_events(cq, 1); /* ibv_destroy_cq waits for that */
	return 0;
}

static int arm_cq(struct our_control *control)
{
	int ret = ibv_req_notify_cq(control->cq, 0);

	control->completions->armed = !ret;
	return ret ? our_report_error("ibv_req_notify_cq", ret, NULL) : 0;
}

/*
 * An event announces only the first completion after the arming. So: drain the CQ, arm it, look once more,
 * for what came between the two, and only then sleep.
 */
int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	struct ibv_wc wc;
	int polled, ret;

	for (;;) {
		polled = ibv_poll_cq(control->cq, 1, &wc);
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (control->keepalive.under_way)
			polled = our_take_out_keepalive(control, &wc, polled);
		if (polled > 0)
			break;
		ret = control->completions->armed ? await_notification(control) : arm_cq(control);
		if (ret)
			return ret;
	}
	control->keepalive.heard = true;
	return our_take_wc(control, &wc, completion);
}

int our_completions_at_hand(const struct our_control *control)
{
	return 0;
}

/* With one completion: whether it is a keepalive's, which nobody else waits for. */
int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int polled)
{
	if (!polled || wc->wr_id != OUR_WR_ID_KEEPALIVE || wc->status != IBV_WC_SUCCESS)
		return polled;
	control->keepalive.under_way = false;
	control->keepalive.due_ns = 0; /* the silence begins anew */
	return 0;
}
