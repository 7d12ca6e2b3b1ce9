/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: what happens around each call. See call.h.
 */
#include <time.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/summary.h"
#include "verbs-trace/tool/thread.h"
#include "verbs.h"

bool tracing;
static _Atomic bool error_seen;

uint64_t call_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* errno is set to 0 before the verb, since some providers fail and leave it alone. */
void call_begin(struct call *call, int verb)
{
	struct thread *thread = thread_self();

	*call = (struct call){
		.verb = verb,
		.saved_errno = errno,
		.thread = thread,
		.began = summary_times(thread, verb) ? call_now() : 0,
	};
	call->inner = thread->depth++ > 0;
	if (!call->inner)
		thread->in = (struct moment){ verb, call->began };
	errno = 0;
}

/* An error that only says that nothing is there is not one to count. */
static bool is_nothing(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK;
}

void call_end(struct call *call, int error)
{
	if (errno)
		call->saved_errno = errno;
	if (call->began)
		call->ended = call_now();
	call->error = error;
	call->waited = is_nothing(error);
}

struct moment call_moment(const struct call *call)
{
	return (struct moment){ call->verb, call->began ? call->began : call_now() };
}

int error_of_errno(int ret)
{
	if (ret == -1)
		return errno ? errno : EIO;
	return ret < 0 ? -ret : ret;
}

int error_of_minus1(long long ret)
{
	if (ret >= 0)
		return 0;
	return errno ? errno : EIO;
}

int error_of_pointer(const void *ret)
{
	if (ret)
		return 0;
	return errno ? errno : ENOMEM;
}

static bool is_wanted(const struct call *call, bool failed)
{
	if (settings.summary || call->silent || (call->inner && !settings.nested))
		return false;
	if (settings.after_error && !error_seen)
		return false;
	if (settings.quiet && verbs[call->verb].moves_data && !failed)
		return false;
	return verbs[call->verb].wanted;
}

struct out *call_show(struct call *call)
{
	bool failed = (call->error && !call->waited) || call->bad;

	if (failed && !call->inner)
		error_seen = true;
	if (!call->inner)
		summary_count(call, failed);
	if (is_wanted(call, failed)) {
		call->out = line_begin(call->verb, call->began, call->thread);
		if (call->inner && call->out->json)
			out_raw(call->out, "\"depth\":%d,", call->thread->depth - 1);
		out_raw(call->out, call->out->json ? "\"args\":{" : "(");
	}
	return call->out;
}

void call_leave(struct call *call)
{
	if (--call->thread->depth == 0)
		call->thread->in.when = 0;
	errno = call->saved_errno;
}
