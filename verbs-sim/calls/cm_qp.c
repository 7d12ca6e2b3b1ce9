/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: the QP and the SRQ of an id, and what the library makes for them: a PD, CQs and their
 * channels; and rdma_create_ep.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

static struct ibv_pd *pds_of_library[SIM_MOST_DEVICES]; /* for ids whose program has none */

static void destroy_cqs(struct rdma_cm_id *id)
{
	if (id->send_cq)
		SIM_INSIDE(ibv_destroy_cq(id->send_cq));
	if (id->send_cq_channel)
		SIM_INSIDE(ibv_destroy_comp_channel(id->send_cq_channel));
	if (id->recv_cq)
		SIM_INSIDE(ibv_destroy_cq(id->recv_cq));
	if (id->recv_cq_channel)
		SIM_INSIDE(ibv_destroy_comp_channel(id->recv_cq_channel));
	id->send_cq = id->recv_cq = NULL;
	id->send_cq_channel = id->recv_cq_channel = NULL;
}

static int create_cq(struct rdma_cm_id *id, uint32_t size, struct ibv_comp_channel **channel,
		     struct ibv_cq **cq)
{
	*channel = SIM_INSIDE(ibv_create_comp_channel(id->verbs));
	if (!*channel)
		return errno;
	*cq = SIM_INSIDE(ibv_create_cq(id->verbs, (int)size, id, *channel, 0));
	return *cq ? 0 : errno;
}

/* Those that the program has not given. */
static int create_cqs(struct rdma_cm_id *id, struct ibv_qp_init_attr *attr)
{
	int ret = 0;

	if (!attr->send_cq) {
		ret = create_cq(id, attr->cap.max_send_wr, &id->send_cq_channel, &id->send_cq);
		attr->send_cq = id->send_cq;
	}
	if (!ret && !attr->recv_cq) {
		ret = create_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq);
		attr->recv_cq = id->recv_cq;
	}
	if (ret)
		destroy_cqs(id);
	return ret;
}

static void init_qp(struct rdma_cm_id *id)
{
	struct sim_qp *qp = user_qp(id->qp)->sim;

	qp->state = IBV_QPS_INIT;
	id->qp->state = IBV_QPS_INIT;
	qp->attr.qp_access_flags = SIM_ALL_ACCESS;
	sim_give_qp(user_id(id)->sim, qp);
	if (qp->type != IBV_QPT_UD)
		return;
	qp->state = id->qp->state = IBV_QPS_RTS;
	qp->attr.port_num = id->port_num;
	qp->attr.qkey = RDMA_UDP_QKEY;
}

static struct ibv_pd *default_pd(struct rdma_cm_id *id)
{
	struct ibv_pd **pd = &pds_of_library[device_of(id->verbs)->number];

	if (!*pd)
		*pd = SIM_INSIDE(ibv_alloc_pd(id->verbs));
	return *pd;
}

/* `extended`: NULL, or what begins with the attributes and has more of them. */
static int make_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
		   struct ibv_qp_init_attr_ex *extended)
{
	int error;

	if (id->qp || !id->verbs || (pd && pd->context != id->verbs))
		return sim_fail(EINVAL);
	pd = pd ? pd : default_pd(id);
	error = create_cqs(id, attr);
	if (error || !pd)
		return sim_fail(error ? error : errno);
	if (!attr->srq)
		attr->srq = id->srq;
	if (extended)
		extended->pd = pd;
	id->qp = extended ? SIM_INSIDE(ibv_create_qp_ex(id->verbs, extended))
			  : SIM_INSIDE(ibv_create_qp(pd, attr));
	if (id->qp && attr->qp_type != id->qp_type) { /* it cannot be made ready */
		SIM_INSIDE(ibv_destroy_qp(id->qp));
		id->qp = NULL;
		errno = EINVAL;
	}
	if (!id->qp) {
		destroy_cqs(id);
		return -1;
	}
	id->pd = pd;
	init_qp(id);
	return 0;
}

int sim_make_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return make_qp(id, pd, attr, NULL);
}

EXPORTED int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	SIM_CALL_OR(-1, "rdma_create_qp_ex", ENOMEM, EINVAL, EOPNOTSUPP);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		attr->pd = NULL;
	attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
	return make_qp(id, attr->pd, (struct ibv_qp_init_attr *)attr, attr);
}

EXPORTED int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	SIM_CALL_OR(-1, "rdma_create_qp", ENOMEM, EINVAL);
	return sim_make_qp(id, pd, attr);
}

void sim_unmake_qp(struct rdma_cm_id *id)
{
	SIM_INSIDE(ibv_destroy_qp(id->qp));
	id->qp = NULL;
	destroy_cqs(id);
}

EXPORTED void rdma_destroy_qp(struct rdma_cm_id *id)
{
	SIM_STEP("rdma_destroy_qp");
	sim_unmake_qp(id);
}

EXPORTED int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
			     struct ibv_srq_init_attr *attr)
{
	SIM_CALL_OR(-1, "rdma_create_srq", ENOMEM, EINVAL);
	if (id->srq || !id->verbs)
		return sim_fail(EINVAL);
	pd = pd ? pd : default_pd(id);
	id->srq = pd ? SIM_INSIDE(ibv_create_srq(pd, attr)) : NULL;
	if (!id->srq)
		return -1;
	id->pd = pd;
	return 0;
}

void sim_unmake_srq(struct rdma_cm_id *id)
{
	SIM_INSIDE(ibv_destroy_srq(id->srq));
	id->srq = NULL;
}

EXPORTED void rdma_destroy_srq(struct rdma_cm_id *id)
{
	SIM_STEP("rdma_destroy_srq");
	sim_unmake_srq(id);
}

/* ---- rdma_create_ep: what it calls is no call of the program ---- */

static int connect_ep(struct rdma_cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		      struct ibv_qp_init_attr *attr)
{
	if (sim_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr) || sim_resolve_route(id))
		return -1;
	sim_ack_last_event(id);
	return attr ? sim_make_qp(id, pd, attr) : 0;
}

/* Its requests get QPs like this one. */
static int bind_ep(struct rdma_cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attr)
{
	if (attr) {
		user_id(id)->makes_qps = true;
		user_id(id)->qp_attr = *attr;
		user_id(id)->qp_pd = pd;
	}
	return sim_bind(id, res->ai_src_addr);
}

EXPORTED int rdma_create_ep(struct rdma_cm_id **created, struct rdma_addrinfo *res,
			    struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	bool passive = res->ai_flags & RAI_PASSIVE;
	struct rdma_cm_id *id;
	int error;

	SIM_CALL_OR(-1, "rdma_create_ep", ENODEV, ENOMEM, EADDRINUSE, EHOSTUNREACH);
	if (sim_make_id(NULL, &id, NULL, (enum rdma_port_space)res->ai_port_space))
		return -1;
	if (attr)
		attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	if (passive ? !bind_ep(id, res, pd, attr) : !connect_ep(id, res, pd, attr)) {
		*created = id;
		return 0;
	}
	error = errno;
	sim_delete_id(id);
	errno = error;
	return -1;
}

EXPORTED void rdma_destroy_ep(struct rdma_cm_id *id)
{
	SIM_STEP("rdma_destroy_ep");
	if (id->qp)
		sim_unmake_qp(id);
	if (id->srq)
		sim_unmake_srq(id);
	sim_delete_id(id);
}
