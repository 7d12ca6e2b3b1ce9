/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asking a silent peer's host, in a flattened program: with a WRITE on every transport. HAS_KEEPALIVE:
 * see program.py.
 */
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-2/keepalive.h"

#define KEEPALIVE_NS (5 * OUR_NS_PER_S)

void our_start_keepalive(struct our_control *control)
{
	if (!HAS_KEEPALIVE)
		return;
	control->keepalive.due_ns = 0;
	control->keepalive.max_send_wr = 1;
}

/*
 * After so long without a completion: an RDMA WRITE of no byte. If the peer's host is gone, the device
 * gives it up, and it completes in error. (On iWARP TCP gives up, after a quarter of an hour.)
 */
int our_keep_alive(struct our_control *control, uint64_t now_ns)
{
	struct our_keepalive *keepalive = &control->keepalive;
	bool silent = keepalive->due_ns && !keepalive->heard && !keepalive->under_way;
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = OUR_WR_ID_KEEPALIVE,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int ret;

	if (!HAS_KEEPALIVE || now_ns < keepalive->due_ns)
		return 0;
	keepalive->heard = false;
	keepalive->due_ns = now_ns + KEEPALIVE_NS;
	if (!silent)
		return 0;
	keepalive->under_way = true;
	ret = ibv_post_send(control->qp, &wr, &bad_wr);
	return ret ? our_judge_post(control, "ibv_post_send", ret) : 0;
}
