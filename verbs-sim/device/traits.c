/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How the two drivers differ, as measured on Linux 6.1: docs/drivers.md has each value. See
 * device.h.
 */
#include <errno.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/device.h"

/*
 * Messages of the connection manager, by the sources of Linux: cma.c sends each 16 times, as often
 * as docs/drivers.md says; a request that a program has not answered yet is repeated more slowly.
 */
#define ROCE_TRIES 16ull

static const struct sim_traits roce = {
	.name = "rxe0",
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB,
	.max_qp_wr = 1048576,
	.max_cqe = 32767,
	.max_sge = 32,
	.max_srq = 917503,
	.max_srq_wr = 1048576,
	.max_inline = 512,
	.max_message = 8u << 20,
	.padded_request = 56,
	.padded_reply = 196,
	.padded_reject = 148,
	.nobody_listens = 8, /* IB_CM_REJ_INVALID_SERVICE_ID */
	.rejected = 28,      /* IB_CM_REJ_CONSUMER_DEFINED */
	.backlog_full = 0,
	.bad_local_key = IBV_WC_LOC_QP_OP_ERR,
	.bad_recv_key = IBV_WC_LOC_QP_OP_ERR,
	.too_long_here = IBV_WC_LOC_QP_OP_ERR,
	.too_long_there = IBV_WC_REM_OP_ERR,
	.flushes_torn = true,
	.request_lost_ns = ROCE_TRIES * 6100000000,
	.not_answered_ns = ROCE_TRIES * 74800000000,
	.disconnect_lost_ns = ROCE_TRIES * 6100000000,
	.solicited = true,
};

static const struct sim_traits iwarp = {
	.name = "siw0",
	.node_type = IBV_NODE_RNIC,
	.transport_type = IBV_TRANSPORT_IWARP,
	.max_qp_wr = 32768,
	.max_cqe = 3276800,
	.max_sge = 6,
	.max_srq = 102400,
	.max_srq_wr = 327680,
	.max_inline = 64,
	.max_message = UINT32_MAX,
	.nobody_listens = -ECONNREFUSED,
	.rejected = -ECONNRESET,
	.backlog_full = -ECONNRESET,
	.bad_local_key = IBV_WC_LOC_QP_OP_ERR,
	.bad_recv_key = IBV_WC_GENERAL_ERR,
	.too_long_here = IBV_WC_LOC_LEN_ERR,
	.too_long_there = IBV_WC_SUCCESS,
	.request_lost_ns = 127000000000, /* TCP's six retries */
	.not_answered_ns = 10000000000,  /* MPAREQ_TIMEOUT of siw_cm.h */
	.tcp_lost_ns = 924600000000,     /* TCP's fifteen retries */
	.solicited = false,
};

const struct sim_traits *sim_traits(void)
{
	return sim_world->iwarp ? &iwarp : &roce;
}

/* Some microseconds, and now and then much more: what is late in one run is early in another. */
uint64_t sim_latency_ns(uint64_t length)
{
	uint64_t late_ns = sim_random(32) ? 0 : sim_random(300000);

	return 500 + length / 4 + sim_random(2000) + late_ns;
}
