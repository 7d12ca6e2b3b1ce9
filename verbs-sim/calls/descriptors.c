/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Descriptors of channels. See descriptors.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/descriptors.h"

int sim_eventfd(void)
{
	return (int)syscall(SYS_eventfd2, 0, EFD_CLOEXEC);
}

void sim_close(int fd)
{
	syscall(SYS_close, fd);
}

static struct sim_channel **channels; /* of this program */
static size_t n_channels, n_allocated;

void sim_add_descriptor(struct sim_channel *channel)
{
	if (n_channels == n_allocated) {
		n_allocated = n_allocated ? 2 * n_allocated : 16;
		channels = realloc(channels, n_allocated * sizeof(struct sim_channel *));
		if (!channels)
			sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	}
	channels[n_channels++] = channel;
}

void sim_remove_descriptor(struct sim_channel *channel)
{
	size_t i;

	for (i = 0; i < n_channels && channels[i] != channel; i++)
		;
	if (i < n_channels)
		channels[i] = channels[--n_channels];
}

static void show(struct sim_channel *channel)
{
	bool readable = !TAILQ_EMPTY(&channel->events);
	uint64_t value = 1;
	ssize_t moved;

	if (readable == channel->shown)
		return;
	if (readable)
		moved = syscall(SYS_write, channel->fd, &value, sizeof(value));
	else
		moved = syscall(SYS_read, channel->fd, &value, sizeof(value));
	if (moved == sizeof(value))
		channel->shown = readable;
}

void sim_show_descriptors(void)
{
	size_t i;

	for (i = 0; i < n_channels; i++)
		show(channels[i]);
	sim_show_timers();
}

struct sim_channel *sim_channel_of(int fd)
{
	size_t i;

	for (i = 0; i < n_channels; i++) {
		if (channels[i]->fd == fd)
			return channels[i];
	}
	return NULL;
}

bool sim_is_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_NONBLOCK;
}

struct sim_event *sim_await_event(struct sim_channel *channel, int fd)
{
	while (TAILQ_EMPTY(&channel->events)) {
		if (sim_is_nonblocking(fd)) {
			sim_idle(channel);
			errno = EAGAIN;
			return NULL;
		}
		if (sim_block(channel, SIM_FOREVER) && !sim_restarts()) {
			errno = EINTR;
			return NULL;
		}
	}
	sim_found();
	return sim_take_event(channel);
}
