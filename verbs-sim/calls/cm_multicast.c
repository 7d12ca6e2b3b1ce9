/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: groups of multicast.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

static int join(struct user_id *id, const struct sockaddr *address, void *context)
{
	struct user_group *joined = calloc(1, sizeof(*joined));
	int ret;

	if (!joined)
		return sim_fail(ENOMEM);
	ret = sim_join(id->sim, address, &joined->gid);
	if (ret) {
		free(joined);
		return sim_fail(ret);
	}
	joined->context = context;
	TAILQ_INSERT_TAIL(&id->groups, joined, link);
	return 0;
}

EXPORTED int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	SIM_CALL_OR(-1, "rdma_join_multicast", EINVAL, ENOMEM, EADDRNOTAVAIL);
	return join(user_id(id), addr, context) ? -1 : sim_complete_call(id);
}

EXPORTED int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
				    void *context)
{
	SIM_CALL_OR(-1, "rdma_join_multicast_ex", EINVAL, ENOMEM, EADDRNOTAVAIL);
	return join(user_id(id), attr->addr, context) ? -1 : sim_complete_call(id);
}

EXPORTED int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sockaddr_storage group;
	struct user_group *joined;
	union ibv_gid gid;

	SIM_CALL_OR(-1, "rdma_leave_multicast", EADDRNOTAVAIL, EINVAL);
	sim_copy_address(&group, addr);
	gid = sim_gid_of(&group);
	TAILQ_FOREACH(joined, &user_id(id)->groups, link)
	{
		if (!memcmp(&joined->gid, &gid, sizeof(gid)))
			break;
	}
	if (!joined)
		return sim_fail(EADDRNOTAVAIL);
	while (joined->unacked) /* as librdmacm waits for its acks */
		sim_block(joined, SIM_FOREVER);
	TAILQ_REMOVE(&user_id(id)->groups, joined, link);
	free(joined);
	if (id->qp)
		SIM_INSIDE(ibv_detach_mcast(id->qp, &gid, 0));
	return 0;
}
