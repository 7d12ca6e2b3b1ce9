/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Completion channels that do not block, in a flattened program: made for the first CQ on a device, and
 * destroyed with the last one. (librdmacm closes the device with its last id: no channel may be left.)
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "ping-sr-4/channels.h"
#include "program/report.h"

static int create_comp_channel(struct ibv_context *verbs, struct ibv_comp_channel **created)
{
	int ret;

	*created = ibv_create_comp_channel(verbs);
	if (!*created)
		return our_report_error("ibv_create_comp_channel", errno, NULL);
	if (fcntl((*created)->fd, F_SETFL, O_NONBLOCK)) {
		ret = our_report_error("fcntl", errno, NULL);
		ibv_destroy_comp_channel(*created);
		return ret;
	}
	return 0;
}

/* Finds or makes the channel for a CQ on the device `verbs`. */
static int get_comp_channel(struct our_comp_channels *channels, struct ibv_context *verbs,
			    struct ibv_comp_channel **found)
{
	unsigned int i;
	int ret;

	for (i = 0; i < channels->n; i++) {
		*found = channels->channel[i];
		if ((*found)->context == verbs)
			return 0;
	}
	if (i == OUR_MAX_DEVICES)
		return our_report_error("ibv_create_comp_channel", ENOSPC, "more than %u devices",
					i);
	ret = create_comp_channel(verbs, found);
	if (!ret)
		channels->channel[channels->n++] = *found;
	return ret;
}

static void destroy_comp_channel(struct ibv_comp_channel *channel)
{
	report_end("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel));
}

/* A CQ of it has been destroyed. */
static void put_comp_channel(struct our_comp_channels *channels, struct ibv_comp_channel *channel)
{
	unsigned int i = 0;

	if (channel->refcnt) /* CQs */
		return;
	while (channels->channel[i] != channel)
		i++;
	channels->channel[i] = channels->channel[--channels->n];
	destroy_comp_channel(channel);
}

nfds_t our_list_comp_channels(const struct our_comp_channels *channels, struct pollfd *fds)
{
	unsigned int i;

	for (i = 0; i < channels->n; i++)
		fds[i] = (struct pollfd){ .fd = channels->channel[i]->fd, .events = POLLIN };
	return i;
}

/* Takes the next event off a channel, and says whose CQ has made it. EAGAIN: there is none. */
static int take_cq_event_of(struct ibv_comp_channel *channel, struct our_control **control)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context)) {
		if (errno == EAGAIN || errno == EINTR)
			return EAGAIN;
		return our_report_error("ibv_get_cq_event", errno, NULL);
	}
	*control = context;
	ibv_ack_cq_events(cq, 1); /* ibv_destroy_cq waits for that */
	return 0;
}

/* The same of all channels. */
int our_take_cq_event(const struct our_comp_channels *channels, struct our_control **control)
{
	unsigned int i;
	int ret = EAGAIN;

	for (i = 0; ret == EAGAIN && i < channels->n; i++)
		ret = take_cq_event_of(channels->channel[i], control);
	return ret;
}
