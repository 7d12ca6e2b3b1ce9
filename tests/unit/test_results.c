/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/measure/results.h, called through program/measure/run_end.c: all
 * results, as JSON and as text, of a connection that does not exist. The test fills in the id and
 * the iWARP device itself.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/measure/run.h"
#include "program/report.h"
#include "program/stage.h"
#include "tests/unit/unit.h"

static const struct our_program program = {
	.stage = "stage",
	.role = "client",
	.name = "stage/client",
	.summary = "",
};

static struct ibv_device device = { .transport_type = IBV_TRANSPORT_IWARP };
static struct ibv_context verbs = { .device = &device };
static struct our_options options = { .program = &program };
static struct our_run run = { .options = &options };
static struct our_control control = {
	.user = &run,
	.role = OUR_CLIENT,
	.verbs = &verbs,
	.port_num = 1,
};

static void make_control(void)
{
	struct sockaddr_in *local = (struct sockaddr_in *)&control.local_address;
	struct sockaddr_in6 *peer = (struct sockaddr_in6 *)&control.peer_address;

	snprintf(device.name, sizeof(device.name), "made_up0");
	local->sin_family = AF_INET;
	local->sin_port = htons(1000);
	inet_pton(AF_INET, "192.0.2.9", &local->sin_addr);
	peer->sin6_family = AF_INET6;
	peer->sin6_port = htons(12321);
	inet_pton(AF_INET6, "2001:db8::7", &peer->sin6_addr);
	run.control = &control;
	our_histogram_reset(&run.statistics.round_trips);
}

/*
 * Round trips of 1 to 99, each once, and one of 120, in units of `unit_ns`: each percentile is
 * known, and exact where this is one, as each value below 128 ns has a bucket of its own.
 */
static void make_statistics(uint64_t unit_ns)
{
	struct our_statistics *statistics = &run.statistics;
	uint64_t n;

	make_control();
	for (n = 1; n <= 100; n++)
		our_histogram_add(&statistics->round_trips, (n < 100 ? n : 120) * unit_ns);
	statistics->messages = 100;
	statistics->warm_up = 11;
	statistics->message_size = 4096;
	statistics->started_ns = 5000000000;
	statistics->ended_ns = 7500000000;
	run.before = (struct our_counters){ 70, 60, 10, 8, 1 };
	control.counters = (struct our_counters){ 1070, 910, 210, 168, 10 };
	statistics->used = (struct our_cpu_use){ 1500000, 250000,  3000000, 4000000, 17,
						 23,      1750000, 3250000, 0,       true };
	statistics->verified = true;
	control.complete = true;
}

static const char *json(void)
{
	options.json = true;
	capture_start();
	ck_assert_int_eq(our_report_results(&control, 0), 0);
	options.json = false;
	return captured_stdout();
}

/* All fields of bench/results.md, and no others. */
UNIT_TEST(json_has_the_figures)
{
	make_statistics(1);
	ck_assert_str_eq(
		json(),
		"{\"schema\": 1, \"program\": \"stage\", \"role\": \"client\", "
		"\"device\": \"made_up0\", \"transport\": \"iWARP\", "
		"\"local_address\": \"192.0.2.9:1000\", "
		"\"peer_address\": \"[2001:db8::7]:12321\", "
		"\"size\": 4096, \"count\": 100, \"warm_up\": 11, \"seconds\": 2.500000000, "
		"\"round_trip_us\": {\"min\": 0.001, \"mean\": 0.051, \"p50\": 0.050, "
		"\"p90\": 0.090, \"p99\": 0.099, \"p99_9\": 0.120, \"max\": 0.120}, "
		"\"messages_per_second\": 40.000, \"bytes_per_second\": 163840.000, "
		"\"process_cpu\": {\"user_seconds\": 1.500000, \"system_seconds\": 0.250000}, "
		"\"machine_cpu\": {\"user_seconds\": 3.000000, \"system_seconds\": 4.000000, "
		"\"idle_seconds\": 1.750000, \"busy_seconds\": 3.250000}, "
		"\"context_switches\": {\"voluntary\": 17, \"involuntary\": 23}, "
		"\"cq\": {\"polls\": 1000, \"empty_polls\": 850, \"completions\": 200, "
		"\"completions_per_poll\": 0.200000, \"sleeps\": 160, \"empty_wake_ups\": 9, "
		"\"completions_per_sleep\": 1.250000}, "
		"\"verified\": true, \"complete\": true}\n");
}

UNIT_TEST(json_of_a_run_without_a_message)
{
	const char *written;

	make_control();
	written = json();
	assert_holds(written, "\"count\": 0, \"warm_up\": 0, \"seconds\": 0.000000000, "
			      "\"round_trip_us\": null, \"messages_per_second\": 0.000, ");
	assert_holds(written, "\"machine_cpu\": {\"user_seconds\": 0.000000, ");
	assert_holds(written, "\"verified\": false, \"complete\": false}\n");
}

/*
 * A stream of 100 messages: posts of 1 to 20 work requests, and polls that each found 5
 * completions.
 */
static void make_stream(void)
{
	static struct our_stream_statistics stream;
	uint64_t n;

	make_statistics(1000);
	our_histogram_reset(&run.statistics.round_trips);
	our_histogram_reset(&stream.wrs_per_post);
	our_histogram_reset(&stream.completions_per_poll);
	for (n = 1; n <= 20; n++)
		our_histogram_add(&stream.wrs_per_post, n);
	our_histogram_add(&stream.completions_per_poll, 5);
	stream.credit_messages = 7;
	stream.credit_stalls = 3;
	run.statistics.stream = &stream;
}

