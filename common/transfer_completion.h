/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer completion: what every stage does with a completion.
 */
#ifndef OUR_TRANSFER_COMPLETION_H
#define OUR_TRANSFER_COMPLETION_H

#include "common/control.h"

/*
 * Creates control->cq and what this connection waits with for its completions: see waiting.h.
 * Returns 0 or an errno value, reported. our_destroy_cq undoes it, after the QP has been destroyed.
 */
int our_create_cq(struct our_control *control);
void our_destroy_cq(struct our_control *control);

/*
 * Has the CQ make events as config->event_completions and event_us say. Returns 0 or an errno value,
 * reported: EOPNOTSUPP of a device that cannot. See ibv_modify_cq(3).
 */
int our_moderate_cq(const struct our_config *config, struct ibv_cq *cq);

/*
 * Takes the next completion, without waiting, and without checking its status. Returns 0 and *wc,
 * valid until the next call; EAGAIN; or another errno value, reported.
 */
int our_take_next_wc(struct our_control *control, const struct ibv_wc **wc);

/*
 * How many completions have been taken from the CQ and not yet been handed out: that many calls of
 * our_await_completion will not wait. To be called by the connection's own thread.
 */
int our_completions_at_hand(const struct our_control *control);

/*
 * Checks a completion's status, before anything else is read: in a failed one only status, wr_id,
 * qp_num and vendor_err are valid (ibv_poll_cq(3)). Reports a failed one with its usual cause.
 *
 * Returns 0; for a failed one, reported, ECONNABORTED (the peer has failed), EPIPE (the device
 * could not send: on iWARP the peer has failed, elsewhere we have; our_judge_end knows) or EIO (we
 * have failed); ECONNRESET for one that was flushed, which is normal after a disconnect, so the
 * caller reports it; EINTR for one that failed after a stop was requested, when our own disconnect
 * may be the cause. Any thread.
 */
int our_check_completion_status(const struct our_control *control, const struct ibv_wc *wc);

/*
 * Whether a send that the device could not make may mean that the client has left. True for an
 * agent on iWARP: TCP could not send, and often the CM reports the disconnect later. False for a
 * client. Any thread.
 */
bool our_client_may_have_left(const struct our_control *control);

/*
 * Checks the status of `wc` and, if it is good, hands it out as *completion. Returns as
 * our_check_completion_status does; but EPIPE is not reported when our_client_may_have_left:
 * our_judge_end does so. Any thread.
 */
int our_take_wc(struct our_control *control, const struct ibv_wc *wc,
		struct our_completion *completion);

/*
 * Removes a keepalive that has succeeded from the `polled` completions in wc[], and from their
 * count: it is not part of the workload. A failed keepalive stays, because it is the end of the
 * connection. To be called after each poll while a keepalive is under way. Returns how many are
 * left.
 */
int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int polled);

/*
 * Waits until our_now_ns is at least `until_ns`, or until there is a completion, in the stage's own
 * way of waiting. For --rate.
 *
 * Returns EAGAIN when the time has come; 0 and *completion; or an errno value as
 * our_await_completion does.
 */
int our_await_time(struct our_control *control, uint64_t until_ns,
		   struct our_completion *completion);

/*
 * What has ended a connection on which a work request was flushed, as the CM reports it, for which
 * this may wait a little. Returns ECONNRESET, ENODEV or EHOSTUNREACH; ECANCELED: the CM reports
 * nothing, and the flush has another cause; EINTR; or another errno value, reported. end.c.
 */
int our_cause_of_flush(struct our_control *control);

#define OUR_FLUSH_LIMIT_S 5 /* until the CM reports a disconnect that has flushed something */

/*
 * Whether a flush may come before the CM reports the disconnect that caused it. Not on InfiniBand
 * and RoCE: there a disconnect flushes nothing until we disconnect, too, and by then the CM has
 * reported it. On iWARP the end of TCP flushes, and the event comes before or after that.
 */
bool our_flush_may_be_early(const struct our_control *control);

#endif
