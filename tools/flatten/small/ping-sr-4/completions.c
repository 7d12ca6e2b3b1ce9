/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for completions together with all else, in a flattened program: one at a time. A CQ is armed once
 * at first, and again after each event. So it never has more than one event that is not read, and who has
 * taken all completions after that may sleep.
 */
#include <errno.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"
#include "program/stop.h"

/* The next completion makes an event. */
static int arm_cq(struct our_control *control)
{
	int ret = ibv_req_notify_cq(control->cq, 0);

	return ret ? our_report_error("ibv_req_notify_cq", ret, NULL) : 0;
}

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr), ret;
	struct ibv_comp_channel *channel;

	if (IS_CLIENT)
		ret = create_comp_channel(control->verbs, &channel);
	else
		ret = get_comp_channel(control->comp_channels, control->verbs, &channel);
	if (ret)
		return ret;
	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control, channel, 0);
	if (!control->cq) {
		ret = our_report_no_queue(control, "ibv_create_cq", errno);
		goto err_destroy_comp_channel;
	}
	ret = IS_CLIENT ? arm_cq(control) : 0;
	if (ret)
		goto err_destroy_cq;
	return 0;

err_destroy_cq:
	ibv_destroy_cq(control->cq);
err_destroy_comp_channel:
	if (IS_CLIENT)
		destroy_comp_channel(channel);
	else
		put_comp_channel(control->comp_channels, channel);
	return ret;
}

void our_destroy_cq(struct our_control *control)
{
	struct ibv_comp_channel *channel = control->cq->channel;

	report_end("ibv_destroy_cq", ibv_destroy_cq(control->cq));
	if (IS_CLIENT)
		destroy_comp_channel(channel);
	else
		put_comp_channel(control->comp_channels, channel);
}

/* Takes the next completion; EAGAIN: there is none. */
int our_take_completion(struct our_control *control, struct our_completion *completion)
{
	struct ibv_wc wc;
	int polled = ibv_poll_cq(control->cq, 1, &wc);

	if (polled < 0)
		return our_report_error("ibv_poll_cq", EIO, NULL);
	if (control->keepalive.under_way)
		polled = our_take_out_keepalive(control, &wc, polled);
	if (!polled)
		return EAGAIN;
	control->keepalive.heard = true;
	return our_take_wc(control, &wc, completion);
}

static int our_wait_for_notification(struct our_control *control)
{
	struct pollfd fds[] = {
		{ .fd = control->cq->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	struct our_control *same; /* the channel has only this CQ */
	int ret;

	ret = our_poll(fds, 3, our_wake_up_ns(control));
	if (ret)
		return ret;
	if (!fds[0].revents)
		return our_keep_waiting(control);
	ret = take_cq_event_of(control->cq->channel, &same);
	if (!ret)
		return arm_cq(control);
	return ret == EAGAIN ? 0 : ret;
}

int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	int ret;

	for (;;) {
		ret = our_take_completion(control, completion);
		if (ret != EAGAIN)
			return ret;
		ret = our_wait_for_notification(control);
		if (ret)
			return ret;
	}
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