UNIT_TEST(people_are_shown_no_zeros)
{
	make_control();
	options.stats = true;
	capture_start();
	ck_assert_int_eq(our_report_results(&control, 0), 0);
	assert_holds(captured_stdout(), ": 0 messages of 0 bytes, run not completed\n");
	ck_assert_ptr_null(strstr(captured_stdout(), "rate"));
	ck_assert_ptr_null(strstr(captured_stdout(), "CQ polls"));
}

UNIT_TEST(json_of_a_stream)
{
	const char *written;

	make_stream();
	written = json();
	assert_holds(written, "\"round_trip_us\": null, ");
	assert_holds(
		written,
		"\"stream\": {\"work_requests_per_post\": {\"min\": 1.000, \"mean\": 10.500, "
		"\"p50\": 10.000, \"p90\": 18.000, \"p99\": 20.000, \"p99_9\": 20.000, "
		"\"max\": 20.000}, \"completions_per_poll\": {\"min\": 5.000, \"mean\": 5.000, "
		"\"p50\": 5.000, \"p90\": 5.000, \"p99\": 5.000, \"p99_9\": 5.000, "
		"\"max\": 5.000}, \"credit_messages\": 7, \"credit_stalls\": 3}, "
		"\"verified\": true, \"complete\": true}\n");
}

UNIT_TEST(people_are_shown_a_stream)
{
	make_stream();
	options.stats = true;
	capture_start();
	our_report_results(&control, 0);
	assert_holds(captured_stdout(), "40 messages/s, 0.164 MB/s\n");
	assert_holds(captured_stdout(), "WRs a post     mean 10.5  p50 10  p99 20  max 20");
	assert_holds(captured_stdout(), "WCs a poll     mean 5.0  p50 5  p99 5  max 5");
	assert_holds(captured_stdout(), "7 messages, 3 stalls for lack of credit");
	ck_assert_ptr_null(strstr(captured_stdout(), "round trip"));
}

/* The figures that were read at the start are not those of the run. */
UNIT_TEST(what_the_machine_used_is_not_shown_if_it_is_not_known)
{
	make_statistics(1000);
	run.statistics.used.machine_is_known = false;
	assert_holds(json(), "0.250000}, \"machine_cpu\": null, ");
	capture_start();
	ck_assert_int_eq(our_report_results(&control, 0), 0);
	assert_holds(captured_stdout(), "CPU, process   1.500 s user");
	ck_assert_ptr_null(strstr(captured_stdout(), "CPU, machine"));
}

UNIT_TEST(no_device_is_said)
{
	make_control();
	control.verbs = NULL;
	assert_holds(json(), "\"device\": \"any\", \"transport\": \"?\", ");
}

/* The number behind a label of the text. */
static void check_shown(const char *label, double wanted, double tolerance)
{
	const char *at = strstr(captured_stdout(), label);
	double got = at ? strtod(at + strlen(label), NULL) : -1;

	ck_assert_msg(got >= wanted * (1 - tolerance) && got <= wanted * (1 + tolerance),
		      "'%s' is before %g, not %g", label, got, wanted);
}

UNIT_TEST(people_get_a_block)
{
	static const char *const wanted[] = {
		"stage/client (client): 100 messages of 4096 bytes, every byte verified\n",
		"iWARP on made_up0, 192.0.2.9:1000 to [2001:db8::7]:12321",
		"min 1.0  mean 50.7",
		"max 120.0 us",
		"40 messages/s, 0.164 MB/s each way\n",
		"CPU, process   1.500 s user, 0.250 s system, in 2.500 s\n",
		"3.250 s busy; at the ticks 3.000 s user, 4.000 s system\n",
	};
	int i;

	make_statistics(1000);
	capture_start();
	our_report_results(&control, 0);
	for (i = 0; i < UNIT_LENGTH(wanted); i++)
		assert_holds(captured_stdout(), wanted[i]);
	check_shown("  p50 ", 50, 1.0 / 128);
	check_shown("  p90 ", 90, 1.0 / 128);
	check_shown("  p99 ", 99, 1.0 / 128);
	check_shown("  p99.9 ", 120, 1.0 / 128);
	ck_assert_msg(!strstr(captured_stdout(), "CQ polls"), "not without -x");
	ck_assert_ptr_null(strstr(captured_stdout(), "not completed"));
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(people_get_more_with_stats)
{
	make_statistics(1000);
	options.stats = true;
	control.complete = false;
	capture_start();
	our_report_results(&control, 0);
	assert_holds(captured_stdout(), "1000, of which 850 empty");
	assert_holds(captured_stdout(), "200, 1.33 for each poll that was not empty");
	assert_holds(captured_stdout(), "160, of which 9 ended without a completion; 1.25 compl");
	assert_holds(captured_stdout(), "17 voluntary, 23 involuntary");
	assert_holds(captured_stdout(), "run not completed");
}

UNIT_TEST(quiet_is_quiet)
{
	make_statistics(1000);
	options.quiet = true;
	capture_start();
	our_report_results(&control, 0);
	ck_assert_str_eq(captured_stdout(), "");
	/* -q with -j leaves only JSON */
	ck_assert_int_eq(json()[0], '{');
	ck_assert_ptr_eq(strchr(captured_stdout(), '\n'), strrchr(captured_stdout(), '}') + 1);
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(a_full_disk_is_reported)
{
	make_statistics(1000);
	capture_start();
	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	our_report_results(&control, 0);
	assert_holds(captured_stderr(), "stdout");
}
