/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * our_process: what has happened to the connections of a poll group, one event at a time. A source that
 * is ready has its turn until it has nothing more, or for some events. See our_control.h and private.h.
 */
#include <errno.h>

#include "common/private.h"

#define GO_ON (-1) /* nothing is to be handed out now, and there may be more */

/* ---- How a connection ends ---- */

static bool cm_knows_cause(const struct our_control *control, int error)
{
	return error == ECONNRESET || (error == EPIPE && our_client_may_have_left(control));
}

/* The completions that have come by now are handed out before the end. */
static void note_error(struct our_control *control, int error)
{
	struct our_member *member = &our_private(control)->member;

	if (!member->error && !our_private(control)->leaving && cm_knows_cause(control, error))
		member->until_ns = our_end_of_wait(our_cause_limit_s(control));
	if (our_shares_cq(control))
		our_add_ready(member->group, &our_shared(control->device)->source);
	member->error = member->error ? member->error : error;
	our_make_due(member);
}

static int report_timeout(const struct our_config *config)
{
	return our_tell_error(config, NULL, ETIMEDOUT, "no connection within %u s",
			      config->timeout_s);
}

/* Returns how the connection has ended, told; 0: the program has ended it; EAGAIN: it goes on. */
static int end_of(struct our_control *control, uint64_t now_ns)
{
	const struct our_private *one = our_private(control);
	bool over = now_ns >= one->member.until_ns;
	int failure = our_failure_of(control);

	if (one->leaving)
		return over || control->ended || !one->answers ? 0 : EAGAIN;
	if (control->ended || failure)
		return control->ended ? our_tell_end(control, control->ended) : failure;
	if (!one->member.error)
		return over && !control->connected ? report_timeout(control->config) : EAGAIN;
	if (!cm_knows_cause(control, one->member.error))
		return one->member.error;
	return over ? our_tell_end(control, ECANCELED) : EAGAIN;
}

/* A listener stays, because the events of its agents come by its channel, if that can be read. */
static int hand_out_end(struct our_control *control, int error, struct our_event *event)
{
	struct our_member *member = &our_private(control)->member;

	*event = (struct our_event){ .type = OUR_EVENT_END, .control = control, .error = error };
	if (control->role == OUR_LISTENER) {
		if (our_private(control)->unreadable)
			our_forget_source(member->group, &member->cm);
		return 0;
	}
	our_leave_poll_group(control);
	our_start_disconnect(control); /* our_close would wait for the answer */
	return 0;
}

/* ---- Completions ---- */

/* Returns 0; or GO_ON: the program was told already. */
static int hand_out_established(struct our_control *control, struct our_event *event)
{
	struct our_member *member = &our_private(control)->member;

	if (member->stands)
		return GO_ON;
	member->stands = true;
	our_make_due(member); /* the times of keepalives begin */
	event->type = OUR_EVENT_ESTABLISHED;
	event->control = control;
	return 0;
}

/*
 * Hands out a completion, but the event before it that the connection stands. Returns 0; or GO_ON: it is of
 * the library's own, or of a connection that was not made.
 */
static int hand_out(struct our_control *control, int taken, struct our_event *event)
{
	struct our_member *member = &our_private(control)->member;

	event->type = taken ? OUR_EVENT_FAILURE : OUR_EVENT_COMPLETION;
	event->control = control;
	event->error = taken;
	if (taken)
		note_error(control, taken);
	if (taken || member->stands)
		return taken && !(event->completion.failure && member->stands) ? GO_ON : 0;
	member->group->held = *event;
	return hand_out_established(control, event);
}

static int look_after(struct our_control *control, struct our_event *event)
{
	struct our_member *member = &our_private(control)->member;
	uint64_t now_ns = our_now_ns();
	int ret = 0;

	member->due = false;
	if (control->connected && !member->error)
		ret = our_idle(control, now_ns);
	if (ret)
		note_error(control, ret);
	ret = end_of(control, now_ns);
	if (ret != EAGAIN)
		return hand_out_end(control, ret, event);
	if (our_member_due_ns(control) < member->group->next_ns)
		member->group->next_ns = our_member_due_ns(control);
	return EAGAIN;
}

