/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A client's run of messages. See run.h.
 */
#include <errno.h>

#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-0/run.h"
#include "program/report.h"
#include "program/stop.h"

void our_begin_run(struct our_run *run, struct our_control *client)
{
	our_statistics_prepare(&client->statistics, client->count, client->data_size);
	our_statistics_want_progress(&client->statistics, client->options->quiet);
	*run = (struct our_run){ .client = client, .deadline_ns = UINT64_MAX };
}

static void start_time(struct our_run *run)
{
	run->started_ns = run->now_ns = our_now_ns();
	if (run->client->options->duration_s)
		run->deadline_ns = run->now_ns + run->client->options->duration_s * OUR_NS_PER_S;
}

bool our_wants_message(struct our_run *run)
{
	struct our_control *client = run->client;

	if (!run->started_ns)
		start_time(run);
	if (run->under_way) {
		our_statistics_progress(&client->statistics, run->now_ns);
		run->message++;
	}
	run->under_way = false;
	if (run->message >= client->count || run->now_ns >= run->deadline_ns ||
	    our_stop_requested())
		return false;
	if (run->message == client->statistics.warm_up)
		our_statistics_start(&client->statistics);
	return true;
}

int our_await_turn(struct our_run *run)
{
	struct our_control *client = run->client;
	struct our_completion completion;
	uint64_t due_ns;
	int ret;

	run->sent_ns = 0;
	if (!client->options->rate)
		return 0;
	due_ns = our_due_ns(run->started_ns, run->message, client->options->rate);
	if (run->message && our_now_ns() > due_ns) {
		run->sent_ns = due_ns;
		return 0;
	}
	client->wait_until_ns = UINT64_MAX;
	ret = our_await_time(client, due_ns, &completion);
	if (!ret) {
		our_report_sentence("the server sent a message that nobody had asked for");
		return EPROTO;
	}
	return ret == EAGAIN ? 0 : ret;
}

void our_start_clock(struct our_run *run)
{
	uint64_t now_ns = our_now_ns();

	our_limit_wait(run->client, now_ns);
	if (!run->sent_ns)
		run->sent_ns = now_ns;
	run->under_way = true;
}

void our_stop_clock(struct our_run *run)
{
	struct our_statistics *statistics = &run->client->statistics;

	run->now_ns = our_now_ns();
	our_histogram_add(&statistics->round_trips, run->now_ns - run->sent_ns);
	statistics->messages++;
}

int our_end_run(struct our_run *run, int ret)
{
	struct our_statistics *statistics = &run->client->statistics;

	our_statistics_end(statistics);
	ret = our_judge_end(run->client, ret, run->message);
	statistics->verified = !ret && run->client->options->verify;
	return ret;
}
