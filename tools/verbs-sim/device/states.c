/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Changing the attributes of a QP, and its state: which changes a device allows, and what they do.
 * See device.h.
 */
#include <errno.h>

#include "verbs-sim/device/device.h"

static bool is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid);
}

int sim_check_path(const struct sim_device *device, uint32_t port, const struct ibv_ah_attr *path)
{
	const struct sim_gid *gid = sim_find_gid(device, port, path->grh.sgid_index);

	if (!port || port > device->n_ports)
		return EINVAL;
	if (!path->is_global)
		return device->ports[port - 1].infiniband ? 0 : EINVAL;
	return gid && is_ipv4(&gid->gid) == is_ipv4(&path->grh.dgid) ? 0 : EINVAL;
}

static bool is_step(enum ibv_qp_state from, enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR:
		return true;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS;
	default:
		return false;
	}
}

static int check_path(const struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct sim_device *device = qp->pd->context->device;

	if (mask & IBV_QP_PORT && (!attr->port_num || attr->port_num > device->n_ports))
		return EINVAL;
	if (!(mask & IBV_QP_AV) || !qp->attr.port_num)
		return 0;
	return sim_check_path(device, qp->attr.port_num, &attr->ah_attr);
}

/* A device refuses depths that it does not have. */
static int check_depths(const struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	int most = sim_qp_traits(qp)->attr.max_qp_rd_atom;

	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > most)
		return EINVAL;
	return mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > most ? EINVAL : 0;
}

static void copy_attr(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
#define COPY(bit, member)                          \
	do {                                       \
		if (mask & (bit))                  \
			to->member = from->member; \
	} while (0)
	COPY(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	COPY(IBV_QP_PKEY_INDEX, pkey_index);
	COPY(IBV_QP_PORT, port_num);
	COPY(IBV_QP_QKEY, qkey);
	COPY(IBV_QP_AV, ah_attr);
	COPY(IBV_QP_PATH_MTU, path_mtu);
	COPY(IBV_QP_TIMEOUT, timeout);
	COPY(IBV_QP_RETRY_CNT, retry_cnt);
	COPY(IBV_QP_RNR_RETRY, rnr_retry);
	COPY(IBV_QP_RQ_PSN, rq_psn);
	COPY(IBV_QP_SQ_PSN, sq_psn);
	COPY(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	COPY(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	COPY(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	COPY(IBV_QP_DEST_QPN, dest_qp_num);
#undef COPY
}

int sim_modify_qp(struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_STATE && !is_step(qp->state, attr->qp_state))
		return EINVAL;
	if (check_path(qp, attr, mask) || check_depths(qp, attr, mask))
		return EINVAL;
	copy_attr(&qp->attr, attr, mask);
	if (!(mask & IBV_QP_STATE))
		return qp->state == IBV_QPS_ERR ? EINVAL : 0;
	if (attr->qp_state == IBV_QPS_ERR)
		sim_fail_qp(qp);
	else if (attr->qp_state == IBV_QPS_RESET)
		sim_reset_qp(qp);
	else
		qp->state = attr->qp_state;
	return 0;
}
