/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: waits for the connection manager with an event channel of our own, which a thread
 * reads all the time (cm_event_thread.c). The CM calls return at once; a caller that needs the
 * result waits until the thread has the event.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/waiting.h"
#include "ping-sr-2/cm_events.h"
#include "ping-sr-2/keepalive.h"

static void free_events(struct our_control *control)
{
	pthread_cond_destroy(&our_cm_events_of(control)->changed);
	pthread_mutex_destroy(&our_cm_events_of(control)->lock);
	free(our_cm_events_of(control));
	our_private(control)->cm_state = NULL;
}

static int create(struct our_control *control)
{
	int ret;

	our_private(control)->cm_state = calloc(1, sizeof(*our_cm_events_of(control)));
	if (!our_cm_events_of(control))
		return our_tell_error(control->config, "calloc", ENOMEM, NULL);
	STAILQ_INIT(&our_cm_events_of(control)->queue);
	pthread_mutex_init(&our_cm_events_of(control)->lock, NULL);
	pthread_cond_init(&our_cm_events_of(control)->changed, NULL);

	control->cm_channel = rdma_create_event_channel();
	if (!control->cm_channel) {
		ret = our_report_no_channel(control, errno);
		goto err_free_events;
	}
	/*
	 * Destroying an id discards its events, so a readable channel may turn out empty: never
	 * block.
	 */
	if (fcntl(control->cm_channel->fd, F_SETFL, O_NONBLOCK)) {
		ret = our_tell_error(control->config, "fcntl", errno, NULL);
		goto err_destroy_event_channel;
	}
	ret = our_create_cm_event_thread(control);
	if (ret)
		goto err_destroy_event_channel;
	return 0;

err_destroy_event_channel:
	rdma_destroy_event_channel(control->cm_channel);
err_free_events:
	free_events(control);
	return ret;
}

/* Empties the queue. A request that was not taken is refused. */
static void drop_events(struct our_control *control)
{
	struct our_event_queue *queue = &our_cm_events_of(control)->queue;
	struct our_queued_event *queued;

	while ((queued = STAILQ_FIRST(queue))) {
		STAILQ_REMOVE_HEAD(queue, next);
		if (queued->event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
			our_reject_request(control, queued->event.cm_id, EUSERS);
		free(queued);
	}
	our_cm_events_of(control)->requests = 0;
}

void our_reject_all(struct our_control *listener)
{
	pthread_mutex_lock(&our_cm_events_of(listener)->lock);
	our_cm_events_of(listener)->refusing = true;
	drop_events(listener);
	pthread_mutex_unlock(&our_cm_events_of(listener)->lock);
}

static void destroy(struct our_control *control)
{
	our_end_cm_event_thread(control);
	drop_events(control);
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
	free_events(control);
}

static void stop_watching(struct our_control *control)
{
	pthread_mutex_lock(&our_cm_events_of(control)->lock);
	our_cm_events_of(control)->connected = false;
	our_cm_events_of(control)->unwatched = true;
	pthread_mutex_unlock(&our_cm_events_of(control)->lock);
}

/* With the lock held: waits for a change until our_now_ns is `until_ns`: then returns ETIMEDOUT. */
static int await_change(struct our_cm_events *events, uint64_t until_ns)
{
	struct timespec until = our_timespec(until_ns);

	if (until_ns == UINT64_MAX)
		return pthread_cond_wait(&events->changed, &events->lock);
	return pthread_cond_clockwait(&events->changed, &events->lock, CLOCK_MONOTONIC, &until);
}

/* Waits until the thread has an event for us, and takes it into control->cm_event. */
static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	struct our_cm_events *events = our_cm_events_of(control);
	struct our_queued_event *queued = NULL;
	int ret = 0;

	pthread_mutex_lock(&events->lock);
	while (!ret && !(queued = STAILQ_FIRST(&events->queue))) {
		if (events->failure)
			ret = events->failure;
		else if (our_must_not_wait(control))
			ret = EINTR;
		else
			ret = await_change(events, until_ns);
	}
	if (!ret) {
		STAILQ_REMOVE_HEAD(&events->queue, next);
		control->cm_event = queued->event;
		events->requests -= queued->event.type == RDMA_CM_EVENT_CONNECT_REQUEST;
		free(queued);
	}
	pthread_mutex_unlock(&events->lock);
	return ret;
}

static int await(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	uint64_t until_ns = our_end_of_cm_wait(control, expected);
	enum our_cm_meaning meaning;
	int ret;

	if (called)
		return called;
	do {
		ret = await_next_event(control, until_ns);
		meaning = ret ? OUR_CM_FATAL : our_note_cm_event(control);
	} while (meaning == OUR_CM_HINT || meaning == OUR_CM_NOT_MINE);
	return ret ? ret : our_error_of_event(&control->cm_event, expected);
}

static int await_end(struct our_control *control, uint64_t until_ns)
{
	struct our_cm_events *events = our_cm_events_of(control);
	int ret = 0;

	pthread_mutex_lock(&events->lock);
	while (!ret && !our_ended(control))
		ret = our_must_not_wait(control) ? EINTR : await_change(events, until_ns);
	pthread_mutex_unlock(&events->lock);
	return ret;
}

/* With the lock, as the thread may be in rdma_get_cm_event, which modifies the QP: see there. */
static int make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	int ret;

	pthread_mutex_lock(&our_cm_events_of(control)->lock);
	ret = our_cm_make_qp(control, attr, call); /* rdma_create_qp */
	pthread_mutex_unlock(&our_cm_events_of(control)->lock);
	return ret;
}

static void destroy_qp(struct our_control *control)
{
	pthread_mutex_lock(&our_cm_events_of(control)->lock);
	our_cm_destroy_qp(control); /* rdma_destroy_qp */
	pthread_mutex_unlock(&our_cm_events_of(control)->lock);
}

static int fd(const struct our_control *control)
{
	return our_cm_events_of(control)->end_fd;
}

static int ended(struct our_control *control)
{
	return our_ended(control);
}

const struct our_cm_ops our_cm_thread = {
	.name = "an event channel, and a thread that reads it",
	.create = create,
	.destroy = destroy,
	.stop_watching = stop_watching,
	.await = await,
	.migrate = our_migrate_to_channel,
	.await_end = await_end,
	.ended = ended,
	.watches = true,
	.keepalive = &our_keepalive,
	.fd = fd,
	.make_qp = make_qp,
	.destroy_qp = destroy_qp,
};
