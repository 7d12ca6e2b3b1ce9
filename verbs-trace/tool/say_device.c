/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes devices, ports and asynchronous events. See say.h.
 */
#include "verbs-trace/tool/say.h"

static const char *const mtu_names[] = {
	[IBV_MTU_256] = "256",   [IBV_MTU_512] = "512",   [IBV_MTU_1024] = "1024",
	[IBV_MTU_2048] = "2048", [IBV_MTU_4096] = "4096",
};

void say_device(struct out *out, const char *name, struct ibv_device *device)
{
	if (device)
		out_string(out, name, device->name);
	else
		say_pointer(out, name, NULL);
}

void say_device_attr(struct out *out, const char *name, const struct ibv_device_attr *attr)
{
	out_open(out, name);
	out_string(out, "fw_ver", attr->fw_ver);
	out_signed(out, "max_qp", attr->max_qp);
	out_signed(out, "max_qp_wr", attr->max_qp_wr);
	out_signed(out, "max_sge", attr->max_sge);
	out_signed(out, "max_cq", attr->max_cq);
	out_signed(out, "max_cqe", attr->max_cqe);
	out_signed(out, "max_mr", attr->max_mr);
	out_unsigned(out, "max_mr_size", attr->max_mr_size);
	out_signed(out, "max_pd", attr->max_pd);
	out_signed(out, "max_qp_rd_atom", attr->max_qp_rd_atom);
	out_signed(out, "max_qp_init_rd_atom", attr->max_qp_init_rd_atom);
	out_signed(out, "max_srq", attr->max_srq);
	out_signed(out, "max_srq_wr", attr->max_srq_wr);
	out_unsigned(out, "phys_port_cnt", attr->phys_port_cnt);
	out_close(out);
}

void say_device_attr_ex(struct out *out, const char *name, const struct ibv_device_attr_ex *attr)
{
	say_device_attr(out, name, &attr->orig_attr);
}

void say_port_attr(struct out *out, const char *name, const struct ibv_port_attr *attr)
{
	static const char *const states[] = { "NOP",   "DOWN",   "INIT",
					      "ARMED", "ACTIVE", "ACTIVE_DEFER" };
	static const char *const layers[] = { "UNSPECIFIED", "INFINIBAND", "ETHERNET" };

	out_open(out, name);
	out_name(out, "state", attr->state, NAMES_OF(states));
	out_name(out, "max_mtu", attr->max_mtu, NAMES_OF(mtu_names));
	out_name(out, "active_mtu", attr->active_mtu, NAMES_OF(mtu_names));
	out_unsigned(out, "max_msg_sz", attr->max_msg_sz);
	out_signed(out, "gid_tbl_len", attr->gid_tbl_len);
	out_unsigned(out, "lid", attr->lid);
	out_name(out, "link_layer", attr->link_layer, NAMES_OF(layers));
	out_close(out);
}

void say_gid_entry(struct out *out, const char *name, const struct ibv_gid_entry *entry)
{
	static const char *const types[] = { "IB", "ROCE_V1", "ROCE_V2" };

	out_open(out, name);
	say_gid(out, "gid", &entry->gid);
	out_name(out, "gid_type", entry->gid_type, NAMES_OF(types));
	out_unsigned(out, "ndev_ifindex", entry->ndev_ifindex);
	out_close(out);
}

void say_async_type(struct out *out, const char *name, enum ibv_event_type type)
{
	static const char *const names[] = {
		"CQ_ERR",
		"QP_FATAL",
		"QP_REQ_ERR",
		"QP_ACCESS_ERR",
		"COMM_EST",
		"SQ_DRAINED",
		"PATH_MIG",
		"PATH_MIG_ERR",
		"DEVICE_FATAL",
		"PORT_ACTIVE",
		"PORT_ERR",
		"LID_CHANGE",
		"PKEY_CHANGE",
		"SM_CHANGE",
		"SRQ_ERR",
		"SRQ_LIMIT_REACHED",
		"QP_LAST_WQE_REACHED",
		"CLIENT_REREGISTER",
		"GID_CHANGE",
		"WQ_FATAL",
	};

	out_name(out, name, (uint64_t)type, NAMES_OF(names));
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
