/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The measured interval and the CPU time used in it. See statistics.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/measure/statistics.h"
#include "program/report.h"

static uint64_t timeval_us(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/*
 * Soft-RDMA moves the bytes in softirqs and kernel threads, which Linux does not charge to the
 * process. Only the first line of /proc/stat (see proc(5)) includes them. Its busy columns are
 * sampled at the tick, and miss work between two ticks. Idle time is exact if the kernel stops the
 * tick of an idle CPU (CONFIG_NO_HZ_IDLE, as in all distributions). So busy is what was not idle.
 */
static void read_machine_use(struct our_cpu_use *use)
{
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
	uint64_t us_per_tick = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");

	if (!file)
		return;
	use->machine_read_ns = our_now_ns();
	if (fscanf(file,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) == 8) {
		use->machine_user_us = (user + nice) * us_per_tick;
		use->machine_system_us = (system + irq + softirq) * us_per_tick;
		use->machine_idle_us = (idle + iowait + steal) * us_per_tick;
		use->machine_is_known = true;
	}
	fclose(file);
}

static void read_process_use(struct our_cpu_use *use)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	use->process_user_us = timeval_us(usage.ru_utime);
	use->process_system_us = timeval_us(usage.ru_stime);
	use->voluntary_switches = (uint64_t)usage.ru_nvcsw;
	use->involuntary_switches = (uint64_t)usage.ru_nivcsw;
}

void our_statistics_prepare(struct our_statistics *statistics, uint64_t count, uint64_t size)
{
	memset(statistics, 0, sizeof(*statistics));
	our_histogram_reset(&statistics->round_trips);
	statistics->warm_up = count / 10 < OUR_WARM_UP ? count / 10 : OUR_WARM_UP;
	statistics->message_size = size;
	statistics->next_progress_ns = UINT64_MAX;
}

static void reset_stream(struct our_stream_statistics *stream)
{
	memset(stream, 0, sizeof(*stream));
	our_histogram_reset(&stream->wrs_per_post);
	our_histogram_reset(&stream->completions_per_poll);
}

void our_statistics_add_stream(struct our_statistics *statistics,
			       struct our_stream_statistics *stream)
{
	statistics->stream = stream;
	reset_stream(stream);
}

/* Discards what was counted in the warm-up, also if the run ends before the warm-up is over. */
static void forget_warm_up(struct our_statistics *statistics)
{
	if (statistics->stream)
		reset_stream(statistics->stream);
	our_histogram_reset(&statistics->round_trips);
	statistics->messages = 0;
}

/*
 * Reading /proc/stat takes long enough to show in a short run: do it outside of the interval, with
 * a clock of its own. The process's count lies within the interval, so one thread never has more
 * CPU time than elapsed time.
 */
void our_statistics_start(struct our_statistics *statistics)
{
	forget_warm_up(statistics);
	memset(&statistics->used, 0, sizeof(statistics->used));
	read_machine_use(&statistics->used);
	statistics->started_ns = our_now_ns();
	read_process_use(&statistics->used);
}

uint64_t our_machine_busy_us(uint64_t elapsed_ns, uint64_t cpus, uint64_t idle_us)
{
	uint64_t all_us = elapsed_ns / OUR_NS_PER_US * cpus;

	return all_us > idle_us ? all_us - idle_us : 0;
}

static void end_machine_use(struct our_cpu_use *used, const struct our_cpu_use *now)
{
	uint64_t elapsed_ns = now->machine_read_ns - used->machine_read_ns;

	used->machine_is_known = used->machine_is_known && now->machine_is_known;
	if (!used->machine_is_known)
		return;
	used->machine_user_us = now->machine_user_us - used->machine_user_us;
	used->machine_system_us = now->machine_system_us - used->machine_system_us;
	/* The time of waiting for I/O may decrease: see proc(5). */
	used->machine_idle_us = now->machine_idle_us > used->machine_idle_us
					? now->machine_idle_us - used->machine_idle_us
					: 0;
	used->machine_busy_us = our_machine_busy_us(
		elapsed_ns, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), used->machine_idle_us);
}

void our_statistics_end(struct our_statistics *statistics)
{
	struct our_cpu_use *used = &statistics->used, now = { 0 };

	if (statistics->ended_ns)
		return;
	if (!statistics->started_ns) {
		forget_warm_up(statistics);
		return;
	}
	read_process_use(&now);
	statistics->ended_ns = our_now_ns();
	read_machine_use(&now);
	used->process_user_us = now.process_user_us - used->process_user_us;
	used->process_system_us = now.process_system_us - used->process_system_us;
	end_machine_use(used, &now);
	used->voluntary_switches = now.voluntary_switches - used->voluntary_switches;
	used->involuntary_switches = now.involuntary_switches - used->involuntary_switches;
}

double our_statistics_seconds(const struct our_statistics *statistics)
{
	return (double)(statistics->ended_ns - statistics->started_ns) / OUR_NS_PER_S;
}

void our_statistics_want_progress(struct our_statistics *statistics, bool quiet)
{
	if (!quiet && isatty(STDERR_FILENO))
		statistics->next_progress_ns = our_now_ns() + OUR_NS_PER_S;
}

static void show_rate(struct our_statistics *statistics, uint64_t now_ns)
{
	struct our_stream_statistics *stream = statistics->stream;
	uint64_t since_ns = stream->shown_ns ? stream->shown_ns : statistics->started_ns;
	double seconds = (double)(now_ns - since_ns) / OUR_NS_PER_S;
	double messages = (double)(statistics->messages - stream->shown_messages);

	if (!since_ns)
		return; /* still warming up */
	fprintf(stderr, "%s: %" PRIu64 " messages, now %.0f a second, %.1f MB/s\n",
		our_program_name(), statistics->messages, messages / seconds,
		messages * (double)statistics->message_size / seconds / 1e6);
	stream->shown_ns = now_ns;
	stream->shown_messages = statistics->messages;
}

void our_statistics_show_progress(struct our_statistics *statistics, uint64_t now_ns)
{
	const struct our_histogram *round_trips = &statistics->round_trips;

	statistics->next_progress_ns = now_ns + OUR_NS_PER_S;
	if (statistics->stream) {
		show_rate(statistics, now_ns);
		return;
	}
	fprintf(stderr, "%s: %" PRIu64 " messages, round trip mean %.1f us, max %.1f us\n",
		our_program_name(), statistics->messages,
		our_histogram_mean(round_trips) / OUR_NS_PER_US,
		(double)round_trips->max / OUR_NS_PER_US);
}
