/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Completions, however they are waited for: polling the CQ, and handing out what was found, one by
 * one. See waiting.h and transfer_completion.h.
 */
#include <errno.h>

#include "common/private.h"

int our_create_cq(struct our_control *control)
{
	if (!our_shares_cq(control))
		return control->config->waiting.completions->create_cq(control);
	control->cq = control->device->cq;
	return 0;
}

void our_destroy_cq(struct our_control *control)
{
	if (!our_shares_cq(control))
		control->config->waiting.completions->destroy_cq(control);
	control->cq = NULL;
}

int our_make_cq(struct our_control *control, struct ibv_comp_channel *channel)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr); /* checked: our_setup_qp */
	int ret;

	our_private(control)->batch.next = our_private(control)->batch.polled = 0;
	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control, channel, control->comp_vector);
	if (!control->cq)
		return our_report_no_queue(control, "ibv_create_cq", errno);
	ret = our_moderate_cq(control->config, control->cq);
	if (ret)
		our_free_cq(control);
	return ret;
}

void our_free_cq(struct our_control *control)
{
	int ret = ibv_destroy_cq(control->cq);

	if (ret)
		our_tell_error(control->config, "ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
}

int our_poll_cq(struct our_control *control)
{
	struct our_batch *batch = &our_private(control)->batch;
	int polled = ibv_poll_cq(control->cq, OUR_POLL_BATCH, batch->wc);

	control->counters.polls++;
	if (polled < 0)
		return -our_tell_error(control->config, "ibv_poll_cq", EIO, NULL);
	if (our_private(control)->keepalive.under_way)
		polled = our_take_out_keepalive(control, batch->wc, polled);
	if (!polled) {
		control->counters.empty_polls++;
		return 0;
	}
	control->counters.completions += (uint64_t)polled;
	our_private(control)->keepalive.heard = true;
	batch->next = 0;
	batch->polled = polled;
	return polled;
}

int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	struct our_batch *batch = &our_private(control)->batch;
	int ret;

	if (batch->next == batch->polled) {
		our_private(control)->until_ns = 0;
		ret = control->config->waiting.completions->await(control);
		if (ret)
			return ret;
	}
	return our_take_wc(control, &batch->wc[batch->next++], completion);
}

int our_take_next_wc(struct our_control *control, const struct ibv_wc **wc)
{
	struct our_batch *batch = &our_private(control)->batch;
	int ret;

	if (batch->next == batch->polled) {
		ret = control->config->waiting.completions->take(control);
		if (ret)
			return ret;
	}
	*wc = &batch->wc[batch->next++];
	return 0;
}

int our_completions_at_hand(const struct our_control *control)
{
	return our_private(control)->batch.polled - our_private(control)->batch.next;
}
