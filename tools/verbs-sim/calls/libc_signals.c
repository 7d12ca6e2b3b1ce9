/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: waiting for a signal, and sending one. Handlers run elsewhere: see signals.c.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

/* ---- Waiting for a signal ---- */

EXPORTED int sigsuspend(const sigset_t *mask)
{
	sigset_t pending, saved;
	bool runs = false;
	int number;

	if (!sim_me)
		return REAL(sigsuspend)(mask);
	SIM_STEP("sigsuspend");
	sigpending(&pending);
	for (number = 1; number <= 64; number++)
		runs |= sigismember(&pending, number) > 0 && !sigismember(mask, number);
	sim_swap_mask(mask, &saved); /* handlers of pending signals run here */
	while (!runs)
		runs = sim_block(sim_me, SIM_FOREVER);
	sim_restore_mask(mask, &saved);
	return sim_fail(EINTR);
}

/* A blocked signal is pending for the process as soon as its main thread has run. */
static int wait_for_signal(const sigset_t *set, siginfo_t *info, uint64_t deadline_ns)
{
	static const struct timespec now;
	const void *awaited = sim_any_file;
	int number;

	SIM_STEP("sigtimedwait");
	while ((number = REAL(sigtimedwait)(set, info, &now)) < 0 && errno == EAGAIN) {
		if (sim_world->now_ns >= deadline_ns)
			return -1;
		if (sim_block(awaited, deadline_ns))
			return sim_fail(EINTR);
	}
	return number;
}

EXPORTED int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			  const struct timespec *restrict timeout)
{
	if (!sim_me)
		return REAL(sigtimedwait)(set, info, timeout);
	if (timeout && !sim_is_span(timeout))
		return sim_fail(EINVAL);
	return wait_for_signal(set, info, timeout ? sim_deadline(sim_ns_of(timeout)) : SIM_FOREVER);
}

EXPORTED int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return sim_me ? wait_for_signal(set, info, SIM_FOREVER) : REAL(sigwaitinfo)(set, info);
}

EXPORTED int sigwait(const sigset_t *restrict set, int *restrict number)
{
	int got;

	if (!sim_me)
		return REAL(sigwait)(set, number);
	do
		got = wait_for_signal(set, NULL, SIM_FOREVER);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	*number = got;
	return 0;
}

/* ---- Signals to others ---- */

/* Finds the newest program with this pid: a run with many programs may use a pid again. */
static struct sim_program *find_program(pid_t pid)
{
	int i = sim_world->n_programs - 1;

	while (i >= 0 && sim_world->programs[i].pid != pid)
		i--;
	return i < 0 ? NULL : &sim_world->programs[i];
}

/* A program of this run gets the signal in its turn, because otherwise the system decides when. */
EXPORTED int kill(pid_t pid, int number)
{
	bool waits = number > 0 && number <= 64 && number != SIGKILL && number != SIGSTOP &&
		     number != SIGCONT;
	struct sim_program *program = sim_me && waits ? find_program(pid) : NULL;

	if (!program || !program->main_thread || program->state == SIM_PROGRAM_ENDED)
		return REAL(kill)(pid, number);
	sim_send_signal(program, number);
	sim_pass("kill");
	return 0;
}
