/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The common part of all functions that the library puts in the place of others: entering a call,
 * sleeping in it, and the function that is replaced.
 *
 * Contract: a replacement begins with SIM_CALL or SIM_STEP, before it looks at anything that
 * another thread may change.
 */
#ifndef VERBS_SIM_CALLS_CALL_H
#define VERBS_SIM_CALLS_CALL_H
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/faults.h"

#define EXPORTED __attribute__((visibility("default")))

/* The function of this name that ours replaces. */
#define REAL(name)                                                             \
	({                                                                     \
		static __typeof__(&name) sim_real;                             \
		if (!sim_real)                                                 \
			sim_real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		sim_real;                                                      \
	})

/* Puts the name of a call into the list of those that --fail may name. */
#define SIM_NAME(name)                                                                           \
	({                                                                                       \
		static const char sim_name[] __attribute__((section("sim_names"), used)) = name; \
		sim_name;                                                                        \
	})

/* Returns true if a call of this name is counted. For the runner. */
bool sim_counts(const char *name);

/*
 * Enters a call that may fail in these ways, errno values from its man page; the first is the usual
 * one. Returns 0, or the way in which it is to fail now. The call is counted, noted and traced, and
 * other threads may have run.
 */
#define SIM_CALL(name, ...) sim_enter(SIM_NAME(name), (const int[]){ __VA_ARGS__, 0 })
int sim_enter(const char *name, const int *ways);

/* Only counts and traces a call. */
void sim_count(const char *name);

/* Enters a call that cannot fail. */
#define SIM_STEP(name) SIM_CALL(name, 0)

/* This thread, once its exit handlers have run; NULL before. */
extern __thread struct sim_thread *sim_left;

/* Names the call in which this thread may sleep, for messages. */
void sim_name_call(const char *name);

/* Only notes a call that a program makes often, and that is of no interest. */
void sim_pass(const char *name);

/* With --trace: prints what a call has found, in a line behind the call's own. */
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the same for a posted request, the Nth of its chain from 1, and for a completion. */
struct ibv_wc;
void sim_trace_request(uint64_t length, int num_sge, unsigned int flags, int place);
void sim_trace_completion(const struct ibv_wc *wc);

/* Gives such a call a row in the picture of --shrink, if the program itself has made it. */
void sim_trace_step(const char *name, const char *found);

/* Sets errno for a call that has failed: 0 if the call does not say why. */
static inline void sim_set_errno(int error)
{
	errno = error == SIM_UNSAID ? 0 : error;
}

/*
 * The return value of a call that reports an error in errno: -1, or 0 if there is none; or NULL. A
 * call that succeeds leaves errno as it was, as programs print it later.
 */
static inline int sim_fail(int error)
{
	if (error)
		sim_set_errno(error);
	return error ? -1 : 0;
}

/*
 * The return value of a call that returns the number of an error: libibverbs leaves the number in
 * errno, too, where the kernel was asked.
 */
static inline int sim_number(int error)
{
	if (error)
		sim_set_errno(error);
	return error;
}

static inline void *sim_null(int error)
{
	sim_set_errno(error);
	return NULL;
}

/* For a call that reports an error in errno and returns -1, or NULL. */
#define SIM_CALL_OR(failed, name, ...)                     \
	do {                                               \
		int sim_way = SIM_CALL(name, __VA_ARGS__); \
		if (sim_way) {                             \
			sim_set_errno(sim_way);            \
			return failed;                     \
		}                                          \
	} while (0)

/*
 * A call that has been entered already: calls inside it are not counted, and do not fail by
 * --fail.
 */
#define SIM_INSIDE(call)                     \
	({                                   \
		__typeof__(call) sim_result; \
		sim_inside++;                \
		sim_result = call;           \
		sim_inside--;                \
		sim_result;                  \
	})
extern __thread int sim_inside;

/* Calls of the program into its libraries that this thread is in: see verb.h. */
extern __thread int sim_in_verb;

/* Names a call of the program into a library, which is not counted. */
void sim_enter_verb(const char *name, const char *format, va_list arguments);

/* Sleeps as sim_sleep_for does. Returns true if a signal's handler has run. */
bool sim_block(const void *awaited, uint64_t deadline_ns);
bool sim_block_for(const void *const *awaited, int n, uint64_t deadline_ns);

/*
 * To be called when a call has found nothing, because its program may poll: sleeps for a moment,
 * longer each time until sim_found is called.
 */
void sim_idle(const void *awaited);
void sim_found(void);

/*
 * After a post, a thread may lose the processor for some time: its peer answers, and does more,
 * before the thread goes on.
 */
void sim_lose_processor(void);

/* The parts of sim_idle: computing its length, and sleeping as a program that uses the CPU. */
uint64_t sim_step_of(uint64_t spent_ns, uint64_t least_ns, uint64_t part);
void sim_poll_until(const void *awaited, uint64_t deadline_ns);

/* Runs the handlers of signals that are pending for this thread. Returns true if there were any. */
bool sim_run_handlers(void);

/* Returns true if calls that signal(7) lists go on after the handlers that have run last. */
bool sim_restarts(void);

/* Lets simulated time pass, during which the program uses the CPU. */
void sim_use_cpu(uint64_t ns);

/* Does what --fail asks for at a call. Returns 0, or the errno value that the call fails with. */
int sim_commit_fault(const char *name, const int *ways);

/* Does the same at a call that is not counted, for faults that name the call. */
int sim_commit_fault_of(const char *name, const int *ways);

/*
 * Counts a call that the program itself makes, from the place `caller` in its code, and does what
 * --fail asks for. Returns true if the call is to fail, with `way`, or the errno value that was
 * asked for, in errno.
 */
bool sim_fails_of_program(const char *name, int way, const void *caller);

/* Ends the run: the program has made a call that is not simulated. */
void sim_unknown(const char *what) __attribute__((noreturn));

/* Returns the time `ns` from now, not beyond SIM_FOREVER. */
uint64_t sim_deadline(uint64_t ns);
uint64_t sim_ns_of(const struct timespec *time);

/* Return false if the nanoseconds are none, or the time is negative, too: most calls answer EINVAL. */
bool sim_is_point(const struct timespec *time);
bool sim_is_span(const struct timespec *time);
#endif
