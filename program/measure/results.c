/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Results for people and as JSON. See results.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/clock.h"
#include "program/measure/json.h"
#include "program/measure/results.h"
#include "program/report.h"

static const struct {
	const char *json_name, *name;
	double percent;
} percentiles[] = {
	{ "p50", "p50", 50 },
	{ "p90", "p90", 90 },
	{ "p99", "p99", 99 },
	{ "p99_9", "p99.9", 99.9 },
};

#define N_PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

static double microseconds(uint64_t ns)
{
	return (double)ns / OUR_NS_PER_US;
}

static double ratio(double dividend, double divisor)
{
	return divisor > 0 ? dividend / divisor : 0;
}

static void write_histogram(struct our_json *json, const char *name,
			    const struct our_histogram *histogram, double unit)
{
	double value;
	size_t i;

	if (!histogram->count) {
		our_json_null(json, name);
		return;
	}
	our_json_open(json, name);
	our_json_number(json, "min", (double)histogram->min / unit, 3);
	our_json_number(json, "mean", our_histogram_mean(histogram) / unit, 3);
	for (i = 0; i < N_PERCENTILES; i++) {
		value = (double)our_histogram_percentile(histogram, percentiles[i].percent);
		our_json_number(json, percentiles[i].json_name, value / unit, 3);
	}
	our_json_number(json, "max", (double)histogram->max / unit, 3);
	our_json_close(json);
}

static void write_stream(struct our_json *json, const struct our_stream_statistics *stream)
{
	our_json_open(json, "stream");
	write_histogram(json, "work_requests_per_post", &stream->wrs_per_post, 1);
	write_histogram(json, "completions_per_poll", &stream->completions_per_poll, 1);
	our_json_integer(json, "credit_messages", stream->credit_messages);
	our_json_integer(json, "credit_stalls", stream->credit_stalls);
	our_json_close(json);
}

static void write_cpu(struct our_json *json, const char *name, uint64_t user_us, uint64_t system_us)
{
	our_json_open(json, name);
	our_json_number(json, "user_seconds", (double)user_us / 1e6, 6);
	our_json_number(json, "system_seconds", (double)system_us / 1e6, 6);
	our_json_close(json);
}

/* Even a run that measured nothing prints this, with zeros. */
static void write_machine(struct our_json *json, const struct our_statistics *statistics)
{
	const struct our_cpu_use *used = &statistics->used;

	if (statistics->started_ns && !used->machine_is_known) {
		our_json_null(json, "machine_cpu");
		return;
	}
	our_json_open(json, "machine_cpu");
	our_json_number(json, "user_seconds", (double)used->machine_user_us / 1e6, 6);
	our_json_number(json, "system_seconds", (double)used->machine_system_us / 1e6, 6);
	our_json_number(json, "idle_seconds", (double)used->machine_idle_us / 1e6, 6);
	our_json_number(json, "busy_seconds", (double)used->machine_busy_us / 1e6, 6);
	our_json_close(json);
}

static void write_counters(struct our_json *json, const struct our_statistics *statistics)
{
	const struct our_cpu_use *used = &statistics->used;

	write_cpu(json, "process_cpu", used->process_user_us, used->process_system_us);
	write_machine(json, statistics);
	our_json_open(json, "context_switches");
	our_json_integer(json, "voluntary", used->voluntary_switches);
	our_json_integer(json, "involuntary", used->involuntary_switches);
	our_json_close(json);
	our_json_open(json, "cq");
	our_json_integer(json, "polls", statistics->cq_polls);
	our_json_integer(json, "empty_polls", statistics->cq_empty_polls);
	our_json_integer(json, "completions", statistics->completions);
	our_json_number(json, "completions_per_poll",
			ratio((double)statistics->completions, (double)statistics->cq_polls), 6);
	our_json_integer(json, "sleeps", statistics->sleeps);
	our_json_integer(json, "empty_wake_ups", statistics->empty_wake_ups);
	our_json_number(json, "completions_per_sleep",
			ratio((double)statistics->completions, (double)statistics->sleeps), 6);
	our_json_close(json);
}

static void show_json(const struct our_measured *run, const struct our_statistics *statistics)
{
	double seconds = our_statistics_seconds(statistics);
	double rate = ratio((double)statistics->messages, seconds);
	struct our_json json = { .file = stdout };

	our_json_open(&json, NULL);
	our_json_integer(&json, "schema", OUR_JSON_SCHEMA);
	our_json_string(&json, "program", run->stage);
	our_json_string(&json, "role", run->role);
	our_json_string(&json, "device", run->device);
	our_json_string(&json, "transport", run->transport);
	our_json_string(&json, "local_address", run->local_address);
	our_json_string(&json, "peer_address", run->peer_address);
	our_json_integer(&json, "size", statistics->message_size);
	our_json_integer(&json, "count", statistics->messages);
	our_json_integer(&json, "warm_up", statistics->warm_up);
	our_json_number(&json, "seconds", seconds, 9);
	write_histogram(&json, "round_trip_us", &statistics->round_trips, OUR_NS_PER_US);
	our_json_number(&json, "messages_per_second", rate, 3);
	our_json_number(&json, "bytes_per_second", rate * (double)statistics->message_size, 3);
	write_counters(&json, statistics);
	if (statistics->stream)
		write_stream(&json, statistics->stream);
	our_json_bool(&json, "verified", statistics->verified);
	our_json_bool(&json, "complete", statistics->complete);
	our_json_close(&json);
	putchar('\n');
}

