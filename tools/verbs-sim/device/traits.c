/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How the two drivers differ, as measured on Linux 6.1 and 6.12: docs/drivers.md has each value.
 * See devices.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/device/device.h"

/*
 * Messages of the connection manager, by the sources of Linux: cma.c sends each 16 times, as often
 * as docs/drivers.md says; a request that a program has not answered yet is repeated more slowly.
 */
#define ROCE_TRIES       16ull
#define ROCE_REPEATED_NS 6100000000ull
#define ROCE_612_NS      4600000000ull
#define SERVICE_NS       68700000000ull

static const struct sim_traits roce = {
	.attr = {
		.fw_ver = "0.0.0",
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.vendor_id = 0xffffff,
		.max_qp_wr = 1048576,
		.device_cap_flags = 0x1223c76,
		.max_sge = 32,
		.max_sge_rd = 32,
		.max_cqe = 32767,
		.max_qp_rd_atom = 128,
		.max_res_rd_atom = 258048,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_mcast_grp = 8192,
		.max_mcast_qp_attach = 56,
		.max_total_mcast_qp_attach = 458752,
		.max_srq_wr = 1048576,
		.max_srq_sge = 27,
		.max_pkeys = 64,
		.local_ca_ack_delay = 15,
	},
	.port = {
		.max_mtu = IBV_MTU_4096,
		.gid_tbl_len = 1024,
		.port_cap_flags = IBV_PORT_CM_SUP,
		.max_msg_sz = 8u << 20,
		.pkey_tbl_len = 1, /* the default partition key */
		.max_vl_num = 1,
		.flags = IBV_QPF_GRH_REQUIRED,
	},
	.most[SIM_QP] = 1048560,
	.most[SIM_CQ] = 1048576,
	.most[SIM_MW] = 524287,
	.most[SIM_MR] = 524287,
	.most[SIM_PD] = 1048576,
	.most[SIM_AH] = 32767,
	.most[SIM_SRQ] = 917503,
	.max_inline = 512,
	.inline_piece = 16,
	.rounds_srq = true,
	.padded_request = 56,
	.padded_reply = 196,
	.padded_reject = 148,
	.nobody_listens = 8, /* IB_CM_REJ_INVALID_SERVICE_ID */
	.rejected = 28,      /* IB_CM_REJ_CONSUMER_DEFINED */
	.backlog_full = 0,
	.request_lost_ns = ROCE_TRIES * ROCE_REPEATED_NS,
	.not_answered_ns = ROCE_TRIES * (SERVICE_NS + ROCE_REPEATED_NS),
	.disconnect_lost_ns = ROCE_TRIES * ROCE_REPEATED_NS,
	.resend_ns = ROCE_REPEATED_NS,
	.timewait_ns = 2100000000,
	.ack_timeout = 19, /* 2.1 s */
	.bad_local_key = IBV_WC_LOC_QP_OP_ERR,
	.bad_bind = IBV_WC_MW_BIND_ERR,
	.bad_recv_key = IBV_WC_LOC_QP_OP_ERR,
	.too_long_here = IBV_WC_LOC_QP_OP_ERR,
	.too_long_there = IBV_WC_REM_OP_ERR,
	.solicited = true,
	.flushes_torn = true,
	.sends_at_once = true,
	.tells_state = true,
};

static const struct sim_traits iwarp = {
	.iwarp = true,
	.attr = {
		.fw_ver = "0.0.0",
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0x1000,
		.vendor_id = 0x626d74,
		.vendor_part_id = 1,
		.max_qp_wr = 32768,
		.device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS,
		.max_sge = 6,
		.max_sge_rd = 1,
		.max_cqe = 3276800,
		.max_qp_rd_atom = 128,
		.max_res_rd_atom = 13107200,
		.max_srq_wr = 327680,
		.max_srq_sge = 6,
	},
	.port = {
		.max_mtu = IBV_MTU_1024,
		.gid_tbl_len = 1,
		.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_DEVICE_MGMT_SUP,
		.max_msg_sz = UINT32_MAX,
	},
	.most[SIM_QP] = 102400,
	.most[SIM_CQ] = 102400,
	.most[SIM_MR] = 1024000,
	.most[SIM_PD] = 102400,
	.most[SIM_SRQ] = 102400,
	.max_inline = 80,
	.rounds_cq = true,
	.nobody_listens = -ECONNREFUSED,
	.rejected = -ECONNRESET,
	.backlog_full = -ECONNRESET,
	.request_lost_ns = 127000000000, /* TCP's six retries */
	.not_answered_ns = 10000000000,  /* MPAREQ_TIMEOUT of siw_cm.h */
	.tcp_lost_ns = 924600000000,     /* TCP's fifteen retries */
	.bad_local_key = IBV_WC_LOC_QP_OP_ERR,
	.bad_recv_key = IBV_WC_GENERAL_ERR,
	.too_long_here = IBV_WC_LOC_LEN_ERR,
	.too_long_there = IBV_WC_SUCCESS,
};

