/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: QPs, from their creation to their end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"
#include "verbs-sim/cm/cm.h"

/* As soft-RoCE: inline data are in the place of SGEs. */
static void grant_inline(struct ibv_qp_cap *cap, uint32_t piece)
{
	uint32_t pieces = cap->max_inline_data / piece;

	if (cap->max_send_sge < pieces)
		cap->max_send_sge = pieces;
	if (cap->max_inline_data < cap->max_send_sge * piece)
		cap->max_inline_data = cap->max_send_sge * piece;
}

/* What the device grants of what was asked for; false: it is too much. */
static bool grant(const struct sim_traits *traits, struct ibv_qp_cap *cap)
{
	if (cap->max_send_wr > (uint32_t)traits->attr.max_qp_wr ||
	    cap->max_recv_wr > (uint32_t)traits->attr.max_qp_wr ||
	    cap->max_send_sge > (uint32_t)traits->attr.max_sge ||
	    cap->max_recv_sge > (uint32_t)traits->attr.max_sge ||
	    cap->max_inline_data > traits->max_inline)
		return false;
	if (traits->inline_piece)
		grant_inline(cap, traits->inline_piece);
	if (traits->rounds_wr) {
		cap->max_send_wr = sim_round_up(cap->max_send_wr);
		cap->max_recv_wr = sim_round_up(cap->max_recv_wr);
	}
	return true;
}

struct ibv_qp *sim_new_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct sim_qp_needs needs = { .type = attr->qp_type, .sq_sig_all = attr->sq_sig_all };
	const struct sim_traits *traits = &device_of(pd->context)->traits;
	struct user_qp *qp;

	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD)
		sim_unknown("a QP that is not of the type IBV_QPT_RC or IBV_QPT_UD");
	if (attr->qp_type == IBV_QPT_UD && traits->iwarp)
		return sim_null(EOPNOTSUPP);
	if (!attr->send_cq || !attr->recv_cq || !grant(traits, &attr->cap))
		return sim_null(EINVAL);
	if (!sim_has_room(device_of(pd->context), SIM_QP))
		return sim_null(ENOMEM);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	needs.send_cq = user_cq(attr->send_cq)->sim;
	needs.recv_cq = user_cq(attr->recv_cq)->sim;
	needs.srq = attr->srq ? user_srq(attr->srq)->sim : NULL;
	needs.cap = attr->cap;
	qp->sim = sim_create_qp(user_pd(pd)->sim, &needs, qp);
	qp->head = (struct ibv_qp){
		.context = pd->context,
		.qp_context = attr->qp_context,
		.pd = pd,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.handle = qp->sim->object.number,
		.qp_num = qp->sim->object.number,
		.qp_type = attr->qp_type,
	};
	return &qp->head;
}

EXPORTED struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	SIM_CALL_OR(NULL, "ibv_create_qp", ENOMEM, EINVAL, ENOSYS, EPERM);
	return sim_new_qp(pd, attr);
}

/*
 * Waits until the program has acked what it got about the QP, as ibv_destroy_qp(3) says. On iWARP
 * the connection ends with the QP, behind all that TCP has taken.
 */
EXPORTED int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct user_qp *destroyed = user_qp(qp);
	int ret = SIM_CALL("ibv_destroy_qp", EBUSY, EINVAL);

	if (ret || destroyed->sim->n_groups)
		return sim_number(ret ? ret : EBUSY);
	if (sim_is_iwarp(destroyed->sim)) {
		sim_fail_qp(destroyed->sim);
		sim_lose_connection(destroyed->sim->endpoint);
	}
	while (destroyed->async_unacked)
		sim_block(qp, SIM_FOREVER);
	sim_destroy_qp(destroyed->sim);
	free(destroyed);
	return 0;
}

/* ---- States ---- */

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

static void trace_path(const struct sim_qp *qp)
{
	const struct ibv_qp_attr *attr = &qp->attr;

	if (sim_world->trace)
		dprintf(STDERR_FILENO, "verbs-sim: QP %u: %s, port %u, GID %u, MTU %u\n",
			qp->object.number, qp->pd->context->device->name, attr->port_num,
			attr->ah_attr.grh.sgid_index, 128u << attr->path_mtu);
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

static int modify(struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_STATE && !is_step(qp->state, attr->qp_state))
		return EINVAL;
	if (check_path(qp, attr, mask) || check_depths(qp, attr, mask))
		return EINVAL;
	copy_attr(&qp->attr, attr, mask);
	if (mask & IBV_QP_AV)
		trace_path(qp);
	if (!(mask & IBV_QP_STATE))
		return qp->state == IBV_QPS_ERR ? EINVAL : 0;
	if (attr->qp_state == IBV_QPS_ERR)
		sim_fail_qp(qp);
	else if (attr->qp_state == IBV_QPS_RESET)
		sim_end_qp(qp);
	else
		qp->state = attr->qp_state;
	return 0;
}

EXPORTED int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	int ret = SIM_CALL("ibv_modify_qp", EINVAL, ENOMEM);

	if (!ret)
		ret = sim_number(modify(user_qp(qp)->sim, attr, attr_mask));
	if (!ret && attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return ret;
}

/* soft-iWARP does not say the state of a QP on Linux 6.1. */
EXPORTED int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			  struct ibv_qp_init_attr *init)
{
	const struct sim_qp *sim = user_qp(qp)->sim;
	int ret = SIM_CALL("ibv_query_qp", ENOMEM, EINVAL);

	(void)attr_mask;
	if (ret)
		return ret;
	*attr = sim->attr;
	attr->qp_state = attr->cur_qp_state = sim_qp_traits(sim)->tells_state ? sim->state
									      : IBV_QPS_RESET;
	attr->cap = sim->cap;
	*init = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = sim->cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = sim->sq_sig_all,
	};
	return 0;
}
