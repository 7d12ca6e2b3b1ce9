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

static int fd_of(const struct object *object)
{
	switch (object->kind) {
	case KIND_COMP_CHANNEL:
		return ((const struct ibv_comp_channel *)object->pointer)->fd;
	case KIND_EVENT_CHANNEL:
		return ((const struct rdma_event_channel *)object->pointer)->fd;
	default:
		return ((const struct ibv_context *)object->pointer)->async_fd;
	}
}

static void compare(struct object *object, void *argument)
{
	struct sought *sought = argument;

	if (fd_of(object) == sought->fd)
		sought->found = object;
}

void say_pollfds(struct out *out, const char *name, const struct pollfd *fds, nfds_t n)
{
	struct sought sought;
	nfds_t i;

	out_open_list(out, name);
	for (i = 0; fds && i < n; i++) {
		sought = (struct sought){ fds[i].fd, NULL };
		objects_each(KIND_COMP_CHANNEL, compare, &sought);
		objects_each(KIND_EVENT_CHANNEL, compare, &sought);
		objects_each(KIND_CONTEXT, compare, &sought);
		out_open(out, NULL);
		out_signed(out, "fd", fds[i].fd);
		if (sought.found)
			out_known(out, "of", sought.found, sought.found->pointer);
		say_poll_events(out, "events", (unsigned short)fds[i].events);
		say_poll_events(out, "revents", (unsigned short)fds[i].revents);
		out_close(out);
	}
	out_close_list(out);
}
