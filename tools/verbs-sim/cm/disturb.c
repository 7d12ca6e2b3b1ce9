/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What happens to a program's host and its devices, whichever call it makes: by --fail, or by a step.
 * See cm.h.
 */
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

static void post_to(struct sim_object *object, enum ibv_event_type type)
{
	if (object->kind == SIM_QP)
		sim_post_async(((struct sim_qp *)object)->pd->context, type, object);
	else if (object->kind == SIM_CQ)
		sim_post_async(((struct sim_cq *)object)->context, type, object);
	else if (object->kind == SIM_SRQ)
		sim_post_async(((struct sim_srq *)object)->pd->context, type, object);
	else
		sim_post_async((struct sim_context *)object, type, NULL);
}

/* Makes the event for each such object of the program (NULL: of any). */
static void post_to_all(const struct sim_program *program, enum ibv_event_type type)
{
	struct sim_object *object;

	SIM_EACH(object, kind_of(type))
	{
		if (!program || object->program == program)
			post_to(object, type);
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
	post_to_all(NULL, IBV_EVENT_DEVICE_FATAL);
}

void sim_disturb(struct sim_program *program, const struct sim_fault *fault)
{
	switch (fault->kind) {
	case SIM_FAULT_ASYNC:
		post_to_all(program, (enum ibv_event_type)fault->value);
		break;
	case SIM_FAULT_SILENCE:
		program->silent = true;
		break;
	case SIM_FAULT_REMOVAL:
		remove_device();
		break;
	default:
		break;
	}
}
