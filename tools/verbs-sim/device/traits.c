/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The traits of each kind of device: a row for each trait, with the evidence for its values. See
 * devices.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/device/device.h"

static const char *const kinds[] = { "roce", "roce-6.12", "iwarp", "iwarp-6.12", "adapter" };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * Messages of the connection manager, by the sources of Linux: cma.c sends each 16 times, as often
 * as docs/drivers.md says; a request that a program has not answered yet is repeated more slowly.
 */
#define REPEATED_NS     6100000000ll
#define REPEATED_612_NS 4600000000ll
#define SERVICE_NS      68700000000ll
#define LOST_NS         (16 * REPEATED_NS)
#define LOST_612_NS     (16 * REPEATED_612_NS)
#define IGNORED_NS      (16 * SERVICE_NS + LOST_NS)
#define IGNORED_612_NS  (16 * SERVICE_NS + LOST_612_NS)

/*
 * A trait: its name in --device, or NULL; its place; its evidence; and its value for each kind. The
 * evidence is a question of tests/probe or tests/adapter.c that the driver has answered, a page, a
 * source file of Linux or rdma-core, a published measurement, or a section of the InfiniBand
 * Architecture Specification, volume 1. An adapter is as soft-RoCE of Linux 6.12 unless the row
 * names something else: librxe runs above it, so alignment, SGEs and limits are librxe's.
 */
#define TRAIT(name, member, evidence, ...)                        \
	{                                                         \
		name, offsetof(struct sim_traits, member),        \
			sizeof(((struct sim_traits *)0)->member), \
		{                                                 \
			__VA_ARGS__                               \
		}                                                 \
	}
#define ALL(value)             value, value, value, value, value
#define BY_DRIVER(roce, iwarp) roce, roce, iwarp, iwarp, roce
#define ADAPTER_ONLY           false, false, false, false, true

