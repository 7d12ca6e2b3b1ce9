/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What CM events mean, in every stage. How a stage waits for them is in a file of its own.
 */
#ifndef OUR_CM_EVENT_H
#define OUR_CM_EVENT_H

#include "common/control.h"

/*
 * Copies what is needed of an event, with its private data. To be called before rdma_ack_cm_event,
 * which frees the event. Any thread.
 */
void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event);

/* What an event means to the connection, or the listener, on whose channel it came. */
enum our_cm_meaning {
	OUR_CM_MINE,     /* the result of a call, or a connect request */
	OUR_CM_HINT,     /* ends nothing: the wait goes on */
	OUR_CM_FATAL,    /* a call has failed, or the connection or the listener has ended */
	OUR_CM_NOT_MINE, /* of another id that shares the channel */
};

/*
 * The one place that decides what an event means. RDMA_CM_EVENT_ADDR_CHANGE and
 * RDMA_CM_EVENT_TIMEWAIT_EXIT are hints. RDMA_CM_EVENT_UNREACHABLE also ends an established
 * connection (the kernel sends it when the peer's hardware address changes), but no listener. A
 * listener ends with its device. A side that is leaving waits only for the end of the connection.
 * Reports nothing. To be called by the thread that owns `control`.
 */
enum our_cm_meaning our_classify_cm_event(const struct our_control *control,
					  const struct our_cm_event *event);

/* The same for control->cm_event; sets control->ended if the event ends the connection. */
enum our_cm_meaning our_note_cm_event(struct our_control *control);

/*
 * How an event ends a connection: ECONNRESET, the peer has disconnected; ENODEV, the device was
 * removed; EHOSTUNREACH, the peer is no longer reachable; 0: it does not end it. `connected`:
 * whether it is established for this side. Then a rejection ends it, too: the peer has given up
 * before it learned that its offer was accepted. Any thread.
 */
int our_end_by_cm_event(const struct our_cm_event *event, bool connected);

/* No call expects this one, so only the event's own meaning is left: for our_judge_cm_event. */
#define OUR_NO_CM_EVENT RDMA_CM_EVENT_MULTICAST_JOIN

/*
 * The status of an event whose kernel part has succeeded, and librdmacm's own has not: what the
 * library's functions return, and no errno value. ADDR_ERROR: it does not know the device;
 * ROUTE_ERROR: it could not query the route; CONNECT_ERROR: it could not take the QP to RTR or RTS.
 */
#define OUR_CM_FAILED_ITSELF (-1)

/*
 * Compares `event` with the one that was expected. Returns 0 if it is that one; ECONNREFUSED for a
 * rejection; ECONNRESET for a disconnect; ENODEV for a removed device; otherwise the errno value
 * that the event carries; ENODEV, EHOSTUNREACH or ECONNABORTED for a failure without one; EPROTO
 * for any other event. Reports nothing. Any thread.
 */
int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected);

#endif
