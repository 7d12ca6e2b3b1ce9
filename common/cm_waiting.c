/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for the connection manager, however its events arrive. See waiting.h and
 * connection_management.h.
 */
#include <errno.h>

#include "common/private.h"

int our_create_event_channel(struct our_control *control)
{
	int ret = control->config->waiting.cm->create ? control->config->waiting.cm->create(control)
						      : 0;

	our_private(control)->has_channel = !ret;
	return ret;
}

void our_destroy_event_channel(struct our_control *control)
{
	if (our_private(control)->has_channel && control->config->waiting.cm->destroy)
		control->config->waiting.cm->destroy(control);
	our_private(control)->has_channel = false;
}

void our_start_cm_call(struct our_control *control)
{
	if (control->config->waiting.cm->start_call)
		control->config->waiting.cm->start_call(control);
}

void our_stop_watching(struct our_control *control)
{
	if (control->config->waiting.cm->stop_watching)
		control->config->waiting.cm->stop_watching(control);
}

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	if (!our_private(control)->has_channel) /* its events come to its listener */
		return called ? called : EINVAL;
	return control->config->waiting.cm->await(control, expected, called);
}

int our_await_disconnect(struct our_control *control, uint64_t limit_s)
{
	return control->config->waiting.cm->await_end(control, our_end_of_wait(limit_s));
}

int our_cm_end(struct our_control *control)
{
	return control->config->waiting.cm->ended(control);
}

int our_cm_fd(const struct our_control *control)
{
	return control->config->waiting.cm->fd ? control->config->waiting.cm->fd(control) : -1;
}

/* The limit of a wait starts when there is nothing for the first time. */
static uint64_t limit_of_wait(struct our_control *control)
{
	uint64_t *until_ns = &our_private(control)->until_ns;

	if (control->wait_until_ns)
		return control->wait_until_ns;
	if (!*until_ns)
		*until_ns = our_end_of_wait(control->config->timeout_s);
	return *until_ns;
}

uint64_t our_wake_up_ns(struct our_control *control)
{
	uint64_t due_ns = our_private(control)->keepalive.due_ns;
	uint64_t limit_ns = limit_of_wait(control);

	return due_ns < limit_ns ? due_ns : limit_ns;
}

int our_keep_polling(struct our_control *control)
{
	const struct our_cm_ops *cm = control->config->waiting.cm;
	uint64_t *look_ns = &our_private(control)->look_ns, now_ns = our_now_ns();
	int ret = 0;

	if (our_stop_requested(control->stop))
		return EINTR;
	if (cm->watches && now_ns >= *look_ns) {
		*look_ns = now_ns + cm->look_ns;
		ret = cm->ended(control);
	}
	if (ret)
		return ret;
	if (now_ns > limit_of_wait(control))
		return ETIMEDOUT;
	return cm->idle ? cm->idle(control, now_ns) : 0;
}

int our_keep_waiting(struct our_control *control)
{
	our_private(control)->look_ns = 0; /* a program that has slept looks at once */
	return our_keep_polling(control);
}
