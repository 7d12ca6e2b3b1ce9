/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: accusations, which are reports of mistakes of the program. The watchers
 * (watch_*.c) are named by calls.txt, and examine each call. The accusations are printed at exit.
 */
#ifndef VERBS_TRACE_TOOL_WATCH_H
#define VERBS_TRACE_TOOL_WATCH_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "verbs-trace/tool/call.h"

/* The kinds, each with its name in JSON and the beginning of its row in docs/pitfalls.md. */
#define SORTS(X)                                                                              \
	X(LEAK, "leak", "An object is created and never destroyed")                           \
	X(CM_EVENT, "cm-event", "`rdma_destroy_id` with an event of that id not acked")       \
	X(CQ_EVENT, "cq-event", "A CQ event is got and not acked")                            \
	X(ASYNC_EVENT, "async-event", "An asynchronous event is got and not acked")           \
	X(UNSEEN, "unseen-error", "A completion in error that nobody polls")                  \
	X(POSTED, "posted-after-error", "Work requests are posted on a QP that has failed")   \
	X(RNR, "rnr", "A sender that counts on the receiver to be fast enough")               \
	X(OVERRUN, "cq-overrun", "The CQ is smaller than what can be outstanding")            \
	X(RETRY, "retry-count-0", "`rdma_conn_param` left zero")                              \
	X(ARMED, "armed-not-polled", "A CQ is armed and then slept on, without another poll") \
	X(PRIVATE_DATA, "private-data-after-ack",                                             \
	  "A CM event's private data is used after `rdma_ack_cm_event`")

enum sort {
#define SORT(sort, name, pitfall) SORT_##sort,
	SORTS(SORT)
#undef SORT
	N_SORTS,
};

/* Keeps an accusation for the end: the mistake, and the call that made it. Any thread. */
void accuse(enum sort sort, struct moment moment, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Shows all accusations, and their number, once. */
void accuse_tell(void);
/* In a child: what its parent is accused of is the parent's. */
void accuse_forked(void);
void watch_forked(void);

/*
 * Hooks that the tables call before a verb (..ing) or after it. watch_queues.c: a queue is new
 * (NULL: it could not be made), changes or ends.
 */
void watch_new_cq(struct ibv_cq *created, struct ibv_comp_channel *channel);
void watch_new_qp(const struct call *call, struct ibv_qp *qp, bool sq_sig_all);
/* Extended queues have tables of functions, too: ours are stored there when the program gets the queue. */
void extended_new_qp(const struct call *call, struct ibv_qp *qp, struct ibv_qp_ex *ret);
void extended_new_cq(struct ibv_cq_ex *ret, const struct ibv_cq_init_attr_ex *init_attr);
void watch_resized(struct ibv_cq *cq, int ret);
void watch_modified(struct ibv_qp *qp, int mask, int ret);
void watch_destroying_qp(struct ibv_qp *qp);
void watch_destroying_cq(const struct call *call, struct ibv_cq *cq);
void watch_sleeping(const struct call *call, struct ibv_comp_channel *channel);

/* Note posted requests, or that a call failed to post them. */
void watch_sending(struct call *call, struct ibv_qp *qp, const struct ibv_send_wr *wr);
void watch_unsent(struct call *call, struct ibv_qp *qp, struct ibv_send_wr **bad_wr, int ret);
void watch_receiving(struct call *call, struct ibv_qp *qp, const struct ibv_recv_wr *wr);
void watch_unreceived(struct call *call, struct ibv_qp *qp, struct ibv_recv_wr **bad_wr, int ret);
void watch_sent_ex(struct call *call, struct ibv_qp_ex *qp);

/* watch_polls.c */
void watch_polled(struct call *call, struct ibv_cq *cq, const struct ibv_wc *wc, int ret);
void watch_polled_ex(struct call *call, struct ibv_cq_ex *cq, int ret);
void watch_arming(const struct call *call, struct ibv_cq *cq, int solicited_only);

/* watch_events.c */
void watch_got(const struct call *call, struct ibv_cq **cq, int ret);
void watch_acking(const struct call *call, struct ibv_cq *cq, unsigned int nevents);
void watch_got_cm(struct call *call, struct rdma_cm_event **event, int ret);
void watch_acking_cm(const struct call *call, struct rdma_cm_event *event);
void watch_connected(const struct call *call, const struct rdma_cm_id *id,
		     const struct rdma_conn_param *param);
void watch_got_async(struct call *call, const struct ibv_async_event *event, int ret);
void watch_acking_async(const struct call *call);

/*
 * Writes a line for each CQ whose empty polls were not shown yet and began before `until`, the earliest
 * first. Called before each other line, so that lines are in the order in which their calls began, except
 * for calls that take long.
 */
void watch_tell_empty(uint64_t until);
/* Takes the completions left in a CQ that the program will not poll again. */
void watch_drain(struct object *cq);
/* Takes the asynchronous events that the program has not taken. */
void watch_drain_events(struct ibv_context *context);

/* To be called at the end: finds events that were never acked. */
void watch_events_at_exit(void);

#endif