static const struct trait {
	const char *name;
	size_t offset, size;
	int64_t of[KINDS];
} traits_table[] = {
	TRAIT(NULL, iwarp, "what it is", BY_DRIVER(false, true)),
	TRAIT("abi", abi, "uverbs_abi_ver of rxe_verbs.c; SIW_ABI_VERSION", BY_DRIVER(2, 1)),

	/* Attributes and limits */
	TRAIT(NULL, attr.max_mr_size, "probe attributes", ALL(-1)),
	TRAIT(NULL, attr.page_size_cap, "probe attributes", BY_DRIVER(0xfffff000, 0x1000)),
	TRAIT(NULL, attr.vendor_id, "probe attributes", BY_DRIVER(0xffffff, 0x626d74)),
	TRAIT(NULL, attr.vendor_part_id, "probe attributes", BY_DRIVER(0, 1)),
	TRAIT("max_qp_wr", attr.max_qp_wr, "probe caps", BY_DRIVER(1048576, 32768)),
	TRAIT(NULL, attr.device_cap_flags, "probe attributes",
	      BY_DRIVER(0x1223c76, IBV_DEVICE_MEM_MGT_EXTENSIONS)),
	TRAIT("max_sge", attr.max_sge, "probe caps", BY_DRIVER(32, 6)),
	TRAIT(NULL, attr.max_sge_rd, "probe pieces", BY_DRIVER(32, 1)),
	TRAIT("max_cqe", attr.max_cqe, "probe caps", BY_DRIVER(32767, 3276800)),
	TRAIT("max_rd_atom", attr.max_qp_rd_atom, "probe caps", ALL(128)),
	TRAIT(NULL, attr.max_res_rd_atom, "probe attributes", BY_DRIVER(258048, 13107200)),
	TRAIT(NULL, attr.atomic_cap, "probe attributes",
	      BY_DRIVER(IBV_ATOMIC_HCA, IBV_ATOMIC_NONE)),
	TRAIT(NULL, attr.max_mcast_grp, "probe attributes", BY_DRIVER(8192, 0)),
	TRAIT(NULL, attr.max_mcast_qp_attach, "probe attributes", BY_DRIVER(56, 0)),
	TRAIT(NULL, attr.max_total_mcast_qp_attach, "probe attributes", BY_DRIVER(458752, 0)),
	TRAIT("max_srq_wr", attr.max_srq_wr, "probe attributes", BY_DRIVER(1048576, 327680)),
	TRAIT(NULL, attr.max_srq_sge, "probe attributes", BY_DRIVER(27, 6)),
	TRAIT(NULL, attr.max_pkeys, "probe attributes", BY_DRIVER(64, 0)),
	TRAIT(NULL, attr.local_ca_ack_delay, "probe attributes", BY_DRIVER(15, 0)),
	TRAIT(NULL, port.max_mtu, "probe attributes", IBV_MTU_4096, IBV_MTU_4096, IBV_MTU_1024,
	      IBV_MTU_256, IBV_MTU_4096),
	TRAIT(NULL, port.gid_tbl_len, "probe gids", BY_DRIVER(1024, 1)),
	TRAIT(NULL, port.port_cap_flags, "probe attributes",
	      BY_DRIVER(IBV_PORT_CM_SUP, IBV_PORT_CM_SUP | IBV_PORT_DEVICE_MGMT_SUP)),
	TRAIT("max_message", port.max_msg_sz, "docs/drivers.md; adapter: as 6.12", 8 << 20,
	      2u << 30, UINT32_MAX, UINT32_MAX, 2u << 30),
	TRAIT(NULL, port.pkey_tbl_len, "probe pkeys", BY_DRIVER(1, 0)),
	TRAIT(NULL, port.max_vl_num, "probe attributes", BY_DRIVER(1, 0)),
	TRAIT(NULL, port.flags, "probe attributes", BY_DRIVER(IBV_QPF_GRH_REQUIRED, 0)),
	TRAIT("max_qp", most[SIM_QP], "probe attributes", BY_DRIVER(1048560, 102400)),
	TRAIT("max_cq", most[SIM_CQ], "probe attributes", BY_DRIVER(1048576, 102400)),
	TRAIT(NULL, most[SIM_MW], "probe attributes", BY_DRIVER(524287, 0)),
	TRAIT("max_mr", most[SIM_MR], "probe attributes", BY_DRIVER(524287, 1024000)),
	TRAIT("max_pd", most[SIM_PD], "probe attributes", BY_DRIVER(1048576, 102400)),
	TRAIT(NULL, most[SIM_AH], "probe attributes", BY_DRIVER(32767, 0)),
	TRAIT("max_srq", most[SIM_SRQ], "probe attributes", BY_DRIVER(917503, 102400)),

	/* Granting */
	TRAIT("max_inline", max_inline, "probe caps", BY_DRIVER(512, 80)),
	TRAIT("inline_piece", inline_piece, "probe caps; adapter: as asked", 16, 16, 0, 0, 0),
	TRAIT("rounds_wr", rounds_wr, "probe caps", ALL(false)),
	TRAIT("rounds_cq", rounds_cq, "probe caps", BY_DRIVER(false, true)),
	TRAIT("rounds_srq", rounds_srq, "probe pool; adapter: as asked", true, true, false, false,
	      false),
	TRAIT(NULL, exact, "probe full, caps; adapter: the least that a program is granted",
	      ADAPTER_ONLY),
	TRAIT(NULL, frees_polled, "probe full; adapter: mlx5_wq_overflow of providers/mlx5/qp.c",
	      ADAPTER_ONLY),

	/* The connection manager */
	TRAIT(NULL, padded_request, "probe accept", BY_DRIVER(56, 0)),
	TRAIT(NULL, padded_reply, "probe accept", BY_DRIVER(196, 0)),
	TRAIT(NULL, padded_reject, "probe reject", BY_DRIVER(148, 0)),
	TRAIT(NULL, nobody_listens, "IB_CM_REJ_INVALID_SERVICE_ID of ib_cm.h; siw_cm.c",
	      BY_DRIVER(8, -ECONNREFUSED)),
	TRAIT(NULL, rejected, "probe reject", BY_DRIVER(28, -ECONNRESET)),
	TRAIT(NULL, backlog_full, "probe backlog", BY_DRIVER(0, -ECONNRESET)),
	TRAIT(NULL, request_lost_ns, "cma.c; iwarp: six retries of TCP", LOST_NS, LOST_612_NS,
	      127000000000, 127000000000, LOST_612_NS),
	TRAIT(NULL, not_answered_ns, "cma.c; MPAREQ_TIMEOUT of siw_cm.h", IGNORED_NS,
	      IGNORED_612_NS, 10000000000, 10000000000, IGNORED_612_NS),
	TRAIT(NULL, disconnect_lost_ns, "cma.c", LOST_NS, LOST_612_NS, 0, 0, LOST_612_NS),
	TRAIT(NULL, resend_ns, "docs/drivers.md, At a glance", REPEATED_NS, REPEATED_612_NS, 0, 0,
	      REPEATED_612_NS),
	TRAIT(NULL, timewait_ns, "docs/drivers.md, At a glance", 2100000000, 500000000, 0, 0,
	      500000000),
	TRAIT(NULL, tcp_lost_ns, "fifteen retries of TCP", BY_DRIVER(0, 924600000000)),
	TRAIT("ack_timeout", ack_timeout, "probe ack-timeout", 19, 17, 0, 0, 17),
	TRAIT(NULL, coarse_timeouts, "kernel/time/timer.c; adapter: 9.7.6", true, true, false,
	      false, false),
	TRAIT(NULL, retries_forever, "probe retries-7; adapter: 9.7.6", true, true, false, false,
	      false),

	TRAIT(NULL, ends_with_port, "tests/drivers.md, Links and MTUs", false, false, true, false,
	      false),

	/* Completions */
	TRAIT(NULL, no_path, "flap; adapter: 9.9.2.1, retries", IBV_WC_LOC_QP_OP_ERR,
	      IBV_WC_WR_FLUSH_ERR, IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_SUCCESS),
	TRAIT(NULL, bad_local_key,
	      "probe bad-key; adapter: unionxic/rdma-fault-characterization, 4.2",
	      IBV_WC_LOC_QP_OP_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_QP_OP_ERR,
	      IBV_WC_LOC_PROT_ERR),
	TRAIT(NULL, beyond_region, "probe edges; adapter: 11.6.2", IBV_WC_LOC_PROT_ERR,
	      IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_PROT_ERR),
	TRAIT(NULL, bad_sink,
	      "adapter write-here 3; adapter: unionxic/rdma-fault-characterization, 4.2",
	      BY_DRIVER(IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR)),
	TRAIT(NULL, bad_opcode, "probe datagrams; adapter: 11.6.2", IBV_WC_LOC_QP_OP_ERR,
	      IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_QP_OP_ERR,
	      IBV_WC_LOC_QP_OP_ERR),
	TRAIT(NULL, bad_bind, "probe windows; adapter: 11.6.2", IBV_WC_MW_BIND_ERR,
	      IBV_WC_WR_FLUSH_ERR, IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_MW_BIND_ERR),
	TRAIT(NULL, bad_recv_key, "probe region-gone; adapter: 11.6.2", IBV_WC_LOC_QP_OP_ERR,
	      IBV_WC_LOC_QP_OP_ERR, IBV_WC_GENERAL_ERR, IBV_WC_GENERAL_ERR, IBV_WC_LOC_PROT_ERR),
	TRAIT(NULL, bad_recv_there, "probe edges; adapter: 9.9.3",
	      BY_DRIVER(IBV_WC_REM_OP_ERR, IBV_WC_SUCCESS)),
	TRAIT(NULL, too_long_here, "probe too-long; adapter: 11.6.2", IBV_WC_LOC_QP_OP_ERR,
	      IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_LEN_ERR),
	TRAIT(NULL, too_long_there, "probe too-long; adapter: 11.6.2", IBV_WC_REM_OP_ERR,
	      IBV_WC_REM_OP_ERR, IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_REM_INV_REQ_ERR),
	TRAIT(NULL, drops_too_long, "probe datagrams", false, true, false, false, true),
	TRAIT("loses", loses, "none unless it is set", ALL(0)),
	TRAIT("repeats", repeats, "none unless it is set", ALL(0)),
	TRAIT("solicited", solicited, "probe solicited", BY_DRIVER(true, false)),
	TRAIT("flushes_torn", flushes_torn, "probe pool-torn; adapter: 10.3.1", true, false, false,
	      false, true),
	TRAIT("flushes_late", flushes_late, "probe leave; adapter: 10.3.1", false, true, false,
	      false, true),
	TRAIT("last_wqe", last_wqe, "probe pool; adapter: 11.6.3", false, true, false, false, true),
	TRAIT(NULL, atomic_write, "docs/drivers.md, Limits", false, true, false, false, false),
	TRAIT("sends_at_once", sends_at_once, "docs/drivers.md, At a glance", true, false, false,
	      false, false),
	TRAIT(NULL, tells_responder,
	      "docs/drivers.md, Asynchronous events; adapter: docs.nvidia.com, RDMA Aware Programming, Events",
	      ADAPTER_ONLY),
	TRAIT("tells_state", tells_state, "probe leave", true, true, false, true, true),
	TRAIT(NULL, regions_may_end_first,
	      "not measured; adapter: unionxic/rdma-fault-characterization, MODEL.md",
	      ADAPTER_ONLY),
	TRAIT(NULL, srq_has_pd, "send_data_in of rxe_resp.c; adapter: 11.2", ADAPTER_ONLY),
	TRAIT(NULL, any_order, "rxe_resp.c; adapter: 9.5", ADAPTER_ONLY),
	TRAIT(NULL, dies_of_overrun,
	      "rxe_cq.c; adapter: docs.nvidia.com, RDMA Aware Programming, Events", ADAPTER_ONLY),
	TRAIT(NULL, limits_windows, "rxe_mw.c; adapter: 10.6.7", ADAPTER_ONLY),
	TRAIT(NULL, limits_answers, "probe limits; adapter: __mlx5_ib_modify_qp of hw/mlx5/qp.c",
	      ADAPTER_ONLY),
	TRAIT(NULL, closes_reads,
	      "adapter read-twice 0; adapter: to_mlx5_access_flags of hw/mlx5/qp.c",
	      BY_DRIVER(true, false)),
	TRAIT(NULL, overlaps_reads, "rxe_req.c; adapter: 10.8.3.3", ADAPTER_ONLY),
	TRAIT("forgets_finished", forgets_finished,
	      "none of the drivers; mlx5: __mlx5_cq_clean of providers/mlx5/cq.c", ADAPTER_ONLY),
};

