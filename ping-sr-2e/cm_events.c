/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2e: waits for the connection manager with an event channel of our own. Each CM call
 * returns at once; the program waits for the event with its result right after the call, and reads
 * the channel at no other time.
 */
#include <errno.h>
#include <poll.h>

#include "common/waiting.h"

static int create(struct our_control *control)
{
	int ret = OUR_CREATE(control->cm_channel, rdma_create_event_channel());

	return ret ? our_report_no_channel(control, ret) : 0;
}

static void destroy(struct our_control *control)
{
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
}

/* Waits until the channel has an event, or our_now_ns is `until_ns`. */
static int await_channel(struct our_control *control, uint64_t until_ns)
{
	struct pollfd channel = { .fd = control->cm_channel->fd, .events = POLLIN };
	int ready;

	for (;;) {
		ready = poll(&channel, 1, our_ms_until(until_ns));
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return our_tell_error(control->config, "poll", errno, NULL);
		if (ready < 0 && our_must_not_wait(control))
			return EINTR;
		if (our_now_ns() >= until_ns)
			return ETIMEDOUT;
	}
}

/*
 * Takes the next event into control->cm_event. Returns 0; EAGAIN after a signal, or for an event to
 * be ignored; or another errno value, reported.
 */
static int take_event(struct our_control *control)
{
	enum our_cm_meaning meaning;
	struct rdma_cm_event *event;
	int ret = OUR_CALL(rdma_get_cm_event(control->cm_channel, &event));

	if (ret == EINTR)
		return EAGAIN;
	if (ret)
		return our_tell_unreadable(control, "rdma_get_cm_event", ret);
	our_copy_cm_event(&control->cm_event, event);
	rdma_ack_cm_event(event); /* this frees the event's private data */
	meaning = our_note_cm_event(control);
	return meaning == OUR_CM_HINT || meaning == OUR_CM_NOT_MINE ? EAGAIN : 0;
}

static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	int ret;

	do {
		ret = await_channel(control, until_ns);
		if (!ret)
			ret = take_event(control);
	} while (ret == EAGAIN);
	return ret;
}

static int await(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	int ret;

	if (called)
		return called;
	if (control->ended) /* no event comes after the end */
		return expected == RDMA_CM_EVENT_DISCONNECTED ? 0 : control->ended;
	ret = await_next_event(control, our_end_of_cm_wait(control, expected));
	return ret ? ret : our_error_of_event(&control->cm_event, expected);
}

static int migrate(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	/*
	 * The id shares the listener's channel, where the listener would get this client's
	 * disconnect while it waits for the next request.
	 */
	int ret = OUR_CALL(rdma_migrate_id(cm_id, agent->cm_channel));

	if (ret) {
		our_tell_error(agent->config, "rdma_migrate_id", ret, NULL);
		rdma_destroy_id(cm_id);
		return ret;
	}
	return 0;
}

static int await_end(struct our_control *control, uint64_t until_ns)
{
	int ret = 0;

	while (!ret && !control->ended)
		ret = await_next_event(control, until_ns);
	return ret;
}

static int ended(struct our_control *control)
{
	struct pollfd channel = { .fd = control->cm_channel->fd, .events = POLLIN };
	int ret = 0;

	while (!control->ended && (!ret || ret == EAGAIN) && poll(&channel, 1, 0) > 0)
		ret = take_event(control);
	return ret && ret != EAGAIN ? ret : control->ended;
}

const struct our_cm_ops our_cm_one_by_one = {
	.name = "an event channel, read after each call",
	.create = create,
	.destroy = destroy,
	.await = await,
	.migrate = migrate,
	.await_end = await_end,
	.ended = ended,
	.watches = false,
	.make_qp = our_cm_make_qp,
	.destroy_qp = our_cm_destroy_qp,
};
