/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: the thread that reads the event channel. It copies each event, acks it, and wakes the
 * thread that waits for it. So it notices a peer that leaves although no call asked. See
 * cm_events.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/waiting.h"
#include "ping-sr-2/cm_events.h"

/* With the lock held: puts the QP into its error state, so that posted work is flushed. */
static void disconnect_now(struct our_control *control)
{
	if (our_cm_events_of(control)->connected)
		rdma_disconnect(control->cm_id); /* EINVAL: the peer was first */
	our_cm_events_of(control)->connected = false;
}

/*
 * With the lock held: does what cannot wait until a thread takes the event off the queue and
 * decides what it means.
 */
static void handle_event(struct our_control *control, struct our_queued_event *queued)
{
	struct our_cm_events *events = our_cm_events_of(control);
	int end = our_how_event_ends(&queued->event, events->connected);

	if (queued->event.type == RDMA_CM_EVENT_ESTABLISHED)
		events->connected = !events->unwatched;
	if (end && !our_ended(control)) {
		atomic_store(&events->ended, end);
		disconnect_now(control);
		eventfd_write(events->end_fd, 1);
	}
	if (queued->event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (events->refusing || events->requests == OUR_MAX_REQUESTS) {
			our_reject_request(control, queued->event.cm_id,
					   events->refusing ? EUSERS : EBUSY);
			free(queued);
			return;
		}
		events->requests++;
	}
	STAILQ_INSERT_TAIL(&events->queue, queued, next);
}

/*
 * With the lock held, because rdma_get_cm_event itself modifies the QP of the id that an event is
 * about: ping-sr-2/cm_events.c holds the lock when it creates or destroys the QP. Does not block.
 */
static int get_event(struct our_control *control, struct our_queued_event *queued)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(control->cm_channel, &event))
		return errno;
	our_copy_cm_event(&queued->event, event);
	rdma_ack_cm_event(event); /* after this its private data is gone */
	handle_event(control, queued);
	pthread_cond_broadcast(&our_cm_events_of(control)->changed);
	return 0;
}

/* Returns 0 or an errno value, reported. */
static int take_event(struct our_control *control)
{
	struct our_cm_events *events = our_cm_events_of(control);
	struct our_queued_event *queued = malloc(sizeof(*queued));
	int ret;

	if (!queued) /* before there is an event, or it would be lost, and its id with it */
		return our_tell_unreadable(control, "malloc", ENOMEM);
	pthread_mutex_lock(&events->lock);
	ret = get_event(control, queued);
	pthread_mutex_unlock(&events->lock);
	if (ret)
		free(queued);
	if (!ret || ret == EINTR || ret == EAGAIN)
		return 0;
	return our_tell_unreadable(control, "rdma_get_cm_event", ret);
}

/*
 * A signal: we wake a thread that waits for an event; the flush wakes one that waits for a
 * completion.
 */
static void pass_on_stop(struct our_control *control)
{
	struct our_cm_events *events = our_cm_events_of(control);

	pthread_mutex_lock(&events->lock);
	disconnect_now(control);
	eventfd_write(events->end_fd, 1);
	pthread_cond_broadcast(&events->changed);
	pthread_mutex_unlock(&events->lock);
}

static void give_up(struct our_cm_events *events, int error)
{
	pthread_mutex_lock(&events->lock);
	events->failure = error;
	atomic_store(&events->ended, error);
	eventfd_write(events->end_fd, 1);
	pthread_cond_broadcast(&events->changed);
	pthread_mutex_unlock(&events->lock);
}

static void *our_cm_event_thread(void *argument)
{
	struct our_control *control = argument;
	const struct our_stop *stop = control->stop;
	struct pollfd fds[] = {
		{ .fd = control->cm_channel->fd, .events = POLLIN },
		{ .fd = our_cm_events_of(control)->quit_fd, .events = POLLIN },
		{ .fd = our_stop_fd(stop), .events = POLLIN },
	};
	int ret = 0;

	while (!ret) {
		if (poll(fds, 3, -1) < 0)
			continue; /* a signal; if it matters, the third is readable now */
		if (fds[1].revents)
			return NULL;
		if (fds[2].revents) {
			pass_on_stop(control);
			/* A second signal is for threads that are leaving; there is no third. */
			fds[2].fd = fds[2].fd == our_stop_fd(stop) ? our_leave_fd(stop) : -1;
		}
		if (fds[0].revents)
			ret = take_event(control);
	}
	give_up(our_cm_events_of(control), ret);
	return NULL;
}

int our_create_cm_event_thread(struct our_control *control)
{
	struct our_cm_events *events = our_cm_events_of(control);
	int ret;

	events->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (events->quit_fd < 0)
		return our_tell_error(control->config, "eventfd", errno, NULL);
	events->end_fd = eventfd(0, EFD_CLOEXEC);
	if (events->end_fd < 0) {
		ret = our_tell_error(control->config, "eventfd", errno, NULL);
		goto err_close_quit_fd;
	}
	ret = pthread_create(&events->thread, NULL, our_cm_event_thread, control);
	if (ret) {
		our_tell_error(control->config, "pthread_create", ret, NULL);
		goto err_close_end_fd;
	}
	return 0;

err_close_end_fd:
	close(events->end_fd);
err_close_quit_fd:
	close(events->quit_fd);
	return ret;
}

void our_end_cm_event_thread(struct our_control *control)
{
	struct our_cm_events *events = our_cm_events_of(control);

	eventfd_write(events->quit_fd, 1);
	pthread_join(events->thread, NULL);
	close(events->end_fd);
	close(events->quit_fd);
}
