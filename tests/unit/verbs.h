/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: what stands in for libibverbs in the unit tests of our_control. Contract: there is one device;
 * each function does what its comment says, and a test reads and sets what it needs.
 */
#ifndef UNIT_VERBS_H
#define UNIT_VERBS_H

#include <stdbool.h>

#include <infiniband/verbs.h>

/* The device, and a QP of it. */
struct ibv_context *unit_verbs(void);
struct ibv_qp *unit_qp(void);
void unit_be_iwarp(bool iwarp);

extern struct ibv_device_attr unit_limits; /* the answer of ibv_query_device */

/* ibv_post_send takes every work request up to unit_refused, which is ENOMEM. */
extern unsigned int unit_posted;
extern const struct ibv_send_wr *unit_refused;

/* ibv_poll_cq finds these, and then nothing. */
extern const struct ibv_wc *unit_found;
extern int unit_n_found;

/* ibv_get_async_event finds this once, and then nothing. */
extern const struct ibv_async_event *unit_event;

/* ibv_post_srq_recv takes every receive: bit wr_id of the mask, and how many. */
extern uint64_t unit_received;
extern unsigned int unit_n_received;

#endif
