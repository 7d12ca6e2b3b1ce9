/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: shared by the thread that reads the event channel (cm_event_thread.c) and the
 * functions that wait for its events (ping-sr-2/cm_events.c).
 */
#ifndef OUR_CM_EVENTS_H
#define OUR_CM_EVENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/waiting.h"

struct our_queued_event {
	STAILQ_ENTRY(our_queued_event) next;
	struct our_cm_event event;
};

struct our_cm_events {
	pthread_t thread;
	int quit_fd;      /* tells the thread to end */
	atomic_int ended; /* how the connection has ended: see our_how_ended */
	int end_fd; /* readable once the peer has gone or the program is to stop: for sleepers */
	pthread_mutex_t lock;   /* guards all below */
	pthread_cond_t changed; /* something below has changed, or a signal has come */
	STAILQ_HEAD(our_event_queue, our_queued_event) queue;
	bool connected;        /* the QP works, and the thread may disconnect it, */
	bool unwatched;        /* unless the thread that set it up will tear it down */
	bool refusing;         /* no more connect requests are wanted */
	unsigned int requests; /* in the queue */
	int failure;           /* the channel can no longer be read: an errno value */
};

/*
 * Starts the thread that reads control->cm_channel. Returns 0 or an errno value, reported. Call
 * our_end_cm_event_thread, which ends and joins it at any moment, before the channel is destroyed.
 */
int our_create_cm_event_thread(struct our_control *control);
void our_end_cm_event_thread(struct our_control *control);

static inline struct our_cm_events *our_cm_events_of(const struct our_control *control)
{
	return our_private(control)->cm_state;
}

#define OUR_MAX_REQUESTS 64 /* waiting to be taken: the thread refuses further ones */

/*
 * Listener: has the thread refuse all connect requests not yet taken, and all that come from now
 * on, because there are enough clients. Does not wait.
 */
void our_reject_all(struct our_control *listener);

/* How the connection has ended, as an errno value; 0: it has not. Any thread; costs one load. */
static inline int our_ended(const struct our_control *control)
{
	return atomic_load_explicit(&our_cm_events_of(control)->ended, memory_order_relaxed);
}

#endif
