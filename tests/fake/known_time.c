/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, clocks that the test controls: the time, the CPU time and context switches of
 * the process, and /proc/stat. See known_time.h. A message arrives when the program polls and finds
 * nothing, or goes to sleep; then the clock advances by the message's time. Time in which the
 * program sleeps is skipped: clock.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "tests/fake/known_time.h"
#include "tests/fake/libc.h"
#include "tests/fake/state.h"

/* The machine has run for a long time, and the process has used some CPU time before. */
#define SINCE_START 1000000

/* Different prime numbers, so that no sum of some equals a sum of others. */
const unsigned int known_ticks[KNOWN_COLUMNS] = { 2, 3, 5, 101, 59, 13, 31, 47 };

uint64_t known_message_ns(const struct fake_config *config, uint64_t message)
{
	uint64_t us = config->known_us;

	if (config->late_message == message + 1)
		us = config->late_us;
	else if (config->spread_us)
		us += message * 7919 % config->spread_us;
	return us * OUR_NS_PER_US;
}

bool fake_time_is_known(void)
{
	return fake_report && fake_config->known_us;
}

void fake_pass_message_time(void)
{
	uint64_t message = fake_report->known_messages++;

	fake_report->skipped_ns += known_message_ns(fake_config, message);
	fake_report->known_last_ns = fake_known_now_ns();
}

/*
 * A WRITE of a peer's device arrives without a poll of the program, that long after the message
 * before it.
 */
uint64_t fake_due_ns(void)
{
	return fake_report->known_last_ns +
	       known_message_ns(fake_config, fake_report->known_messages);
}

void fake_due_arrived(void)
{
	fake_report->known_last_ns = fake_due_ns();
	fake_report->known_messages++;
}

/*
 * CPU time before and after the measurement: a program that begins too early or ends too late
 * measures too much.
 */
void fake_pass_call_time(const char *call)
{
	if (!fake_time_is_known() || (strcmp(call, "rdma_connect") && strcmp(call, "rdma_accept") &&
				      strcmp(call, "ibv_destroy_cq")))
		return;
	fake_report->known_calls++;
	fake_report->skipped_ns += KNOWN_CALL_NS;
}

static uint64_t used(void)
{
	return SINCE_START + fake_report->known_messages +
	       KNOWN_CALL_USES * fake_report->known_calls;
}

uint64_t fake_known_now_ns(void)
{
	return SINCE_START * OUR_NS_PER_S + fake_report->skipped_ns;
}

int __wrap_getrusage(int who, struct rusage *usage)
{
	uint64_t user_us, system_us;

	if (!fake_time_is_known())
		return __real_getrusage(who, usage);
	memset(usage, 0, sizeof(*usage));
	if (who != RUSAGE_SELF)
		return 0;
	user_us = used() * KNOWN_USER_US;
	system_us = used() * KNOWN_SYSTEM_US;
	usage->ru_utime.tv_sec = (time_t)(user_us / 1000000);
	usage->ru_utime.tv_usec = (suseconds_t)(user_us % 1000000);
	usage->ru_stime.tv_sec = (time_t)(system_us / 1000000);
	usage->ru_stime.tv_usec = (suseconds_t)(system_us % 1000000);
	usage->ru_nvcsw = (long)(used() * KNOWN_VOLUNTARY);
	usage->ru_nivcsw = (long)(used() * KNOWN_INVOLUNTARY);
	return 0;
}

/* The first line is for the whole machine; the line of a CPU follows. */
static FILE *open_stat(const char *mode)
{
	FILE *file = tmpfile();
	int column;

	(void)mode;
	if (!file)
		return NULL;
	fputs("cpu ", file);
	for (column = 0; column < KNOWN_COLUMNS; column++)
		fprintf(file, " %llu", (unsigned long long)used() * known_ticks[column]);
	fputs(" 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n", file);
	rewind(file);
	return file;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (fake_time_is_known() && !strcmp(path, "/proc/stat"))
		return open_stat(mode);
	return __real_fopen(path, mode);
}

/* ---- how often the program has polled ---- */

/* A receive, or the data of a READ. */
static bool is_message(const struct ibv_wc *wc)
{
	if (!fake_config->one_sided)
		return wc->opcode == IBV_WC_RECV;
	return wc->opcode == IBV_WC_RDMA_READ || wc->opcode == IBV_WC_FETCH_ADD;
}

void fake_note_look(int found, const struct ibv_wc *wc)
{
	struct fake_looks *looks = &fake_report->looks;
	int i;

	looks->polls++;
	looks->empty_polls += !found;
	looks->completions += (uint32_t)found;
	for (i = 0; i < found; i++) {
		if (is_message(&wc[i]) && fake_report->receives < FAKE_NOTED)
			fake_report->noted[fake_report->receives++] = *looks;
	}
}
