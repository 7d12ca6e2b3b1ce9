/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: verbs that come with each message have a short way for -c, while the call is
 * only to be counted: no line, no clock, and errno is left alone. The functions that stand in for them
 * (generate.py writes them) take it if call_is_counted; else they go the way of call.h. Each does what
 * the hooks of its verb do.
 */
#ifndef VERBS_TRACE_TOOL_COUNTED_H
#define VERBS_TRACE_TOOL_COUNTED_H

#include <infiniband/verbs.h>

#include "verbs-trace/tool/call.h"

/*
 * Whether -c leaves this call untimed, and it is the program's own. In a process that is not traced, no
 * call is counted.
 */
static inline bool call_is_counted(int verb)
{
	const struct thread *thread = thread_mine;

	return thread && (!thread->depth & (thread->tallies[verb].untimed > 0));
}

/* What the provider calls in turn is not counted: between these two. Returns the thread. */
static inline struct thread *counted_begin(void)
{
	struct thread *thread = thread_mine;

	thread->depth = 1;
	return thread;
}

static inline void counted_end(struct thread *thread, int verb, bool failed)
{
	struct tally *tally = &thread->tallies[verb];

	thread->depth = 0;
	tally->calls++;
	tally->untimed--;
	if (failed)
		tally->errors++;
}

int counted_ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int counted_ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int counted_ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

#endif
