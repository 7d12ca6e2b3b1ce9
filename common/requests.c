/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: connect requests, and what a loop takes without waiting: events and
 * completions. See our_control.h.
 */
#include <errno.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/transfer_completion.h"
#include "common/waiting.h"

int our_create_agent(struct our_control *listener, struct our_control **created)
{
	struct rdma_cm_id *cm_id = listener->cm_event.cm_id;
	const struct our_cm_ops *cm = listener->config->waiting.cm;
	struct our_control *agent;
	int ret;

	ret = our_create_control_struct(listener->config, OUR_AGENT, &agent);
	*created = agent;
	if (ret) {
		rdma_destroy_id(cm_id); /* this refuses the client */
		return ret;
	}
	agent->cm_event = listener->cm_event;
	our_adopt_id(agent, cm_id);
	if (cm->share)
		cm->share(agent);
	return 0;
}

int our_get_request(struct our_control *listener, struct our_control **agent)
{
	int ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);

	*agent = NULL;
	if (ret == EINTR)
		return ret;
	if (ret)
		return our_report_no_requests(listener, "rdma_get_cm_event", ret);
	return our_create_agent(listener, agent);
}

int our_take_cm_event(struct our_control *control, struct our_control **about)
{
	struct our_cm_event event;
	int ret;

	for (;;) {
		*about = control; /* also if the channel cannot be read */
		ret = control->config->waiting.cm->take(control, &event);
		if (ret)
			return ret;
		*about = event.cm_id->context; /* a new id has its listener's */
		(*about)->cm_event = event;
		switch (our_note_cm_event(*about)) {
		case OUR_CM_MINE:
			if (event.type == RDMA_CM_EVENT_ESTABLISHED)
				return our_note_accepted(*about);
			return 0;
		case OUR_CM_FATAL:
			return 0;
		default:
			break;
		}
	}
}

int our_take_completion(struct our_control *control, struct our_completion *completion)
{
	const struct ibv_wc *wc;
	int ret = our_take_next_wc(control, &wc);

	ret = ret ? ret : our_take_wc(control, wc, completion);
	/* A message may be earlier than the event that says that the client is connected. */
	if (!ret && !control->accepted)
		ret = our_note_accepted(control);
	return ret;
}

int our_completion_fd(const struct our_control *control)
{
	const struct our_completion_ops *completions = control->config->waiting.completions;

	return completions->fd ? completions->fd(control) : -1;
}

int our_look_after(struct our_control *control, int *timeout_ms)
{
	const struct our_cm_ops *cm = control->config->waiting.cm;
	int ret = control->connected && cm->idle ? cm->idle(control, our_now_ns()) : 0;

	*timeout_ms = our_ms_until(our_private(control)->keepalive.due_ns);
	return ret;
}
