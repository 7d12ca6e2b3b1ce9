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
#include "ping-sr-2/cm_events.h"
#include "program/report.h"
#include "program/stop.h"

#define POLL_BATCH   8
#define ACK_BATCH    64   /* an ack takes a lock: one for many events */
#define MAX_PATIENCE 4096 /* looks at the CQ, of 20 to 100 ns each */
#define MIN_PATIENCE 8

/* Completions come off the CQ in batches and are handed out one by one. */
struct our_completions {
	struct ibv_wc wc[POLL_BATCH];
	int next;
	int polled;
	struct ibv_comp_channel *channel;
	unsigned int events_to_ack;
	unsigned int patience; /* how often to look before going to sleep */
	bool armed;            /* the next completion will make an event */
};

static void gain_patience(struct our_completions *completions)
{
	if (completions->patience < MAX_PATIENCE)
		completions->patience *= 2;
}

static void lose_patience(struct our_completions *completions)
{
	if (completions->patience > MIN_PATIENCE)
		completions->patience /= 2;
}

static int our_create_comp_channel(struct our_control *control)
{
	control->completions->channel = ibv_create_comp_channel(control->cm_id->verbs);
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
	control->completions->patience = MAX_PATIENCE;
	ret = our_create_comp_channel(control);
	if (ret)
		goto err_free_completions;
	errno = 0;
	control->cq = ibv_create_cq(control->cm_id->verbs, depth, control,
				    control->completions->channel, 0);
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

/*
 * Sleeps until the CQ, which is armed, has told of a completion. ibv_get_cq_event alone would
 * sleep, too, and save a call; but when the peer is lost it wakes up only if something posted is
 * flushed, and soft-iWARP does not flush what is posted after the loss. Hence the second
 * descriptor, by which the CM thread wakes us.
 */
static int our_wait_for_notification(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	struct pollfd fds[] = {
		{ .fd = completions->channel->fd, .events = POLLIN },
		{ .fd = control->cm_events->end_fd, .events = POLLIN },
	};
	struct timespec left;
	struct ibv_cq *cq;
	void *context;
	int ready;

	control->statistics.sleeps++;
	ready = ppoll(fds, 2, time_left(control, &left), NULL);
	if (our_stop_requested())
		return EINTR;
	if (ready == 0)
		return ETIMEDOUT;
	if (ready > 0 && !fds[0].revents)
		return ECONNRESET;
	if (ready < 0)
		return 0; /* a signal that asks for nothing */
	if (ibv_get_cq_event(completions->channel, &cq, &context))
		return our_report_error("ibv_get_cq_event", errno, NULL);
	completions->armed = false;
	lose_patience(completions);
	if (++completions->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(cq, completions->events_to_ack);
		completions->events_to_ack = 0;
	}
	return 0;
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
 * An event announces but the first completion after the arming. So: drain the CQ, arm it, look
 * once more, for what came between the two, and only then sleep. As long as there is something to
 * do the CQ is not armed, which saves the device an interrupt and us an event.
 *
 * To sleep and be woken takes longer than an answer that is on its way: it pays to look a few more
 * times before. Where that was in vain, our patience is halved; where it was not, it doubles. So an
 * idle connection soon sleeps at once, and a busy one hardly ever.
 */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	unsigned int looks = 0;
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
		if (++looks < completions->patience)
			continue;
		control->statistics.empty_wake_ups += woken;
		woken = completions->armed;
		ret = completions->armed ? our_wait_for_notification(control) : arm_cq(control);
		if (ret)
			return ret;
	}
	if (looks < completions->patience)
		gain_patience(completions);
	control->statistics.completions += (uint64_t)polled;
	completions->polled = polled;
	completions->next = 0;
	return 0;
}

void our_await_time(struct our_control *control, uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / OUR_NS_PER_S),
		.tv_nsec = (long)(until_ns % OUR_NS_PER_S),
	};

	(void)control;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR &&
	       !our_stop_requested())
		;
}

int our_await_completion(struct our_control *control, struct ibv_wc *wc)
{
	struct our_completions *completions = control->completions;
	int ret;

	if (completions->next == completions->polled) {
		ret = poll_cq(control);
		if (ret)
			return ret;
	}
	*wc = completions->wc[completions->next++];
	return our_check_completion_status(wc);
}
