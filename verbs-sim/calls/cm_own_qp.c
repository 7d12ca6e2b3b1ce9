/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: connections of a QP that the program has created and makes ready itself, and which its
 * id does not know.
 */
#include <errno.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

/* Whether the peer has said where its QP is. */
static bool has_heard(const struct sim_endpoint *endpoint)
{
	return endpoint->wanted.qp_num;
}

/* The kernel grants no access before it knows the connection. */
static int first_attributes(const struct rdma_cm_id *id, const struct sim_endpoint *endpoint,
			    struct ibv_qp_attr *attr)
{
	attr->port_num = id->port_num;
	attr->pkey_index = 0;
	attr->qp_access_flags = has_heard(endpoint) ? SIM_ALL_ACCESS : 0;
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

/* Before a server has accepted, the depths are those of the request. */
static void agree(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
{
	sim_agree(endpoint, attr);
	if (endpoint->state != SIM_CM_REQUESTED)
		return;
	attr->max_rd_atomic = endpoint->wanted.initiator_depth;
	attr->max_dest_rd_atomic = endpoint->wanted.responder_resources;
}

static int path_attributes(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
{
	const union ibv_gid own = sim_gid_of(&endpoint->source);

	agree(endpoint, attr);
	attr->ah_attr = (struct ibv_ah_attr){ .is_global = 1, .port_num = 1 };
	attr->ah_attr.grh.dgid = sim_gid_of(&endpoint->destination);
	attr->ah_attr.grh.sgid_index = (uint8_t)sim_gid_index(endpoint->device, 1, &own);
	attr->ah_attr.grh.hop_limit = 64;
	attr->rq_psn = 0;
	attr->min_rnr_timer = 0;
	return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static int last_attributes(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
{
	agree(endpoint, attr);
	attr->sq_psn = 0;
	return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	       IBV_QP_MAX_QP_RD_ATOMIC;
}

/* soft-iWARP's driver has no other states, and nothing to add. */
static int iwarp_attributes(struct ibv_qp_attr *attr)
{
	if (attr->qp_state == IBV_QPS_RTS)
		return 0;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	return IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
}

EXPORTED int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	const struct sim_endpoint *endpoint = user_id(id)->sim;
	enum ibv_qp_state state = attr->qp_state;

	SIM_CALL_OR(-1, "rdma_init_qp_attr", EINVAL);
	if (!id->verbs || (state != IBV_QPS_INIT && state != IBV_QPS_RTR && state != IBV_QPS_RTS))
		return sim_fail(EINVAL);
	if (sim_cm_traits(endpoint)->iwarp)
		*mask = iwarp_attributes(attr);
	else if (state == IBV_QPS_INIT)
		*mask = first_attributes(id, endpoint, attr);
	else if (!has_heard(endpoint))
		return sim_fail(EINVAL);
	else if (state == IBV_QPS_RTR)
		*mask = path_attributes(endpoint, attr);
	else
		*mask = last_attributes(endpoint, attr);
	return 0;
}

/* Of a client that has made its QP ready by hand; soft-iWARP's connection stands before that. */
EXPORTED int rdma_establish(struct rdma_cm_id *id)
{
	struct sim_endpoint *client = user_id(id)->sim;

	SIM_CALL_OR(-1, "rdma_establish", EINVAL, ENOMEM);
	if (id->qp || client->state != SIM_CM_CONNECTING || !has_heard(client))
		return sim_fail(EINVAL);
	sim_take_reply(client);
	return 0;
}
