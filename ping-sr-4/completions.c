/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: waits for completions with a non-blocking completion channel: in one poll() together
 * with everything else. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"
#include "program/stop.h"

#define POLL_BATCH 16
#define ACK_BATCH  64 /* an ack takes a lock: one for many events */

/* Completions are taken from the CQ in batches and handed out one by one. */
struct our_completions {
	struct ibv_wc wc[POLL_BATCH];
	int next;
	int polled;
	struct our_comp_channels own;     /* of a connection that has its own wait */
	struct our_comp_channel *channel; /* one of those, or of the loop that it belongs to */
	unsigned int events_to_ack;
	bool armed; /* the next completion will make an event */
};

const struct our_option *const our_waiting_options = NULL;

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);
	struct our_completions *completions = calloc(1, sizeof(*completions));
	int ret;

	if (!completions)
		return our_report_error("calloc", ENOMEM, NULL);
	control->completions = completions;
	ret = our_get_comp_channel(control->comp_channels ? control->comp_channels
							  : &completions->own,
				   control->verbs, &completions->channel);
	if (ret)
		goto err_free_completions;
	errno = 0;
	control->cq =
		ibv_create_cq(control->verbs, depth, control, completions->channel->channel, 0);
	if (!control->cq) {
		ret = our_report_no_queue(control, "ibv_create_cq", errno);
		goto err_put_comp_channel;
	}
	return 0;

err_put_comp_channel:
	our_put_comp_channel(completions->channel);
err_free_completions:
	free(completions);
	return ret;
}

void our_destroy_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	int ret;

	/* ibv_destroy_cq would wait for ever for events that are not acked. */
	ibv_ack_cq_events(control->cq, completions->events_to_ack);
	ret = ibv_destroy_cq(control->cq);
	if (ret)
		our_report_error("ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
	our_put_comp_channel(completions->channel);
	free(completions);
	control->completions = NULL;
}

void our_count_cq_event(struct our_control *control)
{
	struct our_completions *completions = control->completions;

	completions->armed = false;
	if (++completions->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(control->cq, completions->events_to_ack);
		completions->events_to_ack = 0;
	}
}

/* Drain, arm, poll once more: only then is it safe to wait for the event. */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	int polled, ret;

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
		if (completions->armed)
			return EAGAIN;
		ret = ibv_req_notify_cq(control->cq, 0);
		if (ret)
			return our_report_error("ibv_req_notify_cq", ret, NULL);
		completions->armed = true;
	}
	control->statistics.completions += (uint64_t)polled;
	control->keepalive.heard = true;
	completions->polled = polled;
	completions->next = 0;
	return 0;
}

int our_take_next_wc(struct our_control *control, const struct ibv_wc **wc)
{
	struct our_completions *completions = control->completions;
	int ret;

	if (completions->next == completions->polled) {
		ret = poll_cq(control);
		if (ret)
			return ret;
	}
	*wc = &completions->wc[completions->next++];
	return 0;
}

int our_take_completion(struct our_control *control, struct our_completion *completion)
{
	const struct ibv_wc *wc;
	int ret = our_take_next_wc(control, &wc);

	return ret ? ret : our_take_wc(control, wc, completion);
}

/* Sleeps until there is an event of the CQ, or something else to handle. */
static int our_wait_for_notification(struct our_control *control, bool *woken)
{
	struct pollfd fds[] = {
		{ .fd = control->completions->channel->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	struct our_control *same; /* the channel has only this CQ */
	int ret;

	control->statistics.sleeps++;
	ret = our_poll(fds, 3, our_wake_up_ns(control));
	*woken = fds[0].revents;
	if (ret)
		return ret;
	if (!*woken)
		return our_keep_waiting(control);
	ret = our_take_cq_event(control->completions->channel, &same);
	return ret == EAGAIN ? 0 : ret;
}

/* What the peer sent before it left may be in the CQ, and its event late: polls once more. */
int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	bool woken = false;
	int ret, end = 0;

	for (;;) {
		ret = our_take_completion(control, completion);
		if (ret != EAGAIN)
			return ret;
		if (end)
			return end;
		control->statistics.empty_wake_ups += woken;
		ret = our_wait_for_notification(control, &woken);
		if (ret && ret != ECONNRESET)
			return ret;
		end = ret;
	}
}

int our_completions_at_hand(const struct our_control *control)
{
	return control->completions->polled - control->completions->next;
}
