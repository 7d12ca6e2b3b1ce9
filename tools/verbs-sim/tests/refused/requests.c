/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The requests of the tables, and what comes of them. See refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

const struct type types[] = {
	{ "RC", IBV_QPT_RC },
	{ "UC", IBV_QPT_UC },
	{ "UD", IBV_QPT_UD },
};

const char *next_status(struct end *end)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 1000; i++, usleep(100)) {
		if (ibv_poll_cq(end->cq, 1, &wc))
			return ibv_wc_status_str(wc.status);
	}
	return "nothing";
}

bool is_good(const char *status)
{
	return !strcmp(status, ibv_wc_status_str(IBV_WC_SUCCESS));
}

const char *outcome(struct end *end, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	int ret = ibv_post_send(end->id->qp, &wr, &bad);

	return ret ? strerror(abs(ret)) : next_status(end);
}

struct ibv_send_wr operation(enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t to, uint32_t length)
{
	static struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = length > 0 };

	sge = (struct ibv_sge){ (uintptr_t)ends.client.buffer, length, ends.client.mr->lkey };
	wr.wr.rdma.remote_addr = to;
	wr.wr.rdma.rkey = rkey;
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
	}
	return wr;
}

struct ibv_mr *region_of(struct end *end, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(end->pd, end->buffer + BUFFER / 2, REGION, access);

	must(mr, "ibv_reg_mr");
	return mr;
}

struct ibv_ah_attr path_to_server(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(ends.client.id->qp, &attr, IBV_QP_AV, &init), "ibv_query_qp");
	return attr.ah_attr;
}

struct ibv_qp *create_for_datagrams(struct end *end, enum ibv_qp_state state)
{
	static const int needs[] = {
		[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		[IBV_QPS_RTS] = IBV_QP_SQ_PSN,
	};
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = QKEY };
	struct ibv_qp *qp = create_qp_of(end, IBV_QPT_UD);
	enum ibv_qp_state to;

	for (to = IBV_QPS_INIT; to <= state; to++) {
		attr.qp_state = to;
		must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | needs[to]), "ibv_modify_qp");
	}
	return qp;
}
