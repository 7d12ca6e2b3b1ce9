/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Joining groups of multicast. See cm.h.
 */
#include <errno.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

#define ENOTSUPP 524 /* the kernel's own number */

int sim_join(struct sim_endpoint *endpoint, const struct sockaddr *address, union ibv_gid *gid)
{
	enum rdma_cm_event_type type = RDMA_CM_EVENT_MULTICAST_JOIN;
	const struct sim_fault *fault = sim_me->instead;
	struct sockaddr_storage group;

	/* The kernel does not let an id join if its route is resolved, or it has been connected. */
	if (!endpoint->datagram || !endpoint->device || endpoint->state != SIM_CM_IDLE ||
	    endpoint->routed)
		return EINVAL;
	if (sim_cm_traits(endpoint)->iwarp)
		return ENOSYS;
	if (address->sa_family == AF_INET6) /* RoCE v2 has no MLID */
		return ENOTSUPP;
	sim_copy_address(&group, address);
	*gid = sim_gid_of(&group);
	sim_me->instead = NULL;
	if (fault) {
		sim_report_fault("%s at %s", fault->how, sim_me->call);
		type = (enum rdma_cm_event_type)fault->value;
	}
	sim_tell_path(endpoint, type, fault ? fault->status : 0, gid);
	return 0;
}
