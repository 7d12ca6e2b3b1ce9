/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: with -w, writes the descriptors that poll(2) and the like wait for. See say.h.
 */
#include <rdma/rdma_cma.h>

#include "verbs-trace/tool/say.h"

struct sought {
	int fd;
	struct object *found;
};

static void see_comp_channel(struct object *object, void *argument)
{
	const struct ibv_comp_channel *channel = object->pointer;
	struct sought *sought = argument;

	if (channel->fd == sought->fd)
		sought->found = object;
}

static void see_event_channel(struct object *object, void *argument)
{
	const struct rdma_event_channel *channel = object->pointer;
	struct sought *sought = argument;

	if (channel->fd == sought->fd)
		sought->found = object;
}

static void see_context(struct object *object, void *argument)
{
	const struct ibv_context *context = object->pointer;
	struct sought *sought = argument;

	if (context->async_fd == sought->fd)
		sought->found = object;
}

static void say_events(struct out *out, const char *name, short events)
{
	static const char *const names[] = { "IN", "PRI", "OUT", "ERR", "HUP", "NVAL" };

	out_flags(out, name, (unsigned short)events, NAMES_OF(names));
}

void say_pollfds(struct out *out, const char *name, const struct pollfd *fds, nfds_t n)
{
	struct sought sought;
	nfds_t i;

	out_open_list(out, name);
	for (i = 0; fds && i < n; i++) {
		sought = (struct sought){ fds[i].fd, NULL };
		objects_each(KIND_COMP_CHANNEL, see_comp_channel, &sought);
		objects_each(KIND_EVENT_CHANNEL, see_event_channel, &sought);
		objects_each(KIND_CONTEXT, see_context, &sought);
		out_open(out, NULL);
		out_signed(out, "fd", fds[i].fd);
		if (sought.found)
			out_known(out, "of", sought.found, sought.found->pointer);
		say_events(out, "events", fds[i].events);
		say_events(out, "revents", fds[i].revents);
		out_close(out);
	}
	out_close_list(out);
}
