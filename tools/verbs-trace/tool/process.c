/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the beginning and end of a traced process, and of its children; the report.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/callers.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

static pid_t process; /* a child of vfork() has this process's memory, but another pid */

static _Atomic bool told;

/* If a program had to be ended, the user wants to know where it was. */
static void tell_thread(const struct thread *thread)
{
	uint64_t for_ns = clock_now() - thread->in.when;

	if (thread->gone || !thread->in.when)
		return; /* it is in no call */
	if (settings.json)
		sink_line("{\"unfinished\":\"%s\",\"pid\":%d,\"thread\":%d,\"time_ns\":%" PRIu64
			  ",\"took_ns\":%" PRIu64 "}",
			  verbs[thread->in.verb].name, (int)getpid(), thread->number,
			  thread->in.when - trace_start, for_ns);
	else
		sink_line("verbs-trace: t%d is in %s, since " SECONDS " s", thread->number,
			  verbs[thread->in.verb].name, IN_SECONDS(for_ns));
}

static void see_leak(struct object *object, void *argument)
{
	(void)argument;
	if (object->own)
		accuse(SORT_LEAK, object->made, "%s%u was never destroyed",
		       kind_names[object->kind], object->number);
}

static void see_cq(struct object *cq, void *argument)
{
	(void)argument;
	watch_drain(cq);
}

static void see_context(struct object *context, void *argument)
{
	(void)argument;
	watch_drain_events((struct ibv_context *)context->pointer);
}

/*
 * Returns true if a signal may have come while this thread was in a provider that had locked a CQ.
 * In that case no CQ is polled. Calls that wait for events, in which most programs that hang are,
 * lock no CQ.
 */
static bool may_have_locked(void)
{
	const struct thread *thread = thread_mine;

	return thread && thread->depth && thread->in.verb != VERB_ibv_get_cq_event &&
	       thread->in.verb != VERB_ibv_get_async_event &&
	       thread->in.verb != VERB_rdma_get_cm_event;
}

/* Finds mistakes that only the end shows: completions and events that nobody took, objects left. */
static void look_around(bool ended_by_itself)
{
	int kind;

	if (!may_have_locked())
		objects_each(KIND_CQ, see_cq, NULL);
	objects_each(KIND_CONTEXT, see_context, NULL);
	if (!ended_by_itself)
		return; /* the program had no chance to destroy its objects */
	watch_events_at_exit();
	for (kind = 0; kind < N_KINDS; kind++) {
		if (kind != KIND_EVENT)
			objects_each((enum kind)kind, see_leak, NULL);
	}
}

/*
 * The report at the end of the program, once in a process: threads that are still in a call, the
 * summary, the accusations. `ended_by_itself` is false if a signal ends it.
 */
static void report_all(bool ended_by_itself)
{
	const struct thread *thread;

	if (!tracing || told)
		return;
	told = true;
	if (!summary_calls())
		return;
	watch_tell_empty(clock_now());
	for (thread = threads_first(); thread; thread = thread->next)
		tell_thread(thread);
	tracing = false; /* later calls are made by the libraries' own clean-up */
	if (settings.summary)
		summary_tell();
	look_around(ended_by_itself);
	accuse_tell();
}

/* Objects that the parent created are the parent's to destroy. */
static void disown(struct object *object, void *argument)
{
	(void)argument;
	object->own = false;
	object->acked = (uint64_t)object->got;
}

static void in_child(void)
{
	int kind;

	guard_unlock_all();
	process = getpid();
	threads_forked();
	if (!tracing)
		return;
	tracing = settings.follow;
	summary_forked();
	told = false; /* the child has its own report */
	line_forked();
	accuse_forked();
	watch_forked();
	for (kind = 0; kind < N_KINDS; kind++)
		objects_each((enum kind)kind, disown, NULL);
}

/* Handles a signal that would end the program: the report is written first. */
static void on_signal(int number)
{
	if (guard_defers(number))
		return;
	if (getpid() == process)
		report_all(false);
	signal(number, SIG_DFL);
	raise(number); /* delivered when this handler returns */
}

static void catch_signal(int number)
{
	struct sigaction now, ours = { .sa_handler = on_signal };

	if (!sigaction(number, NULL, &now) && now.sa_handler == SIG_DFL)
		sigaction(number, &ours, NULL);
}

/*
 * Functions that a program also calls in a signal handler are looked up now, because this takes
 * locks.
 */
static void choose_verbs(void)
{
	int verb;

	for (verb = 0; verb < N_VERBS; verb++) {
		verbs[verb].wanted = settings_want(verbs[verb].name);
		if (verbs[verb].version && !strncmp(verbs[verb].version, "GLIBC", 5))
			real_function(verb);
	}
}

/* Without -f, programs that this one starts are not traced. */
static void forget_us(void)
{
	const char *preloaded = getenv("LD_PRELOAD");
	int fd;

	if (preloaded && sscanf(preloaded, DESCRIPTOR_PATH "%d", &fd) == 1)
		close(fd);
	unsetenv("LD_PRELOAD");
	unsetenv(SETTINGS_VARIABLE);
	unsetenv(START_VARIABLE);
}

static __attribute__((constructor)) void begin(void)
{
	const char *wanted = getenv(SETTINGS_VARIABLE), *start = getenv(START_VARIABLE);

	/* With --trace-children=yes valgrind executes itself first, and then the program. */
	if (!wanted || !strncmp(program_invocation_short_name, "valgrind", 8))
		return;
	settings_read(wanted);
	trace_start = start ? strtoull(start, NULL, 10) : clock_now();
	if (!settings.follow)
		forget_us();
	process = getpid();
	choose_verbs();
	if (settings.callers)
		callers_prepare();
	sink_open();
	real_function(VERB_ibv_get_async_event); /* so that no signal handler looks it up */
	real_function(VERB_ibv_ack_async_event);
	pthread_atfork(guard_lock_all, guard_unlock_all, in_child);
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	tracing = true;
}

static __attribute__((destructor)) void end(void)
{
	if (getpid() == process)
		report_all(true);
}

EXPORTED void _exit(int status)
{
	if (tracing && getpid() == process)
		report_all(true);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORTED void _Exit(int status)
{
	_exit(status);
}
