/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes completions. Of one in error, only the valid fields are written. See say.h.
 */
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/say.h"

static const char *const statuses[] = {
	"SUCCESS",
	"LOC_LEN_ERR",
	"LOC_QP_OP_ERR",
	"LOC_EEC_OP_ERR",
	"LOC_PROT_ERR",
	"WR_FLUSH_ERR",
	"MW_BIND_ERR",
	"BAD_RESP_ERR",
	"LOC_ACCESS_ERR",
	"REM_INV_REQ_ERR",
	"REM_ACCESS_ERR",
	"REM_OP_ERR",
	"RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR",
	"LOC_RDD_VIOL_ERR",
	"REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR",
	"INV_EECN_ERR",
	"INV_EEC_STATE_ERR",
	"FATAL_ERR",
	"RESP_TIMEOUT_ERR",
	"GENERAL_ERR",
	"TM_ERR",
	"TM_RNDV_INCOMPLETE",
};
static const char *const opcodes[] = {
	[IBV_WC_SEND] = "SEND",
	[IBV_WC_RDMA_WRITE] = "RDMA_WRITE",
	[IBV_WC_RDMA_READ] = "RDMA_READ",
	[IBV_WC_COMP_SWAP] = "COMP_SWAP",
	[IBV_WC_FETCH_ADD] = "FETCH_ADD",
	[IBV_WC_BIND_MW] = "BIND_MW",
	[IBV_WC_LOCAL_INV] = "LOCAL_INV",
	[IBV_WC_TSO] = "TSO",
	[9] = "ATOMIC_WRITE",
	[IBV_WC_RECV] = "RECV",
	[IBV_WC_RECV_RDMA_WITH_IMM] = "RECV_RDMA_WITH_IMM",
};

const char *completion_status(int status)
{
	return (size_t)status < sizeof(statuses) / sizeof(statuses[0]) ? statuses[status] : "?";
}

static void say_status(struct out *out, int status)
{
	if (out->json || (size_t)status >= sizeof(statuses) / sizeof(statuses[0]))
		out_name(out, "status", (uint64_t)status, NAMES_OF(statuses));
	else
		out_word(out, NULL, statuses[status]);
}

static void say_completion(struct out *out, const struct ibv_wc *wc, struct object *qp)
{
	out_open(out, NULL);
	out_hex(out, "wr_id", wc->wr_id);
	say_status(out, wc->status);
	if (wc->status != IBV_WC_SUCCESS) {
		out_hex(out, "vendor_err", wc->vendor_err);
	} else {
		out_name(out, out->json ? "opcode" : NULL, wc->opcode, NAMES_OF(opcodes));
		if (wc->opcode & IBV_WC_RECV || wc->opcode == IBV_WC_RDMA_READ)
			out_unsigned(out, "bytes", wc->byte_len);
		if (wc->opcode & IBV_WC_RECV && wc->wc_flags & IBV_WC_WITH_IMM)
			say_immediate(out, "imm", wc->imm_data);
	}
	if (qp)
		out_known(out, "qp", qp, qp->pointer);
	else
		out_unsigned(out, "qp_num", wc->qp_num);
	out_close(out);
}

void say_completions(struct out *out, const char *name, const struct ibv_wc *wc, const void *cq,
		     int n)
{
	const struct object *known = object_of(KIND_CQ, cq);
	int i;

	out_open_list(out, out->json ? name : NULL);
	for (i = 0; i < n; i++)
		say_completion(out, &wc[i], object_qp_of(known, wc[i].qp_num));
	out_close_list(out);
}

/* `cq` is at a completion; which fields it has depends on the attributes of the CQ. */
void say_extended_completion(struct out *out, struct ibv_cq_ex *cq)
{
	const struct ibv_cq_ex *functions = extended_cq_ex(cq);
	const struct object *known = object_of(KIND_CQ, cq);
	struct ibv_wc wc = { .wr_id = cq->wr_id, .status = cq->status };

	if (wc.status == IBV_WC_SUCCESS)
		wc.opcode = functions->read_opcode(cq);
	else
		wc.vendor_err = functions->read_vendor_err(cq);
	if (known && known->wc_flags & IBV_WC_EX_WITH_BYTE_LEN && wc.status == IBV_WC_SUCCESS)
		wc.byte_len = functions->read_byte_len(cq);
	if (known && known->wc_flags & IBV_WC_EX_WITH_QP_NUM)
		wc.qp_num = functions->read_qp_num(cq);
	say_completions(out, "completion", &wc, cq, 1);
}
