/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * See libc.h. A timer of the thread's CPU time sends it SIGVTALRM, whose handler gives the turn away.
 * Contract: the handler does nothing while the thread is in a library, because that may hold a lock.
 */
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

#define PERIOD_NS \
	1000000 /* CPU time, which the kernel rounds up to its tick of some milliseconds */
#define LOOP_BYTES  128
#define KNOWN_TICKS 1           /* ticks without a call, in a loop that was found before */
#define NEW_TICKS   25          /* ticks in a new one, which may compute: a tenth of a second */
#define SLEEP_NS    1000000     /* simulated, unless a peer writes; doubled each time */
#define MOST_NS     60000000000 /* the limit of that */

__thread int sim_locked_streams;

static uintptr_t last_loop; /* a place in the last loop that was found */

static uintptr_t place_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

/*
 * A program that computes must not be taken for one that spins: it would lose its turn on a slow
 * machine, and keep it on a fast one.
 */
static bool spins(uintptr_t place)
{
	static uint64_t seen;
	static int ticks;

	ticks = seen == sim_world->hash ? ticks + 1 : 0;
	seen = sim_world->hash;
	if (!sim_is_program(place))
		return false;
	return ticks >= (place - last_loop + LOOP_BYTES < 2 * LOOP_BYTES ? KNOWN_TICKS : NEW_TICKS);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	static uint64_t last_hash, sleep_ns;
	uintptr_t place = place_of(context);

	(void)number;
	(void)info;
	if (!sim_me || sim_me != sim_world->running || sim_locked_streams || !spins(place))
		return;
	last_loop = place;
	sleep_ns = last_hash != sim_world->hash ? SLEEP_NS
		   : sleep_ns < MOST_NS         ? 2 * sleep_ns
						: sleep_ns;
	sim_pass("a loop without calls");
	sim_poll_until(sim_memory, sim_deadline(sleep_ns));
	last_hash = sim_world->hash;
}

void sim_interrupt_spinning(void)
{
	static __thread bool done;
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerspec period = { .it_interval.tv_nsec = PERIOD_NS,
				     .it_value.tv_nsec = PERIOD_NS };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM };
	timer_t timer;

	if (done || !sim_me)
		return;
	done = true;
	action.sa_sigaction = on_tick;
	event._sigev_un._tid = gettid();
	if (REAL(sigaction)(SIGVTALRM, &action, NULL) ||
	    REAL(timer_create)(CLOCK_THREAD_CPUTIME_ID, &event, &timer))
		return;
	timer_settime(timer, 0, &period, NULL);
}
