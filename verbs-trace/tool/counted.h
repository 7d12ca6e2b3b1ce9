/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: short versions of the verbs that programs call for each message. They are used
 * with -c if a call is only counted: they write no line, read no clock, and do not change errno. The
 * functions that replace the verbs (generate.py writes them) call them if call_is_counted, and otherwise
 * the functions of call.h. Each does what the hooks of its verb do.
 */
#ifndef VERBS_TRACE_TOOL_COUNTED_H
#define VERBS_TRACE_TOOL_COUNTED_H

#include <infiniband/verbs.h>

#include "verbs-trace/tool/call.h"

/*
 * Whether -c does not time this call, and the program itself makes it. In a process that is not traced,
 * no call is counted.
 */
static inline bool call_is_counted(int verb)
{
	const struct thread *thread = thread_mine;

	return thread && (!thread->depth & (thread->tallies[verb].untimed > 0));
}

/* Calls that the provider makes between these two are not counted. The first returns the thread. */
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
