/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of verbs-trace: extended queues (ibv_create_qp_ex, ibv_wr_*, ibv_create_cq_ex, ibv_start_poll): a
 * process that is connected with itself, by bare verbs, sends itself a message and WRITEs one:
 * extended DEVICE [no-receive]. Exit status: 0 done; 3 a call failed; 4 the device has none of these.
 */
#define DEPTH  64
#define BUFFER 512
#include "verbs/two_ends.h"

#define OPS                                                                               \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE | \
	 IBV_QP_EX_WITH_RDMA_READ)

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **at;
	struct ibv_context *context = NULL;

	must(list != NULL, "ibv_get_device_list");
	for (at = list; *at && !context; at++) {
		if (!strcmp(ibv_get_device_name(*at), name))
			context = ibv_open_device(*at);
	}
	ibv_free_device_list(list);
	must(context != NULL, name);
	return context;
}

static struct ibv_cq_ex *create_cq(struct ibv_context *context)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = DEPTH,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(context, &attr);

	if (!cq && (errno == EOPNOTSUPP || errno == ENOSYS))
		_exit(4);
	must(cq != NULL, "ibv_create_cq_ex");
	return cq;
}

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = OPS,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(context, &attr);

	if (!qp && (errno == EOPNOTSUPP || errno == ENOSYS))
		_exit(4);
	must(qp != NULL, "ibv_create_qp_ex");
	return qp;
}

/* Takes the QP through INIT and RTR to RTS, with itself as the peer. */
static void connect_to_itself(struct ibv_context *context, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	must(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	     "INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = qp->qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 1;
	attr.ah_attr.grh.sgid_index = 1; /* soft-RoCE's GID with an IPv4 address */
	must(!ibv_query_gid(context, 1, 1, &attr.ah_attr.grh.dgid), "ibv_query_gid");
	must(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	     "RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 6;
	attr.rnr_retry = 1;
	attr.max_rd_atomic = 1;
	must(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	     "RTS");
}

static enum ibv_wc_status await(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	enum ibv_wc_status status;
	int ret;

	while ((ret = ibv_start_poll(cq, &attr)) == ENOENT)
		;
	must(!ret, "ibv_start_poll");
	status = cq->status;
	ibv_end_poll(cq);
	return status;
}

int main(int argc, char **argv)
{
	static char buffer[BUFFER];
	bool fails = argc > 2 && !strcmp(argv[2], "no-receive");
	struct ibv_context *context = open_named(argc > 1 ? argv[1] : "");
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_recv_wr *bad, receive = { .wr_id = 1, .num_sge = 1 };
	struct ibv_cq_ex *cq = create_cq(context);
	struct ibv_qp *qp = create_qp(context, pd, ibv_cq_ex_to_cq(cq));
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	struct ibv_mr *mr = ibv_reg_mr(pd, buffer, sizeof(buffer),
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_sge sge = { (uintptr_t)buffer + BUFFER / 2, BUFFER / 2, mr ? mr->lkey : 0 };

	must(ex && mr, "ibv_qp_to_qp_ex");
	connect_to_itself(context, qp);
	receive.sg_list = &sge;
	must(!ibv_post_recv(qp, &receive, &bad), "ibv_post_recv");

	ibv_wr_start(ex);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex, htonl(0x1234));
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)buffer, BUFFER / 2);
	ex->wr_id = 3;
	ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)buffer + BUFFER / 2);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)buffer, 32);
	must(!ibv_wr_complete(ex), "ibv_wr_complete");
	must(await(cq) == IBV_WC_SUCCESS, "first completion");
	must(await(cq) == IBV_WC_SUCCESS, "second completion");
	must(await(cq) == IBV_WC_SUCCESS, "third completion");
	if (fails) { /* alone, because soft-RoCE of Linux 6.12 would flush other work */
		ibv_wr_start(ex);
		ex->wr_id = 4;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)buffer, 32);
		must(!ibv_wr_complete(ex), "ibv_wr_complete");
		must(await(cq) == IBV_WC_RNR_RETRY_EXC_ERR, "a send without a receive");
	}

	must(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) && !ibv_dereg_mr(mr),
	     "ibv_destroy_qp");
	must(!ibv_dealloc_pd(pd) && !ibv_close_device(context), "ibv_dealloc_pd");
	return 0;
}
