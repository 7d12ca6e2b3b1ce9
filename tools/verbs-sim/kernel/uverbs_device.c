/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: contexts, and attributes of devices and ports. See uverbs.h.
 */
#include <errno.h>

#include "verbs-sim/kernel/uverbs.h"

/* librdmacm keeps a context of each device. */
int uverbs_get_context(struct uverbs *uverbs, const void *in, void *out)
{
	struct ib_uverbs_get_context_resp *answer = out;
	struct sim_context *context =
		sim_open_channel(SIM_CONTEXT, sizeof(*context), NULL, kernel_is_for_librdmacm());

	(void)in;
	if (!context)
		return errno;
	context->device = uverbs->device;
	uverbs->context = context;
	kernel_open_async_channel(&context->async);
	answer->async_fd = (uint32_t)context->async.fd;
	answer->num_comp_vectors = SIM_VECTORS;
	sim_simulate_tsc();
	return 0;
}

static void translate_device(struct ib_uverbs_query_device_resp *to,
			     const struct ibv_device_attr *from)
{
#define SAME(member) to->member = (__typeof__(to->member))from->member
	SAME(node_guid);
	SAME(sys_image_guid);
	SAME(max_mr_size);
	SAME(page_size_cap);
	SAME(vendor_id);
	SAME(vendor_part_id);
	SAME(hw_ver);
	SAME(max_qp);
	SAME(max_qp_wr);
	SAME(device_cap_flags);
	SAME(max_sge);
	SAME(max_sge_rd);
	SAME(max_cq);
	SAME(max_cqe);
	SAME(max_mr);
	SAME(max_pd);
	SAME(max_qp_rd_atom);
	SAME(max_ee_rd_atom);
	SAME(max_res_rd_atom);
	SAME(max_qp_init_rd_atom);
	SAME(max_ee_init_rd_atom);
	SAME(atomic_cap);
	SAME(max_ee);
	SAME(max_rdd);
	SAME(max_mw);
	SAME(max_raw_ipv6_qp);
	SAME(max_raw_ethy_qp);
	SAME(max_mcast_grp);
	SAME(max_mcast_qp_attach);
	SAME(max_total_mcast_qp_attach);
	SAME(max_ah);
	SAME(max_fmr);
	SAME(max_map_per_fmr);
	SAME(max_srq);
	SAME(max_srq_wr);
	SAME(max_srq_sge);
	SAME(max_pkeys);
	SAME(local_ca_ack_delay);
	SAME(phys_port_cnt);
#undef SAME
}

int uverbs_query_device(struct uverbs *uverbs, const void *in, void *out)
{
	struct ibv_device_attr attr;

	(void)in;
	sim_query_device(uverbs->device, &attr);
	translate_device(out, &attr);
	return 0;
}

/* The attributes that only this command has are 0, as with soft-RoCE. */
int uverbs_query_device_ex(struct uverbs *uverbs, const void *in, void *out)
{
	struct ib_uverbs_ex_query_device_resp *answer = out;
	int ret = uverbs_query_device(uverbs, in, &answer->base);

	answer->response_length = sizeof(*answer);
	answer->device_cap_flags_ex = answer->base.device_cap_flags;
	return ret;
}

int uverbs_query_port(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_query_port *request = in;
	struct ib_uverbs_query_port_resp *answer = out;
	struct ibv_port_attr attr;
	int ret = sim_query_port(uverbs_host(uverbs), request->port_num, &attr);

	if (ret)
		return ret;
#define SAME(member) answer->member = (__typeof__(answer->member))attr.member
	SAME(port_cap_flags);
	SAME(max_msg_sz);
	SAME(bad_pkey_cntr);
	SAME(qkey_viol_cntr);
	SAME(gid_tbl_len);
	SAME(pkey_tbl_len);
	SAME(lid);
	SAME(sm_lid);
	SAME(state);
	SAME(max_mtu);
	SAME(active_mtu);
	SAME(lmc);
	SAME(max_vl_num);
	SAME(sm_sl);
	SAME(subnet_timeout);
	SAME(init_type_reply);
	SAME(active_width);
	SAME(active_speed);
	SAME(phys_state);
	SAME(link_layer);
	SAME(flags);
#undef SAME
	return 0;
}
