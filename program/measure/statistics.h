/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The measurements of one connection: round trips, completions, and the use of the CPUs meanwhile.
 * All are in fixed memory (under 20 KiB), for any number of messages.
 */
#ifndef OUR_STATISTICS_H
#define OUR_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "program/measure/histogram.h"

/* CPU time used, in microseconds, and context switches, since some fixed moment. */
struct our_cpu_use {
	uint64_t process_user_us;
	uint64_t process_system_us;
	uint64_t machine_user_us; /* user and nice, all CPUs: sampled at each tick, like the next */
	uint64_t machine_system_us; /* system, irq and softirq, in which soft-RDMA works */
	uint64_t voluntary_switches;
	uint64_t involuntary_switches;
	uint64_t machine_idle_us; /* all CPUs: idle, waiting for I/O, or taken by a hypervisor */
	uint64_t machine_busy_us; /* set at the end of the interval: time not idle, all CPUs */
	uint64_t machine_read_ns; /* the time of reading the machine's values */
	bool machine_is_known;    /* /proc/stat could be read */
};

/* The statistics that only a stream has; 37 KiB, for any number of messages. */
struct our_stream_statistics {
	struct our_histogram wrs_per_post;         /* data only: sends, or receives posted again */
	struct our_histogram completions_per_poll; /* for polls that found some */
	uint64_t credit_messages;                  /* received by the client, sent by the agent */
	uint64_t credit_stalls;  /* client: how often only a lack of credits kept it from sending */
	uint64_t shown_ns;       /* the time of the last progress line */
	uint64_t shown_messages; /* the number in that line */
};

struct our_statistics {
	uint64_t warm_up;      /* messages at the start that are not measured */
	uint64_t messages;     /* measured */
	uint64_t message_size; /* bytes */
	uint64_t started_ns;   /* 0: not yet */
	uint64_t ended_ns;
	uint64_t cq_polls; /* for this, and the next four, see count_waits in run_end.c */
	uint64_t cq_empty_polls;
	uint64_t completions;
	uint64_t sleeps;         /* waits for a completion in which the process slept */
	uint64_t empty_wake_ups; /* sleeps that ended without a completion */
	struct our_cpu_use used; /* the start while the interval runs, the use after it has ended */
	struct our_histogram round_trips;     /* nanoseconds */
	struct our_stream_statistics *stream; /* NULL: messages go there and back */
	uint64_t next_progress_ns;            /* UINT64_MAX: no progress line wanted */
	bool verified;                        /* every message was compared and is right */
	bool complete;                        /* the run ended as planned: not stopped, no error */
};

/*
 * Prepares for a run of `count` messages of `size` bytes. The first tenth, but at most OUR_WARM_UP
 * messages, is a warm-up: caches, TLBs and ARP are cold, and its times are discarded.
 */
#define OUR_WARM_UP 100
void our_statistics_prepare(struct our_statistics *statistics, uint64_t count, uint64_t size);

/*
 * Also measures a stream. Call it after our_statistics_prepare; `stream` belongs to the caller, and
 * must outlive the last use of `statistics`.
 */
void our_statistics_add_stream(struct our_statistics *statistics,
			       struct our_stream_statistics *stream);

/*
 * Starts the measured interval, and discards the warm-up: the next message is the first that
 * counts.
 */
void our_statistics_start(struct our_statistics *statistics);

/*
 * Ends the measured interval; a second call does nothing. If it never started, nothing was
 * measured, and the warm-up is discarded, too.
 */
void our_statistics_end(struct our_statistics *statistics);

/*
 * Returns the time, in us, that `cpus` CPUs have worked in an interval in which all of them
 * together were idle for `idle_us`. Never below 0, although idle time comes in ticks of 10 ms.
 */
uint64_t our_machine_busy_us(uint64_t elapsed_ns, uint64_t cpus, uint64_t idle_us);

/* Seconds from start to end; 0 when nothing was measured. */
double our_statistics_seconds(const struct our_statistics *statistics);

/*
 * Requests a progress line on stderr once a second, if stderr is a terminal and `quiet` is not set.
 * our_statistics_progress prints it when it is due: call it for each message.
 */
void our_statistics_want_progress(struct our_statistics *statistics, bool quiet);
void our_statistics_show_progress(struct our_statistics *statistics, uint64_t now_ns);

static inline void our_statistics_progress(struct our_statistics *statistics, uint64_t now_ns)
{
	if (now_ns >= statistics->next_progress_ns)
		our_statistics_show_progress(statistics, now_ns);
}

/* Only one thread at a time may use a struct our_statistics. No function here can fail. */

/*
 * Returns the time at which message number `message`, counted from 0, is due, if `rate` messages a
 * second are sent from started_ns on.
 */
static inline uint64_t our_due_ns(uint64_t started_ns, uint64_t message, uint64_t rate)
{
	return started_ns + message / rate * OUR_NS_PER_S + message % rate * OUR_NS_PER_S / rate;
}

/* Returns how many messages are due when `elapsed_ns` have passed since the start. */
static inline uint64_t our_messages_due(uint64_t elapsed_ns, uint64_t rate)
{
	return elapsed_ns / OUR_NS_PER_S * rate + elapsed_ns % OUR_NS_PER_S * rate / OUR_NS_PER_S +
	       1;
}

#endif
