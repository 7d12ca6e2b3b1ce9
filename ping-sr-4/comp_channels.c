/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: non-blocking completion channels, one for each device, for any number of connections.
 * See channels.h.
 */
#include <errno.h>
#include <fcntl.h>

#include "common/waiting.h"
#include "ping-sr-4/channels.h"

static int create_comp_channel(const struct our_config *config, struct ibv_context *verbs,
			       struct ibv_comp_channel **created)
{
	int ret;

	*created = ibv_create_comp_channel(verbs);
	if (!*created)
		return our_tell_error(config, "ibv_create_comp_channel", errno, NULL);
	if (!fcntl((*created)->fd, F_SETFL, O_NONBLOCK))
		return 0;
	ret = our_tell_error(config, "fcntl", errno, NULL);
	ibv_destroy_comp_channel(*created);
	*created = NULL;
	return ret;
}

int our_get_comp_channel(struct our_comp_channels *channels, const struct our_control *control,
			 struct our_shared_channel **found)
{
	const struct our_config *config = control->config;
	struct ibv_context *verbs = control->verbs;
	struct our_shared_channel *one, *end = channels->of + OUR_MAX_DEVICES;
	int ret = 0;

	*found = NULL;
	for (one = channels->of; one < end; one++) {
		if (!one->channel || one->channel->context == verbs)
			*found = one;
		if (one->channel && one->channel->context == verbs)
			break;
	}
	if (!*found)
		return our_tell_error(config, "our_create_cq", ENOSPC, "more than %u devices",
				      OUR_MAX_DEVICES);
	if (!(*found)->channel)
		ret = create_comp_channel(config, verbs, &(*found)->channel);
	if (!ret)
		(*found)->users++;
	return ret;
}

void our_put_comp_channel(const struct our_config *config, struct our_shared_channel *channel)
{
	int ret;

	if (--channel->users)
		return;
	ret = ibv_destroy_comp_channel(channel->channel);
	if (ret)
		our_tell_error(config, "ibv_destroy_comp_channel", ret, NULL);
	channel->channel = NULL;
}

void our_list_comp_channels(const struct our_comp_channels *channels, struct pollfd *fds)
{
	const struct ibv_comp_channel *channel;
	size_t i;

	for (i = 0; i < OUR_MAX_DEVICES; i++) {
		channel = channels->of[i].channel;
		fds[i] = (struct pollfd){ .fd = channel ? channel->fd : -1, .events = POLLIN };
	}
}
