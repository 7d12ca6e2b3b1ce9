/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One run of messages. See run.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/stage.h"

#define HINT_NS (5 * OUR_NS_PER_S) /* silence before the hint */

void our_setup_run(struct our_run *run, struct our_control *control,
		   const struct our_options *options)
{
	run->control = control;
	run->options = options;
	run->count = options->count;
	run->data_size = (uint32_t)options->data_size;
	run->give_up_ns = UINT64_MAX;
	control->wait_until_ns = UINT64_MAX;
	control->user = run;
}

void our_limit_wait(struct our_run *run, uint64_t now_ns)
{
	uint64_t timeout_s = run->control->config->timeout_s;
	uint64_t until_ns = timeout_s ? now_ns + timeout_s * OUR_NS_PER_S : UINT64_MAX;

	run->control->wait_until_ns = until_ns < run->give_up_ns ? until_ns : run->give_up_ns;
}

void our_prepare_run(struct our_run *run)
{
	uint64_t duration_s = run->options->duration_s;

	our_statistics_prepare(&run->statistics, run->count, run->data_size);
	if (duration_s && run->control->role == OUR_CLIENT)
		run->give_up_ns = our_end_of_wait(duration_s + OUR_GRACE_S);
}

void our_start_measuring(struct our_run *run)
{
	run->before = run->control->counters;
	our_statistics_start(&run->statistics);
}

/* Reports once what the program waits for, if nothing has come since the last look. */
static int hint(struct our_control *control, uint64_t now_ns)
{
	struct our_run *run = our_run_of(control);

	our_private(control)->idle_ns = UINT64_MAX;
	if (run->seen != control->counters.completions) {
		run->seen = control->counters.completions;
		our_private(control)->idle_ns = now_ns + HINT_NS;
	} else if (!run->options->quiet && run->count != OUR_COUNT_UNLIMITED) {
		our_report_sentence("still waiting for message %" PRIu64 " of %" PRIu64
				    " from the %s: has the "
				    "other side been started with the same -c and -s?",
				    run->message + 1, run->count,
				    control->role == OUR_AGENT ? "client" : "server");
	}
	return 0;
}

/*
 * Sets the time of the hint, unless the two sides have agreed on -c and -s, or the way of waiting
 * itself acts on a silence.
 */
static void prepare_hint(struct our_run *run)
{
	struct our_private *one = our_private(run->control);

	if (run->agreed || one->idle)
		return;
	one->idle = hint;
	one->idle_ns = our_now_ns() + HINT_NS;
}

void our_begin_run(struct our_run *run)
{
	our_prepare_run(run);
	prepare_hint(run);
	our_statistics_want_progress(&run->statistics, run->options->quiet);
	run->message = run->started_ns = 0;
	run->deadline_ns = UINT64_MAX;
	run->under_way = false;
}

static void start_time(struct our_run *run)
{
	uint64_t duration_s = run->options->duration_s;

	run->started_ns = run->now_ns = our_now_ns();
	if (duration_s)
		run->deadline_ns = run->now_ns + duration_s * OUR_NS_PER_S;
}

bool our_next_message(struct our_run *run)
{
	if (!run->started_ns)
		start_time(run);
	if (run->under_way) {
		our_statistics_progress(&run->statistics, run->now_ns);
		run->message++;
	}
	run->under_way = false;
	if (run->message >= run->count || run->now_ns >= run->deadline_ns ||
	    our_stop_requested(run->control->stop))
		return false;
	if (run->message == run->statistics.warm_up)
		our_start_measuring(run);
	return true;
}

int our_await_turn(struct our_run *run)
{
	uint64_t due_ns, rate = run->options->rate;
	struct our_completion completion;
	int ret;

	run->sent_ns = 0;
	if (!rate)
		return 0;
	due_ns = our_due_ns(run->started_ns, run->message, rate);
	if (run->message && our_now_ns() > due_ns) {
		run->sent_ns = due_ns;
		return 0;
	}
	run->control->wait_until_ns = UINT64_MAX;
	ret = our_await_time(run->control, due_ns, &completion);
	if (!ret) {
		our_report_sentence("the server sent a message that nobody had asked for");
		return EPROTO;
	}
	return ret == EAGAIN ? 0 : ret;
}

void our_start_clock(struct our_run *run)
{
	uint64_t now_ns = our_now_ns();

	our_limit_wait(run, now_ns);
	if (!run->sent_ns)
		run->sent_ns = now_ns;
	run->under_way = true;
}

void our_stop_clock(struct our_run *run)
{
	run->now_ns = our_now_ns();
	our_histogram_add(&run->statistics.round_trips, run->now_ns - run->sent_ns);
	run->statistics.messages++;
}

void our_begin_answers(struct our_run *run)
{
	our_prepare_run(run);
	if (!run->statistics.warm_up)
		our_start_measuring(run);
	our_limit_wait(run, our_now_ns());
	prepare_hint(run);
}

void our_note_answer(struct our_run *run, uint64_t now_ns)
{
	if (run->sent_ns)
		our_histogram_add(&run->statistics.round_trips, now_ns - run->sent_ns);
	run->statistics.messages++;
	run->sent_ns = now_ns;
	our_limit_wait(run, now_ns);
	if (run->message == run->statistics.warm_up)
		our_start_measuring(run);
	our_statistics_progress(&run->statistics, now_ns);
}

void our_begin_stream(struct our_run *run, uint64_t least)
{
	our_prepare_run(run);
	our_statistics_add_stream(&run->statistics, &run->stream);
	our_statistics_want_progress(&run->statistics, run->options->quiet);
	if (run->count <= least)
		run->statistics.warm_up = 0;
}

void our_count_messages(struct our_run *run, uint64_t messages)
{
	struct our_statistics *statistics = &run->statistics;

	if (!statistics->started_ns && messages >= statistics->warm_up) {
		statistics->warm_up = messages;
		our_start_measuring(run);
	}
	if (statistics->started_ns)
		statistics->messages = messages - statistics->warm_up;
}
