/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of measure/results.h, called through ping-sr-0/report_results.c: all results,
 * as JSON and as text, of a connection that does not exist. The test fills in the id and the iWARP
 * device itself.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/run.h"
#include "program/report.h"
#include "program/stage.h"
#include "tests/support/result_json.h"
#include "tests/unit/unit.h"

static const struct our_program program = {
	.stage = "stage \"0\"",
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

/* 1 to 100 microseconds, each once, so that every percentile is known. */
static void make_statistics(void)
{
	struct our_statistics *statistics = &run.statistics;
	uint64_t us;

	make_control();
	for (us = 1; us <= 100; us++)
		our_histogram_add(&statistics->round_trips, us * 1000);
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

static struct json_object *write_and_parse(void)
{
	struct json_object *result;

	options.json = true;
	capture_start();
	ck_assert_int_eq(our_report_results(&control, 0), 0);
	result = result_json_parse(captured_stdout());
	options.json = false;
	result_json_check_schema(result);
	return result;
}

static void check_number(struct json_object *result, const char *path, double wanted,
			 double tolerance)
{
	double got = result_json_number(result, path);

	ck_assert_msg(got >= wanted * (1 - tolerance) && got <= wanted * (1 + tolerance),
		      "%s is %g, not %g", path, got, wanted);
}

UNIT_TEST(json_says_who_and_what)
{
	struct json_object *result;

	make_statistics();
	result = write_and_parse();
	ck_assert_str_eq(result_json_string(result, "program"), "stage \"0\"");
	ck_assert_str_eq(result_json_string(result, "role"), "client");
	ck_assert_str_eq(result_json_string(result, "device"), "made_up0");
	ck_assert_str_eq(result_json_string(result, "transport"), "iWARP");
	ck_assert_str_eq(result_json_string(result, "local_address"), "192.0.2.9:1000");
	ck_assert_str_eq(result_json_string(result, "peer_address"), "[2001:db8::7]:12321");
	ck_assert_uint_eq(result_json_integer(result, "size"), 4096);
	ck_assert_uint_eq(result_json_integer(result, "count"), 100);
	ck_assert_uint_eq(result_json_integer(result, "warm_up"), 11);
	ck_assert(result_json_bool(result, "verified"));
	ck_assert(result_json_bool(result, "complete"));
	json_object_put(result);
}

UNIT_TEST(json_has_the_figures)
{
	struct json_object *result;

	make_statistics();
	result = write_and_parse();
	check_number(result, "seconds", 2.5, 0);
	check_number(result, "messages_per_second", 40, 0);
	check_number(result, "bytes_per_second", 163840, 0);
	check_number(result, "round_trip_us.min", 1, 0);
	check_number(result, "round_trip_us.mean", 50.5, 0);
	check_number(result, "round_trip_us.p50", 50, 1.0 / 128);
	check_number(result, "round_trip_us.p90", 90, 1.0 / 128);
	check_number(result, "round_trip_us.p99", 99, 1.0 / 128);
	check_number(result, "round_trip_us.p99_9", 100, 1.0 / 128);
	check_number(result, "round_trip_us.max", 100, 0);
	check_number(result, "process_cpu.user_seconds", 1.5, 0);
	check_number(result, "process_cpu.system_seconds", 0.25, 0);
	check_number(result, "machine_cpu.user_seconds", 3, 0);
	check_number(result, "machine_cpu.system_seconds", 4, 0);
	check_number(result, "machine_cpu.idle_seconds", 1.75, 0);
	check_number(result, "machine_cpu.busy_seconds", 3.25, 0);
	ck_assert_uint_eq(result_json_integer(result, "context_switches.voluntary"), 17);
	ck_assert_uint_eq(result_json_integer(result, "context_switches.involuntary"), 23);
	ck_assert_uint_eq(result_json_integer(result, "cq.polls"), 1000);
	ck_assert_uint_eq(result_json_integer(result, "cq.empty_polls"), 850);
	ck_assert_uint_eq(result_json_integer(result, "cq.completions"), 200);
	check_number(result, "cq.completions_per_poll", 0.2, 0);
	ck_assert_uint_eq(result_json_integer(result, "cq.sleeps"), 160);
	ck_assert_uint_eq(result_json_integer(result, "cq.empty_wake_ups"), 9);
	check_number(result, "cq.completions_per_sleep", 1.25, 0);
	json_object_put(result);
}

UNIT_TEST(json_of_a_run_without_a_message)
{
	struct json_object *result;

	make_control();
	result = write_and_parse();
	ck_assert_ptr_null(result_json_member(result, "round_trip_us"));
	ck_assert_uint_eq(result_json_integer(result, "count"), 0);
	check_number(result, "seconds", 0, 0);
	check_number(result, "messages_per_second", 0, 0);
	ck_assert(!result_json_bool(result, "verified"));
	ck_assert(!result_json_bool(result, "complete"));
	json_object_put(result);
}

/*
 * A stream of 100 messages: posts of 1 to 20 work requests, and polls that each found 5
 * completions.
 */
static void make_stream(void)
{
	static struct our_stream_statistics stream;
	uint64_t n;

	make_statistics();
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
	struct json_object *result;

	make_stream();
	result = write_and_parse();
	ck_assert_ptr_null(result_json_member(result, "round_trip_us"));
	check_number(result, "stream.work_requests_per_post.min", 1, 0);
	check_number(result, "stream.work_requests_per_post.mean", 10.5, 0);
	check_number(result, "stream.work_requests_per_post.p50", 10, 0);
	check_number(result, "stream.work_requests_per_post.max", 20, 0);
	check_number(result, "stream.completions_per_poll.mean", 5, 0);
	ck_assert_uint_eq(result_json_integer(result, "stream.credit_messages"), 7);
	ck_assert_uint_eq(result_json_integer(result, "stream.credit_stalls"), 3);
	json_object_put(result);
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
	struct json_object *result;

	make_statistics();
	run.statistics.used.machine_is_known = false;
	options.json = true;
	capture_start();
	ck_assert_int_eq(our_report_results(&control, 0), 0);
	result = result_json_parse(captured_stdout());
	ck_assert_ptr_null(result_json_member(result, "machine_cpu"));
	options.json = false;
	ck_assert_int_eq(our_report_results(&control, 0), 0);
	check_number(result, "process_cpu.user_seconds", 1.5, 0);
	assert_holds(captured_stdout(), "CPU, process   1.500 s user");
	ck_assert_ptr_null(strstr(captured_stdout(), "CPU, machine"));
	json_object_put(result);
}

UNIT_TEST(no_device_is_said)
{
	struct json_object *result;

	make_control();
	control.verbs = NULL;
	result = write_and_parse();
	ck_assert_str_eq(result_json_string(result, "device"), "any");
	ck_assert_str_eq(result_json_string(result, "transport"), "?");
	json_object_put(result);
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
		"min 1.0  mean 50.5",
		"max 100.0 us",
		"40 messages/s, 0.164 MB/s each way\n",
		"CPU, process   1.500 s user, 0.250 s system, in 2.500 s\n",
		"3.250 s busy; at the ticks 3.000 s user, 4.000 s system\n",
	};
	int i;

	make_statistics();
	capture_start();
	our_report_results(&control, 0);
	for (i = 0; i < UNIT_LENGTH(wanted); i++)
		assert_holds(captured_stdout(), wanted[i]);
	check_shown("  p50 ", 50, 1.0 / 128);
	check_shown("  p90 ", 90, 1.0 / 128);
	check_shown("  p99 ", 99, 1.0 / 128);
	check_shown("  p99.9 ", 100, 1.0 / 128);
	ck_assert_msg(!strstr(captured_stdout(), "CQ polls"), "not without -x");
	ck_assert_ptr_null(strstr(captured_stdout(), "not completed"));
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(people_get_more_with_stats)
{
	make_statistics();
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
	make_statistics();
	options.quiet = true;
	capture_start();
	our_report_results(&control, 0);
	ck_assert_str_eq(captured_stdout(), "");
	options.json = true; /* -q with -j leaves only JSON */
	our_report_results(&control, 0);
	json_object_put(result_json_parse(captured_stdout()));
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(a_full_disk_is_reported)
{
	make_statistics();
	capture_start();
	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	our_report_results(&control, 0);
	assert_holds(captured_stderr(), "stdout");
}
