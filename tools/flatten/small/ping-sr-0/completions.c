/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for completions by looking again and again, in a flattened program: one at a time.
 */
#include <errno.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "program/report.h"

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);

	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control, NULL, 0);
	if (!control->cq)
		return our_report_no_queue(control, "ibv_create_cq", errno);
	return 0;
}

void our_destroy_cq(struct our_control *control)
{
	report_end("ibv_destroy_cq", ibv_destroy_cq(control->cq));
}

/* When there is nothing to wait for any more, the CQ is asked once more before that is said. */
int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	unsigned int empty_polls = 0;
	struct ibv_wc wc;
	int polled, ret = 0;

	for (;;) {
		polled = ibv_poll_cq(control->cq, 1, &wc);
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (control->keepalive.under_way)
			polled = our_take_out_keepalive(control, &wc, polled);
		if (polled > 0)
			break;
		if (ret)
			return ret;
		if (++empty_polls % POLLS_A_MOMENT == 0)
			ret = our_keep_waiting(control);
	}
	control->keepalive.heard = true;
	return our_take_wc(control, &wc, completion);
}

int our_completions_at_hand(const struct our_control *control)
{
	return 0;
}

/* With one completion: whether it is a keepalive's, which nobody else waits for. */
int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int polled)
{
	if (!polled || wc->wr_id != OUR_WR_ID_KEEPALIVE || wc->status != IBV_WC_SUCCESS)
		return polled;
	control->keepalive.under_way = false;
	control->keepalive.due_ns = 0; /* the silence begins anew */
	return 0;
}
