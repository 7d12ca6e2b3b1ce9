/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the code around each call of a verb: it notes times and thread, and
 * whether the call is inside another one, and writes the line. The functions that replace the verbs
 * (generate.py writes them) call these in this order: call_begin, the verb itself, call_end,
 * [watchers], call_show, [its arguments, call_close or call_result, call_done], call_leave.
 */
#ifndef VERBS_TRACE_TOOL_CALL_H
#define VERBS_TRACE_TOOL_CALL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "verbs-trace/tool/objects.h"
#include "verbs-trace/tool/out.h"

/* The row of -c for a verb; each thread has its own rows. See summary.c. */
struct tally {
	uint64_t calls, errors;
	uint64_t timed_ns; /* calls that are all timed */
	/* Some of the other calls are timed; each stands for the calls up to the next timed one. */
	uint64_t sampled_ns, sampled;
	unsigned int untimed; /* number of the next calls that are not timed */
};

/* A thread that has called a verb. If a thread is in a call for long, the program hangs there. */
struct thread {
	int number; /* in order of their first calls */
	pid_t tid;
	int depth;             /* depth of nested calls; 0 outside */
	struct moment in;      /* the outermost call; `when` is 0 outside */
	bool gone;             /* the thread has ended: another one may get the row */
	struct tally *tallies; /* one for each verb */
	int *error;            /* address of its errno: looking it up each time takes too long */
	struct thread *next;
};

struct call {
	int verb; /* enum verb */
	struct thread *thread;
	uint64_t began, ended; /* nanoseconds, CLOCK_MONOTONIC; both 0 if it is not timed */
	int error;             /* the error: an errno value, or 0 */
	int saved_errno;       /* the errno that the program will get */
	bool inner;            /* inside another call: made by a library */
	bool waited;           /* nothing was there (EAGAIN), which is not an error */
	bool bad;              /* the call succeeded, but brought an error */
	bool silent;           /* no line is written now: it is shown later, with others */
	int64_t due;           /* completions due to the CQ of a post, if all of it is taken */
	struct out *out;       /* its line, while one is being written */
	/* The QP, CQ, SRQ or completion channel of a verb that moves messages; -q needs it. */
	enum kind queue_kind;
	const void *queue;
};

/* False in a process that is not traced; then nothing else here may be called. */
extern bool tracing;

/* The attributes of a function that replaces one of a library, so that the loader finds it. */
#define EXPORTED __attribute__((visibility("default")))

/*
 * The library's own function, with the version that verbs[verb] names, because the name alone may find
 * an older function of another type. Ends the process if there is none.
 */
void *real_function(int verb);

/* The calling thread's row, if it has one; and the row that a thread gets at its first call. */
extern __thread struct thread *thread_mine;
struct thread *thread_new(void);

/*
 * The code that runs in each call is inline, because each function call slows down a program that
 * polls. errno is set to 0 before the verb, because some providers fail without setting it.
 */
static inline void call_begin(struct call *call, int verb)
{
	struct thread *thread = thread_mine ? thread_mine : thread_new();
	bool timed = !thread->tallies[verb].untimed;

	*call = (struct call){
		.verb = verb,
		.saved_errno = *thread->error,
		.thread = thread,
		.began = timed ? clock_now() : 0,
	};
	call->inner = thread->depth++ > 0;
	if (!call->inner)
		thread->in = (struct moment){ verb, call->began };
	*thread->error = 0;
}

/* An error that only says that nothing is there is not counted. */
static inline void call_end(struct call *call, int error)
{
	if (*call->thread->error)
		call->saved_errno = *call->thread->error;
	if (call->began)
		call->ended = clock_now();
	call->error = error;
	call->waited = error == EAGAIN || error == EWOULDBLOCK;
}

struct out *call_count_and_show(struct call *call);

/* With -c, a call that is not timed, and that needs no line, is only counted. */
static inline struct out *call_show(struct call *call)
{
	struct tally *tally;

	if (call->began || call->inner || call->error || call->bad)
		return call_count_and_show(call);
	tally = &call->thread->tallies[call->verb];
	tally->calls++;
	tally->untimed--;
	return NULL;
}

static inline void call_leave(struct call *call)
{
	if (--call->thread->depth == 0)
		call->thread->in.when = 0;
	*call->thread->error = call->saved_errno;
}

struct moment call_moment(const struct call *call);

/*
 * The error of a call, for each way in which verbs return it. Some calls fail and leave errno 0: that is
 * shown as it is.
 */
#define ERROR_UNSAID (-1)
int error_of_bad(long long ret); /* the error of a call that has failed */

/* For a call that returns an errno value; from some providers -1 and errno. */
static inline int error_of_errno(int ret)
{
	return ret ? error_of_bad(ret) : 0;
}

/* For a call that returns -1 and errno; values above -1 mean success. */
static inline int error_of_minus1(long long ret)
{
	return ret >= 0 ? 0 : error_of_bad(-1);
}

int error_of_pointer(const void *ret); /* for a call that returns NULL and errno */

/* Closes the arguments; with the second the result comes next. */
void call_close(struct call *call);
struct out *call_result(struct call *call);
/* Ends the line with the error, and how long the call took. */
void call_done(struct call *call);

/*
 * Writes a line that does not belong to a call: `what` is its first word, NULL for none. Ends the
 * line.
 */
struct out *line_begin(int verb, uint64_t when, const struct thread *thread);
void line_end(struct out *out);
/* To be called in the child of a fork. */
void line_forked(void);

/* All threads so far, linked by `next`; some rows were used by several threads. */
struct thread *threads_first(void);
/* To be called in the child of a fork, where only this thread exists. */
void threads_forked(void);
/* Returns when the first process of the trace began. */
extern uint64_t trace_start;

/*
 * The short way of the verbs that programs call for each message, with -c: a call that is only
 * counted writes no line, reads no clock, and does not change errno. What generate.py writes for such
 * a verb calls these around the verb and its hooks, and otherwise the functions above.
 */
/*
 * Returns true if -c does not time this call, and the program itself makes it. In a process that is
 * not traced, no call is counted.
 */
static inline bool call_is_counted(int verb)
{
	const struct thread *thread = thread_mine;

	return thread && (!thread->depth & (thread->tallies[verb].untimed > 0));
}

/* Calls that the provider makes between these two are not counted. Sets only what hooks look at. */
static inline void counted_begin(struct call *call, int verb)
{
	call->verb = verb;
	call->thread = thread_mine;
	call->began = 0;
	call->inner = false;
	call->bad = false;
	call->thread->depth = 1;
}

static inline void counted_end(const struct call *call, int error)
{
	struct tally *tally = &call->thread->tallies[call->verb];

	call->thread->depth = 0;
	tally->calls++;
	tally->untimed--;
	if ((error && error != EAGAIN) || call->bad)
		tally->errors++;
}

/*
 * summary.c: the summary of -c: calls, errors and time of each verb. Reading the clock takes longer
 * than some verbs. So of verbs that are called for each message, only the first calls are timed, and
 * then one of every EVERY. How many calls there were, of all verbs; the table; and in the child of a
 * fork: starts with empty counts.
 */
uint64_t summary_calls(void);
void summary_tell(void);
void summary_forked(void);

#endif
