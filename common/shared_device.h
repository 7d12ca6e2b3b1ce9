/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a connection has to do with the device that it shares with others: see struct our_device.
 */
#ifndef OUR_SHARED_DEVICE_H
#define OUR_SHARED_DEVICE_H

#include "common/control.h"

#define OUR_DEVICE_BUCKETS 256 /* of QP numbers, which devices count up */

/* Of a send from a buffer of the shared receive queue, with the index of the buffer. */
#define OUR_WR_ID_ECHO (OUR_WR_ID_OURS | 1ull << 32)

/* What is behind the public head of a device. */
struct our_shared_device {
	struct our_device head;   /* first: a pointer to one is a pointer to the other */
	struct our_device *whole; /* PD and SRQ are of this one: see our_join_device */
	unsigned int events_to_ack;
	bool armed; /* the next completion makes an event */
	struct our_batch batch;
	struct ibv_wc *backlog; /* polled out of turn, when a connection ended: see fill */
	uint32_t backlog_first, backlog_n, backlog_size;
	unsigned int silent_ends; /* of QPs in a row, without IBV_EVENT_QP_LAST_WQE_REACHED */
	struct our_async async;
	const struct our_control **sending; /* who sends from a buffer; NULL: nobody */
	LIST_HEAD(bucket, our_private) connections[OUR_DEVICE_BUCKETS];
};

static inline struct our_shared_device *our_shared(const struct our_device *device)
{
	return (struct our_shared_device *)(uintptr_t)device;
}

/* Whether the device has one CQ for all its connections. */
static inline bool our_shares_cq(const struct our_control *control)
{
	return control->device && control->device->cq;
}

/* Undoes our_device_create_cq. */
void our_device_destroy_cq(struct our_device *device);

/*
 * Polls all that is in the shared CQ, and in it, or polled earlier and not handed out yet, removes
 * the completions of the QP with this number: its receives are posted again to the shared queue.
 * All others are handed out later. Reports its failures.
 */
void our_device_drain_cq(struct our_device *device, uint32_t qp_num);

/*
 * A completion that is not handed out any more: if it is of a receive from the shared queue, posts
 * that again. Returns 0 or an errno value, reported.
 */
int our_device_post_again(struct our_device *device, const struct ibv_wc *wc);

/*
 * From when its QP has been created until it is destroyed, completions of the shared CQ find the
 * connection by the QP's number. Nothing happens if the connection shares nothing.
 */
void our_add_to_device(struct our_control *control);
void our_remove_from_device(struct our_control *control);

/*
 * Before the QP, which is in its error state, is destroyed: gives back to the shared queue what the
 * QP has taken from it and nobody has been handed. Some devices drop the completions of a QP that is
 * destroyed, and these receives with them. May wait 10 ms for the last of them, and a few times in
 * the life of a device that does not say which is the last.
 */
void our_give_back_receives(struct our_control *control);

/* Reports that ibv_post_srq_recv has returned `ret`. Returns it as an errno value. */
int our_report_no_recv(const struct our_device *device, int ret);

/* The connection whose QP has this number; NULL: none. */
struct our_control *our_control_of(struct our_device *device, uint32_t qp_num);

#endif
