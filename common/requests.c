/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: connect requests, their agents, which accept or refuse a client, and
 * what a loop takes without waiting. See our_control.h.
 */
#include <errno.h>

#include "common/private.h"

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

int our_report_no_client(const struct our_control *agent, int error)
{
	if (error == ENODEV)
		return our_tell_cm_error(agent, "rdma_accept", error,
					 "the RDMA device was removed");
	if (error == EMSGSIZE)
		return our_tell_error(agent->config, "rdma_accept", error,
				      "at most %d bytes of private data fit", OUR_MOST_TO_ACCEPT);
	our_tell_cm_error(agent, "rdma_accept", error, "most likely the client has left meanwhile");
	/* If the client has left, librdmacm cannot query the QP's attributes for its id. */
	return error == EINVAL ? ECONNABORTED : error;
}

int our_report_no_requests(const struct our_control *listener, const char *call, int error)
{
	return our_tell_cm_error(listener, call, error, "nobody can connect any more");
}

static int accept_client(struct our_control *control, const void *private_data, size_t length)
{
	struct rdma_conn_param param;

	our_setup_conn_params(control, &param);
	if (length > OUR_MOST_TO_ACCEPT)
		return EMSGSIZE;
	param.private_data = private_data;
	param.private_data_len = (uint8_t)length;
	our_start_cm_call(control);
	return rdma_accept(control->cm_id, &param) ? errno : 0;
}

int our_agent_accept(struct our_control *control, const void *private_data, size_t length)
{
	int ret = accept_client(control, private_data, length);

	return ret ? our_report_no_client(control, ret) : 0;
}

int our_agent_connect(struct our_control *control, const void *private_data, size_t length)
{
	int ret;

	if (!our_private(control)->has_channel)
		return our_tell_error(control->config, "our_agent_connect", EINVAL,
				      "an agent on its listener's channel must not wait: "
				      "our_migrate_id comes first");
	ret = accept_client(control, private_data, length);
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret)
		return our_report_no_client(control, ret);
	return our_note_connected(control);
}

static void reject(struct our_control *control, struct rdma_cm_id *cm_id, int error)
{
	uint8_t data[OUR_MAX_PRIVATE_DATA];
	size_t length = control->config->refuse ? control->config->refuse(control, error, data) : 0;

	/* It fails when the client has left by itself. */
	rdma_reject(cm_id, length ? data : NULL, (uint8_t)length);
}

void our_agent_reject(struct our_control *control, int error)
{
	if (control->accepted || control->cm_event.type != RDMA_CM_EVENT_CONNECT_REQUEST)
		return;
	reject(control, control->cm_id, error);
}

void our_refuse_request(struct our_control *control, struct rdma_cm_id *cm_id, int error)
{
	reject(control, cm_id, error);
	rdma_destroy_id(cm_id);
}

static int report_end_of_listener(const struct our_control *listener)
{
	int ret = our_judge_cm_event(&listener->cm_event, RDMA_CM_EVENT_CONNECT_REQUEST);

	return our_report_no_requests(listener, "rdma_get_cm_event", ret);
}

/* Returns 0: an event for the user; EAGAIN: none, so take the next; or an errno value. */
static int take_meaning(struct our_control *about, enum our_cm_meaning meaning)
{
	if (meaning != OUR_CM_MINE && meaning != OUR_CM_FATAL)
		return EAGAIN;
	if (about->role == OUR_CLIENT && !about->accepted)
		return our_take_step(about);
	if (meaning == OUR_CM_FATAL)
		return about->role == OUR_LISTENER ? report_end_of_listener(about) : 0;
	if (about->cm_event.type == RDMA_CM_EVENT_ESTABLISHED)
		return our_note_connected(about);
	return 0;
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
		ret = take_meaning(*about, our_note_cm_event(*about));
		if (ret != EAGAIN)
			return ret;
	}
}

int our_look_after(struct our_control *control, int *timeout_ms)
{
	const struct our_cm_ops *cm = control->config->waiting.cm;
	uint64_t first_ns = our_end_of_wait(control->config->keepalive_s);
	int ret = 0;

	if (control->connected && cm->idle)
		ret = cm->idle(control, our_now_ns());
	/* Before that no keepalive is due: the CM itself gives up a client that does not answer. */
	*timeout_ms = our_ms_until(control->connected ? our_private(control)->keepalive.due_ns
						      : first_ns);
	return ret;
}
