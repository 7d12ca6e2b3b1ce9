/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes devices, asynchronous events, attributes of queues, work requests and
 * completions, where structures.txt does not suffice. See say.h.
 */
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/say.h"

void say_device(struct out *out, const char *name, struct ibv_device *device)
{
	if (device)
		out_string(out, name, device->name);
	else
		say_pointer(out, name, NULL);
}

void say_device_attr_ex(struct out *out, const char *name, const struct ibv_device_attr_ex *attr)
{
	say_device_attr(out, name, &attr->orig_attr);
}

void say_async_event(struct out *out, const char *name, const struct ibv_async_event *event)
{
	out_open(out, name);
	say_async_type(out, "event_type", event->event_type);
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		out_object(out, "cq", KIND_CQ, event->element.cq);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		out_object(out, "qp", KIND_QP, event->element.qp);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		out_object(out, "srq", KIND_SRQ, event->element.srq);
		break;
	case IBV_EVENT_WQ_FATAL:
		out_object(out, "wq", KIND_WQ, event->element.wq);
		break;
	default:
		out_signed(out, "port_num", event->element.port_num);
	}
	out_close(out);
}

void say_qp_init_attr(struct out *out, const char *name, const struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex same;

	if (!attr) {
		say_pointer(out, name, NULL);
		return;
	}
	same = (struct ibv_qp_init_attr_ex){
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
	};
	say_qp_init_attr_ex(out, name, &same);
}

void say_srq_init_attr(struct out *out, const char *name, const struct ibv_srq_init_attr *attr)
{
	say_srq_attr(out, name, &attr->attr);
}

void say_cq_of_event(struct out *out, const char *name, struct ibv_cq *const *cq)
{
	out_object(out, name, KIND_CQ, *cq);
}

void say_sges(struct out *out, const char *name, const struct ibv_sge *sges, int n)
{
	int i;

	out_open_list(out, name);
	for (i = 0; i < n; i++)
		say_sge(out, NULL, &sges[i]);
	out_close_list(out);
}

void say_send_wrs(struct out *out, const char *name, const struct ibv_send_wr *wr,
		  const struct ibv_qp *qp)
{
	out_open_list(out, FOR_JSON(out, name));
	for (; wr; wr = wr->next)
		say_send_wr(out, NULL, wr, qp);
	out_close_list(out);
}

void say_recv_wrs(struct out *out, const char *name, const struct ibv_recv_wr *wr)
{
	out_open_list(out, FOR_JSON(out, name));
	for (; wr; wr = wr->next)
		say_recv_wr(out, NULL, wr);
	out_close_list(out);
}

/* Shows the members that the program has written into the queue itself before this call. */
void say_extended_wr(struct out *out, const char *name, const struct ibv_qp_ex *qp)
{
	out_object(out, name, KIND_QP, qp);
	out_hex(out, "wr_id", qp->wr_id);
	if (qp->wr_flags)
		say_send_flags(out, "flags", qp->wr_flags);
}

/* ---- Completions ---- */

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

/* Writes the completion that `cq` is at; the attributes of the CQ say which fields it has. */
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
