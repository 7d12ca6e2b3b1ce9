/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: both channels, non-blocking, and the one poll() that watches over them. The program
 * has one thread; all of this is its.
 */
#ifndef OUR_CHANNELS_H
#define OUR_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control.h"

#define OUR_POLL_BATCH 8

/* Of a client or a listener: its own event channel. An agent has none, it uses the listener's. */
struct our_cm_events {
	bool peer_gone;
};

/*
 * A completion channel for each device, shared by all CQs on it: an event says which CQ it means.
 */
struct our_comp_channel {
	struct ibv_comp_channel *channel;
	struct ibv_context *verbs;
	unsigned int users; /* CQs */
	struct our_comp_channel *next;
};

/* Completions come off the CQ in batches and are handed out one by one. */
struct our_completions {
	struct ibv_wc wc[OUR_POLL_BATCH];
	int next;
	int polled;
	struct our_comp_channel *comp_channel;
	unsigned int events_to_ack;
	bool armed; /* the next completion will make an event */
};

/* What our_poll found ready. */
struct our_ready {
	bool cm_events;
	bool completions;
	bool stop;
};

/*
 * Sleeps until `cm_channel` has an event, or a completion channel has one (if `completions`), or a
 * signal asks the program to stop (if `stop`), or until our_now_ns is `until_ns` (UINT64_MAX: for
 * ever). Returns 0, with all false when the time is over, or an errno value of poll(2), reported.
 */
int our_poll(struct rdma_event_channel *cm_channel, bool completions, bool stop, uint64_t until_ns,
	     struct our_ready *ready);

/*
 * Takes the next event off a non-blocking channel: copies it and acks it. Returns 0 and *copy,
 * EAGAIN when there is none, or another errno value, reported. See rdma_get_cm_event(3).
 */
int our_take_cm_event(struct rdma_event_channel *cm_channel, struct our_cm_event *copy);

/*
 * Takes the next event off one of the completion channels. Returns 0 and in *control whose CQ it
 * was (it is not armed any more), EAGAIN when there is none, or another errno value, reported. See
 * ibv_get_cq_event(3).
 */
int our_take_cq_event(struct our_control **control);

/*
 * How many events the completion channels can have at most: one of each CQ, as it makes no other
 * before it is armed again.
 */
unsigned int our_max_cq_events(void);

/*
 * Takes the next completion of control's CQ and checks its status; when there is none, arms the CQ
 * and looks once more. Returns 0 and *wc; EAGAIN: none, and the next will make an event;
 * ECONNRESET or EIO as our_await_completion does.
 */
int our_take_completion(struct our_control *control, struct ibv_wc *wc);

#endif
