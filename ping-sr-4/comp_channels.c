/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: non-blocking completion channels, one for each device, for any number of connections.
 * See channels.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "ping-sr-4/channels.h"
#include "program/report.h"

static int create_comp_channel(struct ibv_context *verbs, struct our_comp_channel **created)
{
	struct our_comp_channel *channel = calloc(1, sizeof(*channel));
	int ret;

	if (!channel)
		return our_report_error("calloc", ENOMEM, NULL);
	channel->channel = ibv_create_comp_channel(verbs);
	if (!channel->channel) {
		ret = our_report_error("ibv_create_comp_channel", errno, NULL);
		goto err_free;
	}
	if (fcntl(channel->channel->fd, F_SETFL, O_NONBLOCK)) {
		ret = our_report_error("fcntl", errno, NULL);
		goto err_destroy_comp_channel;
	}
	channel->verbs = verbs;
	*created = channel;
	return 0;

err_destroy_comp_channel:
	ibv_destroy_comp_channel(channel->channel);
err_free:
	free(channel);
	return ret;
}

int our_get_comp_channel(struct our_comp_channels *channels, struct ibv_context *verbs,
			 struct our_comp_channel **found)
{
	struct our_comp_channel *channel;
	unsigned int n = 0;
	int ret;

	for (channel = SLIST_FIRST(channels); channel && channel->verbs != verbs;
	     channel = SLIST_NEXT(channel, next))
		n++;
	if (!channel && n == OUR_MAX_DEVICES)
		return our_report_error("our_create_cq", ENOSPC, "more than %u devices", n);
	if (!channel) {
		ret = create_comp_channel(verbs, &channel);
		if (ret)
			return ret;
		SLIST_INSERT_HEAD(channels, channel, next);
	}
	channel->users++;
	*found = channel;
	return 0;
}

void our_put_comp_channel(struct our_comp_channels *channels, struct our_comp_channel *channel)
{
	int ret;

	if (--channel->users)
		return;
	SLIST_REMOVE(channels, channel, our_comp_channel, next);
	ret = ibv_destroy_comp_channel(channel->channel);
	if (ret)
		our_report_error("ibv_destroy_comp_channel", ret, NULL);
	free(channel);
}

nfds_t our_list_comp_channels(const struct our_comp_channels *channels, struct pollfd *fds)
{
	const struct our_comp_channel *channel;
	nfds_t n = 0;

	for (channel = SLIST_FIRST(channels); channel; channel = SLIST_NEXT(channel, next))
		fds[n++] = (struct pollfd){ .fd = channel->channel->fd, .events = POLLIN };
	return n;
}

int our_take_cq_event(const struct our_comp_channels *channels, struct our_control **control)
{
	const struct our_comp_channel *channel;
	struct ibv_cq *cq;
	void *context;

	for (channel = SLIST_FIRST(channels); channel; channel = SLIST_NEXT(channel, next)) {
		if (!ibv_get_cq_event(channel->channel, &cq, &context)) {
			*control = context;
			our_count_cq_event(*control);
			return 0;
		}
		if (errno != EAGAIN && errno != EINTR)
			return our_report_error("ibv_get_cq_event", errno, NULL);
	}
	return EAGAIN;
}

unsigned int our_max_cq_events(const struct our_comp_channels *channels)
{
	const struct our_comp_channel *channel;
	unsigned int n = 0;

	for (channel = SLIST_FIRST(channels); channel; channel = SLIST_NEXT(channel, next))
		n += channel->users;
	return n;
}
