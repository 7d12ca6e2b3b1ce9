/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for completions, whatever the way: polling the CQ, handing out what was found, and what to
 * look at while there is nothing. See waiting.h.
 */
#include <errno.h>

#include "private.h"

#define FLUSH_LIMIT_S 5 /* on iWARP the CM's word may come so much later than a flush */

int our_poll_cq(struct our_control *control)
{
	struct our_private *private = our_private(control);
	struct our_batch *batch = &private->batch;
	int polled;

	polled = ibv_poll_cq(control->cq, OUR_POLL_BATCH, batch->wc);
	control->counters.polls++;
	if (polled < 0)
		return -our_report_error(control->config, "ibv_poll_cq", EIO, NULL);
	if (private->keepalive.under_way)
		polled = our_take_out_keepalive(control, batch->wc, polled);
	if (!polled) {
		control->counters.empty_polls++;
		return 0;
	}
	control->counters.completions += (uint64_t)polled;
	private->keepalive.heard = true;
	batch->next = 0;
	batch->polled = polled;
	return polled;
}

/* A wait's limit starts when there is nothing for the first time. */
static uint64_t limit_of_wait(struct our_control *control)
{
	struct our_wait_state *state = our_wait_state(control);

	if (!state->until_ns)
		state->until_ns = our_end_of_wait(control->config->timeout_s);
	return state->until_ns;
}

uint64_t our_wake_up_ns(struct our_control *control)
{
	uint64_t limit_ns = limit_of_wait(control), due_ns = our_private(control)->keepalive.due_ns;

	return due_ns < limit_ns ? due_ns : limit_ns;
}

int our_keep_waiting(struct our_control *control)
{
	uint64_t now_ns;
	int ret;

	if (our_must_not_wait(control))
		return EINTR;
	ret = control->config->waiting.cm->ended(control);
	if (ret)
		return ret;
	now_ns = our_now_ns();
	return now_ns > limit_of_wait(control) ? ETIMEDOUT : our_keep_alive(control, now_ns);
}

/* Why work was flushed: only the CM can say, and may do so later. */
static int cause_of_flush(struct our_control *control)
{
	const struct our_cm_ops *cm = control->config->waiting.cm;
	uint64_t limit_s = our_is_iwarp(control->verbs) ? FLUSH_LIMIT_S : 1;
	int ret = cm->ended(control);

	if (!ret)
		ret = cm->await_end(control, our_end_of_wait(limit_s));
	if (control->ended)
		return control->ended;
	if (ret == EINTR)
		return ret;
	our_private(control)->failed = true;
	return our_report_error(control->config, "ibv_poll_cq", ECONNABORTED,
				"a work request was flushed, although the peer has not "
				"disconnected: it asked for what it has no right to, or our device "
				"cannot send: is its link up?");
}

/* Reports the end of a wait, unless it is no error. */
static int report_end(struct our_control *control, int ret)
{
	bool told = ret == control->ended && our_private(control)->failed;

	if (ret == ETIMEDOUT)
		our_report_error(control->config, NULL, ret, "the peer said nothing for %u s",
				 control->config->timeout_s);
	else if (ret == ENODEV && ret == control->ended && !told)
		our_report_cm_error(control, NULL, ret, "the RDMA device was removed");
	else if (ret == EHOSTUNREACH && ret == control->ended && !told)
		our_report_cm_error(control, NULL, ret, "the peer cannot be reached any more");
	if (ret && ret != EINTR && ret != ECONNRESET)
		our_private(control)->failed = true;
	return ret;
}

int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	struct our_batch *batch = &our_private(control)->batch;
	int ret;

	if (batch->next == batch->polled) {
		our_wait_state(control)->until_ns = 0;
		ret = control->config->waiting.completions->await(control);
		if (ret)
			return report_end(control, ret);
	}
	ret = our_take_wc(control, &batch->wc[batch->next++], completion);
	return ret == ECONNRESET ? report_end(control, cause_of_flush(control)) : ret;
}

int our_take_completion(struct our_control *control, struct our_completion *completion)
{
	struct our_batch *batch = &our_private(control)->batch;
	int ret;

	if (batch->next == batch->polled) {
		ret = control->config->waiting.completions->take(control);
		if (ret)
			return ret;
	}
	return our_take_wc(control, &batch->wc[batch->next++], completion);
}

int our_completion_fd(const struct our_control *control)
{
	return control->config->waiting.completions->fd(control);
}

int our_look_after(struct our_control *control, int *timeout_ms)
{
	int ret = our_keep_alive(control, our_now_ns());

	*timeout_ms = our_ms_until(our_private(control)->keepalive.due_ns);
	return ret;
}
