/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer posting: the queue pair, and the work requests that are posted to it.
 */
#ifndef OUR_TRANSFER_POSTING_H
#define OUR_TRANSFER_POSTING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control.h"

/*
 * How many sends our_setup_qp adds to those asked for, for the library itself: a keepalive, or
 * none.
 */
uint32_t our_extra_sends(const struct our_control *control);

/*
 * Describes the QP we want: RC, both queues on control->cq, sends signaled only on request, inline
 * data for messages that are small enough for most devices. See rdma_create_qp(3).
 */
void our_setup_qp_params(struct our_control *control, struct ibv_qp_init_attr *attr);

/*
 * Creates control->qp on pd and cq. If the device refuses the inline data that we ask for, asks
 * again for none. control->max_inline is what was granted.
 *
 * Returns 0 or an errno value, reported. our_destroy_qp undoes it. See rdma_create_qp(3).
 */
int our_create_qp(struct our_control *control);

/*
 * The part that depends on how the connection is made: creates control->qp as `attr` says, in a
 * state in which receives can be posted, and writes the granted values into `attr`; and destroys
 * it. The table control->config->waiting.cm says how: with rdma_cm the id does both (cm_qp.c).
 *
 * Returns 0 or an errno value, not reported, of the verb whose name is in *call.
 */
int our_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call);
void our_destroy_qp(struct our_control *control);

/*
 * Sets the delay after which a peer may send a message again that found no receive posted. rdma_cm
 * leaves the field 0, which means the longest: 655 ms. To be called when connected. Does nothing on
 * a transport without RNR (iWARP). Returns 0 or an errno value, reported.
 */
int our_setup_rnr_timer(struct our_control *control);

/*
 * Puts the QP into its error state: posted work is flushed, and the device no longer uses our
 * memory. For a connection that may be established although we do not know it. rdma_disconnect
 * would do it, too, but would then wait for a peer that may not know us. Reports its failure. See
 * ibv_modify_qp(3).
 */
void our_flush_qp(struct our_control *control);

/*
 * For sends and WRITEs of one's own: carries `length` bytes in the work request if they fit
 * control->max_inline. The buffer may then be changed at once. Cannot fail.
 */
void our_set_inline(const struct our_control *control, struct ibv_send_wr *wr, uint32_t length);

/*
 * Reports that `length` bytes of a buffer of `size` bytes are to be sent or read: those of the buffer
 * behind it would be, too, as both are in one MR. Returns EINVAL.
 */
int our_report_too_long(const struct our_control *control, uint32_t length, uint32_t size);

/*
 * Judges a post that failed: `ret` is what `call`, ibv_post_send or ibv_post_recv, returned. While
 * the connection goes down, because the peer left or we were told to stop, the QP may refuse a post
 * instead of flushing it. Some providers return -1 and set errno.
 *
 * Returns ECONNRESET, not reported, for the end of the connection; otherwise an errno value,
 * reported.
 */
int our_judge_post(const struct our_control *control, const char *call, int ret);

#endif
