/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stop: a flag for those who poll, and descriptors for those who sleep. See our_control.h.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "private.h"

struct our_stop {
	atomic_uint requests;
	int stop_fd, leave_fd; /* readable after the first request, and after the second */
};

int our_create_stop(struct our_stop **created)
{
	struct our_stop *stop = calloc(1, sizeof(*stop));
	int ret;

	*created = NULL;
	if (!stop)
		return ENOMEM;
	stop->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop->stop_fd < 0)
		goto err_free;
	stop->leave_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop->leave_fd < 0)
		goto err_close_stop_fd;
	*created = stop;
	return 0;

err_close_stop_fd:
	ret = errno;
	close(stop->stop_fd);
	errno = ret;
err_free:
	ret = errno;
	free(stop);
	return ret;
}

void our_destroy_stop(struct our_stop *stop)
{
	close(stop->leave_fd);
	close(stop->stop_fd);
	free(stop);
}

void our_stop_request(struct our_stop *stop)
{
	unsigned int before = atomic_fetch_add(&stop->requests, 1);
	int saved = errno; /* of whoever the signal interrupted */

	eventfd_write(before ? stop->leave_fd : stop->stop_fd, 1);
	errno = saved;
}

int our_stop_fd(const struct our_stop *stop)
{
	return stop->stop_fd;
}

bool our_stop_requested(const struct our_stop *stop)
{
	return atomic_load_explicit(&stop->requests, memory_order_relaxed) > 0;
}

int our_wake_fd(const struct our_control *control)
{
	const struct our_stop *stop = control->config->stop;

	if (!stop)
		return -1;
	return our_wait_state(control)->leaving ? stop->leave_fd : stop->stop_fd;
}

bool our_must_not_wait(const struct our_control *control)
{
	const struct our_stop *stop = control->config->stop;
	unsigned int needed = our_wait_state(control)->leaving ? 2 : 1;

	return stop && atomic_load_explicit(&stop->requests, memory_order_relaxed) >= needed;
}
