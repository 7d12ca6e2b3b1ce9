/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: tests whether the host of a silent peer still answers. See keepalive.h.
 */
#include <errno.h>

#include "common/waiting.h"
#include "ping-sr-2/keepalive.h"

/*
 * The limit for an answer on iWARP, where TCP goes on for a quarter of an hour. On InfiniBand and
 * RoCE the device itself gives up a host that does not acknowledge, after its retries, and the
 * keepalive fails. The keepalive waits behind what the program has posted, and so does not fail
 * while the host of a slow peer answers that there is no receive yet: no limit of ours could tell
 * the two apart.
 */
#define LIMIT_S 20

/*
 * soft-iWARP ends the connection if a READ of no bytes meets a message of the peer
 * (docs/drivers.md). After a loss both arrive together. After three times the silence, TCP has
 * repeated what was lost, unless the network is down for longer.
 */
#define SILENCES_BEFORE_READ 3

void our_stop_keepalive(struct our_control *control)
{
	our_private(control)->keepalive.stopped = true;
}

void our_note_life(struct our_control *control)
{
	our_private(control)->keepalive.written_to = true;
}

/*
 * An RDMA WRITE of no bytes needs neither a key nor a receive, and InfiniBand and RoCE acknowledge
 * it. iWARP does not: there it completes as soon as TCP has taken it, and TCP goes on for a quarter
 * of an hour. A READ is answered, but only if the two sides have agreed on READs. (soft-iWARP swaps
 * the two depths: if both are positive, this does not matter.)
 */
static enum ibv_wr_opcode choose_opcode(struct our_control *control)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	if (our_is_iwarp(control) &&
	    !ibv_query_qp(control->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
			  &init_attr) &&
	    attr.max_rd_atomic && attr.max_dest_rd_atomic)
		return IBV_WR_RDMA_READ;
	return IBV_WR_RDMA_WRITE;
}

static int post_keepalive(struct our_control *control, enum ibv_wr_opcode opcode)
{
	struct ibv_sge nothing = { .addr = 0 };
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = OUR_WR_ID_KEEPALIVE,
		.sg_list = &nothing,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int ret;

	wr.num_sge = opcode == IBV_WR_RDMA_READ; /* soft-iWARP requires one for a READ */
	ret = OUR_CALL(ibv_post_send(control->qp, &wr, &bad_wr));
	if (ret)
		return our_report_post(control, "ibv_post_send", ret);
	our_private(control)->keepalive.under_way = true;
	return 0;
}

static int report_unanswered(const struct our_control *control)
{
	return our_tell_error(
		control->config, NULL, EHOSTUNREACH,
		"the peer's host has not answered to a keepalive for %d s: most likely "
		"it is dead, or the network between us is cut",
		LIMIT_S);
}

/* Returns true if anything has come since the last check. The first check only begins the time. */
static bool has_come(const struct our_control *control, struct our_keepalive *keepalive)
{
	bool come = keepalive->written_to || !our_private(control)->idle_ns ||
		    keepalive->completions != control->counters.completions;

	keepalive->written_to = false;
	keepalive->completions = control->counters.completions;
	return come;
}

/* The next check is due after another time of silence, or at the end of the time for an answer. */
static void set_next_check(struct our_control *control, uint64_t now_ns)
{
	const struct our_keepalive *keepalive = &our_private(control)->keepalive;
	uint64_t idle_ns = now_ns + control->config->keepalive_s * OUR_NS_PER_S;
	uint64_t limit_ns = keepalive->asked_ns + LIMIT_S * OUR_NS_PER_S;

	if (keepalive->under_way && our_is_iwarp(control) && limit_ns < idle_ns)
		idle_ns = limit_ns;
	our_private(control)->idle_ns = idle_ns;
}

/* Looks for the answer in the CQ, which nobody else may poll on a connection that is only kept. */
static int look_for_answer(struct our_control *control, uint64_t now_ns)
{
	const struct our_keepalive *keepalive = &our_private(control)->keepalive;
	int ret = our_find_keepalive(control);

	if (ret != EAGAIN)
		return ret;
	if (our_is_iwarp(control) && now_ns >= keepalive->asked_ns + LIMIT_S * OUR_NS_PER_S)
		return report_unanswered(control);
	return 0;
}

static int ask(struct our_control *control, uint64_t now_ns)
{
	struct our_keepalive *keepalive = &our_private(control)->keepalive;
	enum ibv_wr_opcode opcode = choose_opcode(control);
	int ret;

	if (opcode == IBV_WR_RDMA_READ && keepalive->silences < SILENCES_BEFORE_READ)
		return 0;
	ret = post_keepalive(control, opcode);
	keepalive->asked_ns = now_ns;
	set_next_check(control, now_ns);
	return ret;
}

/* Does what is due after a time of silence: see keepalive.h. */
static int keep_alive(struct our_control *control, uint64_t now_ns)
{
	struct our_keepalive *keepalive = &our_private(control)->keepalive;
	bool silent = !has_come(control, keepalive);
	int ret;

	keepalive->silences = silent ? keepalive->silences + 1 : 0;
	if (!silent)
		keepalive->asked_ns = now_ns;
	set_next_check(control, now_ns);
	if (!silent)
		return 0;
	ret = our_take_async_events(control);
	if (ret || keepalive->stopped || control->send_cq)
		return ret;
	return keepalive->under_way ? look_for_answer(control, now_ns) : ask(control, now_ns);
}

static void start(struct our_control *control)
{
	bool stopped = our_private(control)->keepalive.stopped;

	our_private(control)->keepalive = (struct our_keepalive){ .stopped = stopped };
	our_private(control)->idle = keep_alive;
	our_private(control)->idle_ns = control->config->keepalive_s ? 0 : UINT64_MAX;
}

static void answered(struct our_control *control)
{
	our_private(control)->keepalive.under_way = false;
	our_private(control)->idle_ns = 0; /* the time of silence starts again */
}

static const char *explain(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		return "the peer lets nobody write to it, not even nothing: do without";
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_GENERAL_ERR:
		return "most likely the peer was sending: then soft-iWARP gives a wrong answer to a "
		       "keepalive (docs/drivers.md); do without";
	default:
		return NULL;
	}
}

const struct our_keepalive_ops our_keepalive = {
	.max_send_wr = 1,
	.start = start,
	.answered = answered,
	.explain = explain,
};
