/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: completion channels and their events, and asynchronous events.
 */
#include <errno.h>
#include <stdlib.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/calls/verbs.h"

EXPORTED struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct user_channel *channel;

	SIM_CALL_OR(NULL, "ibv_create_comp_channel", EMFILE, ENOMEM);
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	channel->sim =
		sim_open_channel(SIM_COMP_CHANNEL, sizeof(*channel->sim), channel, sim_inside);
	if (!channel->sim) {
		free(channel);
		return NULL;
	}
	channel->head.context = context;
	channel->head.fd = channel->sim->fd;
	return &channel->head;
}

EXPORTED int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct sim_channel *sim = user_channel(channel)->sim;
	int ret = SIM_CALL("ibv_destroy_comp_channel", EBUSY);

	if (ret || sim->object.users)
		return ret ? ret : EBUSY;
	sim_close_channel(sim);
	free(channel);
	return 0;
}

EXPORTED int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
			      void **cq_context)
{
	struct sim_event *event;

	SIM_CALL_OR(-1, "ibv_get_cq_event", EIO, EINTR);
	event = sim_await_event(user_channel(channel)->sim, channel->fd);
	if (!event)
		return -1;
	*cq = event->about->user;
	*cq_context = (*cq)->cq_context;
	user_cq(*cq)->unacked++;
	sim_free(event);
	return 0;
}

EXPORTED void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	SIM_STEP("ibv_ack_cq_events");
	if (nevents > user_cq(cq)->unacked)
		sim_give_up(SIM_VERDICT_BROKEN,
			    "ibv_ack_cq_events acks %u events, and the program got %u", nevents,
			    user_cq(cq)->unacked);
	user_cq(cq)->unacked -= nevents;
	sim_wake(sim_me->program, cq);
}

/*
 * The count of events about an object that are not acked; NULL for those of a port or the device.
 */
static uint32_t *unacked_of(struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return &user_cq(event->element.cq)->async_unacked;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return &user_srq(event->element.srq)->async_unacked;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return NULL;
	default:
		return &user_qp(event->element.qp)->async_unacked;
	}
}

EXPORTED int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct sim_async_event *got;

	SIM_CALL_OR(-1, "ibv_get_async_event", EIO, EINTR);
	got = (struct sim_async_event *)sim_await_event(&user_context(context)->sim->async,
							context->async_fd);
	if (!got)
		return -1;
	event->event_type = got->type;
	event->element.port_num = 1;
	if (got->head.about) {
		event->element.qp = got->head.about->user; /* or the CQ, or the SRQ */
		++*unacked_of(event);
	}
	sim_free(got);
	return 0;
}

EXPORTED void ibv_ack_async_event(struct ibv_async_event *event)
{
	uint32_t *unacked;

	SIM_STEP("ibv_ack_async_event");
	unacked = unacked_of(event);
	if (!unacked)
		return;
	--*unacked;
	sim_wake(sim_me->program, event->element.qp);
}
