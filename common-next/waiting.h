/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For those who write a way of waiting: what its two tables of functions must do, and what the
 * library does for each of them. Programs that only use the library need our_control.h alone.
 */
#ifndef OUR_WAITING_H
#define OUR_WAITING_H

#include "our_control.h"

#define OUR_NS_PER_S 1000000000ull
#define OUR_NEVER    UINT64_MAX

/* How CM events arrive. Functions that return int return 0 or an errno value. */
struct our_cm_ops {
	const char *name;

	/* Before there is an id: sets control->cm_channel and our_wait_state()->cm. And after it is gone. */
	int (*create)(struct our_control *control);
	void (*destroy)(struct our_control *control);

	/* See our_await_cm_event. Copies the event into control->cm_event, and notes what it means. */
	int (*await)(struct our_control *control, enum rdma_cm_event_type expected, int called);

	/* Waits until control->ended is set, at most until until_ns: then ETIMEDOUT. */
	int (*await_end)(struct our_control *control, uint64_t until_ns);

	/* How the connection has ended, without waiting: control->ended, or an errno value, reported. */
	int (*ended)(struct our_control *control);
};

/* How completions are waited for. */
struct our_completion_ops {
	const char *name;

	/* our_create_cq, and what it waits with; and the other way round. */
	int (*create_cq)(struct our_control *control);
	void (*destroy_cq)(struct our_control *control);

	/* Waits until our_poll_cq has found something: 0, or what our_keep_waiting says. */
	int (*await)(struct our_control *control);

	/* Without waiting: EAGAIN, nothing, and fd() becomes readable when something comes. May be NULL. */
	int (*take)(struct our_control *control);
	int (*fd)(const struct our_control *control);
};

/* What a way of waiting keeps for one control. */
struct our_wait_state {
	void *cm, *completions; /* the tables' own */
	uint64_t until_ns;      /* the limit of this wait, by our_now_ns; 0: not known yet */
	bool leaving; /* the tear-down has begun: only the end of the connection matters */
};

struct our_wait_state *our_wait_state(const struct our_control *control);

/* ---- Time, by CLOCK_MONOTONIC, in ns ---- */

uint64_t our_now_ns(void);
uint64_t our_end_of_wait(uint64_t seconds); /* from now; 0: OUR_NEVER */
int our_ms_until(uint64_t until_ns);        /* for poll(2): -1 is OUR_NEVER */

/* A descriptor that is readable when this wait must end; -1: there is none. */
int our_wake_fd(const struct our_control *control);
/* Whether it must end. While we are leaving, only the second request to stop ends a wait. */
bool our_must_not_wait(const struct our_control *control);

/*
 * To be called while the CQ is empty, now and then. Returns 0: go on waiting; EINTR; ECONNRESET,
 * ENODEV or EHOSTUNREACH: the connection has ended; ETIMEDOUT; or another errno value, reported.
 */
int our_keep_waiting(struct our_control *control);
/* The latest time at which a sleeping program must call it. */
uint64_t our_wake_up_ns(struct our_control *control);

/* ---- Completions ---- */

/* Creates control->cq with room for all work requests, on `channel` if that is not NULL. */
int our_create_cq(struct our_control *control, struct ibv_comp_channel *channel);
void our_destroy_cq(struct our_control *control);

/* Polls the CQ. Returns how many completions there are to hand out now, or -EIO, reported. */
int our_poll_cq(struct our_control *control);

/* A completion channel and the events that were got from it. */
struct our_notification {
	struct ibv_comp_channel *channel; /* does not block */
	unsigned int events_to_ack;
	bool armed; /* the next completion makes an event */
};

int our_create_notification(const struct our_config *config, struct ibv_context *verbs,
			    struct our_notification *notification);
void our_destroy_notification(const struct our_config *config,
			      struct our_notification *notification);
/* Acks the events that were taken: before the CQ is destroyed, which would wait for it. */
void our_ack_cq_events(struct our_notification *notification, struct ibv_cq *cq);
/* Returns 0 or an errno value, reported. */
int our_arm(const struct our_config *config, struct our_notification *notification,
	    struct ibv_cq *cq);
/* Takes the event, if there is one: the CQ is then no longer armed. 0 or an errno value, reported. */
int our_take_cq_event(const struct our_config *config, struct our_notification *notification,
		      struct ibv_cq *cq);

/* ---- CM events ---- */

enum our_cm_meaning {
	OUR_CM_MINE,     /* the result of a call, or a connect request */
	OUR_CM_HINT,     /* ends nothing: the wait goes on */
	OUR_CM_FATAL,    /* a call has failed, or the connection or the listener has ended */
	OUR_CM_NOT_MINE, /* of another id that shares the channel */
};

/* Copies an event before rdma_ack_cm_event, which frees it and its private data. */
void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event);
/* What control->cm_event means for control; sets control->ended. */
enum our_cm_meaning our_note_cm_event(struct our_control *control);
/* 0 if `event` is the one expected, else the errno value that it stands for. */
int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected);
uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected);

/* ---- Reporting: return `error`, or EIO in place of 0. `text` says cause and remedy, or is NULL. ---- */

int our_report_error(const struct our_config *config, const char *call, int error, const char *text,
		     ...) __attribute__((format(printf, 4, 5)));
/* The same with control->cm_event, if that brought the error. */
int our_report_cm_error(const struct our_control *control, const char *call, int error,
			const char *text, ...) __attribute__((format(printf, 4, 5)));

#endif
