/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: waits for the connection manager with an event channel of our own, which a thread
 * reads all the time. The thread copies each event, acks it, and wakes the thread that waits for it:
 * the CM calls return at once, and a caller that needs the result waits until the event is there. So
 * a peer that leaves is noticed although no call asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/waiting.h"
#include "ping-sr-2/keepalive.h"

#define MAX_REQUESTS 64 /* connect requests in the queue; the thread refuses further ones */

struct queued_event {
	STAILQ_ENTRY(queued_event) next;
	struct our_cm_event event;
};

struct cm_events {
	pthread_t thread;
	int quit_fd;      /* tells the thread to end */
	atomic_int ended; /* the cause of the end, or 0: see our_how_ended */
	int end_fd; /* wakes sleepers: readable once the peer has gone or the program is to stop */
	pthread_mutex_t lock;   /* guards all below */
	pthread_cond_t changed; /* something below has changed, or a signal has come */
	STAILQ_HEAD(event_queue, queued_event) queue;
	bool connected;        /* the QP works, and the event thread may disconnect it */
	bool unwatched;        /* the QP's own thread tears it down, not the event thread */
	bool refusing;         /* no more connect requests are wanted */
	unsigned int requests; /* connect requests in the queue */
	int failure;           /* the channel can no longer be read: an errno value */
};

static struct cm_events *events_of(const struct our_control *control)
{
	return our_private(control)->cm_state;
}

/* Returns how the connection has ended, as an errno value; 0: it has not. Any thread; one load. */
static int ended(struct our_control *control)
{
	return atomic_load_explicit(&events_of(control)->ended, memory_order_relaxed);
}

/* ---- The thread ---- */

/* Puts the QP into its error state, so that posted work is flushed. The lock must be held. */
static void disconnect_now(struct our_control *control)
{
	if (events_of(control)->connected)
		rdma_disconnect(control->cm_id); /* flushes our QP, even if the peer was first */
	events_of(control)->connected = false;
}

/*
 * Does what cannot wait until a thread takes the event off the queue and decides what it means. The
 * lock must be held.
 */
static void handle_event(struct our_control *control, struct queued_event *queued)
{
	struct cm_events *events = events_of(control);
	int end = our_how_event_ends(&queued->event, events->connected);

	if (queued->event.type == RDMA_CM_EVENT_ESTABLISHED)
		events->connected = !events->unwatched;
	if (end && !ended(control)) {
		atomic_store(&events->ended, end);
		disconnect_now(control);
		eventfd_write(events->end_fd, 1);
	}
	if (queued->event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (events->refusing || events->requests == MAX_REQUESTS) {
			our_reject_request(control, queued->event.cm_id,
					   events->refusing ? EUSERS : ENOBUFS);
			free(queued);
			return;
		}
		events->requests++;
	}
	STAILQ_INSERT_TAIL(&events->queue, queued, next);
}

/*
 * Takes an event from the channel. Does not block. The lock must be held, because rdma_get_cm_event
 * itself modifies the QP of the id that an event is about: make_qp and destroy_qp hold it, too.
 */
static int get_event(struct our_control *control, struct queued_event *queued)
{
	struct rdma_cm_event *event;
	int ret = OUR_CALL(rdma_get_cm_event(control->cm_channel, &event));

	if (ret)
		return ret;
	our_copy_cm_event(&queued->event, event);
	rdma_ack_cm_event(event); /* this frees the event's private data */
	handle_event(control, queued);
	pthread_cond_broadcast(&events_of(control)->changed);
	return 0;
}

/* Returns 0 or an errno value, reported. */
static int take_event(struct our_control *control)
{
	struct cm_events *events = events_of(control);
	struct queued_event *queued = malloc(sizeof(*queued));
	int ret;

	if (!queued) /* allocated first: without memory the event and its id would be lost */
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

/* Passes on a signal: wakes threads that wait for an event, or, by the flush, for a completion. */
static void pass_on_stop(struct our_control *control)
{
	struct cm_events *events = events_of(control);

	pthread_mutex_lock(&events->lock);
	disconnect_now(control);
	eventfd_write(events->end_fd, 1);
	pthread_cond_broadcast(&events->changed);
	pthread_mutex_unlock(&events->lock);
}

static void give_up(struct cm_events *events, int error)
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
		{ .fd = events_of(control)->quit_fd, .events = POLLIN },
		{ .fd = our_stop_fd(stop), .events = POLLIN },
	};
	int ret = 0;

	while (!ret) {
		if (poll(fds, 3, -1) < 0)
			continue; /* a signal; if it matters, fds[2] is readable now */
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
	give_up(events_of(control), ret);
	return NULL;
}

