/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: QPs, from their creation to their end. See uverbs.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/kernel/uverbs.h"

/* ---- Creating ---- */

static int create_siw_rings(struct sim_qp *qp)
{
	int ret = sim_create_siw_ring(&qp->ring, SIM_SIW_SEND, qp->cap.max_send_wr);

	if (!ret && !qp->srq)
		ret = sim_create_siw_ring(&qp->recvs.ring, SIM_SIW_RECV, qp->cap.max_recv_wr);
	return ret;
}

static int create_rings(struct sim_qp *qp)
{
	int ret;

	if (sim_is_iwarp(qp))
		return create_siw_rings(qp);
	ret = sim_create_ring(&qp->ring, qp->cap.max_send_wr,
			      sim_bytes_of_send(qp->cap.max_send_sge, qp->cap.max_inline_data));
	if (!ret && !qp->srq)
		ret = sim_create_ring(&qp->recvs.ring, qp->cap.max_recv_wr,
				      sim_bytes_of_recv(qp->cap.max_recv_sge));
	if (ret || !sim_qp_traits(qp)->exact)
		return ret;
	sim_hold_ring(&qp->ring, qp->cap.max_send_wr);
	if (!qp->srq)
		sim_hold_ring(&qp->recvs.ring, qp->cap.max_recv_wr);
	return 0;
}

static int create_qp(struct uverbs *uverbs, const struct ib_uverbs_ex_create_qp *request,
		     struct sim_qp **qp)
{
	struct sim_qp_needs needs = {
		.send_cq = uverbs_find(uverbs, SIM_CQ, request->send_cq_handle),
		.recv_cq = uverbs_find(uverbs, SIM_CQ, request->recv_cq_handle),
		.srq = request->is_srq ? uverbs_find(uverbs, SIM_SRQ, request->srq_handle) : NULL,
		.type = (enum ibv_qp_type)request->qp_type,
		.sq_sig_all = request->sq_sig_all,
		.cap = { request->max_send_wr, request->max_recv_wr, request->max_send_sge,
			 request->max_recv_sge, request->max_inline_data },
	};
	struct sim_pd *pd = uverbs_find(uverbs, SIM_PD, request->pd_handle);
	int ret;

	if (!pd || !needs.send_cq || !needs.recv_cq || (request->is_srq && !needs.srq))
		return ENOENT;
	ret = sim_judge_qp(uverbs->device, needs.type, &needs.cap);
	if (ret)
		return ret;
	*qp = sim_create_qp(pd, &needs, (void *)(uintptr_t)request->user_handle);
	ret = create_rings(*qp);
	if (ret)
		sim_destroy_qp(*qp);
	else
		kernel_await_locks(&(*qp)->object);
	return ret;
}

static void tell_siw(const struct sim_qp *qp, struct siw_uresp_create_qp *siw)
{
	siw->qp_id = qp->object.number;
	siw->num_sqe = sim_slots_of(&qp->ring);
	siw->sq_key = sim_offset_of(&qp->ring);
	if (qp->srq)
		return;
	siw->num_rqe = sim_slots_of(&qp->recvs.ring);
	siw->rq_key = sim_offset_of(&qp->recvs.ring);
}

static void tell(const struct sim_qp *qp, struct ib_uverbs_create_qp_resp *answer,
		 union uverbs_qp_driver *driver)
{
	answer->qp_handle = answer->qpn = qp->object.number;
	answer->max_send_wr = qp->cap.max_send_wr;
	answer->max_recv_wr = qp->cap.max_recv_wr;
	answer->max_send_sge = qp->cap.max_send_sge;
	answer->max_recv_sge = qp->cap.max_recv_sge;
	answer->max_inline_data = qp->cap.max_inline_data;
	if (sim_is_iwarp(qp)) {
		tell_siw(qp, &driver->siw);
		return;
	}
	driver->rxe.sq_mi = uverbs_place_of(&qp->ring);
	if (!qp->srq)
		driver->rxe.rq_mi = uverbs_place_of(&qp->recvs.ring);
}

int uverbs_create_qp(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_create_qp *request = in;
	struct ib_uverbs_ex_create_qp wanted = { .user_handle = request->user_handle };
	struct uverbs_qp_answer *answer = out;
	struct sim_qp *qp;
	int ret;

#define SAME(member) wanted.member = request->member
	SAME(pd_handle);
	SAME(send_cq_handle);
	SAME(recv_cq_handle);
	SAME(srq_handle);
	SAME(max_send_wr);
	SAME(max_recv_wr);
	SAME(max_send_sge);
	SAME(max_recv_sge);
	SAME(max_inline_data);
	SAME(sq_sig_all);
	SAME(qp_type);
	SAME(is_srq);
#undef SAME
	ret = create_qp(uverbs, &wanted, &qp);
	if (!ret)
		tell(qp, &answer->core, &answer->driver);
	return ret;
}

/* soft-RoCE supports none of the flags. */
int uverbs_create_qp_ex(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_ex_create_qp *request = in;
	struct uverbs_qp_ex_answer *answer = out;
	struct sim_qp *qp;
	int ret = request->create_flags ? EOPNOTSUPP : create_qp(uverbs, request, &qp);

	if (ret)
		return ret;
	tell(qp, &answer->core.base, &answer->driver);
	answer->core.response_length = sizeof(answer->core);
	return 0;
}