#define EACH_TRAIT(trait)          \
	for (trait = traits_table; \
	     trait < traits_table + sizeof(traits_table) / sizeof(traits_table[0]); trait++)

static void set(struct sim_traits *traits, const struct trait *trait, uint64_t value)
{
	memcpy((char *)traits + trait->offset, &value, trait->size);
}

bool sim_read_kind(const char *kind, struct sim_traits *traits)
{
	const struct trait *trait;
	size_t i;

	for (i = 0; i < KINDS && strcmp(kinds[i], kind); i++)
		;
	if (i == KINDS)
		return false;
	*traits = (struct sim_traits){ .attr.fw_ver = "0.0.0" };
	EACH_TRAIT(trait)
	set(traits, trait, (uint64_t)trait->of[i]);
	return true;
}

bool sim_set_trait(struct sim_traits *traits, const char *name, const char *value)
{
	const struct trait *trait;
	uint64_t number;
	char *end;

	number = strtoull(value, &end, 10);
	if (end == value || *end || *value == '-')
		return false;
	EACH_TRAIT(trait)
	{
		if (!trait->name || strcmp(trait->name, name))
			continue;
		set(traits, trait, number);
		return number <= (trait->size == sizeof(bool) ? UINT8_MAX : UINT32_MAX);
	}
	return false;
}
