/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client's pings, one after the other. See pings.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-sr-0/legacy.h"
#include "ping-sr-0/pings.h"
#include "ping-sr-0/user_data.h"
#include "program/report.h"
#include "program/stop.h"

/* One message there and back, timed; from `overdue_ns` on, unless that is 0. */
static int timed_ping(struct our_control *client, uint64_t overdue_ns, uint64_t *ended_ns)
{
	uint64_t started_ns = our_now_ns();
	int ret;

	our_limit_wait(client, started_ns);
	ret = our_ping(client);
	if (ret)
		return ret;
	*ended_ns = our_now_ns();

	if (overdue_ns)
		started_ns = overdue_ns;
	our_histogram_add(&client->statistics.round_trips, *ended_ns - started_ns);
	client->statistics.messages++;
	return 0;
}

/*
 * With --rate: waits until message number `message` is due. Meanwhile nothing is under way, and
 * nothing may arrive. If it was due while the message before it was still under way, sets
 * *overdue_ns to that time; otherwise to 0. The round trip counts from that time, because at a
 * fixed rate the message was waiting, too.
 */
static int await_turn(struct our_control *client, uint64_t started_ns, uint64_t message,
		      uint64_t *overdue_ns)
{
	uint64_t due_ns = our_due_ns(started_ns, message, client->options->rate);
	struct our_completion completion;
	int ret;

	*overdue_ns = message && our_now_ns() > due_ns ? due_ns : 0;
	if (*overdue_ns)
		return 0;
	client->wait_until_ns = UINT64_MAX;
	ret = our_await_time(client, due_ns, &completion);
	if (!ret) {
		our_report_sentence("the server sent a message that nobody had asked for");
		return EPROTO;
	}
	return ret == EAGAIN ? 0 : ret;
}

int our_run_pings(struct our_control *client, uint64_t *messages)
{
	struct our_statistics *statistics = &client->statistics;
	uint64_t message, now_ns = our_now_ns(), deadline_ns = UINT64_MAX;
	uint64_t started_ns = now_ns, overdue_ns = 0;
	int ret = 0;

	if (client->options->duration_s)
		deadline_ns = now_ns + client->options->duration_s * OUR_NS_PER_S;

	for (message = 0; message < client->count && now_ns < deadline_ns; message++) {
		if (our_stop_requested())
			break;
		if (message == statistics->warm_up)
			our_statistics_start(statistics);
		if (client->options->verify)
			our_setup_user_data(client, OUR_SEND_BUFFER, message);
		if (client->options->rate)
			ret = await_turn(client, started_ns, message, &overdue_ns);
		if (!ret)
			ret = timed_ping(client, overdue_ns, &now_ns);
		if (!ret && client->options->verify)
			ret = our_verify_data(client, OUR_RECV_BUFFER, message);
		if (!ret)
			ret = our_prepare_for_next(client);
		if (ret)
			break;
		our_statistics_progress(statistics, now_ns);
	}
	our_statistics_end(statistics);
	*messages = message;
	return ret;
}