static void change_to_612(struct sim_traits *traits)
{
	traits->tells_state = true;
	if (traits->iwarp) {
		traits->port.max_mtu = IBV_MTU_256;
		return;
	}
	traits->port.max_msg_sz = 2u << 30;
	traits->request_lost_ns = ROCE_TRIES * ROCE_612_NS;
	traits->not_answered_ns = ROCE_TRIES * (SERVICE_NS + ROCE_612_NS);
	traits->disconnect_lost_ns = ROCE_TRIES * ROCE_612_NS;
	traits->resend_ns = ROCE_612_NS;
	traits->timewait_ns = 500000000;
	traits->ack_timeout = 17; /* 0.54 s */
	traits->bad_local_key = traits->bad_bind = IBV_WC_WR_FLUSH_ERR;
	traits->flushes_torn = traits->sends_at_once = false;
	traits->drops_too_long = true;
	traits->atomic_write = true;
	traits->flushes_late = true;
	traits->last_wqe = true;
}

bool sim_read_kind(const char *kind, struct sim_traits *traits)
{
	bool is_iwarp = !strncmp(kind, "iwarp", 5);
	const char *release = strchr(kind, '-');

	if (!is_iwarp && strncmp(kind, "roce", 4))
		return false;
	*traits = is_iwarp ? iwarp : roce;
	if (release && !strcmp(release, "-6.12"))
		change_to_612(traits);
	return kind[is_iwarp ? 5 : 4] == '\0' || (release && !strcmp(release, "-6.12"));
}

/* ---- Traits by name ---- */

#define NAMED(name, member)                                      \
	{                                                        \
		name, offsetof(struct sim_traits, member),       \
			sizeof(((struct sim_traits *)0)->member) \
	}
#define TRAIT(member) NAMED(#member, member)

static const struct {
	const char *name;
	size_t offset, size;
} traits_by_name[] = {
	NAMED("max_qp", most[SIM_QP]),
	NAMED("max_cq", most[SIM_CQ]),
	NAMED("max_mr", most[SIM_MR]),
	NAMED("max_pd", most[SIM_PD]),
	NAMED("max_srq", most[SIM_SRQ]),
	NAMED("max_qp_wr", attr.max_qp_wr),
	NAMED("max_cqe", attr.max_cqe),
	NAMED("max_sge", attr.max_sge),
	NAMED("max_srq_wr", attr.max_srq_wr),
	NAMED("max_rd_atom", attr.max_qp_rd_atom),
	NAMED("max_message", port.max_msg_sz),
	TRAIT(max_inline),
	TRAIT(inline_piece),
	TRAIT(rounds_wr),
	TRAIT(rounds_cq),
	TRAIT(rounds_srq),
	TRAIT(ack_timeout),
	TRAIT(solicited),
	TRAIT(flushes_torn),
	TRAIT(flushes_late),
	TRAIT(last_wqe),
	TRAIT(sends_at_once),
	TRAIT(tells_state),
	TRAIT(forgets_finished),
	TRAIT(loses),
	TRAIT(repeats),
};

bool sim_set_trait(struct sim_traits *traits, const char *name, const char *value)
{
	uint64_t number, most;
	char *end;
	size_t i;

	number = strtoull(value, &end, 10);
	if (end == value || *end || *value == '-')
		return false;
	for (i = 0; i < sizeof(traits_by_name) / sizeof(traits_by_name[0]); i++) {
		if (strcmp(traits_by_name[i].name, name))
			continue;
		most = traits_by_name[i].size == sizeof(bool) ? UINT8_MAX : UINT32_MAX;
		memcpy((char *)traits + traits_by_name[i].offset, &number, traits_by_name[i].size);
		return number <= most;
	}
	return false;
}
