/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the beginning and end of every call. Contract: a call holds the lock; calls
 * that can fail are counted, and one of them is made to fail. The ledger is checked when the
 * process ends.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tests/fake/libc.h"
#include "tests/fake/state.h"

const struct fake_config *fake_config;
struct fake_report *fake_report;

#define PATIENCE_S 10 /* seconds to wait for another thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int random_state;

void fake_lock(void)
{
	pthread_mutex_lock(&lock);
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void fake_changed(void)
{
	pthread_cond_broadcast(&changed);
}

bool fake_await_change(void)
{
	struct timespec until;

	if (!fake_threads)
		return false;
	__real_clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	return !pthread_cond_timedwait(&changed, &lock, &until);
}

/* Returns the same numbers for the same seed, whatever the process does between the calls. */
unsigned int fake_random(unsigned int below)
{
	random_state = random_state * 1103515245u + 12345u;
	return (random_state >> 16) % below;
}

bool fake_chance(unsigned int one_in)
{
	return fake_config->delivery == FAKE_WILD && !fake_random(one_in);
}

bool fake_interrupts(unsigned int one_in)
{
	return !fake_config->catches_none && fake_chance(one_in);
}

void *fake_allocate(size_t size)
{
	void *memory = __real_calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

static void note_hit(const char *call, const struct fake_fault *fault)
{
	struct fake_report *report = fake_report;

	report->hit = true;
	report->choices = fake_count_faults(call);
	report->struck = fault->error || fault->has_event;
	fake_count_done();
	report->hit_after = FAKE_ALL_DONE && report->peers;
	report->expected = fault->expected;
	/* On iWARP the peer has left; on RoCE it may have asked for what it has no right to. */
	report->peers_doing = fault->peers_doing || fault->wc_status == IBV_WC_WR_FLUSH_ERR;
	/* A program of one file does not ask which event has come. */
	report->peers_doing |= report->one_file && fault->device_leaves;
	report->wc_status = (int)fault->wc_status;
	snprintf(report->call, FAKE_NAME, "%s", call);
	snprintf(report->fault, FAKE_NAME, "%s", fault->name);
	if (fault->error && fault->expected == FAKE_FAILS)
		snprintf(report->says, FAKE_NAME, "%s",
			 strerror(fault->says && !report->one_file ? fault->says : fault->error));
	if (fault->has_event && fault->event == RDMA_CM_EVENT_DEVICE_REMOVAL && !report->one_file)
		snprintf(report->says, FAKE_NAME, "the RDMA device was removed");
	/*
	 * A flush is normal: the message has to name what caused it, if a CM event tells the cause.
	 */
	if (fault->wc_status == IBV_WC_WR_FLUSH_ERR && !fake_config->iwarp && !report->one_file)
		snprintf(report->says, FAKE_NAME, "was flushed");
	if (fault->wc_status && fault->wc_status != IBV_WC_WR_FLUSH_ERR)
		snprintf(report->says, FAKE_NAME, "status %d", fault->wc_status);
	/*
	 * The message has to say that the length is wrong, and need not say that the data is wrong,
	 * too.
	 */
	if (fault->cut && !report->example)
		snprintf(report->says, FAKE_NAME, " bytes");
}

void fake_strikes(void)
{
	fake_report->struck = true;
}

/*
 * Sends SIGTERM if the program catches it. Before the program has a handler, this would test
 * nothing.
 */
void fake_stop_program(void)
{
	struct sigaction action;

	if (__real_sigaction(SIGTERM, NULL, &action) || action.sa_handler == SIG_DFL)
		return;
	fake_report->stopped = true;
	raise(SIGTERM);
}

static bool is_time_to_stop(void)
{
	const struct fake_report *report = fake_report;

	fake_count_done();
	return !fake_config->stop_done || (report->peers && FAKE_ALL_DONE);
}

static void note(const char *call)
{
	const char *stop_name = fake_config->stop_name;

	snprintf(fake_report->last[fake_report->calls_seen++ % FAKE_LAST], FAKE_NAME, "%s", call);
	if (stop_name && !fake_report->stopped && !strcmp(call, stop_name) && is_time_to_stop())
		fake_stop_program();
}

static bool choose_by_name(const char *call, struct fake_fault *fault)
{
	static unsigned int seen;
	unsigned int choice = 0;

	if (strcmp(call, fake_config->fault_name))
		return false;
	if (fake_config->fault_nth && ++seen != fake_config->fault_nth)
		return false;
	while (fake_choose_fault(call, choice++, fault)) {
		if (!fake_config->fault_way || !strcmp(fault->name, fake_config->fault_way))
			return true;
	}
	return false;
}

static bool choose_fault(const char *call, struct fake_fault *fault)
{
	if (fake_config->fault_name)
		return choose_by_name(call, fault);
	return fake_report->calls == fake_config->fault_call &&
	       fake_choose_fault(call, fake_config->fault_choice, fault);
}

static void pass_slowly(const char *call)
{
	if (fake_config->slow_call && !strcmp(call, fake_config->slow_call))
		fake_report->skipped_ns += fake_config->slow_s * OUR_NS_PER_S;
}

struct fake_fault fake_begin(const char *call)
{
	struct fake_fault fault = { 0 };

	fake_lock();
	note(call);
	fake_pass_call_time(call);
	pass_slowly(call);
	if (++fake_report->calls == fake_config->stop_call)
		fake_stop_program();
	if (fake_report->calls == fake_config->stray_call)
		fake_stray_events();
	if (!choose_fault(call, &fault))
		return (struct fake_fault){ 0 };
	note_hit(call, &fault);
	return fault;
}

void fake_begin_sure(const char *call)
{
	fake_lock();
	note(call);
}

int fake_end(int error)
{
	fake_pump();
	fake_unlock();
	if (error)
		errno = error;
	return error;
}

bool fake_stop(void)
{
	fake_stop_wire();
	fake_lock();
	fake_count_done();
	fake_judge_ledger();
	fake_judge_memory();
	fake_judge_async();
	fake_unlock();
	fake_over = true;
	return !fake_report->complaints;
}

void fake_start(const struct fake_config *config, struct fake_report *report)
{
	fake_config = config;
	fake_report = report;
	report->one_file = config->one_file;
	report->example = config->example;
	random_state = config->seed;
	fake_forget_poller();
	if (config->delivery == FAKE_BY_THREAD)
		fake_start_wire();
	fake_open_async();
	fake_open_ledger();
}
