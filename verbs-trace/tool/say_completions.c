/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes completions. Of one in error, only the valid fields are written. See say.h.
 */
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/say.h"

static const char *name_of(int status)
{
	return (size_t)status < wc_status_names.n ? wc_status_names.names[status] : NULL;
}

const char *completion_status(int status)
{
	return name_of(status) ? name_of(status) : "?";
}

static void say_completion(struct out *out, const struct ibv_wc *wc, struct object *qp)
{
	out_open(out, NULL);
	out_hex(out, "wr_id", wc->wr_id);
	say_wc_status(out, out->json || !name_of(wc->status) ? "status" : NULL, wc->status);
	if (wc->status != IBV_WC_SUCCESS) {
		out_hex(out, "vendor_err", wc->vendor_err);
	} else {
		say_wc_opcode(out, FOR_JSON(out, "opcode"), wc->opcode);
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

	out_open_list(out, FOR_JSON(out, name));
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
