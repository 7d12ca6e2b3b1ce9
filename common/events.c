/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The meaning of CM events; waits for them and for the end of a connection, in the way that was
 * chosen; the limits of waits; and the reasons why connections end. See our_control.h, waiting.h
 * and private.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/private.h"

/* ---- CM events ---- */

void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	memset(copy, 0, sizeof(*copy));
	copy->type = event->event;
	copy->status = event->status;
	copy->cm_id = event->id;
	copy->responder_resources = conn->responder_resources;
	copy->initiator_depth = conn->initiator_depth;
	copy->private_data_length = conn->private_data_len;
	if (conn->private_data)
		memcpy(copy->private_data, conn->private_data, conn->private_data_len);
}

int our_how_event_ends(const struct our_cm_event *event, bool connected)
{
	switch (event->type) {
	case RDMA_CM_EVENT_DISCONNECTED:
		return ECONNRESET;
	case RDMA_CM_EVENT_REJECTED:
		return connected ? ECONNRESET : 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return ENODEV;
	case RDMA_CM_EVENT_UNREACHABLE:
		return EHOSTUNREACH;
	default:
		return 0;
	}
}

enum our_cm_meaning our_classify_cm_event(const struct our_control *control,
					  const struct our_cm_event *event)
{
	bool listens = control->role == OUR_LISTENER;

	if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) /* the event's id is a new one */
		return OUR_CM_MINE;
	if (event->cm_id != control->cm_id && event->cm_id != our_private(control)->second_cm_id)
		return OUR_CM_NOT_MINE;
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT: /* ignored: not every transport sends it */
		return OUR_CM_HINT;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return OUR_CM_FATAL;
	case RDMA_CM_EVENT_UNREACHABLE:
		return listens || our_private(control)->leaving ? OUR_CM_HINT : OUR_CM_FATAL;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		return our_private(control)->leaving ? OUR_CM_HINT : OUR_CM_MINE;
	default:
		return our_private(control)->leaving ? OUR_CM_HINT : OUR_CM_FATAL;
	}
}

enum our_cm_meaning our_note_cm_event(struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	enum our_cm_meaning meaning = our_classify_cm_event(control, event);

	if (event->type != RDMA_CM_EVENT_DEVICE_REMOVAL && meaning != OUR_CM_NOT_MINE)
		our_await_call(control); /* it returns at once: its event has come */
	if (meaning == OUR_CM_FATAL && !control->ended)
		control->ended = our_how_event_ends(event, control->connected);
	return meaning;
}

int our_error_of_event(const struct our_cm_event *event, enum rdma_cm_event_type expected)
{
	if (event->type == expected)
		return 0;
	if (event->type == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	if (event->type == RDMA_CM_EVENT_DISCONNECTED)
		return ECONNRESET;
	if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return ENODEV;
	if (event->status < 0 && event->status != OUR_CM_FAILED_ITSELF)
		return -event->status;
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return event->status < 0 ? ENODEV : EHOSTUNREACH;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return EHOSTUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return ECONNABORTED;
	default:
		return EPROTO;
	}
}

int our_tell_cm_error(const struct our_control *control, const char *call, int error,
		      const char *text, ...)
{
	struct our_error what = { .call = call, .error = error };
	va_list arguments;
	int ret;

	if (error && our_private(control)->unreadable == error)
		return error; /* reported already: the channel cannot be read */
	/* EACCES: our_client_connect has made it from a rejection, and knows the reason. */
	if ((error == EACCES && control->cm_event.type == RDMA_CM_EVENT_REJECTED) ||
	    error == our_error_of_event(&control->cm_event, OUR_NO_CM_EVENT)) {
		what.event = &control->cm_event;
		what.event_name = rdma_event_str(what.event->type);
	}
	va_start(arguments, text);
	ret = our_tell(control->config, &what, text, arguments);
	va_end(arguments);
	return ret;
}

int our_tell_unreadable(const struct our_control *control, const char *call, int error)
{
	our_private(control)->unreadable = error;
	return our_tell_error(control->config, call, error, NULL);
}

/* ---- How CM events arrive ---- */

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

int our_report_no_channel(const struct our_control *control, int error)
{
	if (error == EMFILE)
		return our_tell_error(
			control->config, "rdma_create_event_channel", error,
			"each connection takes descriptors: raise their limit (ulimit -n)");
	return our_tell_error(control->config, "rdma_create_event_channel", error,
			      OUR_NO_DEVICE_ADVICE);
}

static void limit_call(const struct our_control *control, uint64_t seconds)
{
	if (control->config->waiting.cm->calls_block && control->config->limit_call)
		control->config->limit_call((unsigned int)seconds);
}

void our_start_cm_call(struct our_control *control)
{
	/* rdma_disconnect waits for the peer, which may be busy for a long time. */
	limit_call(control, our_private(control)->leaving ? our_disconnect_limit_s(control)
							  : control->config->timeout_s);
}

int our_end_cm_call(const struct our_control *control, int called)
{
	limit_call(control, 0);
	return called == EINTR && !our_stop_requested(control->stop) ? ETIMEDOUT : called;
}

