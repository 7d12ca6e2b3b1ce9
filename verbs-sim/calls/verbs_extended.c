/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: extended QPs, whose functions verbs.h calls through the QP: a chain of requests grows
 * with each call, and the last one posts it. As in soft-RoCE's library, only what was asked for is
 * there: the rest are NULL pointers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"

struct built {
	struct ibv_send_wr wr; /* which names the next one */
	struct ibv_sge *sges;
	uint8_t *data; /* inline */
};

static struct user_qp *qp_of(struct ibv_qp_ex *qp)
{
	return (struct user_qp *)qp;
}

static void forget(struct user_qp *qp)
{
	struct ibv_send_wr *wr, *next;

	for (wr = qp->chain; wr; wr = next) {
		next = wr->next;
		free(((struct built *)wr)->sges);
		free(((struct built *)wr)->data);
		free(wr);
	}
	qp->chain = qp->last = NULL;
}

static void *room(size_t size)
{
	void *made = calloc(1, size + 1);

	if (!made)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	return made;
}

static struct ibv_send_wr *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	struct user_qp *qp = qp_of(ex);
	struct ibv_send_wr *wr = room(sizeof(struct built));

	wr->wr_id = ex->wr_id;
	wr->send_flags = ex->wr_flags;
	wr->opcode = opcode;
	if (qp->last)
		qp->last->next = wr;
	else
		qp->chain = wr;
	qp->last = wr;
	return wr;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	SIM_STEP("ibv_wr_start");
	forget(qp_of(ex));
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	int ret = SIM_CALL("ibv_wr_complete", ENOMEM, EINVAL);

	if (!ret)
		ret = sim_post_all(&ex->qp_base, qp_of(ex)->chain);
	forget(qp_of(ex));
	return ret;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	SIM_STEP("ibv_wr_abort");
	forget(qp_of(ex));
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	begin(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static struct ibv_send_wr *reach(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
				 uint64_t remote_addr)
{
	struct ibv_send_wr *wr = begin(ex, opcode);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
	return wr;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	reach(ex, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	reach(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	reach(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr)->imm_data = imm_data;
}

static void operate(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
		    uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr *wr = begin(ex, opcode);

	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	operate(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	operate(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

/* ---- What the last request of the chain needs besides ---- */

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct ibv_send_wr *wr = qp_of(ex)->last;

	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg_list)
{
	struct built *built = (struct built *)qp_of(ex)->last;

	built->sges = room(num_sge * sizeof(*sg_list));
	memcpy(built->sges, sg_list, num_sge * sizeof(*sg_list));
	built->wr.sg_list = built->sges;
	built->wr.num_sge = (int)num_sge;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = { addr, length, lkey };

	wr_set_sge_list(ex, 1, &sge);
}

/* Copied now: the program may use the memory again. */
static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct built *built = (struct built *)qp_of(ex)->last;
	size_t length = 0, i;

	for (i = 0; i < num_buf; i++)
		length += buf_list[i].length;
	built->data = room(length);
	wr_set_sge(ex, 0, (uintptr_t)built->data, (uint32_t)length);
	built->wr.send_flags |= IBV_SEND_INLINE;
	for (length = 0, i = 0; i < num_buf; length += buf_list[i++].length)
		memcpy(built->data + length, buf_list[i].addr, buf_list[i].length);
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buffer = { addr, length };

	wr_set_inline_data_list(ex, 1, &buffer);
}

/* ---- Creating one ---- */

#define OF_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OF_RC                                                                     \
	(OF_UD | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |           \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define NOT_SIMULATED \
	(IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)

static void extend(struct ibv_qp_ex *qp, uint64_t ops)
{
	qp->wr_start = wr_start;
	qp->wr_complete = wr_complete;
	qp->wr_abort = wr_abort;
	qp->wr_set_ud_addr = wr_set_ud_addr;
	qp->wr_set_sge = wr_set_sge;
	qp->wr_set_sge_list = wr_set_sge_list;
	qp->wr_set_inline_data = wr_set_inline_data;
	qp->wr_set_inline_data_list = wr_set_inline_data_list;
#define ASKED(flag, function) (ops & IBV_QP_EX_WITH_##flag ? (function) : NULL)
	qp->wr_send = ASKED(SEND, wr_send);
	qp->wr_send_imm = ASKED(SEND_WITH_IMM, wr_send_imm);
	qp->wr_rdma_read = ASKED(RDMA_READ, wr_rdma_read);
	qp->wr_rdma_write = ASKED(RDMA_WRITE, wr_rdma_write);
	qp->wr_rdma_write_imm = ASKED(RDMA_WRITE_WITH_IMM, wr_rdma_write_imm);
	qp->wr_atomic_cmp_swp = ASKED(ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp);
	qp->wr_atomic_fetch_add = ASKED(ATOMIC_FETCH_AND_ADD, wr_atomic_fetch_add);
#undef ASKED
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	uint64_t ops = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags : 0;
	struct ibv_qp *qp;

	SIM_CALL_OR(NULL, "ibv_create_qp_ex", ENOMEM, EINVAL, EOPNOTSUPP);
	(void)context;
	if (attr->qp_type == IBV_QPT_RC && ops & NOT_SIMULATED)
		sim_unknown("ibv_create_qp_ex with these operations");
	if (ops & ~(uint64_t)(attr->qp_type == IBV_QPT_UD ? OF_UD : OF_RC) ||
	    attr->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return sim_null(EOPNOTSUPP);
	/* The beginning of the structure is that of the other one. */
	qp = sim_new_qp(attr->pd, (struct ibv_qp_init_attr *)attr);
	if (qp && ops) {
		user_qp(qp)->extended = true;
		extend(&user_qp(qp)->ex, ops);
	}
	return qp;
}

EXPORTED struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return user_qp(qp)->extended ? &user_qp(qp)->ex : NULL;
}

void sim_install_extended(struct verbs_context *context)
{
	if (!device_of(&context->context)->traits.iwarp)
		context->create_qp_ex = create_qp_ex;
}
