/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Disturbs a program's host and its devices, whichever call it makes: by --fail, or by a step.
 * See cm.h.
 */
#include <string.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

/* The kind of object that an asynchronous event is about; SIM_CONTEXT: the device or a port. */
static enum sim_kind kind_of(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_SQ_DRAINED:
		return SIM_QP;
	case IBV_EVENT_CQ_ERR:
		return SIM_CQ;
	case IBV_EVENT_SRQ_ERR:
		return SIM_SRQ;
	default:
		return SIM_CONTEXT;
	}
}

static struct sim_context *context_of(struct sim_object *object)
{
	switch (object->kind) {
	case SIM_QP:
		return ((struct sim_qp *)object)->pd->context;
	case SIM_CQ:
		return ((struct sim_cq *)object)->context;
	case SIM_SRQ:
		return ((struct sim_srq *)object)->pd->context;
	default:
		return (struct sim_context *)object;
	}
}

static bool is_on(const struct sim_context *context, struct sim_host host)
{
	return context->async.object.program == host.program &&
	       (!host.device || context->device == host.device);
}

/* Makes the event for each such object that the host has; of no host: for any. */
static void post_to_all(struct sim_host host, enum ibv_event_type type)
{
	struct sim_object *object;

	SIM_EACH(object, kind_of(type))
	{
		if (!host.program || is_on(context_of(object), host))
			sim_post_async(context_of(object), type,
				       object->kind == SIM_CONTEXT ? NULL : object);
	}
}

/* Removes the devices: nothing is sent any more, and every id that has a device is told. */
static void remove_device(void)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_QP)
	{
		sim_fail_qp((struct sim_qp *)object);
	}
	SIM_EACH(object, SIM_ENDPOINT)
	{
		if (!object->hidden && ((struct sim_endpoint *)object)->device)
			sim_tell((struct sim_endpoint *)object, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	}
	sim_world->devices->removed = true;
	post_to_all((struct sim_host){ 0 }, IBV_EVENT_DEVICE_FATAL);
}

/* ---- Disturbances that last ---- */

static const struct sim_device *device_of(const struct sim_fault *fault)
{
	uint32_t i;

	for (i = 0; i < sim_world->devices->n; i++) {
		if (!strcmp(fault->device, sim_world->devices->all[i].name))
			return &sim_world->devices->all[i];
	}
	return NULL;
}

static void tell_contexts(struct sim_host host, enum ibv_event_type type, bool of_gids)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_CONTEXT)
	{
		struct sim_context *context = (struct sim_context *)object;

		if (is_on(context, host) && !(of_gids && sim_traits(context)->iwarp))
			sim_post_async(context, type, NULL);
	}
}

/* As soft-iWARP of Linux 6.1 does, when a port goes down. */
static void end_connections(struct sim_host host)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_QP)
	{
		struct sim_qp *qp = (struct sim_qp *)object;

		if (is_on(qp->pd->context, host) && sim_qp_traits(qp)->ends_with_port)
			sim_lose_connection(qp->endpoint);
	}
}

/* Connected QPs go on with the index that the GID of their IPv4 address had. */
static void make_stale(struct sim_host host)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_QP)
	{
		struct sim_qp *qp = (struct sim_qp *)object;
		bool other = qp->endpoint && qp->endpoint->source.ss_family != AF_INET;

		if (is_on(qp->pd->context, host) && !sim_is_iwarp(qp) && !other &&
		    (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS))
			qp->stale = qp->type != IBV_QPT_UD;
	}
}

static struct sim_disturbance *begin(enum sim_disturbance_kind kind, struct sim_host host)
{
	struct sim_disturbance *disturbance = sim_alloc(sizeof(*disturbance));

	disturbance->kind = kind;
	disturbance->program = host.program;
	disturbance->device = host.device;
	disturbance->end.kind = SIM_TASK_END;
	disturbance->end.object = disturbance;
	LIST_INSERT_HEAD(&sim_world->devices->disturbances, disturbance, link);
	return disturbance;
}

void sim_end_disturbance(struct sim_disturbance *disturbance)
{
	struct sim_host host = { disturbance->program, disturbance->device };
	enum sim_disturbance_kind kind = disturbance->kind;

	LIST_REMOVE(disturbance, link);
	sim_cancel(&disturbance->end);
	sim_free(disturbance);
	if (kind == SIM_NO_GID) {
		begin(SIM_MOVED, host);
		tell_contexts(host, IBV_EVENT_GID_CHANGE, true);
	} else if (kind == SIM_DOWN && !sim_find_disturbance(kind, host)) {
		tell_contexts(host, IBV_EVENT_PORT_ACTIVE, false);
	}
}

static void raise_ports(struct sim_host host)
{
	struct sim_disturbance *down;

	while ((down = sim_find_disturbance(SIM_DOWN, host)))
		sim_end_disturbance(down);
}

static void disturb(struct sim_host host, const struct sim_fault *fault)
{
	struct sim_disturbance *disturbance;

	disturbance = begin((enum sim_disturbance_kind)fault->value, host);
	disturbance->other = &sim_world->programs[fault->amount % SIM_MOST_PROGRAMS];
	disturbance->every = fault->amount;
	disturbance->ends = fault->duration_ns || fault->value == SIM_DOWN;
	if (fault->value == SIM_DOWN) {
		end_connections(host);
		tell_contexts(host, IBV_EVENT_PORT_ERR, false);
	} else if (fault->value == SIM_NO_GID) {
		make_stale(host);
		tell_contexts(host, IBV_EVENT_GID_CHANGE, true);
	}
	if (fault->duration_ns)
		sim_schedule(&disturbance->end, sim_world->now_ns + fault->duration_ns);
	else if (fault->value == SIM_NO_GID)
		sim_end_disturbance(disturbance);
}

void sim_disturb(struct sim_program *program, const struct sim_fault *fault)
{
	struct sim_host host = { program, device_of(fault) };

	switch (fault->kind) {
	case SIM_FAULT_ASYNC:
		post_to_all(host, (enum ibv_event_type)fault->value);
		break;
	case SIM_FAULT_DISTURBANCE:
		disturb(host, fault);
		break;
	case SIM_FAULT_PORT_UP:
		raise_ports(host);
		break;
	case SIM_FAULT_REMOVAL:
		remove_device();
		break;
	default:
		break;
	}
}
