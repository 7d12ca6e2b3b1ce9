/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Changing the attributes of a QP, and its state: the changes that a device allows, and their
 * effects. See device.h.
 */
#include <errno.h>

#include "verbs-sim/device/device.h"

static bool is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid);
}

int sim_check_path(struct sim_host host, uint32_t port, const struct ibv_ah_attr *path)
{
	const struct sim_gid *gid = sim_find_gid(host, port, path->grh.sgid_index);
	const struct sim_device *device = host.device;

	if (!port || port > device->n_ports)
		return EINVAL;
	if (!path->is_global)
		return device->ports[port - 1].infiniband ? 0 : EINVAL;
	if (!gid)
		return path->grh.sgid_index < sim_gid_places(device, port) ? ENODATA : EINVAL;
	return is_ipv4(&gid->gid) == is_ipv4(&path->grh.dgid) ? 0 : EINVAL;
}

/*
 * ---- The steps ----
 *
 * These follow the InfiniBand specification, 11.2.5.2, as ib_modify_qp_is_ok of Linux does, which
 * soft-RoCE and adapters' drivers call. There is no SQD here.
 */

#define OF_INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define OF_RTR  (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define OF_RTS  (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)
#define OTHER   (IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH)
#define LATER   (OTHER | IBV_QP_CUR_STATE | IBV_QP_PATH_MIG_STATE)

enum type_of_step {
	RC,
	UC,
	UD,
	TYPES
};

static const struct step {
	enum ibv_qp_state from, to;
	int required[TYPES], allowed[TYPES];
} steps[] = {
	{ IBV_QPS_RESET,
	  IBV_QPS_INIT,
	  { OF_INIT | IBV_QP_ACCESS_FLAGS, OF_INIT | IBV_QP_ACCESS_FLAGS, OF_INIT | IBV_QP_QKEY },
	  { 0 } },
	{ IBV_QPS_INIT,
	  IBV_QPS_INIT,
	  { 0 },
	  { OF_INIT | IBV_QP_ACCESS_FLAGS, OF_INIT | IBV_QP_ACCESS_FLAGS, OF_INIT | IBV_QP_QKEY } },
	{ IBV_QPS_INIT,
	  IBV_QPS_RTR,
	  { OF_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, OF_RTR, 0 },
	  { OTHER | IBV_QP_PKEY_INDEX, OTHER | IBV_QP_PKEY_INDEX,
	    IBV_QP_QKEY | IBV_QP_PKEY_INDEX } },
	{ IBV_QPS_RTR,
	  IBV_QPS_RTS,
	  { OF_RTS | IBV_QP_SQ_PSN, IBV_QP_SQ_PSN, IBV_QP_SQ_PSN },
	  { LATER | IBV_QP_MIN_RNR_TIMER, LATER, IBV_QP_QKEY | IBV_QP_CUR_STATE } },
	{ IBV_QPS_RTS,
	  IBV_QPS_RTS,
	  { 0 },
	  { LATER | IBV_QP_MIN_RNR_TIMER, LATER, IBV_QP_QKEY | IBV_QP_CUR_STATE } },
};

static bool has_attributes(const struct sim_qp *qp, enum ibv_qp_state to, int mask)
{
	enum type_of_step type = qp->type == IBV_QPT_RC ? RC : qp->type == IBV_QPT_UC ? UC : UD;
	const struct step *step;

	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return !(mask & ~IBV_QP_STATE) &&
		       (to == IBV_QPS_RESET || qp->state != IBV_QPS_RESET);
	for (step = steps; step < steps + sizeof(steps) / sizeof(steps[0]); step++) {
		if (step->from == qp->state && step->to == to)
			return !(step->required[type] & ~mask) &&
			       !(mask &
				 ~(step->required[type] | step->allowed[type] | IBV_QP_STATE));
	}
	return false;
}

/* soft-iWARP takes any attributes. It has no RTR, and the connection manager leads to RTS. */
static bool is_iwarp_step(enum ibv_qp_state from, enum ibv_qp_state to)
{
	return to == IBV_QPS_RESET || to == IBV_QPS_ERR || (to == IBV_QPS_RTS && from == to) ||
	       (to == IBV_QPS_INIT && (from == IBV_QPS_RESET || from == to));
}

static bool may_change(const struct sim_qp *qp, enum ibv_qp_state to, int mask)
{
	if (!sim_is_iwarp(qp))
		return has_attributes(qp, to, mask);
	return mask & IBV_QP_STATE ? is_iwarp_step(qp->state, to) : qp->state != IBV_QPS_ERR;
}

/* ---- */

static int check_path(const struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct sim_device *device = qp->pd->context->device;

	if (mask & IBV_QP_PORT && (!attr->port_num || attr->port_num > device->n_ports))
		return EINVAL;
	if (!(mask & IBV_QP_AV) || !qp->attr.port_num)
		return 0;
	return sim_check_path(sim_host_of(qp), qp->attr.port_num, &attr->ah_attr);
}

/* Checks the depths: not every device refuses one above its limit for READs that it answers. */
static int check_depths(const struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	int most = sim_qp_traits(qp)->attr.max_qp_rd_atom;

	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > most)
		return EINVAL;
	return mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > most &&
			       sim_qp_traits(qp)->limits_answers
		       ? EINVAL
		       : 0;
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
	if (!may_change(qp, mask & IBV_QP_STATE ? attr->qp_state : qp->state, mask))
		return EINVAL;
	if (check_path(qp, attr, mask) || check_depths(qp, attr, mask))
		return EINVAL;
	copy_attr(&qp->attr, attr, mask);
	if (!(mask & IBV_QP_STATE))
		return 0;
	if (attr->qp_state == IBV_QPS_ERR)
		sim_fail_qp(qp);
	else if (attr->qp_state == IBV_QPS_RESET)
		sim_reset_qp(qp);
	else
		qp->state = attr->qp_state;
	return 0;
}
