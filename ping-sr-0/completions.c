/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: waits for completions by asking the CQ again and again (busy polling). This gives the
 * shortest round trip, and takes a whole CPU. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "program/report.h"

#define POLL_BATCH     16
#define POLLS_A_MOMENT 64 /* looking at the clock and the CM costs as much as a few polls */

/* Completions are taken from the CQ in batches and handed out one by one. */
struct our_completions {
	struct ibv_wc wc[POLL_BATCH];
	int next;
	int polled;
};

const struct our_option *const our_waiting_options = NULL;

int our_create_cq(struct our_control *control)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);

	control->completions = calloc(1, sizeof(*control->completions));
	if (!control->completions)
		return our_report_error("calloc", ENOMEM, NULL);
	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control, NULL, 0);
	if (!control->cq) {
		free(control->completions);
		return our_report_no_queue(control, "ibv_create_cq", errno);
	}
	return 0;
}

void our_destroy_cq(struct our_control *control)
{
	int ret;

	ret = ibv_destroy_cq(control->cq);
	if (ret)
		our_report_error("ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
	free(control->completions);
	control->completions = NULL;
}

/* When there is nothing to wait for any more, polls the CQ once more before it reports that. */
static int poll_cq(struct our_control *control)
{
	struct our_completions *completions = control->completions;
	unsigned int empty_polls = 0;
	int polled, ret = 0;

	for (;;) {
		polled = ibv_poll_cq(control->cq, POLL_BATCH, completions->wc);
		control->statistics.cq_polls++;
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (control->keepalive.under_way)
			polled = our_take_out_keepalive(control, completions->wc, polled);
		if (polled > 0)
			break;
		control->statistics.cq_empty_polls++;
		if (ret)
			return ret;
		if (++empty_polls % POLLS_A_MOMENT == 0)
			ret = our_keep_waiting(control);
	}
	control->statistics.completions += (uint64_t)polled;
	control->keepalive.heard = true;
	completions->polled = polled;
	completions->next = 0;
	return 0;
}

int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	struct our_completions *completions = control->completions;
	int ret;

	if (completions->next == completions->polled) {
		ret = poll_cq(control);
		if (ret)
			return ret;
	}
	return our_take_wc(control, &completions->wc[completions->next++], completion);
}

int our_completions_at_hand(const struct our_control *control)
{
	return control->completions->polled - control->completions->next;
}
