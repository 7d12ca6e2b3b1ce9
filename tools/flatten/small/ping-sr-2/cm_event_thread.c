/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The thread that reads the event channel, in a flattened program.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "ping-sr-2/cm_events.h"
#include "program/report.h"
#include "program/stop.h"

/* Takes the next event, acks it, and hands on what matters of it. */
static int take_event(struct our_control *control)
{
	struct our_cm_events *events = control->cm_events;
	struct rdma_cm_event *event;
	struct our_cm_event copy;
	bool is_request;
	int end;

	if (rdma_get_cm_event(control->cm_channel, &event)) {
		if (errno == EINTR || errno == EAGAIN)
			return 0;
		return our_report_error("rdma_get_cm_event", errno, NULL);
	}
	our_copy_cm_event(&copy, event);
	rdma_ack_cm_event(event); /* from here on its private data is gone */
	end = our_end_by_cm_event(&copy, false);
	if (end && !our_ended(control))
		__atomic_store_n(&events->ended, end, __ATOMIC_RELAXED);
	if (copy.type == RDMA_CM_EVENT_ADDR_CHANGE || copy.type == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return 0; /* of no use: nobody would read it */
	is_request = !IS_CLIENT && copy.type == RDMA_CM_EVENT_CONNECT_REQUEST;
	if (!(is_request && __atomic_load_n(&events->refusing, __ATOMIC_RELAXED)) &&
	    write(events->events[1], &copy, sizeof(copy)) > 0)
		return 0;
	if (!is_request)
		return our_report_error("write", errno, NULL);
	our_refuse_request(control, copy.cm_id, EUSERS); /* the pipe is full of them, or we leave */
	return 0;
}

/* Hands on an event that means nothing: who waits looks what else has changed. */
static void wake(struct our_control *control)
{
	struct our_cm_event nothing = { .type = RDMA_CM_EVENT_TIMEWAIT_EXIT };

	while (write(control->cm_events->events[1], &nothing, sizeof(nothing)) < 0 &&
	       errno == EINTR)
		;
}

static void *our_cm_event_thread(void *argument)
{
	struct our_control *control = argument;
	struct pollfd fds[] = {
		{ .fd = control->cm_channel->fd, .events = POLLIN },
		{ .fd = control->cm_events->quit_fd, .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	int ret = 0;

	while (!ret) {
		if (poll(fds, 3, -1) < 0)
			continue; /* a signal; if it matters, the third is readable now */
		if (fds[1].revents)
			return NULL;
		if (fds[2].revents) {
			fds[2].fd = -1;
			wake(control);
		}
		if (fds[0].revents)
			ret = take_event(control);
	}
	__atomic_store_n(&control->cm_events->ended, ret, __ATOMIC_RELAXED);
	wake(control);
	return NULL;
}

int our_create_cm_event_thread(struct our_control *control)
{
	struct our_cm_events *events = control->cm_events;
	int ret;

	events->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (events->quit_fd < 0)
		return our_report_error("eventfd", errno, NULL);
	ret = pthread_create(&events->thread, NULL, our_cm_event_thread, control);
	if (ret) {
		close(events->quit_fd);
		return our_report_error("pthread_create", ret, NULL);
	}
	return 0;
}

void our_end_cm_event_thread(struct our_control *control)
{
	eventfd_write(control->cm_events->quit_fd, 1);
	pthread_join(control->cm_events->thread, NULL);
	close(control->cm_events->quit_fd);
}
