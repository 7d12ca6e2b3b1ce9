/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Checking completions, and how a run has ended, in a flattened program.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>

#include "common/device.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "program/report.h"
#include "program/stop.h"

int our_check_completion_status(const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return ECONNRESET;
	/* We broke the connection off ourselves: what was under way may fail in any way. */
	if (our_stop_requested())
		return EINTR;
	our_report_sentence("completion of a %s: %s (status %d, vendor 0x%x)%s",
			    our_is_recv(wc->wr_id) ? "receive" : "send",
			    ibv_wc_status_str(wc->status), wc->status, wc->vendor_err,
			    wc->status == IBV_WC_RETRY_EXC_ERR ? ": the peer does not answer" : "");
	return ECONNABORTED;
}

int our_take_wc(struct our_control *control, const struct ibv_wc *wc,
		struct our_completion *completion)
{
	(void)control;
	*completion = (struct our_completion){ .wr_id = wc->wr_id, .byte_len = wc->byte_len };
	if (our_is_recv(wc->wr_id) && wc->wc_flags & IBV_WC_WITH_IMM) {
		completion->has_immediate = true;
		completion->immediate = be32toh(wc->imm_data);
	}
	return our_check_completion_status(wc);
}

bool our_client_may_have_left(const struct our_control *control)
{
	return !IS_CLIENT && our_is_iwarp(control);
}

int our_check_length(const struct our_control *control, const struct our_completion *completion)
{
	if (completion->byte_len == control->data_size)
		return 0;
	our_report_sentence("a message of %u bytes, %u were due: has the peer the same -s?",
			    completion->byte_len, control->data_size);
	return EPROTO;
}

/* Judges how a run has ended, and says so if nobody has. */
int our_judge_end(struct our_control *control, int ret, uint64_t messages)
{
	if ((!ret || ret == ECONNRESET) && our_stop_requested())
		ret = EINTR;
	/* A client without a number of messages leaves when it likes. */
	if (!IS_CLIENT && control->count == OUR_COUNT_UNLIMITED && messages &&
	    (ret == ECONNRESET || ret == ETIMEDOUT))
		ret = 0;
	control->statistics.complete = !ret;
	if (ret == ECONNRESET || ret == ETIMEDOUT || ret == ENODEV || ret == EHOSTUNREACH)
		our_report_error("connection", ret, "after %" PRIu64 " messages", messages);
	return ret;
}
