/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/measure/statistics.h. No test asserts how long something takes; the
 * CPU time and the context switches of a process are compared in tests/sim, in simulated time.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/meter.h"
#include "common/clock.h"
#include "program/measure/statistics.h"
#include "tests/unit/unit.h"

static struct our_statistics statistics;

UNIT_TEST(memory_is_bounded)
{
	ck_assert_uint_lt(sizeof(struct our_statistics), 64 * 1024);
	ck_assert_uint_lt(sizeof(struct our_statistics), 20 * 1024); /* the header promises this */
}

static const struct {
	uint64_t count, warm_up;
} warm_ups[] = {
	{ 1, 0 },
	{ 9, 0 },
	{ 10, 1 },
	{ 99, 9 },
	{ 1000, 100 },
	{ 1009, 100 },
	{ 1000000000000, 100 },
};

UNIT_TESTS(warm_up_is_a_tenth_and_bounded, UNIT_LENGTH(warm_ups))
{
	memset(&statistics, 0xff, sizeof(statistics));
	our_statistics_prepare(&statistics, warm_ups[_i].count, 4096);
	ck_assert_uint_eq(statistics.warm_up, warm_ups[_i].warm_up);
	ck_assert_uint_eq(statistics.message_size, 4096);
	ck_assert_uint_eq(statistics.messages, 0);
	ck_assert_uint_eq(statistics.round_trips.count, 0);
	ck_assert(!statistics.verified && !statistics.complete);
	ck_assert_double_eq(our_statistics_seconds(&statistics), 0);
}

UNIT_TEST(start_forgets_the_warm_up)
{
	our_statistics_prepare(&statistics, 1000, 64);
	statistics.messages = 100;
	our_histogram_add(&statistics.round_trips, 12345);
	our_statistics_start(&statistics);
	ck_assert_uint_eq(statistics.messages, 0);
	ck_assert_uint_eq(statistics.round_trips.count, 0);
	ck_assert_uint_eq(statistics.warm_up, 100);
	ck_assert_uint_ne(statistics.started_ns, 0);
}

UNIT_TEST(an_end_without_a_start_measures_nothing)
{
	our_statistics_prepare(&statistics, 1000, 64);
	our_statistics_end(&statistics);
	ck_assert_double_eq(our_statistics_seconds(&statistics), 0);
	ck_assert_uint_eq(statistics.used.process_user_us, 0);
}

static uint64_t cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static const struct {
	uint64_t elapsed_ns, cpus, idle_us, busy_us;
} intervals[] = {
	{ 1000000000, 1, 0, 1000000 },
	{ 4200000000, 2, 5960000, 2440000 }, /* the machine was mostly idle */
	{ 1000000000, 4, 1000000, 3000000 },
	{ 1000000000, 2, 2010000, 0 }, /* no CPU time at all, and one tick that had begun before */
};

UNIT_TESTS(busy_is_what_is_not_idle, UNIT_LENGTH(intervals))
{
	ck_assert_uint_eq(our_machine_busy_us(intervals[_i].elapsed_ns, intervals[_i].cpus,
					      intervals[_i].idle_us),
			  intervals[_i].busy_us);
}

/*
 * The kernel counts idle time in ticks of 10 ms, in two columns, with an error at both ends:
 * together 40 ms. The interval of the machine's CPU time is a little longer than the measured one,
 * and lies inside the test's own.
 */
UNIT_TEST(the_machine_was_busy_for_as_long_as_a_process_of_it)
{
	uint64_t begun = cpu_us(), begun_ns = our_now_ns();

	our_statistics_prepare(&statistics, 10, 64);
	our_statistics_start(&statistics);
	while (cpu_us() - begun < 200000)
		;
	our_statistics_end(&statistics);
	ck_assert_uint_ge(statistics.used.machine_busy_us + 40000,
			  statistics.used.process_user_us + statistics.used.process_system_us);
	ck_assert_double_le((double)statistics.used.machine_busy_us,
			    (double)(our_now_ns() - begun_ns) / OUR_NS_PER_US *
				    (double)sysconf(_SC_NPROCESSORS_ONLN));
}

