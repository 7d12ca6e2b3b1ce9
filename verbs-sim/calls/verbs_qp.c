/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: QPs, from their creation to their end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"
#include "verbs-sim/cm/cm.h"

struct ibv_qp *sim_new_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct sim_qp_needs needs = { .type = attr->qp_type, .sq_sig_all = attr->sq_sig_all };
	struct user_qp *qp;
	int error;

	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD)
		sim_unknown("a QP that is not of the type IBV_QPT_RC or IBV_QPT_UD");
	if (!attr->send_cq || !attr->recv_cq)
		return sim_null(EINVAL);
	error = sim_judge_qp(device_of(pd->context), attr->qp_type, &attr->cap);
	if (error)
		return sim_null(error);
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

static void trace_path(const struct sim_qp *qp)
{
	const struct ibv_qp_attr *attr = &qp->attr;

	if (sim_world->trace)
		dprintf(STDERR_FILENO, "verbs-sim: QP %u: %s, port %u, GID %u, MTU %u\n",
			qp->object.number, qp->pd->context->device->name, attr->port_num,
			attr->ah_attr.grh.sgid_index, 128u << attr->path_mtu);
}

EXPORTED int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	int ret = SIM_CALL("ibv_modify_qp", EINVAL, ENOMEM);

	if (!ret)
		ret = sim_number(sim_modify_qp(user_qp(qp)->sim, attr, attr_mask));
	if (!ret && attr_mask & IBV_QP_AV)
		trace_path(user_qp(qp)->sim);
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
