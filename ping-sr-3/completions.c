/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-3: waiting for completions asleep. A completion channel tells when there is something
 * in the CQ; until then the CPU is somebody else's. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "program/report.h"

#define POLL_BATCH 16
#define ACK_BATCH  64 /* an ack takes a lock: one for many events */

/* Completions come off the CQ in batches and are handed out one by one. */
struct our_completions {
	struct ibv_wc wc[POLL_BATCH];
	int next;
	int polled;
	struct ibv_comp_channel *channel;
	unsigned int events_to_ack;
	bool armed; /* the next completion will make an event */
};

const struct our_option *const our_waiting_options = NULL;

static int our_create_comp_channel(struct our_control *control)
{
	control->completions->channel = ibv_create_comp_channel(control->verbs);
	if (!control->completions->channel)
		return our_report_error("ibv_create_comp_channel", errno, NULL);
	return 0;
}

static void our_destroy_comp_channel(struct our_control *control)
{
	int ret;

	ret = ibv_destroy_comp_channel(control->completions->channel);
	if (ret)
		our_report_error("ibv_destroy_comp_channel", ret, NULL);
}

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);
	int ret;

	control->completions = calloc(1, sizeof(*control->completions));
	if (!control->completions)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_create_comp_channel(control);
	if (ret)
		goto err_free_completions;
	errno = 0;
	control->cq =
		ibv_create_cq(control->verbs, depth, control, control->completions->channel, 0);
	if (!control->cq) {
		ret = our_report_no_queue(control, "ibv_create_cq", errno);
		goto err_destroy_comp_channel;
	}
	return 0;

err_destroy_comp_channel:
	our_destroy_comp_channel(control);
err_free_completions:
	free(control->completions);
	return ret;
}

void our_destroy_cq(struct our_control *control)
{
	int ret;

	/* ibv_destroy_cq would wait for the events that are not acked, for ever. */
	ibv_ack_cq_events(control->cq, control->completions->events_to_ack);
	ret = ibv_destroy_cq(control->cq);
	if (ret)
		our_report_error("ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
	our_destroy_comp_channel(control);
	free(control->completions);
	control->completions = NULL;
}

/* How long ppoll(2) may sleep; NULL: for ever. */
static const struct timespec *time_left(const struct our_control *control, struct timespec *left)
{
	uint64_t until_ns = control->wait_until_ns, now_ns, left_ns;

	if (until_ns == UINT64_MAX)
		return NULL;
	now_ns = our_now_ns();
	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	left->tv_sec = (time_t)(left_ns / OUR_NS_PER_S);
	left->tv_nsec = (long)(left_ns % OUR_NS_PER_S);
	return left;
}

static int take_cq_event(struct our_completions *completions)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(completions->channel, &cq, &context))
		return our_report_error("ibv_get_cq_event", errno, NULL);
	completions->armed = false;
	if (++completions->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(cq, completions->events_to_ack);
		completions->events_to_ack = 0;
	}
	return 0;
}

/*
 * Sleeps until the CQ, which is armed, has told of a completion, or the CM has something to tell.
 * ibv_get_cq_event alone would sleep, too, and save a call; but when the peer is lost it wakes up
 * only if something posted is flushed, and soft-iWARP does not flush what is posted after the loss.
 */
static int our_wait_for_notification(struct our_control *control)
{
	struct pollfd fds[] = {
		{ .fd = control->completions->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
	};
	struct timespec left;

	control->statistics.sleeps++;
	if (ppoll(fds, 2, time_left(control, &left), NULL) > 0 && fds[0].revents)
		return take_cq_event(control->completions);
	return our_keep_waiting(control);
}

/* From now on the next completion makes an event. See ibv_req_notify_cq(3). */
static int arm_cq(struct our_control *control)
{
	int ret = ibv_req_notify_cq(control->cq, 0);

	if (ret)
		return our_report_error("ibv_req_notify_cq", ret, NULL);
	control->completions->armed = true;
	return 0;
}

/*
 * An event announces only the first completion after the arming. So: drain the CQ, arm it, look
 * once more, for what came between the two, and only then sleep. As long as there is something to
 * do the CQ is not armed, which saves the device an interrupt and us an event.
 */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	bool woken = false;
	int polled, ret;

	for (;;) {
		polled = ibv_poll_cq(control->cq, POLL_BATCH, completions->wc);
		control->statistics.cq_polls++;
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (polled > 0)
			break;
		control->statistics.cq_empty_polls++;
		control->statistics.empty_wake_ups += woken;
		woken = completions->armed;
		ret = completions->armed ? our_wait_for_notification(control) : arm_cq(control);
		if (ret)
			return ret;
	}
	control->statistics.completions += (uint64_t)polled;
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
	return our_take_wc(&completions->wc[completions->next++], completion);
}

int our_completions_at_hand(const struct our_control *control)
{
	return control->completions->polled - control->completions->next;
}
