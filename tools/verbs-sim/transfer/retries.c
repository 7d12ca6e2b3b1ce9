/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Retries of RoCE: while no receive is posted, and while nobody answers. See transfer.h.
 */
#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

/* ---- No receive is posted ---- */

#define NS_PER_UNIT 10000 /* the table counts in hundredths of a millisecond */

/* min_rnr_timer, by the table "Encoding for RNR NAK Timer Field" of the InfiniBand specification. */
uint64_t sim_rnr_ns(uint8_t code)
{
	static const uint32_t units[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return (uint64_t)units[code & 31] * NS_PER_UNIT;
}

/* ---- Nobody answers ---- */

#define JIFFY_NS 4000000ull /* a tick of Debian's kernels */

/* The kernel's timers expire at multiples of a step, which is coarser for longer times. */
uint64_t sim_timeout_ns(const struct sim_qp *qp)
{
	uint64_t ns = 4096ull << qp->attr.timeout, step_ns = JIFFY_NS;

	if (!sim_qp_traits(qp)->coarse_timeouts)
		return ns;
	while (ns >= 64 * step_ns)
		step_ns *= 8;
	return (ns + step_ns - 1) / step_ns * step_ns;
}

uint64_t sim_end_of_retries(const struct sim_qp *qp, struct sim_request *request)
{
	if (!request->since_ns)
		request->since_ns = sim_world->now_ns;
	if ((qp->attr.retry_cnt >= SIM_RETRY_FOREVER && sim_qp_traits(qp)->retries_forever) ||
	    !qp->attr.timeout)
		return SIM_FOREVER;
	return request->since_ns + sim_timeout_ns(qp) * (qp->attr.retry_cnt + 1u);
}

bool sim_has_given_up(const struct sim_qp *qp, struct sim_request *request)
{
	return !sim_is_iwarp(qp) && qp->type == IBV_QPT_RC && request->since_ns &&
	       sim_world->now_ns >= sim_end_of_retries(qp, request);
}

bool sim_awaits_lost_answer(struct sim_qp *qp, struct sim_request *request)
{
	const struct sim_qp *peer = sim_find_qp(qp->attr.dest_qp_num);
	enum sim_passage passage = sim_passage_of_answer(qp, peer);
	uint64_t end_ns, again_ns = sim_world->now_ns + sim_timeout_ns(qp);

	if (sim_is_iwarp(qp) || request->status || qp->type != IBV_QPT_RC)
		return false;
	if (sim_has_given_up(qp, request))
		request->status = IBV_WC_RETRY_EXC_ERR;
	if (!passage || request->status)
		return false;
	end_ns = sim_end_of_retries(qp, request);
	if (passage == SIM_LOST && again_ns < end_ns)
		sim_schedule(&qp->acknowledge, again_ns);
	else if (end_ns < SIM_FOREVER)
		sim_schedule(&qp->acknowledge, end_ns);
	return true;
}
