/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: syscall(2), by which the libraries of C++ and Rust call futex(2) and sleep.
 *
 * A wait for a futex may return 0 for no reason, as the man page says. A futex that processes share
 * has two addresses: so a wait for it returns when its value has changed.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

static long wait_for_futex(const uint32_t *word, uint32_t value, bool shared, uint64_t deadline_ns)
{
	const void *const awaited[] = { word, sim_shared_lock };
	bool interrupted = false;

	if (*(const volatile uint32_t *)word != value)
		return sim_fail(EAGAIN);
	sim_me->condition = word;
	sim_me->signalled = false;
	while (!sim_me->signalled && !interrupted && sim_world->now_ns < deadline_ns &&
	       !(shared && *(const volatile uint32_t *)word != value))
		interrupted = sim_block_for(awaited, shared ? 2 : 1, deadline_ns);
	sim_me->condition = NULL;
	if (sim_me->signalled || (shared && *(const volatile uint32_t *)word != value))
		return 0;
	return sim_fail(interrupted ? EINTR : ETIMEDOUT);
}

/* A wake with a bit set wakes all threads, because each looks at its word again. */
static long wake_futex(const uint32_t *word, uint32_t most, bool shared)
{
	long woken = 0;

	while (woken < most && sim_signal(sim_me->program, word))
		woken++;
	if (shared)
		sim_wake(NULL, sim_shared_lock);
	return woken;
}

static long futex(const uint32_t *word, int operation, uint32_t value,
		  const struct timespec *timeout, uint32_t bits)
{
	bool shared = !(operation & FUTEX_PRIVATE_FLAG);

	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		SIM_STEP("futex");
		return wait_for_futex(word, value, shared,
				      timeout ? sim_deadline(sim_ns_of(timeout)) : SIM_FOREVER);
	case FUTEX_WAIT_BITSET:
		SIM_STEP("futex");
		return wait_for_futex(word, value, shared,
				      timeout ? sim_deadline_at(timeout) : SIM_FOREVER);
	case FUTEX_WAKE:
		sim_pass("futex");
		return wake_futex(word, value, shared);
	case FUTEX_WAKE_BITSET:
		sim_pass("futex");
		return wake_futex(word, bits == FUTEX_BITSET_MATCH_ANY ? value : UINT32_MAX,
				  shared);
	default:
		sim_unknown("this operation of a futex");
	}
}

/* Handles the blocking calls that programs make through syscall(2). */
EXPORTED long syscall(long number, ...)
{
	va_list arguments;
	long a[6];
	int i;

	va_start(arguments, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (!sim_me)
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	switch (number) {
	case SYS_futex:
		return futex((const uint32_t *)a[0], (int)a[1], (uint32_t)a[2],
			     (const struct timespec *)a[3], (uint32_t)a[5]);
	case SYS_getrandom:
		return getrandom((void *)a[0], (size_t)a[1], (unsigned int)a[2]);
	case SYS_clock_gettime:
		return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
	case SYS_clock_nanosleep:
		return sim_fail(clock_nanosleep((clockid_t)a[0], (int)a[1],
						(const struct timespec *)a[2],
						(struct timespec *)a[3]));
	default:
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}
