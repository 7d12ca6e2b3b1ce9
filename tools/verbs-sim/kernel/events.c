/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Channels of uverbs: the events that the library reads from them. See uverbs.h.
 *
 * The kernel counts the events of an object that it has reported; the library gets this count when
 * it destroys the object, and waits until the program has acked that many.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/kernel/uverbs.h"

struct events {
	struct sim_file file;
	struct sim_channel *channel;
	const struct sim_context *context; /* NULL: a channel of asynchronous events */
};

/* Copies an event to the library, and frees it. Returns its length in bytes. */
static ssize_t deliver(struct sim_event *event, const void *from, size_t size, void *to,
		       size_t room)
{
	memcpy(to, from, size < room ? size : room);
	sim_free(event);
	return (ssize_t)size;
}

/* The library knows a CQ by the handle that it has chosen. */
static ssize_t read_completion(struct sim_file *file, void *buf, size_t count)
{
	struct ib_uverbs_comp_event_desc told;
	struct sim_event *event;

	SIM_CALL_OR(-1, "READ_COMP_EVENT", EIO);
	event = sim_await_event(((struct events *)file)->channel, file->fd);
	if (!event)
		return -1;
	event->about->reported++;
	told.cq_handle = (uintptr_t)event->about->user;
	return deliver(event, &told, sizeof(told), buf, count);
}

/* Events of the device are about its first port. */
static ssize_t read_async(struct sim_file *file, void *buf, size_t count)
{
	struct ib_uverbs_async_event_desc told = { .element = 1 };
	struct sim_event *event;

	SIM_CALL_OR(-1, "READ_ASYNC_EVENT", EIO);
	event = sim_await_event(((struct events *)file)->channel, file->fd);
	if (!event)
		return -1;
	told.event_type = ((struct sim_async_event *)event)->type;
	if (event->about) {
		told.element = (uintptr_t)event->about->user;
		event->about->async_reported++;
	}
	return deliver(event, &told, sizeof(told), buf, count);
}

static void close_completions(struct sim_file *file)
{
	SIM_STEP("CLOSE_COMP_CHANNEL");
	sim_close_channel(((struct events *)file)->channel);
	free(file);
}

static void close_async(struct sim_file *file)
{
	sim_close_channel(((struct events *)file)->channel);
	free(file);
}

static const struct sim_file_ops completions = { .read = read_completion,
						 .close = close_completions };
static const struct sim_file_ops async = { .read = read_async, .close = close_async };

static void open_channel(struct sim_channel *channel, const struct sim_context *context,
			 const struct sim_file_ops *ops)
{
	struct events *events = calloc(1, sizeof(*events));

	if (!events)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	events->channel = channel;
	events->context = context;
	sim_add_file(&events->file, channel->fd, ops);
}

void kernel_open_comp_channel(const struct uverbs *uverbs, struct sim_channel *channel)
{
	open_channel(channel, uverbs->context, &completions);
}

void kernel_open_async_channel(struct sim_channel *channel)
{
	open_channel(channel, NULL, &async);
}

struct sim_channel *kernel_comp_channel_of(const struct uverbs *uverbs, int fd)
{
	struct sim_file *file = sim_file_of(fd);
	struct events *events = (struct events *)file;

	if (!file || file->ops != &completions || events->context != uverbs->context)
		return NULL;
	return events->channel;
}
