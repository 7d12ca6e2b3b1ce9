/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asks whether the host of a silent peer is still there. See private.h.
 *
 * An RDMA WRITE of no bytes needs neither a key nor a receive, and InfiniBand and RoCE acknowledge
 * it. iWARP does not: there it completes as soon as TCP has taken it, and TCP goes on for a quarter
 * of an hour. A READ is answered, but only if the two sides have agreed on READs.
 */
#include <errno.h>
#include <string.h>

#include "private.h"

#define LIMIT_S 20 /* to answer; soft-RoCE itself gives up before, after 16 s */

/*
 * soft-iWARP ends the connection if a READ of no bytes meets a message of the peer. After a loss both
 * arrive together. With three times the silence, TCP has repeated what was lost.
 */
#define SILENCES_BEFORE_READ 3

void our_start_keepalive(struct our_control *control)
{
	our_private(control)->keepalive = (struct our_keepalive){
		.due_ns = control->config->keepalive_s ? 0 : OUR_NEVER,
	};
}

static enum ibv_wr_opcode choose_opcode(struct our_control *control)
{
	int wanted = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	if (our_is_iwarp(control->verbs) && !ibv_query_qp(control->qp, &attr, wanted, &init_attr) &&
	    attr.max_rd_atomic && attr.max_dest_rd_atomic)
		return IBV_WR_RDMA_READ;
	return IBV_WR_RDMA_WRITE;
}

static int post_keepalive(struct our_control *control, enum ibv_wr_opcode opcode)
{
	struct ibv_sge nothing = { .addr = 0 };
	struct ibv_send_wr wr = {
		.wr_id = OUR_WR_ID_KEEPALIVE,
		.sg_list = &nothing,
		.num_sge = opcode == IBV_WR_RDMA_READ, /* soft-iWARP requires one for a READ */
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	our_private(control)->keepalive.under_way = true;
	return our_post(control, &wr, NULL);
}

static int report_unanswered(struct our_control *control)
{
	our_private(control)->failed = true;
	return our_report_error(
		control->config, NULL, EHOSTUNREACH,
		"the peer's host has not answered a keepalive for %d s: most likely "
		"it is dead, or the network between us is cut",
		LIMIT_S);
}

int our_keep_alive(struct our_control *control, uint64_t now_ns)
{
	struct our_keepalive *keepalive = &our_private(control)->keepalive;
	bool silent = keepalive->due_ns && !keepalive->heard;
	enum ibv_wr_opcode opcode;

	if (now_ns < keepalive->due_ns || !control->connected)
		return 0;
	keepalive->heard = false;
	keepalive->due_ns = now_ns + control->config->keepalive_s * OUR_NS_PER_S;
	keepalive->silences = silent ? keepalive->silences + 1 : 0;
	if (!silent)
		return 0;
	if (keepalive->under_way)
		return report_unanswered(control);
	opcode = choose_opcode(control);
	if (opcode == IBV_WR_RDMA_READ && keepalive->silences < SILENCES_BEFORE_READ)
		return 0;
	keepalive->due_ns = now_ns + LIMIT_S * OUR_NS_PER_S;
	return post_keepalive(control, opcode);
}

int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int n)
{
	struct our_keepalive *keepalive = &our_private(control)->keepalive;
	int i = 0;

	while (i < n && wc[i].wr_id != OUR_WR_ID_KEEPALIVE)
		i++;
	if (i >= n || wc[i].status != IBV_WC_SUCCESS)
		return n;
	memmove(&wc[i], &wc[i + 1], (size_t)(n - i - 1) * sizeof(*wc));
	keepalive->under_way = false;
	keepalive->due_ns = 0; /* the time of silence starts again */
	return n - 1;
}
