/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes devices, asynchronous events, attributes of queues, and work requests,
 * as far as structures.txt cannot say how. See say.h.
 */
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

/* What the program has written into the queue itself before this call. */
void say_extended_wr(struct out *out, const char *name, const struct ibv_qp_ex *qp)
{
	out_object(out, name, KIND_QP, qp);
	out_hex(out, "wr_id", qp->wr_id);
	if (qp->wr_flags)
		say_send_flags(out, "flags", qp->wr_flags);
}