/* On iWARP the connection ends with the QP, after all that TCP has taken. */
int uverbs_destroy_qp(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_destroy_qp *request = in;
	struct ib_uverbs_destroy_qp_resp *answer = out;
	struct sim_qp *qp = uverbs_find(uverbs, SIM_QP, request->qp_handle);

	if (!qp || qp->n_groups)
		return qp ? EBUSY : ENOENT;
	if (sim_is_iwarp(qp)) {
		sim_fail_qp(qp);
		sim_lose_connection(qp->endpoint);
	}
	answer->events_reported = qp->object.async_reported;
	kernel_forget_locks(&qp->object);
	sim_destroy_qp(qp);
	return 0;
}

/* ---- Attributes: those that have the same names in a request, an answer and the library ---- */

#define EACH_ATTRIBUTE(DO)      \
	DO(qkey);               \
	DO(rq_psn);             \
	DO(sq_psn);             \
	DO(dest_qp_num);        \
	DO(qp_access_flags);    \
	DO(pkey_index);         \
	DO(path_mtu);           \
	DO(max_rd_atomic);      \
	DO(max_dest_rd_atomic); \
	DO(min_rnr_timer);      \
	DO(port_num);           \
	DO(timeout);            \
	DO(retry_cnt);          \
	DO(rnr_retry)

static void translate_path(struct ibv_ah_attr *to, const struct ib_uverbs_qp_dest *from)
{
	memcpy(&to->grh.dgid, from->dgid, sizeof(to->grh.dgid));
	to->grh.flow_label = from->flow_label;
	to->grh.sgid_index = from->sgid_index;
	to->grh.hop_limit = from->hop_limit;
	to->grh.traffic_class = from->traffic_class;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->is_global = from->is_global;
	to->port_num = from->port_num;
}

int uverbs_modify_qp(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_modify_qp *request = in;
	struct sim_qp *qp = uverbs_find(uverbs, SIM_QP, request->qp_handle);
	struct ibv_qp_attr attr = { .qp_state = (enum ibv_qp_state)request->qp_state };
	int ret, mask = (int)request->attr_mask;

	(void)out;
	if (!qp)
		return ENOENT;
#define COPY(member) attr.member = (__typeof__(attr.member))request->member
	EACH_ATTRIBUTE(COPY);
#undef COPY
	translate_path(&attr.ah_attr, &request->dest);
	/*
	 * soft-iWARP has neither of these states. librdmacm asks for them, and then the connection
	 * manager moves the QP into RTS, or ends the connection.
	 */
	if (sim_is_iwarp(qp) &&
	    (request->qp_state == IBV_QPS_RTR || request->qp_state == IBV_QPS_SQD))
		mask &= ~IBV_QP_STATE;
	if (!mask)
		return 0;
	ret = sim_modify_qp(qp, &attr, mask);
	if (!ret && request->attr_mask & IBV_QP_AV)
		sim_trace("QP %u: %s, port %u, GID %u, MTU %u", qp->object.number,
			  uverbs->device->name, qp->attr.port_num, qp->attr.ah_attr.grh.sgid_index,
			  128u << qp->attr.path_mtu);
	return ret;
}

/* soft-RoCE returns at creation the sizes asked for, and here the sizes that it has room for. */
static uint32_t room_of(const struct sim_ring *ring, uint32_t asked)
{
	return ring->shared ? sim_slots_of(ring) : asked;
}

int uverbs_query_qp(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_query_qp *request = in;
	struct ib_uverbs_query_qp_resp *answer = out;
	const struct sim_qp *qp = uverbs_find(uverbs, SIM_QP, request->qp_handle);
	const struct ibv_ah_attr *path;

	if (!qp)
		return ENOENT;
#define COPY(member) answer->member = (__typeof__(answer->member))qp->attr.member
	EACH_ATTRIBUTE(COPY);
#undef COPY
	answer->qp_state = answer->cur_qp_state =
		(uint8_t)(sim_qp_traits(qp)->tells_state ? qp->state : IBV_QPS_RESET);
	answer->max_send_wr = room_of(&qp->ring, qp->cap.max_send_wr);
	answer->max_recv_wr = room_of(&qp->recvs.ring, qp->cap.max_recv_wr);
	answer->max_send_sge = qp->cap.max_send_sge;
	answer->max_recv_sge = qp->cap.max_recv_sge;
	answer->max_inline_data = qp->cap.max_inline_data;
	answer->sq_sig_all = qp->sq_sig_all;
	path = &qp->attr.ah_attr;
	memcpy(answer->dest.dgid, &path->grh.dgid, sizeof(answer->dest.dgid));
	answer->dest.flow_label = path->grh.flow_label;
	answer->dest.sgid_index = path->grh.sgid_index;
	answer->dest.hop_limit = path->grh.hop_limit;
	answer->dest.traffic_class = path->grh.traffic_class;
	answer->dest.dlid = path->dlid;
	answer->dest.sl = path->sl;
	answer->dest.is_global = path->is_global;
	answer->dest.port_num = path->port_num;
	return 0;
}
