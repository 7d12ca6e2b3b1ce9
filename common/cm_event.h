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

/* What an event is to the connection, or the listener, on whose channel it came. */
enum our_cm_meaning {
	OUR_CM_MINE,  /* for who waits: the result of a call, or a connect request */
	OUR_CM_HINT,  /* nothing ends by it: who waits goes on waiting */
	OUR_CM_FATAL, /* a call has failed, or the connection or the listener has come to its end */
	OUR_CM_NOT_MINE, /* of another id that shares the channel */
};

/*
 * The one place that decides what an event means. RDMA_CM_EVENT_ADDR_CHANGE and
 * RDMA_CM_EVENT_TIMEWAIT_EXIT are hints. RDMA_CM_EVENT_UNREACHABLE ends a connection that stands, too
 * (the kernel sends it when the peer's hardware address changes), but no listener; a listener ends
 * with its device. Who is leaving waits only to hear that the connection has ended. Reports nothing.
 * The thread that owns `control`.
 */
enum our_cm_meaning our_classify_cm_event(const struct our_control *control,
					  const struct our_cm_event *event);

/* The same of control->cm_event; notes in control->ended if it ends the connection. */
enum our_cm_meaning our_note_cm_event(struct our_control *control);

/*
 * How an event ends a connection that stands: ECONNRESET, the peer has disconnected; ENODEV, the
 * device was removed; EHOSTUNREACH, the peer cannot be reached any more; 0: it does not. Any thread.
 */
int our_end_by_cm_event(const struct our_cm_event *event);

/*
 * What it means that `event` came to somebody who expects `expected`. Returns 0 if it is that one;
 * ECONNREFUSED for a rejection; ECONNRESET for a disconnect; ENODEV for a device that was removed;
 * else the errno value that the event carries; EHOSTUNREACH or ECONNABORTED for one that says that
 * something failed and carries none; EPROTO for any other. Reports nothing. Any thread.
 */
int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected);

/* The name of the event that our_end_by_cm_event understands so: "RDMA_CM_EVENT_...". Any thread. */
const char *our_end_name(int end);

/*
 * The name of control->cm_event, with which a call has failed, for the message: " (RDMA_CM_EVENT_...)";
 * "" if it is not what `error` came from. Good until the thread's next call.
 */
const char *our_cm_event_name(const struct our_control *control, int error);

#endif
