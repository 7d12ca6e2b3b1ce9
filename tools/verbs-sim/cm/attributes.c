/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The attributes with which a program, or its library, makes the QP of a connection ready. See cm.h.
 */
#include <errno.h>

#include "verbs-sim/cm/cm.h"

/* Returns true if the peer has sent the number of its QP. */
static bool has_heard(const struct sim_endpoint *endpoint)
{
	return endpoint->wanted.qp_num;
}

/* The kernel grants no access before it knows the connection. */
static int first_attributes(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
{
	attr->port_num = 1;
	attr->pkey_index = 0;
	if (endpoint->datagram) {
		attr->qkey = RDMA_UDP_QKEY;
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	}
	attr->qp_access_flags = has_heard(endpoint) ? SIM_ALL_ACCESS : 0;
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

/* Before a server has accepted, the depths are those of the request. */
static void agree_first(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
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

	agree_first(endpoint, attr);
	attr->ah_attr = (struct ibv_ah_attr){ .is_global = 1, .port_num = 1 };
	attr->ah_attr.grh.dgid = sim_gid_of(&endpoint->destination);
	attr->ah_attr.grh.sgid_index = (uint8_t)sim_gid_index(sim_host_at(endpoint), 1, &own);
	attr->ah_attr.grh.hop_limit = 64;
	attr->rq_psn = 0;
	attr->min_rnr_timer = 0;
	return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static int last_attributes(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
{
	agree_first(endpoint, attr);
	attr->sq_psn = 0;
	return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	       IBV_QP_MAX_QP_RD_ATOMIC;
}

/* soft-iWARP's driver has no other states, and adds nothing. */
static int iwarp_attributes(struct ibv_qp_attr *attr)
{
	if (attr->qp_state == IBV_QPS_RTS)
		return 0;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	return IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
}

int sim_init_qp_attr(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr, int *mask)
{
	enum ibv_qp_state state = attr->qp_state;

	if (!endpoint->device ||
	    (state != IBV_QPS_INIT && state != IBV_QPS_RTR && state != IBV_QPS_RTS))
		return EINVAL;
	if (sim_cm_traits(endpoint)->iwarp)
		*mask = iwarp_attributes(attr);
	else if (state == IBV_QPS_INIT)
		*mask = first_attributes(endpoint, attr);
	else if (!has_heard(endpoint))
		return EINVAL;
	else if (state == IBV_QPS_RTR)
		*mask = path_attributes(endpoint, attr);
	else
		*mask = last_attributes(endpoint, attr);
	return 0;
}
