/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: the verbs that are inline functions of infiniband/verbs.h. See data_path.c.
 */
#ifndef VERBS_TRACE_DATA_PATH_H
#define VERBS_TRACE_DATA_PATH_H

#include <stdbool.h>

#include <infiniband/verbs.h>

/*
 * Replaces, once, the pointers through which posting, polling, arming and ibv_query_port of this
 * device are called. Does nothing when nothing is traced, or context is NULL. Any thread.
 */
void verbs_trace_device(struct ibv_context *context);

/*
 * Restores them: the device will be closed, and another one may then have its context's address.
 * Any thread.
 */
void verbs_trace_forget_device(struct ibv_context *context);

/*
 * The calls that move messages: the first call of each kind on a queue is a line of the trace at
 * any level.
 */
enum verbs_trace_first {
	VERBS_TRACE_FIRST_SEND = 1u << 0,
	VERBS_TRACE_FIRST_RECV = 1u << 1,
	VERBS_TRACE_FIRST_POLL = 1u << 2,
	VERBS_TRACE_FIRST_ARM = 1u << 3,
	VERBS_TRACE_FIRST_EVENT = 1u << 4,
	VERBS_TRACE_FIRST_ACK = 1u << 5,
};

/* True the first time that `queue` (a QP, CQ or channel) sees this call. Any thread. */
bool verbs_trace_is_first(const void *queue, enum verbs_trace_first call);

/* The queue has been destroyed: another one may have its address from now on. Any thread. */
void verbs_trace_forget(const void *queue);

/*
 * The first counts an empty poll of a CQ; the second returns how many there were since its last
 * call, and resets the count.
 */
void verbs_trace_empty_poll(const struct ibv_cq *cq);
uint64_t verbs_trace_empty_polls(const struct ibv_cq *cq);

#endif
