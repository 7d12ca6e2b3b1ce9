/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --sweep: one run after the other, each with another fault. See runner.h.
 */
#include <stdio.h>
#include <string.h>

#include "verbs-sim/runner/runner.h"

int sim_worse(int one, int other)
{
	return one && one != SIM_EXIT_LEFT ? one : other ? other : one;
}

/* The state of a sweep. Its fault is the last one of `options`. */
struct sweep {
	struct sim_options options;
	struct sim_fault *fault;
	struct sim_result result; /* the last run's */
	uint64_t seed;
	unsigned long long runs;
	int failed, exit;
};

static void run(struct sweep *sweep)
{
	sweep->failed += sim_run(&sweep->options, sweep->seed, &sweep->result) != 0;
	sweep->exit = sim_worse(sweep->exit, sweep->result.exit);
	sweep->runs++;
}

/* Returns the sweep's fault, as the last run has left it. */
static const struct sim_fault *last_fault(const struct sweep *sweep)
{
	return &sweep->result.faults[sweep->options.n_faults - 1];
}

static void sweep_calls(struct sweep *sweep)
{
	int program = sweep->fault->program;
	unsigned long long call = 0;

	do {
		sim_read_sweep(sweep->options.sweep, ++call, sweep->fault);
		run(sweep);
	} while (sweep->result.calls[program] >= call); /* the call exists */
	fprintf(stderr,
		"verbs-sim: %llu calls of program %d, each in a run of its own: %d not as they should be\n",
		call - 1, program, sweep->failed);
}

/* ---- Messages ---- */

/* Makes a run in which the Nth message is changed in this way. */
static void change(struct sweep *sweep, uint64_t number, const char *how, uint32_t offset)
{
	char text[sizeof(sweep->fault->text)];
	int program = sweep->fault->program;

	snprintf(text, sizeof(text),
		 strchr(how, '=') ? "%d:" SIM_MESSAGE ":%llu:%s%u" : "%d:" SIM_MESSAGE ":%llu:%s",
		 program, (unsigned long long)number, how, offset);
	sim_read_fault(text, sweep->fault);
	run(sweep);
}

static void change_words(struct sweep *sweep, uint64_t number)
{
	static const struct {
		enum sim_change change;
		const char *how;
	} ways[] = { { SIM_CHANGE_ZERO, "ZERO=" },
		     { SIM_CHANGE_ONES, "ONES=" },
		     { SIM_CHANGE_MORE, "MORE=" } };
	const struct sim_fault message = *last_fault(sweep);
	uint32_t offset, length = message.length < SIM_HEAD ? message.length : SIM_HEAD;
	uint8_t head[SIM_HEAD];
	size_t way;

	for (offset = 0; offset < length; offset += 4) {
		for (way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
			memcpy(head, message.head, sizeof(head));
			if (sim_change_bytes(ways[way].change, offset, head, length))
				change(sweep, number, ways[way].how, offset);
		}
	}
}

/* The run with the first change shows length and head of the message. Without one it does not count. */
static void sweep_messages(struct sweep *sweep)
{
	bool one = strstr(sweep->options.sweep, ":" SIM_MESSAGE ":");
	uint64_t number = sweep->fault->number;

	for (;; number++) {
		change(sweep, number, "SHORT", 0);
		sweep->runs -= !last_fault(sweep)->happened;
		if (last_fault(sweep)->seen < number)
			break;
		if (last_fault(sweep)->length < last_fault(sweep)->most)
			change(sweep, number, "LONG", 0);
		change_words(sweep, number);
		if (one)
			break;
	}
	fprintf(stderr,
		"verbs-sim: %llu changes of messages to program %d, each in a run of its own: %d not as they should be\n",
		sweep->runs, sweep->fault->program, sweep->failed);
}

int sim_sweep(const struct sim_options *options, uint64_t seed)
{
	struct sweep sweep = { .options = *options, .seed = seed };
	bool messages;

	sweep.fault = &sweep.options.faults[sweep.options.n_faults];
	messages = sim_sweeps_messages(options->sweep, sweep.fault);
	if (!messages)
		sim_read_sweep(options->sweep, 1, sweep.fault);
	sweep.exit = sim_run(options, seed, &sweep.result);
	if (sweep.exit)
		return sweep.exit;
	if (!sweep.result.calls[sweep.fault->program]) {
		fprintf(stderr, "verbs-sim: --sweep %s: no program %d has made a call\n",
			options->sweep, sweep.fault->program);
		return SIM_EXIT_USAGE;
	}
	sweep.options.n_faults++;
	if (messages)
		sweep_messages(&sweep);
	else
		sweep_calls(&sweep);
	return sweep.exit;
}
