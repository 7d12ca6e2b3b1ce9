/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes work requests. See say.h.
 */
#include "verbs-trace/tool/say.h"

static const char *const opcodes[] = {
	[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
	[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
	[IBV_WR_SEND] = "SEND",
	[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
	[IBV_WR_RDMA_READ] = "RDMA_READ",
	[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
	[IBV_WR_LOCAL_INV] = "LOCAL_INV",
	[IBV_WR_BIND_MW] = "BIND_MW",
	[IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV",
	[IBV_WR_TSO] = "TSO",
	[IBV_WR_DRIVER1] = "DRIVER1",
	[15] = "ATOMIC_WRITE",
};
static const char *const send_flags[] = { "FENCE", "SIGNALED", "SOLICITED", "INLINE", "IP_CSUM" };

void say_sges(struct out *out, const char *name, const struct ibv_sge *sges, int n)
{
	int i;

	out_open_list(out, name);
	for (i = 0; i < n; i++) {
		out_open(out, NULL);
		out_hex(out, "addr", sges[i].addr);
		out_unsigned(out, "length", sges[i].length);
		out_hex(out, "lkey", sges[i].lkey);
		out_close(out);
	}
	out_close_list(out);
}

/* The target at the peer, which depends on the opcode. */
static void say_remote(struct out *out, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		out_hex(out, "remote_addr", wr->wr.rdma.remote_addr);
		out_hex(out, "rkey", wr->wr.rdma.rkey);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		out_hex(out, "remote_addr", wr->wr.atomic.remote_addr);
		out_hex(out, "rkey", wr->wr.atomic.rkey);
		out_unsigned(out, "compare_add", wr->wr.atomic.compare_add);
		if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			out_unsigned(out, "swap", wr->wr.atomic.swap);
		break;
	default:
		break;
	}
}

static void say_send_wr(struct out *out, const struct ibv_send_wr *wr, const struct ibv_qp *qp)
{
	out_open(out, NULL);
	out_hex(out, "wr_id", wr->wr_id);
	if (out->json)
		out_name(out, "opcode", wr->opcode, NAMES_OF(opcodes));
	else
		out_name(out, NULL, wr->opcode, NAMES_OF(opcodes));
	if (wr->send_flags)
		out_flags(out, "flags", wr->send_flags, NAMES_OF(send_flags));
	if (wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		say_immediate(out, "imm", wr->imm_data);
	if (wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_LOCAL_INV)
		out_hex(out, "invalidate_rkey", wr->invalidate_rkey);
	say_remote(out, wr);
	if (qp->qp_type == IBV_QPT_UD) {
		out_object(out, "ah", KIND_AH, wr->wr.ud.ah);
		out_unsigned(out, "remote_qpn", wr->wr.ud.remote_qpn);
		out_hex(out, "remote_qkey", wr->wr.ud.remote_qkey);
	}
	say_sges(out, "sge", wr->sg_list, wr->num_sge);
	out_close(out);
}

void say_send_wrs(struct out *out, const char *name, const struct ibv_send_wr *wr,
		  const struct ibv_qp *qp)
{
	out_open_list(out, out->json ? name : NULL);
	for (; wr; wr = wr->next)
		say_send_wr(out, wr, qp);
	out_close_list(out);
}

void say_recv_wrs(struct out *out, const char *name, const struct ibv_recv_wr *wr)
{
	out_open_list(out, out->json ? name : NULL);
	for (; wr; wr = wr->next) {
		out_open(out, NULL);
		out_hex(out, "wr_id", wr->wr_id);
		say_sges(out, "sge", wr->sg_list, wr->num_sge);
		out_close(out);
	}
	out_close_list(out);
}

void say_mw_bind(struct out *out, const char *name, const struct ibv_mw_bind *bind)
{
	out_open(out, name);
	out_hex(out, "wr_id", bind->wr_id);
	out_flags(out, "flags", bind->send_flags, NAMES_OF(send_flags));
	out_object(out, "mr", KIND_MR, bind->bind_info.mr);
	out_hex(out, "addr", bind->bind_info.addr);
	out_unsigned(out, "length", bind->bind_info.length);
	say_access(out, "access", bind->bind_info.mw_access_flags);
	out_close(out);
}

/* What the program has written into the queue itself before this call. */
void say_extended_wr(struct out *out, const char *name, const struct ibv_qp_ex *qp)
{
	out_object(out, name, KIND_QP, qp);
	out_hex(out, "wr_id", qp->wr_id);
	if (qp->wr_flags)
		out_flags(out, "flags", qp->wr_flags, NAMES_OF(send_flags));
}