/*
 * Creates the thread that reads CM events. end_cm_event_thread ends and joins it, at any moment,
 * before the channel is destroyed.
 */
static int our_create_cm_event_thread(struct our_control *control)
{
	struct cm_events *events = events_of(control);
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

static void end_cm_event_thread(struct our_control *control)
{
	struct cm_events *events = events_of(control);

	eventfd_write(events->quit_fd, 1);
	pthread_join(events->thread, NULL);
	close(events->end_fd);
	close(events->quit_fd);
}

/* ---- The callers, which wait for events ---- */

static void free_events(struct our_control *control)
{
	pthread_cond_destroy(&events_of(control)->changed);
	pthread_mutex_destroy(&events_of(control)->lock);
	free(events_of(control));
	our_private(control)->cm_state = NULL;
}

static int create(struct our_control *control)
{
	int ret;

	our_private(control)->cm_state = calloc(1, sizeof(*events_of(control)));
	if (!events_of(control))
		return our_tell_error(control->config, "calloc", ENOMEM, NULL);
	STAILQ_INIT(&events_of(control)->queue);
	pthread_mutex_init(&events_of(control)->lock, NULL);
	pthread_cond_init(&events_of(control)->changed, NULL);

	ret = OUR_CREATE(control->cm_channel, rdma_create_event_channel());
	if (ret) {
		our_report_no_channel(control, ret);
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
	control->cm_channel = NULL;
err_free_events:
	free_events(control);
	return ret;
}

/* Empties the queue. A request that was not taken is refused. */
static void drop_events(struct our_control *control)
{
	struct event_queue *queue = &events_of(control)->queue;
	struct queued_event *queued;

	while ((queued = STAILQ_FIRST(queue))) {
		STAILQ_REMOVE_HEAD(queue, next);
		if (queued->event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
			our_reject_request(control, queued->event.cm_id, EUSERS);
		free(queued);
	}
	events_of(control)->requests = 0;
}

static void refuse_requests(struct our_control *listener)
{
	pthread_mutex_lock(&events_of(listener)->lock);
	events_of(listener)->refusing = true;
	drop_events(listener);
	pthread_mutex_unlock(&events_of(listener)->lock);
}

static void destroy(struct our_control *control)
{
	end_cm_event_thread(control);
	drop_events(control);
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
	free_events(control);
}

static void stop_watching(struct our_control *control)
{
	pthread_mutex_lock(&events_of(control)->lock);
	events_of(control)->connected = false;
	events_of(control)->unwatched = true;
	pthread_mutex_unlock(&events_of(control)->lock);
}

/* Waits for a change; returns ETIMEDOUT when our_now_ns is `until_ns`. The lock must be held. */
static int await_change(struct cm_events *events, uint64_t until_ns)
{
	struct timespec until = our_timespec(until_ns);

	if (until_ns == UINT64_MAX)
		return pthread_cond_wait(&events->changed, &events->lock);
	return pthread_cond_clockwait(&events->changed, &events->lock, CLOCK_MONOTONIC, &until);
}

/* Waits until the thread has an event for us, and takes it into control->cm_event. */
static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	struct cm_events *events = events_of(control);
	struct queued_event *queued = NULL;
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
	struct cm_events *events = events_of(control);
	int ret = 0;

	pthread_mutex_lock(&events->lock);
	while (!ret && !ended(control))
		ret = our_must_not_wait(control) ? EINTR : await_change(events, until_ns);
	pthread_mutex_unlock(&events->lock);
	return ret;
}

/* Takes the lock, because rdma_get_cm_event in the thread modifies the QP: see get_event. */
static int make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	int ret;

	pthread_mutex_lock(&events_of(control)->lock);
	ret = our_cm_make_qp(control, attr, call); /* rdma_create_qp */
	pthread_mutex_unlock(&events_of(control)->lock);
	return ret;
}

static void destroy_qp(struct our_control *control)
{
	pthread_mutex_lock(&events_of(control)->lock);
	our_cm_destroy_qp(control); /* rdma_destroy_qp */
	pthread_mutex_unlock(&events_of(control)->lock);
}

static int fd(const struct our_control *control)
{
	return events_of(control)->end_fd;
}

const struct our_cm_ops our_cm_thread = {
	.name = "an event channel, and a thread that reads it",
	.create = create,
	.destroy = destroy,
	.stop_watching = stop_watching,
	.refuse_requests = refuse_requests,
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
