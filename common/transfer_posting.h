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
 * A wr_id says which buffer, and whether it was a receive: of a completion in error nothing but
 * the wr_id can tell (its opcode is not valid).
 */
#define OUR_WR_ID_RECV      (1ull << 63)
#define OUR_WR_ID_KEEPALIVE (1ull << 62) /* no buffer at all: see ping-sr-2/keepalive.h */

static inline bool our_is_recv(uint64_t wr_id)
{
	return wr_id & OUR_WR_ID_RECV;
}

static inline uint32_t our_buffer_index(uint64_t wr_id)
{
	return (uint32_t)(wr_id & ~OUR_WR_ID_RECV);
}

/*
 * Allocates PD, CQ and QP of the connection for at most `max_send_wr` sends and `max_recv_wr`
 * receives outstanding; each of one SGE. Of sends there may be control->keepalive.max_send_wr besides.
 *
 * Returns 0 or an errno value, reported, with nothing left behind. our_unsetup_qp undoes it, and
 * is to be called before our_destroy_id. control->verbs is known. One thread.
 */
int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr);
void our_unsetup_qp(struct our_control *control);

/*
 * Fills in what kind of QP we want: RC, both queues on control->cq, no send signaled unless asked
 * for, inline data for messages that are small enough for most devices. See rdma_create_qp(3).
 */
void our_setup_qp_params(struct our_control *control, struct ibv_qp_init_attr *attr);

/*
 * Creates control->qp on pd and cq. A device that cannot take the inline data we would like is asked
 * again for none; control->max_inline is what it granted.
 *
 * Returns 0 or an errno value, reported. our_destroy_qp undoes it. See rdma_create_qp(3).
 */
int our_create_qp(struct our_control *control);

/*
 * What depends on how the connection comes to be: makes control->qp as `attr` says, which then holds
 * what was granted, in the state in which receives can be posted; and its end. With rdma_cm, as in
 * cm_qp.c, the id does both. A stage without rdma_cm has its own two.
 *
 * Returns 0 or an errno value, not reported, of the verb whose name is in *call.
 */
int our_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call);
void our_destroy_qp(struct our_control *control);

/*
 * Sets the delay that a peer is told to observe before it sends again a message that met no
 * receive of ours. rdma_cm leaves the field 0, which is the longest: 655 ms. Once connected; a
 * transport without RNR (iWARP) is left alone. Returns 0 or an errno value, reported.
 */
int our_setup_rnr_timer(struct our_control *control);

/*
 * Puts the QP into its error state: what is posted is flushed, and the device is done with our
 * memory. For a connection that may stand although we have not heard so: rdma_disconnect would do
 * it, too, but then wait for a peer who may know nothing of us. Reports its failure. See
 * ibv_modify_qp(3).
 */
void our_flush_qp(struct our_control *control);

/*
 * Makes the work requests of buffer `index`: sends are signaled, and inline when the message fits
 * control->max_inline. After our_setup_qp. Cannot fail.
 */
void our_setup_send_wr(struct our_control *control, uint32_t index);
void our_setup_recv_wr(struct our_control *control, uint32_t index);

/*
 * Posts the send or receive of buffer `index`. The buffer is the device's until the completion.
 *
 * Returns 0 or an errno value, reported, but for ECONNRESET: the connection has ended, as a
 * flushed completion would say. See ibv_post_send(3), ibv_post_recv(3). One thread.
 */
int our_post_send(struct our_control *control, uint32_t index);
int our_post_recv(struct our_control *control, uint32_t index);

/*
 * What a post that failed means: `ret` is what `call`, ibv_post_send or ibv_post_recv, returned.
 * A QP that is on its way down, because the peer left or we were told to stop, may refuse what is
 * posted instead of flushing it. Some providers return -1 and set errno.
 *
 * Returns ECONNRESET, not reported, for the end of the connection; else an errno value, reported.
 */
int our_judge_post(const struct our_control *control, const char *call, int ret);

#endif
