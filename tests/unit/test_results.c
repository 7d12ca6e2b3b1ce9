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