void our_stop_watching(struct our_control *control)
{
	if (control->config->waiting.cm->stop_watching)
		control->config->waiting.cm->stop_watching(control);
}

void our_refuse_requests(struct our_control *listener, int error)
{
	our_private(listener)->refusing = error;
	if (error && listener->config->waiting.cm->refuse_requests)
		listener->config->waiting.cm->refuse_requests(listener);
}

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	if (!our_private(control)->has_channel) /* the listener reads its events */
		return called ? called : EINVAL;
	return control->config->waiting.cm->await(control, expected, called);
}

int our_how_ended(struct our_control *control)
{
	return control->config->waiting.cm->ended(control);
}

int our_cm_fd(const struct our_control *control)
{
	return control->config->waiting.cm->fd ? control->config->waiting.cm->fd(control) : -1;
}

/* ---- How long a wait lasts ---- */

uint64_t our_disconnect_limit_s(const struct our_control *control)
{
	/*
	 * soft-RoCE repeats the request after 5 or 6 s (docs/drivers.md). Two requests are enough
	 * for a peer that may be dead, or when we were told to stop and should not stay long.
	 */
	return control->complete && !our_stop_requested(control->stop) ? 20 : 7;
}

uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected)
{
	if (expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return UINT64_MAX;
	if (expected == RDMA_CM_EVENT_DISCONNECTED)
		return our_end_of_wait(our_disconnect_limit_s(control));
	return our_end_of_wait(control->config->timeout_s);
}

bool our_must_not_wait(const struct our_control *control)
{
	const struct our_stop *stop = control->stop;

	return our_private(control)->leaving ? our_leave_requested(stop) : our_stop_requested(stop);
}

int our_wake_fd(const struct our_control *control)
{
	const struct our_stop *stop = control->stop;

	return our_private(control)->leaving ? our_leave_fd(stop) : our_stop_fd(stop);
}

/* The time limit of a wait starts when the first poll has found nothing. */
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
	uint64_t idle_ns = our_idle_ns(control), limit_ns = limit_of_wait(control);

	if (control->ended) /* the event was taken, so no descriptor is readable for it any more */
		return 0;
	return idle_ns < limit_ns ? idle_ns : limit_ns;
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
	return our_idle(control, now_ns);
}

int our_keep_waiting(struct our_control *control)
{
	our_private(control)->look_ns = 0; /* a program that has slept looks at once */
	return our_keep_polling(control);
}

/* ---- The end of a connection ---- */

/*
 * On other transports than iWARP the cause is the removal of the device, or a thread that has not reported
 * yet.
 */
uint64_t our_cause_limit_s(const struct our_control *control)
{
	return our_flush_may_be_early(control) ? OUR_FLUSH_LIMIT_S : 1;
}

int our_cause_of_flush(struct our_control *control)
{
	int end = our_how_ended(control), ret = 0;

	if (!end) {
		ret = control->config->waiting.cm->await_end(
			control, our_end_of_wait(our_cause_limit_s(control)));
		end = our_how_ended(control);
	}
	if (ret == EINTR)
		return ret;
	return end ? end : ECANCELED;
}

int our_tell_end(const struct our_control *control, int ret)
{
	const struct our_config *config = control->config;

	switch (ret) {
	case ETIMEDOUT:
		if (control->wait_until_ns)
			return our_tell_error(config, NULL, ret,
					      "the peer said nothing until the limit of the wait");
		return our_tell_error(config, NULL, ret, "the peer said nothing for %u s",
				      config->timeout_s);
	case ECANCELED:
		return our_tell_error(config, NULL, ECONNABORTED,
				      "a work request was flushed, although the peer has not "
				      "disconnected: it asked for what it has no right to, or our "
				      "device cannot send: is its link up?");
	case ENODEV:
		if (ret == control->ended)
			our_tell_error(config, NULL, ret, "the RDMA device was removed");
		return ret;
	case EHOSTUNREACH:
		if (ret == control->ended)
			our_tell_error(config, NULL, ret, "the peer cannot be reached any more");
		return ret;
	default:
		return ret;
	}
}

int our_report_end(struct our_control *control, int ret)
{
	bool unsent = ret == EPIPE && our_client_may_have_left(control);

	if (ret != ECONNRESET && !unsent)
		return our_tell_end(control, ret);
	if (our_stop_requested(control->stop))
		return EINTR;
	return our_tell_end(control, our_cause_of_flush(control));
}

int our_await_disconnect(struct our_control *control, uint64_t limit_s)
{
	uint64_t next_ns, until_ns = our_end_of_wait(limit_s);
	int ret;

	do {
		next_ns = control->connected ? our_idle_ns(control) : until_ns;
		next_ns = next_ns < until_ns ? next_ns : until_ns;
		ret = control->config->waiting.cm->await_end(control, next_ns);
		/* For an agent on its listener's channel, await_end does not wait. */
		if (ret != ETIMEDOUT || next_ns == until_ns || our_now_ns() < next_ns)
			return ret;
		ret = our_idle(control, our_now_ns());
	} while (!ret);
	ret = our_report_end(control, ret); /* a keepalive may have been flushed */
	return ret == ECONNRESET ? 0 : ret;
}