/* Returns true if completions of a shared CQ are to come before the end. The CQ may never be empty. */
static bool is_behind(struct our_control *control)
{
	struct our_member *member = &our_private(control)->member;

	return member->error && our_shares_cq(control) &&
	       our_shared(control->device)->source.ready &&
	       member->waited++ <= (uint32_t)control->cq->cqe / OUR_GROUP_BATCH;
}

static int take_from(struct our_source *source, struct our_event *event)
{
	struct our_control *control = source->of;
	struct our_member *member = &our_private(control)->member;
	int ret = EAGAIN;

	if (control->cq && !our_shares_cq(control))
		ret = our_take_completion(control, &event->completion);
	if (!ret || (ret != EAGAIN && event->completion.failure))
		return hand_out(control, ret, event);
	if (ret != EAGAIN)
		note_error(control, ret);
	if (!member->due)
		return EAGAIN;
	if (!is_behind(control))
		return look_after(control, event);
	our_remove_ready(member->group, source);
	our_add_ready(member->group, source);
	return GO_ON;
}

static int take_from_device(struct our_source *source, struct our_event *event)
{
	struct our_device *device = source->of;
	struct our_shared_device *shared = our_shared(device);
	struct our_control *control;
	struct ibv_wc wc = { .wr_id = 0 };
	int ret = our_device_take_completion(device, &control, &event->completion);

	if (ret && !control) {
		if (ret != EAGAIN) {
			atomic_store(&shared->async.error, ret);
			shared->group->next_ns = 0;
		}
		return EAGAIN;
	}
	if (our_private(control)->member.group)
		return hand_out(control, ret, event);
	wc.wr_id = event->completion.wr_id; /* its end was handed out */
	if (!ret)
		our_device_post_again(device, control, &wc);
	return GO_ON;
}

/* ---- CM events ---- */

static void join(struct our_poll_group *group, struct our_control *control);

static int take_request(struct our_control *listener, struct our_event *event)
{
	int ret = our_create_agent(listener, &event->control);

	if (ret)
		return GO_ON; /* the client has been refused */
	join(our_private(listener)->member.group, event->control);
	event->type = OUR_EVENT_REQUEST;
	return 0;
}

static int error_of(const struct our_control *control)
{
	int error = our_error_of_event(&control->cm_event, OUR_NO_CM_EVENT);

	return control->ended ? control->ended : our_report_no_client(control, error);
}

static int take_cm(struct our_source *source, struct our_event *event)
{
	struct our_control *about;
	int ret = our_take_cm_event(source->of, &about);

	if (ret == EAGAIN || !our_private(about)->member.group)
		return ret == EAGAIN ? EAGAIN : GO_ON; /* its end was handed out */
	if (ret)
		return hand_out_end(about, ret, event);
	event->control = about;
	switch (about->cm_event.type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return take_request(about, event);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		event->type = OUR_EVENT_RESOLVED;
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		return hand_out_established(about, event);
	default:
		note_error(about, error_of(about));
		return GO_ON;
	}
}

/* ---- Members ---- */

static void drop_held(struct our_poll_group *group, const struct our_control *control)
{
	const struct ibv_wc wc = { .wr_id = group->held.completion.wr_id };

	if (group->held.control != control)
		return;
	if (control->device)
		our_device_post_again(control->device, control, &wc);
	group->held.control = NULL;
}

static void leave(struct our_control *control)
{
	struct our_member *member = &our_private(control)->member;

	drop_held(member->group, control);
	our_forget_source(member->group, &member->cm);
	our_forget_source(member->group, &member->completions);
	LIST_REMOVE(our_private(control), of_group);
	*member = (struct our_member){ .group = NULL };
}

static void leave_device(struct our_device *device)
{
	our_forget_source(our_shared(device)->group, &our_shared(device)->source);
	our_shared(device)->leave_group = NULL;
}

static int join_device(struct our_poll_group *group, struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);

	if (shared->leave_group)
		return 0;
	shared->group = group;
	shared->leave_group = leave_device;
	shared->source = (struct our_source){
		.take = take_from_device,
		.of = device,
		.empties = &shared->empties,
		.seen = UINT64_MAX,
	};
	our_add_ready(group, &shared->source);
	return our_watch_source(group, &shared->source, our_device_completion_fd(device));
}

