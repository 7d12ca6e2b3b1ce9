/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes the attributes of queues. See say.h.
 */
#include "verbs-trace/tool/say.h"

static const char *const qp_types[] = {
	[IBV_QPT_RC] = "RC",
	[IBV_QPT_UC] = "UC",
	[IBV_QPT_UD] = "UD",
	[IBV_QPT_RAW_PACKET] = "RAW_PACKET",
	[IBV_QPT_XRC_SEND] = "XRC_SEND",
	[IBV_QPT_XRC_RECV] = "XRC_RECV",
	[IBV_QPT_DRIVER] = "DRIVER",
};
static const char *const qp_states[] = { "RESET", "INIT", "RTR", "RTS",
					 "SQD",   "SQE",  "ERR", "UNKNOWN" };
static const char *const mtus[] = { "0", "256", "512", "1024", "2048", "4096" };
static const char *const mig_states[] = { "MIGRATED", "REARM", "ARMED" };

void say_ah_attr(struct out *out, const char *name, const struct ibv_ah_attr *attr)
{
	out_open(out, name);
	if (attr->is_global) {
		say_gid(out, "dgid", &attr->grh.dgid);
		out_unsigned(out, "sgid_index", attr->grh.sgid_index);
		out_unsigned(out, "hop_limit", attr->grh.hop_limit);
		if (attr->grh.traffic_class)
			out_unsigned(out, "traffic_class", attr->grh.traffic_class);
	}
	if (attr->dlid || !attr->is_global)
		out_unsigned(out, "dlid", attr->dlid);
	out_unsigned(out, "sl", attr->sl);
	out_unsigned(out, "port_num", attr->port_num);
	out_close(out);
}

static void say_cap(struct out *out, const struct ibv_qp_cap *cap)
{
	out_open(out, "cap");
	out_unsigned(out, "send", cap->max_send_wr);
	out_unsigned(out, "recv", cap->max_recv_wr);
	out_unsigned(out, "send_sge", cap->max_send_sge);
	out_unsigned(out, "recv_sge", cap->max_recv_sge);
	out_unsigned(out, "inline", cap->max_inline_data);
	out_close(out);
}

static void say_path(struct out *out, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_PKEY_INDEX)
		out_unsigned(out, "pkey_index", attr->pkey_index);
	if (mask & IBV_QP_PORT)
		out_unsigned(out, "port_num", attr->port_num);
	if (mask & IBV_QP_AV)
		say_ah_attr(out, "ah_attr", &attr->ah_attr);
	if (mask & IBV_QP_PATH_MTU)
		out_name(out, "path_mtu", attr->path_mtu, NAMES_OF(mtus));
	if (mask & IBV_QP_ALT_PATH)
		say_ah_attr(out, "alt_ah_attr", &attr->alt_ah_attr);
	if (mask & IBV_QP_PATH_MIG_STATE)
		out_name(out, "path_mig_state", attr->path_mig_state, NAMES_OF(mig_states));
}

static void say_reliability(struct out *out, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_TIMEOUT)
		out_unsigned(out, "timeout", attr->timeout);
	if (mask & IBV_QP_RETRY_CNT)
		out_unsigned(out, "retry_cnt", attr->retry_cnt);
	if (mask & IBV_QP_RNR_RETRY)
		out_unsigned(out, "rnr_retry", attr->rnr_retry);
	if (mask & IBV_QP_MIN_RNR_TIMER)
		out_unsigned(out, "min_rnr_timer", attr->min_rnr_timer);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		out_unsigned(out, "max_rd_atomic", attr->max_rd_atomic);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		out_unsigned(out, "max_dest_rd_atomic", attr->max_dest_rd_atomic);
}

void say_qp_attr(struct out *out, const char *name, const struct ibv_qp_attr *attr, int mask)
{
	out_open(out, name);
	if (mask & IBV_QP_STATE)
		out_name(out, "state", attr->qp_state, NAMES_OF(qp_states));
	if (mask & IBV_QP_CUR_STATE)
		out_name(out, "cur_state", attr->cur_qp_state, NAMES_OF(qp_states));
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		out_unsigned(out, "en_sqd_async_notify", attr->en_sqd_async_notify);
	if (mask & IBV_QP_ACCESS_FLAGS)
		say_access(out, "access", attr->qp_access_flags);
	if (mask & IBV_QP_QKEY)
		out_hex(out, "qkey", attr->qkey);
	if (mask & IBV_QP_DEST_QPN)
		out_unsigned(out, "dest_qp_num", attr->dest_qp_num);
	say_path(out, attr, mask);
	if (mask & IBV_QP_RQ_PSN)
		out_unsigned(out, "rq_psn", attr->rq_psn);
	if (mask & IBV_QP_SQ_PSN)
		out_unsigned(out, "sq_psn", attr->sq_psn);
	say_reliability(out, attr, mask);
	if (mask & IBV_QP_CAP)
		say_cap(out, &attr->cap);
	if (mask & IBV_QP_RATE_LIMIT)
		out_unsigned(out, "rate_limit", attr->rate_limit);
	out_close(out);
}

void say_qp_init_attr_ex(struct out *out, const char *name, const struct ibv_qp_init_attr_ex *attr)
{
	out_open(out, name);
	out_name(out, "qp_type", attr->qp_type, NAMES_OF(qp_types));
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		out_object(out, "pd", KIND_PD, attr->pd);
	say_labelled(out, "send_cq", KIND_CQ, attr->send_cq);
	say_labelled(out, "recv_cq", KIND_CQ, attr->recv_cq);
	if (attr->srq)
		say_labelled(out, "srq", KIND_SRQ, attr->srq);
	say_cap(out, &attr->cap);
	out_signed(out, "sq_sig_all", attr->sq_sig_all);
	if (attr->comp_mask)
		out_hex(out, "comp_mask", attr->comp_mask);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		out_hex(out, "send_ops_flags", attr->send_ops_flags);
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

void say_cq_init_attr_ex(struct out *out, const char *name, const struct ibv_cq_init_attr_ex *attr)
{
	out_open(out, name);
	out_unsigned(out, "cqe", attr->cqe);
	if (attr->channel)
		say_labelled(out, "channel", KIND_COMP_CHANNEL, attr->channel);
	out_unsigned(out, "comp_vector", attr->comp_vector);
	out_hex(out, "wc_flags", attr->wc_flags);
	out_hex(out, "comp_mask", attr->comp_mask);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		out_hex(out, "flags", attr->flags);
	out_close(out);
}

void say_srq_attr(struct out *out, const char *name, const struct ibv_srq_attr *attr)
{
	out_open(out, name);
	out_unsigned(out, "max_wr", attr->max_wr);
	out_unsigned(out, "max_sge", attr->max_sge);
	out_unsigned(out, "srq_limit", attr->srq_limit);
	out_close(out);
}

void say_srq_init_attr(struct out *out, const char *name, const struct ibv_srq_init_attr *attr)
{
	say_srq_attr(out, name, &attr->attr);
}

void say_ece(struct out *out, const char *name, const struct ibv_ece *ece)
{
	out_open(out, name);
	out_hex(out, "vendor_id", ece->vendor_id);
	out_hex(out, "options", ece->options);
	out_close(out);
}

void say_cq_of_event(struct out *out, const char *name, struct ibv_cq *const *cq)
{
	out_object(out, name, KIND_CQ, *cq);
}
