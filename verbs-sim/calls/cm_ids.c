/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: ids, from their creation to their end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

struct user_id *sim_new_id(struct sim_endpoint *endpoint, struct rdma_event_channel *channel,
			   void *id_context, enum rdma_port_space ps)
{
	struct user_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->sim = endpoint;
	id->head.channel = channel;
	id->head.context = id_context;
	id->head.ps = ps;
	id->head.qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	endpoint->datagram = ps == RDMA_PS_UDP;
	TAILQ_INIT(&id->groups);
	return id;
}

int sim_make_id(struct rdma_event_channel *channel, struct rdma_cm_id **created, void *id_context,
		enum rdma_port_space ps)
{
	struct sim_endpoint *endpoint;
	struct user_id *id;
	bool synchronous = !channel;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP)
		sim_unknown("a port space other than RDMA_PS_TCP and RDMA_PS_UDP");
	channel = channel ? channel : sim_new_event_channel(true);
	if (!channel)
		return -1;
	endpoint = sim_create_endpoint(sim_me->program, user_event_channel(channel)->sim, NULL);
	id = sim_new_id(endpoint, channel, id_context, ps);
	if (!id) {
		sim_end_endpoint(endpoint);
		return -1;
	}
	endpoint->object.user = id;
	id->synchronous = synchronous;
	*created = &id->head;
	return 0;
}

EXPORTED int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **created,
			    void *id_context, enum rdma_port_space ps)
{
	SIM_CALL_OR(-1, "rdma_create_id", ENODEV, ENOMEM, EMFILE);
	return sim_make_id(channel, created, id_context, ps);
}

/* Waits until the program has acked the events that it got, as rdma_destroy_id(3) says. */
static void await_acks(struct user_id *id)
{
	while (id->unacked)
		sim_block(id, SIM_FOREVER);
}

void sim_delete_id(struct rdma_cm_id *id)
{
	struct user_group *joined;

	while ((joined = TAILQ_FIRST(&user_id(id)->groups))) {
		TAILQ_REMOVE(&user_id(id)->groups, joined, link);
		free(joined);
	}
	sim_ack_last_event(id);
	await_acks(user_id(id));
	sim_end_endpoint(user_id(id)->sim);
	if (user_id(id)->synchronous)
		sim_delete_event_channel(id->channel);
	free(id);
}

EXPORTED int rdma_destroy_id(struct rdma_cm_id *id)
{
	SIM_CALL_OR(-1, "rdma_destroy_id", EINVAL);
	sim_delete_id(id);
	return 0;
}

/* ---- Channels ---- */

/* What is queued about the id goes with it. */
static void move_events(struct sim_endpoint *endpoint, struct sim_channel *to)
{
	struct sim_channel *from = endpoint->channel;
	struct sim_event *event, *next;

	for (event = TAILQ_FIRST(&from->events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->about != &endpoint->object)
			continue;
		TAILQ_REMOVE(&from->events, event, link);
		sim_post_event(to, event);
	}
	from->object.users--;
	to->object.users++;
	endpoint->channel = to;
}

int sim_move_id(struct user_id *id, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *before = id->head.channel;
	bool synchronous = !channel;

	if (id->synchronous && synchronous)
		return EINVAL;
	channel = channel ? channel : sim_new_event_channel(true);
	if (!channel)
		return errno;
	sim_ack_last_event(&id->head);
	move_events(id->sim, user_event_channel(channel)->sim);
	if (id->synchronous)
		sim_delete_event_channel(before);
	id->synchronous = synchronous;
	id->head.channel = channel;
	await_acks(id);
	return 0;
}

EXPORTED int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	int ret;

	SIM_CALL_OR(-1, "rdma_migrate_id", ENOMEM, EMFILE, EINVAL);
	ret = sim_move_id(user_id(id), channel);
	errno = ret;
	return ret ? -1 : 0;
}