/* The time that it takes to read the clocks is not part of the interval, however short that is. */
UNIT_TEST(one_thread_uses_no_more_than_one_cpu)
{
	int times;

	for (times = 0; times < 200; times++) {
		our_statistics_prepare(&statistics, 10, 64);
		our_statistics_start(&statistics);
		our_statistics_end(&statistics);
		ck_assert_double_le((double)(statistics.used.process_user_us +
					     statistics.used.process_system_us),
				    our_statistics_seconds(&statistics) * 1e6 + 2);
	}
}

UNIT_TEST(a_second_end_changes_nothing)
{
	struct our_statistics first;

	our_statistics_prepare(&statistics, 10, 64);
	our_statistics_start(&statistics);
	our_statistics_end(&statistics);
	first = statistics;
	our_statistics_end(&statistics);
	ck_assert_mem_eq(&statistics, &first, sizeof(first));
}

UNIT_TEST(no_progress_but_on_a_terminal)
{
	our_statistics_prepare(&statistics, 10, 64);
	capture_start(); /* from here on stderr is a file */
	our_statistics_want_progress(&statistics, false);
	our_statistics_progress(&statistics, UINT64_MAX - 1);
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(progress_comes_when_it_is_due)
{
	our_statistics_prepare(&statistics, 10, 64);
	statistics.next_progress_ns = 1000;
	statistics.messages = 4711;
	capture_start();
	our_statistics_progress(&statistics, 999);
	ck_assert_str_eq(captured_stderr(), "");
	our_statistics_progress(&statistics, 1000);
	assert_holds(captured_stderr(), "4711 messages");
	ck_assert_uint_eq(statistics.next_progress_ns, 1000001000);
	ck_assert_str_eq(captured_stdout(), "");
}

UNIT_TEST(progress_shows_round_trips)
{
	our_statistics_prepare(&statistics, 10, 64);
	our_histogram_add(&statistics.round_trips, 2000);
	our_histogram_add(&statistics.round_trips, 5000);
	statistics.messages = 2;
	capture_start();
	our_statistics_show_progress(&statistics, 1000);
	assert_holds(captured_stderr(), ": 2 messages, round trip mean 3.5 us, max 5.0 us\n");
}

#define SECOND 1000000000ULL

/* The rule of the definition: message number n is due n / rate seconds after the start. */
static const struct {
	uint64_t message, rate, after_ns;
} dues[] = {
	{ 0, 1, 0 },
	{ 1, 1, SECOND },
	{ 1, 3, SECOND / 3 },
	{ 3000000, 3, 1000000 * SECOND }, /* a third of a second was not rounded each time */
	{ 7000000001, 7000, 1000000 * SECOND + 142857 },
	{ 100000000000, 1000000, 100000 * SECOND }, /* a day and more */
	{ 999999999999, 1000000000, 999999999999 },
};

UNIT_TESTS(a_message_is_due_when_so_many_would_have_been_sent, UNIT_LENGTH(dues))
{
	ck_assert_uint_eq(our_due_ns(5, dues[_i].message, dues[_i].rate), 5 + dues[_i].after_ns);
}

/* The first is due at once, and the one after it when its time has passed in full. */
static const struct {
	uint64_t elapsed_ns, rate, due;
} counts[] = {
	{ 0, 1, 1 },
	{ SECOND - 1, 1, 1 },
	{ SECOND, 1, 2 },
	{ SECOND / 3, 3, 1 },
	{ SECOND / 3 + 1, 3, 2 },
	{ 999999999, 1000000000, 1000000000 },
	{ 6 * 3600 * SECOND, 1000000, 21600000001 }, /* this is after six hours */
	{ 3600 * SECOND, 1000000000, 3600000000001 },
};

UNIT_TESTS(as_many_messages_are_due_as_could_have_been_sent, UNIT_LENGTH(counts))
{
	ck_assert_uint_eq(our_messages_due(counts[_i].elapsed_ns, counts[_i].rate), counts[_i].due);
}

/* With no descriptor left, /proc/stat cannot be opened. */
static void take_descriptors(bool away)
{
	static struct rlimit before;
	struct rlimit none;

	if (away) {
		ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
		none = (struct rlimit){ 0, before.rlim_max };
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	} else {
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	}
}

static const char *const reads[] = {
	"cpu 10 10 10 1000 500 10 10 0\n", /* idle, and waiting for I/O, are the fourth and fifth */
	"cpu 11 10 10 1001 100 10 10 0\n",
};
static int next_read = UNIT_LENGTH(reads);

const char *unit_next_stat(void)
{
	return next_read < UNIT_LENGTH(reads) ? reads[next_read++] : NULL;
}

UNIT_TEST(idle_time_that_the_kernel_takes_back_is_none)
{
	our_statistics_prepare(&statistics, 10, 64);
	next_read = 0;
	our_statistics_start(&statistics);
	our_statistics_end(&statistics);
	ck_assert_int_eq(next_read, UNIT_LENGTH(reads));
	ck_assert(statistics.used.machine_is_known);
	ck_assert_uint_eq(statistics.used.machine_idle_us, 0);
	ck_assert_uint_eq(statistics.used.machine_user_us, 10000);
}

/* Stolen time is the eighth; interrupts, before it, are work. */
UNIT_TEST(a_machine_is_idle_while_it_waits_or_another_has_its_cpus)
{
	next_read = 0;
	ck_assert_uint_eq(our_real_meter.idle_ns() / (OUR_NS_PER_S / sysconf(_SC_CLK_TCK)), 1500);
}

/* _i: bit 0, at the start; bit 1, at the end. */
UNIT_TESTS(the_machines_use_is_known_if_it_was_read_twice, 4)
{
	our_statistics_prepare(&statistics, 10, 64);
	if (_i & 1)
		take_descriptors(true);
	our_statistics_start(&statistics);
	if (_i & 1)
		take_descriptors(false);
	if (_i & 2)
		take_descriptors(true);
	our_statistics_end(&statistics);
	if (_i & 2)
		take_descriptors(false);
	ck_assert(statistics.used.machine_is_known == !_i);
	ck_assert_uint_ge(statistics.ended_ns, statistics.started_ns);
}

UNIT_TEST(a_streams_rate_is_the_one_since_it_was_last_shown)
{
	static struct our_stream_statistics stream;

	our_statistics_prepare(&statistics, 1000, 1000000);
	our_statistics_add_stream(&statistics, &stream);
	capture_start();
	our_statistics_show_progress(&statistics, 2 * SECOND);
	ck_assert_str_eq(captured_stderr(), ""); /* the run is still in the warm-up */
	statistics.started_ns = 3 * SECOND;
	statistics.messages = 500;
	our_statistics_show_progress(&statistics, 5 * SECOND);
	assert_holds(captured_stderr(), "500 messages, now 250 a second, 250.0 MB/s\n");
	statistics.messages = 530;
	our_statistics_show_progress(&statistics, 6 * SECOND);
	assert_holds(captured_stderr(), "530 messages, now 30 a second, 30.0 MB/s\n");
	ck_assert_uint_eq(statistics.next_progress_ns, 7 * SECOND);
}

UNIT_TESTS(a_terminal_gets_progress_unless_quiet,
	   unit_has_terminals("a_terminal_gets_progress_unless_quiet"))
{
	int user, program;

	ck_assert(unit_open_terminal(&user, &program));
	ck_assert_int_eq(dup2(program, STDERR_FILENO), STDERR_FILENO);
	our_statistics_prepare(&statistics, 10, 64);
	our_statistics_want_progress(&statistics, true);
	ck_assert_uint_eq(statistics.next_progress_ns, UINT64_MAX);
	our_statistics_want_progress(&statistics, false);
	ck_assert_uint_lt(statistics.next_progress_ns, UINT64_MAX);
}
