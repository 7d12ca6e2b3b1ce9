/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Signals and signal masks. See libc.h.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

static uint64_t bit_of(int number)
{
	return 1ull << (number - 1);
}

/*
 * The kernel's own SIGCHLD comes when a child has really ended, at a moment that the seed does not
 * decide. So the program's handler runs only for the SIGCHLD that it is sent in its turn.
 */
static struct sigaction on_child;

static void filter_child(int number, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		return;
	if (on_child.sa_flags & SA_SIGINFO)
		on_child.sa_sigaction(number, info, context);
	else
		on_child.sa_handler(number);
}

EXPORTED int sigaction(int number, const struct sigaction *restrict action,
		       struct sigaction *restrict old)
{
	bool ours = sim_me && number == SIGCHLD;
	struct sigaction before = on_child, filtered;
	int ret;

	if (sim_fails_of_program(SIM_NAME("sigaction"), EINVAL, __builtin_return_address(0)))
		return -1;
	if (ours && action) {
		on_child = *action;
		filtered = *action;
		filtered.sa_flags |= SA_SIGINFO;
		filtered.sa_sigaction = filter_child;
		if (action->sa_handler != SIG_IGN && action->sa_handler != SIG_DFL)
			action = &filtered;
	}
	ret = REAL(sigaction)(number, action, old);
	if (ours && old && old->sa_sigaction == filter_child)
		*old = before;
	return ret;
}

EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, before;

	if (!sim_me || number != SIGCHLD)
		return REAL(signal)(number, handler);
	return sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

static __thread bool restarts; /* all handlers of the last sim_run_handlers had SA_RESTART */

/* Raises the signal. Returns true if a handler of the program has run. */
static bool run_one(int number)
{
	struct sigaction action = { .sa_flags = 0 };

	if (sim_me->blocked_signals & bit_of(number)) { /* pending for signalfd(2), or for later */
		REAL(kill)(getpid(), number);
		sim_wake_descriptor(sim_me->program, sim_any_file);
		return false;
	}
	REAL(sigaction)(number, NULL, &action);
	raise(number);
	restarts &= (action.sa_flags & SA_RESTART) != 0;
	return action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL;
}

/* A handler may make calls, even while the thread is in one. */
bool sim_run_handlers(void)
{
	int number, inside = sim_inside, in_verb = sim_in_verb;
	bool ran = false;

	sim_inside = sim_in_verb = 0;
	restarts = true;
	while (sim_me->pending_signals) {
		number = __builtin_ctzll(sim_me->pending_signals) + 1;
		sim_me->pending_signals &= ~bit_of(number);
		ran |= run_one(number);
	}
	sim_inside = inside;
	sim_in_verb = in_verb;
	return ran;
}

bool sim_restarts(void)
{
	return restarts;
}

void sim_learn_mask(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	REAL(pthread_sigmask)(SIG_BLOCK, NULL, &mask);
	memcpy(&sim_me->blocked_signals, &mask, sizeof(sim_me->blocked_signals));
}

EXPORTED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	int ret = REAL(pthread_sigmask)(how, set, old);

	if (sim_me)
		sim_learn_mask();
	return ret;
}

EXPORTED int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int ret = REAL(sigprocmask)(how, set, old);

	if (sim_me)
		sim_learn_mask();
	return ret;
}

void sim_swap_mask(const sigset_t *mask, sigset_t *saved)
{
	if (mask)
		pthread_sigmask(SIG_SETMASK, mask, saved);
}

void sim_restore_mask(const sigset_t *mask, const sigset_t *saved)
{
	if (mask)
		pthread_sigmask(SIG_SETMASK, saved, NULL);
}
