/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A call that blocks, made by a thread of the library's own: rdma_connect on soft-iWARP waits for TCP,
 * for minutes if nobody answers. See our_control.h and private.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/private.h"

/* A call that waits for no peer takes less; so a program that ends at once leaves nothing behind. */
#define ABOUT_TO_RETURN_MS 10

/* The thread is given one, and frees it. */
struct order {
	struct our_control *control;
	int (*make)(struct our_control *control, void *argument);
	_Alignas(max_align_t) unsigned char argument[];
};

/*
 * The descriptor is readable before the state says so: after the exchange the program may free the
 * control, unless it has abandoned it.
 */
static void *make_call(void *given)
{
	struct order *order = given;
	struct our_control *control = order->control;
	struct our_call *call = &our_private(control)->call;

	call->error = order->make(control, order->argument);
	free(order);
	eventfd_write(call->fd, 1);
	if (atomic_exchange(&call->state, OUR_CALL_RETURNED) == OUR_CALL_ABANDONED)
		call->close(control);
	return NULL;
}

/*
 * Starts a thread that nobody joins, and that takes no signal of the program's. The signals of a fault
 * are not blocked: what they would do then is undefined.
 */
static int start_thread(struct order *order)
{
	static const int of_faults[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	unsigned int i;
	int ret = pthread_attr_init(&attr);

	if (ret)
		return ret;
	sigfillset(&all);
	for (i = 0; i < sizeof(of_faults) / sizeof(of_faults[0]); i++)
		sigdelset(&all, of_faults[i]);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, &attr, make_call, order);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

static int watch(struct our_call *call)
{
	struct epoll_event event = { .events = EPOLLIN };

	call->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (call->fd < 0)
		return errno;
	return epoll_ctl(call->epoll_fd, EPOLL_CTL_ADD, call->fd, &event) ? errno : 0;
}

int our_start_call(struct our_control *control,
		   int (*make)(struct our_control *control, void *argument), const void *argument,
		   size_t size)
{
	struct our_call *call = &our_private(control)->call;
	struct order *order = malloc(sizeof(*order) + size);
	int ret;

	call->fd = -1;
	ret = order ? watch(call) : ENOMEM;
	if (!ret) {
		order->control = control;
		order->make = make;
		memcpy(order->argument, argument, size);
		atomic_store(&call->state, OUR_CALL_UNDER_WAY);
		ret = start_thread(order);
	}
	if (!ret)
		return 0;
	atomic_store(&call->state, OUR_NO_CALL);
	if (call->fd >= 0)
		close(call->fd);
	free(order);
	return ret;
}

bool our_call_is_under_way(const struct our_control *control)
{
	return atomic_load(&our_private(control)->call.state) == OUR_CALL_UNDER_WAY;
}

int our_call_fd(const struct our_control *control)
{
	const struct our_call *call = &our_private(control)->call;

	return atomic_load(&call->state) == OUR_NO_CALL ? -1 : call->fd;
}

int our_take_call(struct our_control *control)
{
	struct our_call *call = &our_private(control)->call;

	if (atomic_load(&call->state) != OUR_CALL_RETURNED)
		return EAGAIN;
	atomic_store(&call->state, OUR_NO_CALL);
	close(call->fd);
	return call->error ? call->error : EAGAIN;
}

void our_await_call(struct our_control *control)
{
	struct pollfd returned = { .fd = our_private(control)->call.fd, .events = POLLIN };

	while (our_call_is_under_way(control))
		poll(&returned, 1, -1);
	our_take_call(control);
}

bool our_abandon_call(struct our_control *control, void (*close)(struct our_control *control))
{
	struct our_call *call = &our_private(control)->call;
	struct pollfd returned = { .fd = call->fd, .events = POLLIN };
	const struct our_config *config = control->config;

	/* A shared device is its thread's alone. */
	if (!our_call_is_under_way(control) || control->device)
		return false;
	poll(&returned, 1, ABOUT_TO_RETURN_MS);
	call->config = (struct our_config){ .waiting = config->waiting };
	call->close = close;
	control->config = &call->config; /* the program's need not outlive this */
	control->stop = NULL;
	if (atomic_exchange(&call->state, OUR_CALL_ABANDONED) == OUR_CALL_UNDER_WAY)
		return true;
	control->config = config;
	atomic_store(&call->state, OUR_CALL_RETURNED);
	return false;
}
