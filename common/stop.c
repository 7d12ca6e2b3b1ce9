/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stop: a flag for those who poll, and descriptors for those who sleep. See our_control.h.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/our_control.h"

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
	if (!stop)
		return;
	close(stop->leave_fd);
	close(stop->stop_fd);
	free(stop);
}

void our_stop_request(struct our_stop *stop)
{
	unsigned int before = atomic_fetch_add(&stop->requests, 1);
	int saved = errno; /* of whoever the signal interrupted */

	/* It fails if the counter is full, and then the descriptor is readable, too. */
	eventfd_write(before ? stop->leave_fd : stop->stop_fd, 1);
	errno = saved;
}

void our_clear_stop(struct our_stop *stop)
{
	unsigned int requests = atomic_load(&stop->requests);
	eventfd_t count;

	/* The descriptors do not block: they may not be readable yet. */
	eventfd_read(stop->stop_fd, &count);
	eventfd_read(stop->leave_fd, &count);
	if (atomic_compare_exchange_strong(&stop->requests, &requests, 0))
		return;
	/* Another request has come, which took itself for a second one. */
	eventfd_read(stop->leave_fd, &count);
	atomic_store(&stop->requests, 1);
	eventfd_write(stop->stop_fd, 1);
}

static bool has(const struct our_stop *stop, unsigned int requests)
{
	return stop && atomic_load_explicit(&stop->requests, memory_order_relaxed) >= requests;
}

bool our_stop_requested(const struct our_stop *stop)
{
	return has(stop, 1);
}

bool our_leave_requested(const struct our_stop *stop)
{
	return has(stop, 2);
}

int our_stop_fd(const struct our_stop *stop)
{
	return stop ? stop->stop_fd : -1;
}

int our_leave_fd(const struct our_stop *stop)
{
	return stop ? stop->leave_fd : -1;
}