/* Prints a result line: a name and a value. */
static void __attribute__((format(printf, 2, 3)))
print_line(const char *name, const char *format, ...)
{
	va_list arguments;

	printf("  %-14s ", name);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

static void report_round_trips(const struct our_histogram *round_trips)
{
	char text[128];
	size_t i, end = 0;

	if (!round_trips->count)
		return;
	for (i = 0; i < N_PERCENTILES; i++)
		end += (size_t)snprintf(text + end, sizeof(text) - end, "  %s %.1f",
					percentiles[i].name,
					microseconds(our_histogram_percentile(
						round_trips, percentiles[i].percent)));
	print_line("round trip", "min %.1f  mean %.1f%s  max %.1f us",
		   microseconds(round_trips->min), our_histogram_mean(round_trips) / OUR_NS_PER_US,
		   text, microseconds(round_trips->max));
}

static void report_stream(const struct our_stream_statistics *stream)
{
	const struct our_histogram *posts = &stream->wrs_per_post;
	const struct our_histogram *polls = &stream->completions_per_poll;

	if (posts->count)
		print_line("WRs a post",
			   "mean %.1f  p50 %" PRIu64 "  p99 %" PRIu64 "  max %" PRIu64,
			   our_histogram_mean(posts), our_histogram_percentile(posts, 50),
			   our_histogram_percentile(posts, 99), posts->max);
	if (polls->count)
		print_line("WCs a poll",
			   "mean %.1f  p50 %" PRIu64 "  p99 %" PRIu64 "  max %" PRIu64,
			   our_histogram_mean(polls), our_histogram_percentile(polls, 50),
			   our_histogram_percentile(polls, 99), polls->max);
	if (stream->credit_messages || stream->credit_stalls)
		print_line("credits", "%" PRIu64 " messages, %" PRIu64 " stalls for lack of credit",
			   stream->credit_messages, stream->credit_stalls);
}

static void report_counters(const struct our_statistics *statistics)
{
	const struct our_cpu_use *used = &statistics->used;

	print_line("CQ polls", "%" PRIu64 ", of which %" PRIu64 " empty", statistics->cq_polls,
		   statistics->cq_empty_polls);
	print_line("completions", "%" PRIu64 ", %.2f for each poll that was not empty",
		   statistics->completions,
		   ratio((double)statistics->completions,
			 (double)(statistics->cq_polls - statistics->cq_empty_polls)));
	if (statistics->sleeps)
		print_line("sleeps",
			   "%" PRIu64 ", of which %" PRIu64
			   " ended without a completion; %.2f completions each",
			   statistics->sleeps, statistics->empty_wake_ups,
			   ratio((double)statistics->completions, (double)statistics->sleeps));
	print_line("switches", "%" PRIu64 " voluntary, %" PRIu64 " involuntary",
		   used->voluntary_switches, used->involuntary_switches);
}

static void show_block(const struct our_measured *run, const struct our_statistics *statistics)
{
	const struct our_cpu_use *used = &statistics->used;
	double seconds = our_statistics_seconds(statistics);
	double rate = ratio((double)statistics->messages, seconds);

	printf("%s (%s): %" PRIu64 " messages of %" PRIu64 " bytes%s%s", run->program, run->role,
	       statistics->messages, statistics->message_size,
	       statistics->verified ? ", every byte verified" : "",
	       statistics->complete ? "" : ", run not completed");
	if (!statistics->messages && statistics->warm_up)
		printf(": it ended in the warm-up of %" PRIu64, statistics->warm_up);
	putchar('\n');
	print_line("connection", "%s on %s, %s to %s", run->transport, run->device,
		   run->local_address, run->peer_address);
	if (!statistics->messages)
		return; /* the other lines would be zeros */
	report_round_trips(&statistics->round_trips);
	print_line("rate", "%.*f messages/s, %.3f MB/s%s", rate < 10 ? 2 : 0, rate,
		   rate * (double)statistics->message_size / 1e6,
		   statistics->stream ? "" : " each way");
	print_line("CPU, process", "%.3f s user, %.3f s system, in %.3f s",
		   (double)used->process_user_us / 1e6, (double)used->process_system_us / 1e6,
		   seconds);
	if (!used->machine_is_known)
		return;
	print_line("CPU, machine", "%.3f s busy; at the ticks %.3f s user, %.3f s system",
		   (double)used->machine_busy_us / 1e6, (double)used->machine_user_us / 1e6,
		   (double)used->machine_system_us / 1e6);
}

int our_show_results(const struct our_measured *run, const struct our_statistics *statistics,
		     enum our_results_form form)
{
	flockfile(stdout); /* several agents may print results at the same time */
	if (form == OUR_RESULTS_JSON)
		show_json(run, statistics);
	else if (form != OUR_RESULTS_NONE)
		show_block(run, statistics);
	if (form == OUR_RESULTS_STATS && statistics->messages) {
		report_counters(statistics);
		if (statistics->stream)
			report_stream(statistics->stream);
	}
	funlockfile(stdout);
	if (!fflush(stdout))
		return 0;
	if (errno == EAGAIN)
		return our_report_error("writing to stdout", EAGAIN,
					"nobody has read it, and a second signal asked to leave");
	return our_report_error("writing to stdout", errno, NULL);
}
