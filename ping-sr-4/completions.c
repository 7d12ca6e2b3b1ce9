/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: completion channels that do not block, one for each device, whatever the number of
 * connections: an event says whose CQ it means. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-sr-4/channels.h"
#include "ping-sr-4/completions.h"
#include "program/report.h"
#include "program/stop.h"

#define ACK_BATCH 64 /* an ack takes a lock: one for many events */

static struct our_comp_channel *comp_channels; /* one thread: no lock */

static int our_create_comp_channel(struct ibv_context *verbs, struct our_comp_channel **created)
{
	struct our_comp_channel *comp_channel = calloc(1, sizeof(*comp_channel));
	int ret;

	if (!comp_channel)
		return our_report_error("calloc", ENOMEM, NULL);
	comp_channel->channel = ibv_create_comp_channel(verbs);
	if (!comp_channel->channel) {
		ret = our_report_error("ibv_create_comp_channel", errno, NULL);
		goto err_free;
	}
	if (fcntl(comp_channel->channel->fd, F_SETFL, O_NONBLOCK)) {
		ret = our_report_error("fcntl", errno, NULL);
		goto err_destroy_comp_channel;
	}
	comp_channel->verbs = verbs;
	comp_channel->next = comp_channels;
	comp_channels = comp_channel;
	*created = comp_channel;
	return 0;

err_destroy_comp_channel:
	ibv_destroy_comp_channel(comp_channel->channel);
err_free:
	free(comp_channel);
	return ret;
}

/* Finds or makes the channel of a device, and counts its users. */
static int get_comp_channel(struct ibv_context *verbs, struct our_comp_channel **found)
{
	unsigned int n = 0;
	int ret = 0;

	for (*found = comp_channels; *found && (*found)->verbs != verbs; *found = (*found)->next)
		n++;
	if (!*found && n == OUR_MAX_DEVICES)
		ret = our_report_error("our_create_cq", ENOSPC, "more than %u devices", n);
	else if (!*found)
		ret = our_create_comp_channel(verbs, found);
	if (!ret)
		(*found)->users++;
	return ret;
}

static void put_comp_channel(struct our_comp_channel *comp_channel)
{
	struct our_comp_channel **link = &comp_channels;
	int ret;

	if (--comp_channel->users)
		return;
	while (*link != comp_channel)
		link = &(*link)->next;
	*link = comp_channel->next;
	ret = ibv_destroy_comp_channel(comp_channel->channel);
	if (ret)
		our_report_error("ibv_destroy_comp_channel", ret, NULL);
	free(comp_channel);
}

nfds_t our_list_comp_channels(struct pollfd *fds)
{
	const struct our_comp_channel *comp_channel;
	nfds_t n = 0;

	for (comp_channel = comp_channels; comp_channel; comp_channel = comp_channel->next)
		fds[n++] = (struct pollfd){ .fd = comp_channel->channel->fd, .events = POLLIN };
	return n;
}

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);
	struct our_completions *completions;
	int ret;

	completions = calloc(1, sizeof(*completions));
	if (!completions)
		return our_report_error("calloc", ENOMEM, NULL);
	control->completions = completions;
	ret = get_comp_channel(control->cm_id->verbs, &completions->comp_channel);
	if (ret)
		goto err_free_completions;
	errno = 0;
	control->cq = ibv_create_cq(control->cm_id->verbs, depth, control,
				    completions->comp_channel->channel, 0);
	if (!control->cq) {
		ret = our_report_no_queue(control, "ibv_create_cq", errno);
		goto err_put_comp_channel;
	}
	return 0;

err_put_comp_channel:
	put_comp_channel(completions->comp_channel);
err_free_completions:
	free(completions);
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
	put_comp_channel(control->completions->comp_channel);
	free(control->completions);
	control->completions = NULL;
}

int our_take_cq_event(struct our_control **control)
{
	const struct our_comp_channel *comp_channel;
	struct our_completions *completions;
	struct ibv_cq *cq;
	void *context;

	for (comp_channel = comp_channels; comp_channel; comp_channel = comp_channel->next) {
		if (ibv_get_cq_event(comp_channel->channel, &cq, &context)) {
			if (errno == EAGAIN || errno == EINTR)
				continue;
			return our_report_error("ibv_get_cq_event", errno, NULL);
		}
		*control = context;
		completions = (*control)->completions;
		completions->armed = false;
		if (++completions->events_to_ack == ACK_BATCH) {
			ibv_ack_cq_events(cq, completions->events_to_ack);
			completions->events_to_ack = 0;
		}
		return 0;
	}
	return EAGAIN;
}

unsigned int our_max_cq_events(void)
{
	const struct our_comp_channel *comp_channel;
	unsigned int n = 0;

	for (comp_channel = comp_channels; comp_channel; comp_channel = comp_channel->next)
		n += comp_channel->users;
	return n;
}

/* Drain, arm, look once more: only then is it safe to wait for the event. */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	int polled, ret;

	for (;;) {
		polled = ibv_poll_cq(control->cq, OUR_POLL_BATCH, completions->wc);
		control->statistics.cq_polls++;
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
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
	completions->polled = polled;
	completions->next = 0;
	return 0;
}

int our_take_completion(struct our_control *control, struct ibv_wc *wc)
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
