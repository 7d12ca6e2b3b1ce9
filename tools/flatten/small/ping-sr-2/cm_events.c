/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for the connection manager with a thread that reads the event channel, in a flattened program:
 * the thread writes what it has copied of an event into a pipe, from which who waits reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-2/cm_events.h"
#include "ping-sr-2/keepalive.h"
#include "program/report.h"
#include "program/stop.h"

struct our_cm_events {
	pthread_t thread;
	int quit_fd;   /* tells the thread to end */
	int events[2]; /* a pipe: the thread writes struct our_cm_event into [1] */
	int ended;     /* how the connection has, an errno value; 0: it has not; atomic */
	bool refusing; /* no more connect requests are wanted; atomic */
};

/* How the connection has ended, as an errno value; 0: it has not. */
static int our_ended(const struct our_control *control)
{
	return __atomic_load_n(&control->cm_events->ended, __ATOMIC_RELAXED);
}

int our_create_event_channel(struct our_control *control)
{
	struct our_cm_events *events = calloc(1, sizeof(*events));
	int ret;

	if (!events)
		return our_report_error("calloc", ENOMEM, NULL);
	control->cm_events = events;
	control->cm_channel = rdma_create_event_channel();
	if (!control->cm_channel) {
		ret = our_report_no_channel(errno);
		goto err_free_events;
	}
	/* An event goes with its id: the thread must not block for one that was there a moment ago. */
	if (fcntl(control->cm_channel->fd, F_SETFL, O_NONBLOCK) ||
	    pipe2(events->events, O_NONBLOCK | O_CLOEXEC)) {
		ret = our_report_error("fcntl or pipe2", errno, NULL);
		goto err_destroy_event_channel;
	}
	ret = our_create_cm_event_thread(control);
	if (ret)
		goto err_close_pipe;
	our_start_keepalive(control);
	return 0;

err_close_pipe:
	close(events->events[0]);
	close(events->events[1]);
err_destroy_event_channel:
	rdma_destroy_event_channel(control->cm_channel);
err_free_events:
	free(events);
	return ret;
}

/* A request that nobody has taken is refused. */
static void drop_events(struct our_control *control)
{
	struct our_cm_event event;

	while (read(control->cm_events->events[0], &event, sizeof(event)) > 0) {
		if (!IS_CLIENT && event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
			our_refuse_request(control, event.cm_id, EUSERS);
	}
}

void our_refuse_requests(struct our_control *listener)
{
	__atomic_store_n(&listener->cm_events->refusing, true, __ATOMIC_RELAXED);
	drop_events(listener);
}

void our_destroy_event_channel(struct our_control *control)
{
	our_end_cm_event_thread(control);
	if (!IS_CLIENT)
		drop_events(control);
	close(control->cm_events->events[0]);
	close(control->cm_events->events[1]);
	rdma_destroy_event_channel(control->cm_channel);
	free(control->cm_events);
}

void our_stop_watching(struct our_control *control)
{
}

/* Waits until there is an event to be read, or our_now_ns is `until_ns`. */
static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	struct pollfd pipe = { .fd = control->cm_events->events[0], .events = POLLIN };

	for (;;) {
		if (!control->leaving && our_stop_requested())
			return EINTR;
		if (poll(&pipe, 1, our_ms_until(until_ns)) > 0)
			return 0;
		if (our_now_ns() >= until_ns)
			return ETIMEDOUT;
	}
}

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	uint64_t until_ns = our_end_of_cm_wait(control, expected);
	int ret = called;

	while (!ret) {
		ret = await_next_event(control, until_ns);
		if (!ret && read(control->cm_events->events[0], &control->cm_event,
				 sizeof(control->cm_event)) > 0) {
			if (our_note_cm_event(control) != OUR_CM_HINT)
				return our_judge_cm_event(&control->cm_event, expected);
			ret = our_ended(control);
		}
	}
	return ret;
}

int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret;

	/* From the listener's: two threads that read one channel would steal each other's events. */
	ret = rdma_migrate_id(cm_id, agent->cm_channel) ? errno : 0;
	if (ret) {
		our_report_error("rdma_migrate_id", ret, NULL);
		rdma_destroy_id(cm_id);
		return ret;
	}
	return 0;
}

int our_await_disconnect(struct our_control *control, uint64_t limit_s)
{
	uint64_t until_ns = our_end_of_wait(limit_s);
	int ret = 0;

	while (!ret && !our_ended(control))
		ret = await_next_event(control, until_ns);
	return ret;
}

int our_cm_fd(const struct our_control *control)
{
	return control->cm_events->events[0];
}

/* A client that leaves is noticed while a completion is waited for. */
static int await_completion(struct our_control *agent, struct our_completion *completion)
{
	return our_await_completion(agent, completion);
}