/* The connection has its id now, or its QP; or it is disconnected, or its peer's host has answered. */
static int changed(struct our_control *control)
{
	struct our_member *member = &our_private(control)->member;
	uint64_t limit_ns = our_end_of_wait(our_disconnect_limit_s(control));
	int ret = 0;

	if (our_private(control)->leaving && limit_ns < member->until_ns)
		member->until_ns = limit_ns;
	our_make_due(member);
	if (member->cm.fd < 0)
		ret = our_watch_source(member->group, &member->cm, our_cm_fd(control));
	if (ret || !control->cq || member->has_cq)
		return ret;
	member->has_cq = true;
	ret = our_shares_cq(control) ? join_device(member->group, control->device)
				     : our_watch_source(member->group, &member->completions,
							our_completion_fd(control));
	return ret ? ret : our_watch_async(member->group, control->verbs);
}

static void join(struct our_poll_group *group, struct our_control *control)
{
	struct our_member *member = &our_private(control)->member;
	bool connects = control->role != OUR_LISTENER && !control->accepted;

	*member = (struct our_member){
		.group = group,
		.changed = changed,
		.leave = leave,
		.cm = { .take = take_cm, .of = control, .fd = -1, .empties = &member->cm.seen },
		.completions = { .take = take_from, .of = control, .fd = -1, .seen = UINT64_MAX },
		.until_ns = our_end_of_wait(connects ? control->config->timeout_s : 0),
		.stands = control->accepted,
	};
	member->completions.empties = &control->counters.empty_polls;
	LIST_INSERT_HEAD(&group->members, our_private(control), of_group);
}

int our_join_poll_group(struct our_control *control, struct our_poll_group *group)
{
	const struct our_waiting *waiting = &control->config->waiting;
	int ret;

	if (!waiting->cm->take || !waiting->completions->take || !waiting->completions->fd)
		return our_tell_error(control->config, "our_join_poll_group", EINVAL,
				      "it takes our_cm_nonblocking and our_nonblocking_channel");
	our_leave_poll_group(control);
	join(group, control);
	ret = changed(control);
	if (ret)
		leave(control);
	return ret;
}

/* ---- The next event ---- */

/* Returns true if an event comes before all sources. */
static bool has_first(struct our_poll_group *group, struct our_event *event)
{
	*event = group->held;
	group->held.control = NULL;
	if (event->control || !group->stops)
		return event->control;
	event->type = group->stops & OUR_OF_STOP ? OUR_EVENT_STOP : OUR_EVENT_LEAVE;
	group->stops &= event->type == OUR_EVENT_STOP ? OUR_OF_LEAVE : 0;
	return true;
}

/* After some events the next source has its turn. */
static void end_turn(struct our_poll_group *group, struct our_source *source)
{
	if (source->empties && source->seen != *source->empties)
		our_wake_group(group); /* its own descriptor does not tell of more */
	if (--group->turn)
		return;
	group->look = true;
	if (source->ready) {
		our_remove_ready(group, source);
		our_add_ready(group, source);
	}
}

/* Takes an event. Returns 0; EAGAIN: there is none; GO_ON: call it again; or another errno value. */
static int take_next(struct our_poll_group *group, struct our_event *event)
{
	struct our_source *source = TAILQ_FIRST(&group->ready);
	int ret;

	if (has_first(group, event))
		return 0;
	if (group->look && (!source || !group->turn)) {
		ret = our_look_at_descriptors(group);
		return ret ? ret : GO_ON;
	}
	if (!source)
		return EAGAIN;
	ret = source->take(source, event);
	if (!ret)
		end_turn(group, source);
	if (ret == EAGAIN)
		our_remove_ready(group, source);
	return ret ? GO_ON : 0;
}

int our_process(struct our_poll_group *group, struct our_event *event)
{
	int ret = GO_ON;

	while (ret == GO_ON)
		ret = take_next(group, event);
	if (ret == EAGAIN) {
		group->look = true;
		our_let_group_sleep(group);
	}
	return ret;
}
