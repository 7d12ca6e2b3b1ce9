/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: event channels, the devices as the library opens them, and ids, from their creation to
 * their end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"
#include "verbs-sim/calls/libc.h"

/* ---- Event channels ---- */

/* `hidden`: of a synchronous id. Returns NULL and errno. */
static struct rdma_event_channel *new_channel(bool hidden)
{
	struct user_event_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->sim = sim_open_channel(SIM_EVENT_CHANNEL, sizeof(*channel->sim), channel, hidden);
	if (!channel->sim) {
		free(channel);
		return NULL;
	}
	channel->head.fd = channel->sim->fd;
	return &channel->head;
}

static void delete_channel(struct rdma_event_channel *channel)
{
	struct sim_channel *sim = user_event_channel(channel)->sim;

	sim_end_endpoints_of(sim);
	sim_close_channel(sim);
	free(channel);
}

EXPORTED struct rdma_event_channel *rdma_create_event_channel(void)
{
	SIM_CALL_OR(NULL, "rdma_create_event_channel", ENODEV, EMFILE, ENOMEM);
	return new_channel(false);
}

EXPORTED void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	SIM_STEP("rdma_destroy_event_channel");
	delete_channel(channel);
}

/* ---- Devices ---- */

/* librdmacm opens each device once for all ids of a process. */
static struct ibv_context *contexts[SIM_MOST_DEVICES];

/* NULL: the system has no descriptor left. */
static struct ibv_context *open_device(uint32_t number)
{
	struct ibv_device **list = SIM_INSIDE(ibv_get_device_list(NULL));
	struct ibv_context *context = list ? SIM_INSIDE(ibv_open_device(list[number])) : NULL;

	free(list);
	return context;
}

struct ibv_context *sim_context_of_library(struct sim_device *device)
{
	struct ibv_context **context = &contexts[device->number];

	if (!*context)
		*context = open_device(device->number);
	if (!*context)
		sim_give_up(SIM_VERDICT_BROKEN, "no descriptor for the device");
	return *context;
}

void sim_bind_device(struct user_id *id)
{
	if (id->sim->device) {
		id->head.verbs = sim_context_of_library(id->sim->device);
		id->head.port_num = 1;
	}
	id->head.route.addr.src_storage = id->sim->source;
	id->head.route.addr.dst_storage = id->sim->destination;
}

EXPORTED struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list;
	uint32_t i;

	SIM_CALL_OR(NULL, "rdma_get_devices", ENODEV, ENOMEM);
	list = calloc(sim_world->n_devices + 1, sizeof(*list));
	for (i = 0; list && i < sim_world->n_devices; i++)
		list[i] = sim_context_of_library(&sim_world->devices[i]);
	if (num_devices)
		*num_devices = list ? (int)sim_world->n_devices : 0;
	return list;
}

EXPORTED void rdma_free_devices(struct ibv_context **list)
{
	SIM_STEP("rdma_free_devices");
	free(list);
}

/* ---- Ids ---- */

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
	channel = channel ? channel : new_channel(true);
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

void sim_ack_event(struct rdma_cm_event *event)
{
	struct user_id *id = ((struct user_event *)event)->counted;
	struct user_group *group = ((struct user_event *)event)->group;

	id->unacked--;
	sim_wake(sim_me->program, id);
	if (group && group->unacked--)
		sim_wake(sim_me->program, group);
	free(event);
}

void sim_ack_last_event(struct rdma_cm_id *id)
{
	if (id->event)
		sim_ack_event(id->event);
	id->event = NULL;
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
		delete_channel(id->channel);
	free(id);
}

EXPORTED int rdma_destroy_id(struct rdma_cm_id *id)
{
	SIM_CALL_OR(-1, "rdma_destroy_id", EINVAL);
	sim_delete_id(id);
	return 0;
}

/* ---- Moving to another channel ---- */

int sim_move_id(struct user_id *id, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *before = id->head.channel;
	bool synchronous = !channel;

	if (id->synchronous && synchronous)
		return EINVAL;
	channel = channel ? channel : new_channel(true);
	if (!channel)
		return errno;
	sim_ack_last_event(&id->head);
	sim_move_endpoint(id->sim, user_event_channel(channel)->sim);
	if (id->synchronous)
		delete_channel(before);
	id->synchronous = synchronous;
	id->head.channel = channel;
	await_acks(id);
	return 0;
}

EXPORTED int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	SIM_CALL_OR(-1, "rdma_migrate_id", ENOMEM, EMFILE, EINVAL);
	return sim_fail(sim_move_id(user_id(id), channel));
}
