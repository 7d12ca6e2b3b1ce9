/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: the simplest way to wait for the connection manager: the calls wait. An id without an
 * event channel is synchronous: librdmacm gives it one of its own, and each CM call blocks until its
 * event comes, and leaves it in cm_id->event.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "common/waiting.h"

/*
 * Looks at the event that ended a call. As long as the event is one to ignore, takes the next one.
 * librdmacm acks the last one, at the id's next call or when the id is destroyed.
 */
static int await_own_event(struct our_control *control, int called)
{
	struct rdma_cm_id *cm_id = control->cm_id;
	enum our_cm_meaning meaning;

	while (cm_id->event) {
		our_copy_cm_event(&control->cm_event, cm_id->event);
		meaning = our_note_cm_event(control);
		if (called || (meaning != OUR_CM_HINT && meaning != OUR_CM_NOT_MINE))
			break;
		rdma_ack_cm_event(cm_id->event);
		cm_id->event = NULL;
		called = OUR_CALL(rdma_get_cm_event(cm_id->channel, &cm_id->event));
	}
	/* If librdmacm itself fails, the event's status is -1, and the call returns EPERM. */
	if (called == EPERM && control->cm_event.status == OUR_CM_FAILED_ITSELF)
		return our_error_of_event(&control->cm_event, OUR_NO_CM_EVENT);
	return called;
}

static int await_connect_request(struct our_control *listener)
{
	struct rdma_cm_id *cm_id;
	int error;

	while ((error = OUR_CALL(rdma_get_request(listener->cm_id, &cm_id)))) {
		if (error == EINTR && !our_stop_requested(listener->stop))
			continue;
		if (!listener->cm_id->event) /* librdmacm leaves other events there */
			return error;
		our_copy_cm_event(&listener->cm_event, listener->cm_id->event);
		if (our_note_cm_event(listener) == OUR_CM_FATAL)
			return our_error_of_event(&listener->cm_event,
						  RDMA_CM_EVENT_CONNECT_REQUEST);
	}
	our_copy_cm_event(&listener->cm_event, cm_id->event);
	return 0;
}

/*
 * Takes an event that no call waits for, once there is one. Returns 0, EAGAIN after a signal, or
 * another errno value, reported.
 */
static int take_event(struct our_control *control)
{
	struct rdma_event_channel *channel = control->cm_id->channel;
	struct rdma_cm_event *event;
	int ret = OUR_CALL(rdma_get_cm_event(channel, &event));

	if (ret == EINTR || ret == EAGAIN)
		return EAGAIN;
	if (ret)
		return our_tell_error(control->config, "rdma_get_cm_event", ret, NULL);
	our_copy_cm_event(&control->cm_event, event);
	rdma_ack_cm_event(event); /* this frees the event's private data */
	our_note_cm_event(control);
	return 0;
}

/* Waits until the connection has ended, or our_now_ns is `until_ns`. */
static int wait_for_end(struct our_control *control, uint64_t until_ns)
{
	struct pollfd channel = { .fd = control->cm_id->channel->fd, .events = POLLIN };
	int ready, ret = 0;

	while (!control->ended && (!ret || ret == EAGAIN)) {
		ready = poll(&channel, 1, our_ms_until(until_ns));
		if (ready > 0)
			ret = take_event(control);
		else if (our_must_not_wait(control))
			ret = EINTR;
		else if (our_now_ns() >= until_ns)
			ret = ETIMEDOUT;
	}
	return control->ended && ret == EAGAIN ? 0 : ret;
}

static int await(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	if (expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return await_connect_request(control);

	called = our_end_cm_call(control, await_own_event(control, called));
	/*
	 * The call has not waited, or a signal has interrupted it, but the request has been sent.
	 */
	if (expected == RDMA_CM_EVENT_DISCONNECTED && (called == EAGAIN || called == EINTR))
		return wait_for_end(control, our_end_of_wait(our_disconnect_limit_s(control)));
	return called ? called : our_error_of_event(&control->cm_event, expected);
}

static int migrate(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	/*
	 * Without a channel to move to, librdmacm creates one, and the id is synchronous. For an id
	 * that came from a synchronous listener, librdmacm has already done so, and returns EINVAL.
	 * The listener's second id is not synchronous, because it shares the first one's channel.
	 */
	int ret = OUR_CALL(rdma_migrate_id(cm_id, NULL));

	if (!ret || ret == EINVAL)
		return 0;
	our_tell_error(agent->config, "rdma_migrate_id", ret, NULL);
	rdma_destroy_id(cm_id);
	return ret;
}

/*
 * A side that waits for the end of the connection before it has called rdma_disconnect may take the
 * event that this call would wait for: then the call must not block.
 */
static int await_end(struct our_control *control, uint64_t until_ns)
{
	if (fcntl(control->cm_id->channel->fd, F_SETFL, O_NONBLOCK))
		return our_tell_error(control->config, "fcntl", errno, NULL);
	return wait_for_end(control, until_ns);
}

static int ended(struct our_control *control)
{
	int ret = control->ended ? 0 : await_end(control, our_now_ns());

	return ret && ret != ETIMEDOUT ? ret : control->ended;
}

const struct our_cm_ops our_cm_synchronous = {
	.name = "synchronous CM calls",
	.calls_block = true,
	.await = await,
	.migrate = migrate,
	.await_end = await_end,
	.ended = ended,
	.watches = false,
	.make_qp = our_cm_make_qp,
	.destroy_qp = our_cm_destroy_qp,
};
