/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Doing what --fail asks for, when the program makes that call. See core/fault.h.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/fault.h"

static bool destroys(const char *name)
{
	return strstr(name, "destroy") || strstr(name, "dealloc") || strstr(name, "dereg") ||
	       strstr(name, "close");
}

static int fail_call(const char *name, int way)
{
	if (!way)
		return 0; /* it cannot fail */
	if (destroys(name))
		sim_me->program->excused = true;
	sim_report_fault("%s failed: %s", name, strerror(way));
	return way;
}

/* To each device that the program (NULL: any) has opened. */
static void post_to_all(const struct sim_program *program, enum ibv_event_type type)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_CONTEXT)
	{
		if (!program || object->program == program)
			sim_post_async((struct sim_context *)object, type, NULL);
	}
}

/* As when its module is unloaded: nothing is sent any more, and every id is told. */
static void remove_device(void)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_QP)
	{
		sim_fail_qp((struct sim_qp *)object);
	}
	SIM_EACH(object, SIM_ENDPOINT)
	{
		if (!object->hidden)
			sim_tell((struct sim_endpoint *)object, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	}
	post_to_all(NULL, IBV_EVENT_DEVICE_FATAL);
}

static int commit(struct sim_fault *fault, const char *name, const int *ways)
{
	if (fault->kind != SIM_FAULT_USUAL && fault->kind != SIM_FAULT_ERROR &&
	    fault->kind != SIM_FAULT_STATUS)
		sim_report_fault("%s at %s", fault->how, name);
	switch ((enum sim_fault_kind)fault->kind) {
	case SIM_FAULT_USUAL:
		return fail_call(name, ways[0]);
	case SIM_FAULT_ERROR:
		return fail_call(name, ways[0] ? fault->value : 0);
	case SIM_FAULT_SIGNAL:
		if (fault->value == SIGKILL)
			raise(SIGKILL);
		sim_send_signal(sim_me->program, fault->value);
		return 0;
	case SIM_FAULT_ASYNC:
		post_to_all(sim_me->program, (enum ibv_event_type)fault->value);
		return 0;
	case SIM_FAULT_REMOVAL:
		remove_device();
		return 0;
	case SIM_FAULT_STATUS:
		sim_me->program->next_status = fault;
		return 0;
	}
	return 0;
}

static bool is_due(struct sim_fault *fault, const char *name)
{
	if (fault->program != sim_me->program->number)
		return false;
	if (*fault->call)
		return !strcmp(fault->call, name) && ++fault->seen == fault->number;
	return fault->number == sim_me->program->calls;
}

int sim_commit_fault(const char *name, const int *ways)
{
	int i, way, ret = 0;

	for (i = 0; i < sim_world->n_faults; i++) {
		if (!is_due(&sim_world->faults[i], name))
			continue;
		way = commit(&sim_world->faults[i], name, ways);
		ret = way ? way : ret;
	}
	return ret;
}
