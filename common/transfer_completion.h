/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer completion: what every stage does with a completion, however it waited for it.
 */
#ifndef OUR_TRANSFER_COMPLETION_H
#define OUR_TRANSFER_COMPLETION_H

#include "common/control.h"

/*
 * Reports a work completion that failed: its status in words and as a number, which work request
 * it was (from wr_id, see transfer_posting.h), on which QP, and what usually causes it. Reads only
 * what is valid in a failed completion: status, wr_id, qp_num and vendor_err (ibv_poll_cq(3)).
 */
void our_report_wc_status(const struct ibv_wc *wc);

/*
 * Reads a completion's status, before anything else of it: in a failed one only status, wr_id,
 * qp_num and vendor_err mean anything (ibv_poll_cq(3)).
 *
 * Returns 0; for a failed one, reported, ECONNABORTED (the peer has failed), EPIPE (the device could not
 * send: on iWARP the peer has failed, elsewhere we; our_judge_end knows) or EIO (we have failed);
 * ECONNRESET for one that was flushed, which after a disconnect is normal and therefore the caller's to
 * report; EINTR for one that failed after our_stop_requested(), when a disconnect of our own may have
 * been what failed it. Any thread.
 */
int our_check_completion_status(const struct ibv_wc *wc);

/*
 * Checks the status of `wc` and, if it is good, hands it out as *completion. Returns as
 * our_check_completion_status does. Any thread.
 */
int our_take_wc(const struct ibv_wc *wc, struct our_completion *completion);

/*
 * Takes a keepalive that has succeeded out of the `polled` completions just polled into wc[], and out of
 * their count: it is nothing to the workload. One that has failed stays there, as the end of the
 * connection. For who polls the CQ, while control->keepalive.under_way. Returns how many are left.
 */
int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int polled);

/*
 * Waits until our_now_ns is at least `until_ns`, in the way the stage waits for completions, or until
 * there is one: for --rate.
 *
 * Returns EAGAIN when it is time; 0 and *completion; or an errno value as our_await_completion does.
 */
int our_await_time(struct our_control *control, uint64_t until_ns,
		   struct our_completion *completion);

/*
 * Checks that the completion of a receive brought control->data_size bytes.
 * Returns 0, or EPROTO, reported. Any thread.
 */
int our_check_length(const struct our_control *control, const struct our_completion *completion);

#define OUR_FLUSH_LIMIT_S 5 /* for the CM to hear of a disconnect that has flushed something */

/*
 * Whether a flush may come before the CM has heard of the disconnect that caused it. Not on InfiniBand
 * and RoCE: there a disconnect flushes nothing until we disconnect, too, and by then we have heard. But
 * on iWARP the end of TCP flushes, and the event comes before or after that.
 */
bool our_flush_may_be_early(const struct our_control *control);

/*
 * Judges how a run of messages has ended: with `ret`, as the stage's way of waiting returned it,
 * after `messages` of them. Says so when the peer left or fell silent before its time; that is not
 * an error for an agent whose client had announced no number (-D). That the peer left is said only if
 * the CM said so, for which it may wait a little: a flush alone may have another cause.
 *
 * Returns 0; EINTR when the program was asked to stop, and nothing worse happened; else `ret`,
 * reported by now. Sets statistics.complete accordingly. The connection's own thread.
 */
int our_judge_end(struct our_control *control, int ret, uint64_t messages);

#endif
