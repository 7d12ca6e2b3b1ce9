/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: events: getting them, acking them, and waiting for that of a call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"
#include "verbs-sim/calls/libc.h"

static struct user_id *take_request(struct sim_cm_event *event, struct user_id *listener)
{
	struct user_id *id = sim_new_id(event->request, listener->head.channel,
					listener->head.context, listener->head.ps);

	if (!id)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	sim_take_request(event, id);
	sim_bind_device(id);
	if (listener->synchronous && sim_move_id(id, NULL))
		sim_give_up(SIM_VERDICT_BROKEN, "no descriptor for a synchronous id");
	return id;
}

static void fill_terms(struct user_event *event, const struct sim_terms *terms)
{
	struct rdma_conn_param *param = &event->head.param.conn;

	memcpy(event->data, terms->data, terms->data_length);
	param->private_data = terms->data_length ? event->data : NULL;
	param->private_data_len = terms->data_length;
	param->responder_resources = terms->responder_resources;
	param->initiator_depth = terms->initiator_depth;
	param->retry_count = terms->retry_count;
	param->rnr_retry_count = terms->rnr_retry_count;
	param->qp_num = terms->qp_num;
}

static void fill_datagram(struct user_event *event, const struct sim_cm_event *sim)
{
	struct rdma_ud_param *param = &event->head.param.ud;

	memcpy(event->data, sim->terms.data, sim->terms.data_length);
	param->private_data = sim->terms.data_length ? event->data : NULL;
	param->private_data_len = sim->terms.data_length;
	if (!sim->path.is_global)
		return;
	param->ah_attr = sim->path;
	param->qkey = RDMA_UDP_QKEY;
	param->qp_num = sim->type == RDMA_CM_EVENT_ESTABLISHED ? sim->terms.qp_num : 0xffffff;
}

/* The program takes the event that its id has joined a group: so does the QP. */
static void attach(struct rdma_cm_event *event)
{
	const union ibv_gid *gid = &event->param.ud.ah_attr.grh.dgid;
	struct user_group *joined;

	TAILQ_FOREACH(joined, &user_id(event->id)->groups, link)
	{
		if (!memcmp(&joined->gid, gid, sizeof(*gid)))
			break;
	}
	if (joined) {
		event->param.ud.private_data = joined->context;
		((struct user_event *)event)->group = joined;
		joined->unacked++;
	}
	if (event->id->qp && SIM_INSIDE(ibv_attach_mcast(event->id->qp, gid, 0))) {
		event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
		event->status = -1;
	}
}

/* What librdmacm does when the program takes an event. */
static void follow_up(struct user_event *event)
{
	if (event->head.event == RDMA_CM_EVENT_ADDR_RESOLVED)
		sim_bind_device(event->counted);
	if (event->head.event == RDMA_CM_EVENT_ESTABLISHED)
		sim_take_reply(event->counted->sim);
	if (event->head.event == RDMA_CM_EVENT_MULTICAST_JOIN)
		attach(&event->head);
}

static struct rdma_cm_event *event_for_program(struct sim_cm_event *sim)
{
	struct user_event *event = calloc(1, sizeof(*event));
	struct user_id *id = sim->head.about->user;

	if (!event)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	event->counted = id;
	id->unacked++;
	event->head.event = sim->type;
	event->head.status = sim->status;
	event->head.id = &id->head;
	if (sim->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		event->head.listen_id = &id->head;
		event->head.id = &take_request(sim, id)->head;
	}
	if (id->sim->datagram)
		fill_datagram(event, sim);
	else
		fill_terms(event, &sim->terms);
	follow_up(event);
	sim_note(rdma_event_str(event->head.event), 0);
	sim_free(sim);
	return &event->head;
}

struct rdma_cm_event *sim_get_event(struct rdma_event_channel *channel)
{
	struct sim_event *event = sim_await_event(user_event_channel(channel)->sim, channel->fd);

	return event ? event_for_program((struct sim_cm_event *)event) : NULL;
}

EXPORTED int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	SIM_CALL_OR(-1, "rdma_get_cm_event", EIO, EINTR, ENODEV);
	*event = sim_get_event(channel);
	return *event ? 0 : -1;
}

EXPORTED int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int ret = SIM_CALL("rdma_ack_cm_event", EINVAL);

	sim_ack_event(event);
	return sim_fail(ret);
}

int sim_complete_call(struct rdma_cm_id *id)
{
	int status;

	if (!user_id(id)->synchronous)
		return 0;
	sim_ack_last_event(id);
	id->event = sim_get_event(id->channel);
	if (!id->event)
		return -1;
	status = id->event->status;
	if (!status)
		return 0;
	errno = id->event->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED : abs(status);
	return -1;
}
