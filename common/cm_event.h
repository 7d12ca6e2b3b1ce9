/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * CM events, once they are there: how a stage waits for them is its own, what they hold is not.
 */
#ifndef OUR_CM_EVENT_H
#define OUR_CM_EVENT_H

#include "common/control.h"

/*
 * Copies what matters of an event, its private data included: before rdma_ack_cm_event, after
 * which the event is gone. Any thread.
 */
void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event);

/*
 * What it means that `event` came to somebody who expects `expected`. Returns 0 if it is that one;
 * ECONNREFUSED for a rejection; ECONNRESET for a disconnect; else the errno value that the event
 * carries, or EPROTO. Reports nothing. Any thread.
 */
int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected);

#endif
