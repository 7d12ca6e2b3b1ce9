/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: polling and arming CQs, which verbs.h calls through the context, and extended CQs,
 * through the CQ. Of what reads a completion there, only what was asked for is not a NULL pointer,
 * as in soft-RoCE's library.
 */
#include <errno.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"

static bool take(struct sim_cq *cq, struct ibv_wc *wc)
{
	if (!cq->count)
		return false;
	*wc = cq->completions[cq->head];
	cq->head = (cq->head + 1) % cq->depth;
	cq->count--;
	if (wc->status == IBV_WC_WR_FLUSH_ERR && wc->opcode == IBV_WC_RECV)
		sim_end_flushed(wc);
	sim_trace_completion(wc);
	return true;
}

static int poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct sim_cq *cq = user_cq(ibcq)->sim;
	int n = 0;

	if (SIM_CALL("ibv_poll_cq", EIO))
		return -1;
	if (!cq->count) {
		sim_idle(cq);
		return 0;
	}
	sim_found();
	while (n < num_entries && take(cq, &wc[n]))
		n++;
	return n;
}

static int req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct sim_cq *cq = user_cq(ibcq)->sim;
	int ret = SIM_CALL("ibv_req_notify_cq", EINVAL, ENOMEM);

	if (!ret && cq->armed != SIM_ARMED)
		cq->armed = solicited_only ? SIM_ARMED_SOLICITED : SIM_ARMED;
	return ret;
}

/* ---- Extended CQs ---- */

static struct user_cq *of(struct ibv_cq_ex *cq)
{
	return (struct user_cq *)cq;
}

static int take_next(struct user_cq *cq)
{
	if (!take(cq->sim, &cq->current))
		return ENOENT;
	cq->ex.status = cq->current.status;
	cq->ex.wr_id = cq->current.wr_id;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int ret = SIM_CALL("ibv_start_poll", EIO);

	if (ret || attr->comp_mask)
		return ret ? ret : EINVAL;
	ret = take_next(of(cq));
	if (ret)
		sim_idle(of(cq)->sim);
	else
		sim_found();
	return ret;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	int ret = SIM_CALL("ibv_next_poll", EIO);

	return ret ? ret : take_next(of(cq));
}

static void end_poll(struct ibv_cq_ex *cq)
{
	(void)cq;
	SIM_STEP("ibv_end_poll");
}

#define READS(type, what, from)                       \
	static type read_##what(struct ibv_cq_ex *cq) \
	{                                             \
		return of(cq)->current.from;          \
	}
READS(enum ibv_wc_opcode, opcode, opcode)
READS(uint32_t, vendor_err, vendor_err)
READS(unsigned int, wc_flags, wc_flags)
READS(uint32_t, byte_len, byte_len)
READS(__be32, imm_data, imm_data)
READS(uint32_t, qp_num, qp_num)
READS(uint32_t, src_qp, src_qp)
READS(uint32_t, slid, slid)
READS(uint8_t, sl, sl)
READS(uint8_t, dlid_path_bits, dlid_path_bits)

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq;

	SIM_CALL_OR(NULL, "ibv_create_cq_ex", ENOMEM, EINVAL, EOPNOTSUPP);
	if (attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS) /* timestamps, for example */
		return sim_null(EOPNOTSUPP);
	cq = (struct ibv_cq_ex *)sim_new_cq(context, (int)attr->cqe, attr->cq_context,
					    attr->channel, (int)attr->comp_vector);
	if (!cq)
		return NULL;
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_wc_flags = read_wc_flags;
#define ASKED(flag, function) (attr->wc_flags & IBV_WC_EX_WITH_##flag ? (function) : NULL)
	cq->read_byte_len = ASKED(BYTE_LEN, read_byte_len);
	cq->read_imm_data = ASKED(IMM, read_imm_data);
	cq->read_qp_num = ASKED(QP_NUM, read_qp_num);
	cq->read_src_qp = ASKED(SRC_QP, read_src_qp);
	cq->read_slid = ASKED(SLID, read_slid);
	cq->read_sl = ASKED(SL, read_sl);
	cq->read_dlid_path_bits = ASKED(DLID_PATH_BITS, read_dlid_path_bits);
#undef ASKED
	return cq;
}

void sim_install_polling(struct verbs_context *context)
{
	context->context.ops.poll_cq = poll_cq;
	context->context.ops.req_notify_cq = req_notify_cq;
	if (!device_of(&context->context)->traits.iwarp)
		context->create_cq_ex = create_cq_ex;
}
