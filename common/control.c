/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The life of a control structure, from its allocation, for a client, a listener or an agent, to
 * the end of all that was made with it; and what an event loop does with it. See our_control.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/private.h"

int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control)
{
	struct our_private *one = calloc(1, sizeof(*one));

	*control = NULL;
	if (!one)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	one->head.config = config;
	one->head.role = role;
	one->head.stop = config->stop;
	one->head.n_sge = 1;
	one->head.inline_wanted = OUR_INLINE_WANTED;
	one->idle_ns = one->look_at_sends_ns = UINT64_MAX;
	*control = &one->head;
	return 0;
}

void our_destroy_control_struct(struct our_control *control)
{
	free(our_private(control));
}

int our_create_agent(struct our_control *listener, struct our_control **created)
{
	struct rdma_cm_id *cm_id = listener->cm_event.cm_id;
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
	return 0;
}

/* Refuses a connect request, if the listener refuses all. Returns whether it has. */
static bool is_refused(struct our_control *control, const struct our_cm_event *event)
{
	int error = our_private(control)->refusing;

	if (event->type != RDMA_CM_EVENT_CONNECT_REQUEST || !error)
		return false;
	our_reject_request(control, event->cm_id, error);
	return true;
}

int our_get_request(struct our_control *listener, struct our_control **agent)
{
	int ret;

	*agent = NULL;
	do
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	while (!ret && is_refused(listener, &listener->cm_event));
	if (ret == EINTR)
		return ret;
	if (ret)
		return our_report_no_requests(listener, "rdma_get_cm_event", ret);
	return our_create_agent(listener, agent);
}

void our_start_to_close(struct our_control *control)
{
	bool has_channel = our_private(control)->has_channel;

	our_private(control)->answers = false;
	if (!control->qp || our_call_is_under_way(control))
		return;
	if (has_channel && control->config->waiting.cm->calls_block)
		our_disconnect(control);
	else
		our_start_disconnect(control);
}

static void close_abandoned(struct our_control *control)
{
	our_finish_to_close(control, 0);
}

void our_finish_to_close(struct our_control *control, uint64_t start_ns)
{
	uint64_t limit_ns = our_disconnect_limit_s(control) * OUR_NS_PER_S;

	our_leave_poll_group(control);
	if (our_abandon_call(control, close_abandoned))
		return;
	if (our_private(control)->answers && our_private(control)->has_channel)
		control->config->waiting.cm->await_end(control, start_ns + limit_ns);
	our_destroy_qp(control);
	if (control->memory.buffers)
		our_unsetup_buffers(control);
	if (control->cq)
		our_unsetup_qp(control);
	our_destroy_id(control);
	our_destroy_control_struct(control);
}

void our_close_all(struct our_control *const *controls, size_t n)
{
	uint64_t start_ns = our_now_ns();
	size_t i;

	for (i = 0; i < n; i++) {
		if (controls[i])
			our_start_to_close(controls[i]);
	}
	for (i = 0; i < n; i++) {
		if (controls[i])
			our_finish_to_close(controls[i], start_ns);
	}
}

void our_close(struct our_control *control)
{
	our_close_all(&control, 1);
}

void our_close_device(struct our_device *device)
{
	uint64_t start_ns = our_now_ns();
	struct our_control *one;

	if (!device)
		return;
	our_for_all_of_device(device, our_start_to_close);
	while ((one = our_first_of_device(device)))
		our_finish_to_close(one, start_ns);
	our_free_device(device);
}

/* ---- For event loops ---- */

/* Returns 0: the event is for the user; EAGAIN: it is not, take the next; or an errno value. */
static int take_meaning(struct our_control *about, enum our_cm_meaning meaning)
{
	if (meaning != OUR_CM_MINE && meaning != OUR_CM_FATAL)
		return EAGAIN;
	if (about->role == OUR_CLIENT && !about->accepted)
		return our_do_step(about);
	if (meaning == OUR_CM_FATAL && about->role == OUR_LISTENER)
		return our_report_no_requests(
			about, "rdma_get_cm_event",
			our_error_of_event(&about->cm_event, RDMA_CM_EVENT_CONNECT_REQUEST));
	if (meaning == OUR_CM_FATAL)
		return 0;
	if (about->cm_event.type == RDMA_CM_EVENT_ESTABLISHED)
		return our_finish_connect(about);
	return 0;
}

int our_take_cm_event(struct our_control *control, struct our_control **about)
{
	struct our_cm_event event;
	int ret;

	for (;;) {
		*about = control; /* also if the channel cannot be read */
		ret = control->config->waiting.cm->take(control, &event);
		if (ret == EAGAIN) {
			ret = our_take_call(control);
			if (ret != EAGAIN)
				return our_report_no_connection(control, ret);
		}
		if (ret)
			return ret;
		if (!event.cm_id->context || is_refused(control, &event))
			continue; /* no context: a closed control's id could not be destroyed */
		*about = event.cm_id->context; /* a new id has the context of its listener */
		(*about)->cm_event = event;
		ret = take_meaning(*about, our_note_cm_event(*about));
		if (ret != EAGAIN)
			return ret;
	}
}

int our_look_after(struct our_control *control, int *timeout_ms)
{
	uint64_t first_ns = our_end_of_wait(control->config->keepalive_s);
	int ret = control->connected ? our_idle(control, our_now_ns()) : 0;

	/*
	 * No keepalive is due before the connection is established, because until then the CM
	 * itself gives up a client that does not answer.
	 */
	*timeout_ms = our_ms_until(control->connected ? our_idle_ns(control) : first_ns);
	return ret;
}
