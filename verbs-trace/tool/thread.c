/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the threads that call verbs. See call.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/call.h"

__thread struct thread *thread_mine;
static struct thread *threads; /* rows are not freed, but are used again */
static int n_threads;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *row)
{
	struct thread *thread = row;

	guard_lock(GUARD_THREADS);
	thread->gone = true;
	guard_unlock(GUARD_THREADS);
	thread_mine = NULL;
}

static void make_key(void)
{
	pthread_key_create(&at_end, thread_ends);
}

struct thread *thread_new(void)
{
	static struct tally lost[N_VERBS];
	static __thread struct thread without_memory;
	struct thread *thread;

	pthread_once(&once, make_key);
	guard_lock(GUARD_THREADS);
	for (thread = threads; thread && !thread->gone; thread = thread->next)
		;
	if (!thread) {
		thread = calloc(1, sizeof(*thread) + N_VERBS * sizeof(struct tally));
		if (thread) {
			thread->tallies = (struct tally *)(thread + 1);
			thread->next = threads;
			threads = thread;
		}
	}
	if (thread) {
		thread->gone = false;
		thread->depth = 0;
		thread->in.when = 0;
		thread->number = ++n_threads;
		thread->tid = (pid_t)syscall(SYS_gettid);
	}
	guard_unlock(GUARD_THREADS);
	without_memory.tallies = lost;
	thread_mine = thread ? thread : &without_memory;
	thread_mine->error = __errno_location();
	pthread_setspecific(at_end, thread_mine);
	return thread_mine;
}

struct thread *threads_first(void)
{
	return threads;
}

void threads_forked(void)
{
	struct thread *thread;

	for (thread = threads; thread; thread = thread->next)
		thread->gone = thread != thread_mine;
	if (thread_mine)
		thread_mine->tid = (pid_t)syscall(SYS_gettid);
}
