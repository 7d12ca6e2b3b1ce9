/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: connections of a QP that the program has created and makes ready itself, and which its
 * id does not know.
 */
#include <errno.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

EXPORTED int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	SIM_CALL_OR(-1, "rdma_init_qp_attr", EINVAL);
	return sim_fail(id->verbs ? sim_init_qp_attr(user_id(id)->sim, attr, mask) : EINVAL);
}

/* Of a client that has made its QP ready by hand; soft-iWARP's connection stands before that. */
EXPORTED int rdma_establish(struct rdma_cm_id *id)
{
	struct sim_endpoint *client = user_id(id)->sim;

	SIM_CALL_OR(-1, "rdma_establish", EINVAL, ENOMEM);
	if (id->qp || client->state != SIM_CM_CONNECTING || !client->wanted.qp_num)
		return sim_fail(EINVAL);
	sim_take_reply(client);
	return 0;
}
