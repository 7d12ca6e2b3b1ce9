/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Carrying out --fail when the program makes the call that it names. See device/faults.h.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/cm/cm.h"

/* Returns true if this call, or command of the kernel, destroys something. */
static bool destroys(const char *name)
{
	return strcasestr(name, "destroy") || strcasestr(name, "dealloc") ||
	       strcasestr(name, "dereg") || strcasestr(name, "close") || strcasestr(name, "leave");
}

static int fail_call(const char *name, int way)
{
	bool said = way != SIM_UNSAID;

	if (!way || (!said && strncmp(name, "ibv_", 4) && strncmp(name, "rdma_", 5)))
		return 0; /* the call cannot fail, or not in this way */
	if (destroys(name))
		sim_me->program->may_leave_objects = true;
	sim_report_fault("%s failed: %s", name, said ? strerror(way) : "errno 0");
	return way;
}

/* ---- Events of the connection manager ---- */

static bool is_expected_at(const char *name, enum rdma_cm_event_type type)
{
	static const char *const calls[] = { "rdma_resolve_addr", "rdma_resolve_route",
					     "rdma_connect",      "rdma_accept",
					     "RESOLVE_IP",        "RESOLVE_ROUTE",
					     "CONNECT",           "ACCEPT" };
	size_t i;

	if (type == RDMA_CM_EVENT_ADDR_CHANGE || type == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return false;
	if (type == RDMA_CM_EVENT_MULTICAST_ERROR)
		return true; /* the runner takes it for a join only */
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i], name))
			return true;
	}
	return false;
}

/* Replaces the event that the call leads to; if it leads to none, tells each id. */
static void tell_ids(struct sim_fault *fault, const char *name)
{
	enum rdma_cm_event_type type = (enum rdma_cm_event_type)fault->value;
	struct sim_endpoint *endpoint;
	struct sim_object *object;

	if (is_expected_at(name, type)) {
		sim_me->instead = fault;
		fault->happened = true;
		return;
	}
	SIM_EACH(object, SIM_ENDPOINT)
	{
		endpoint = (struct sim_endpoint *)object;
		if (object->hidden || object->program != sim_me->program ||
		    (!endpoint->bound && !endpoint->device) ||
		    (endpoint->state == SIM_CM_LISTENING && type != RDMA_CM_EVENT_ADDR_CHANGE))
			continue;
		sim_tell(endpoint, type, fault->status);
		fault->happened = true;
	}
	if (fault->happened)
		sim_report_fault("%s at %s", fault->how, name);
}

/* From now on the program writes its output to a device that is full. */
static void fill_stdout(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	dup2(fd, STDOUT_FILENO);
	sim_system(SYS_close, fd);
}

static void send_signal(int number)
{
	if (number == SIGKILL)
		raise(SIGKILL);
	if (number == SIGSTOP)
		sim_me->program->stopped = true; /* until the runner tells it to stop for good */
	else
		sim_send_signal(sim_me->program, number);
}

/* Injects a fault that takes effect at once, whichever call this is. */
static void inject(const struct sim_fault *fault)
{
	switch (fault->kind) {
	case SIM_FAULT_SIGNAL:
		send_signal(fault->value);
		break;
	case SIM_FAULT_FULL:
		fill_stdout();
		break;
	default:
		sim_disturb(sim_me->program, fault);
		break;
	}
}

/* The kinds that are named here are reported when they have had an effect. */
static int commit(struct sim_fault *fault, const char *name, const int *ways)
{
	switch (fault->kind) {
	case SIM_FAULT_USUAL:
		return fail_call(name, ways[0]);
	case SIM_FAULT_ERROR:
		return fail_call(name, ways[0] ? fault->value : 0);
	case SIM_FAULT_EVENT:
		tell_ids(fault, name);
		return 0;
	case SIM_FAULT_STATUS:
		sim_me->program->next_status = fault;
		return 0;
	default:
		sim_report_fault("%s at %s", fault->how, name);
		inject(fault);
		return 0;
	}
}

static bool is_due(struct sim_fault *fault, const char *name, bool counted)
{
	if (fault->program != sim_me->program->number)
		return false;
	if (*fault->call)
		return !strcmp(fault->call, name) && ++fault->seen == fault->number;
	return counted && fault->number == sim_me->program->calls;
}

static int commit_all(const char *name, const int *ways, bool counted)
{
	int i, way, ret = 0;

	for (i = 0; i < sim_world->n_faults; i++) {
		if (!is_due(&sim_world->faults[i], name, counted))
			continue;
		way = commit(&sim_world->faults[i], name, ways);
		ret = way ? way : ret;
	}
	return ret;
}

int sim_commit_fault(const char *name, const int *ways)
{
	return commit_all(name, ways, true);
}

int sim_commit_fault_of(const char *name, const int *ways)
{
	return commit_all(name, ways, false);
}
