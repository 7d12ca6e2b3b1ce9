/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-rdma-1: what the client does once it is connected: it keeps WRITEs under way, chain after
 * chain, and at the end tells the agent how many there were.
 */
#include <errno.h>

#include "blast-rdma-1/blast_rdma.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "ping-sr-0/user_data.h"
#include "program/report.h"
#include "program/stop.h"

#define LONG_MESSAGE 4096 /* bytes */
#define CHAIN        16

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void start_counting(struct our_control *client)
{
	struct our_statistics *statistics = &client->statistics;

	our_statistics_prepare(statistics, client->count, client->data_size);
	our_statistics_add_stream(statistics, &client->transfer->progress->statistics);
	our_statistics_want_progress(statistics, client->options->quiet);
	/*
	 * Completions come for whole chains: in a short run, a warm-up would leave nothing to
	 * measure.
	 */
	if (client->count <= 4 * (uint64_t)client->n_buffers)
		statistics->warm_up = 0;
}

static void count_messages(struct our_control *client)
{
	struct our_statistics *statistics = &client->statistics;
	uint64_t messages = client->transfer->progress->completed;

	if (!statistics->started_ns && messages >= statistics->warm_up) {
		statistics->warm_up = messages;
		our_statistics_start(statistics);
	}
	if (statistics->started_ns)
		statistics->messages = messages - statistics->warm_up;
}

/*
 * A completion costs little in comparison with a long message, and soft-iWARP sends a WRITE of a
 * page or more faster if it is signaled.
 */
static uint64_t longest_chain(const struct our_control *client)
{
	if (our_write_options.chain)
		return our_write_options.chain;
	return client->data_size > LONG_MESSAGE ? 1 : CHAIN;
}

/*
 * How many may be in the next chain: messages that are left, free work requests, and with --rate,
 * messages that are due. No credit is needed: a WRITE takes no receive.
 */
static uint64_t next_chain(const struct our_control *client)
{
	const struct our_progress *progress = client->transfer->progress;
	uint64_t free = client->n_buffers - (progress->posted - progress->completed);
	uint64_t n = lesser(lesser(progress->goal - progress->posted, free), longest_chain(client));
	uint64_t rate = client->options->rate, now_ns = rate ? our_now_ns() : 0, due = 0;

	if (!rate)
		return n;
	while (due < n && our_due_ns(progress->started_ns, progress->posted + due, rate) <= now_ns)
		due++;
	return due;
}

static int post_chains(struct our_control *client)
{
	bool fills = client->options->verify && !our_write_options.read;
	struct our_progress *progress = client->transfer->progress;
	uint64_t n, message;
	int ret = 0;

	while (!ret && (n = next_chain(client))) {
		for (message = progress->posted; fills && message < progress->posted + n; message++)
			our_setup_user_data(client, (uint32_t)(message % client->n_buffers),
					    message);
		ret = our_post_write_chain(client, n);
	}
	return ret;
}

/* The last of a chain is done, and therefore all before it. */
static int take(struct our_control *client, const struct our_completion *completion)
{
	struct our_progress *progress = client->transfer->progress;
	uint32_t oldest = (uint32_t)(progress->completed % client->n_buffers);
	uint32_t index = our_buffer_index(completion->wr_id);

	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&client->transfer->exchange, completion);
	progress->completed += (index + client->n_buffers - oldest) % client->n_buffers + 1;
	our_limit_wait(client, our_now_ns());
	return 0;
}

/* With --rate, a message that is due comes before the completion of those before it. */
static int take_completions(struct our_control *client)
{
	struct our_progress *progress = client->transfer->progress;
	uint64_t rate = client->options->rate;
	struct our_completion completion;
	int ret;

	if (rate && progress->posted < progress->goal &&
	    progress->posted - progress->completed < client->n_buffers)
		ret = our_await_time(client,
				     our_due_ns(progress->started_ns, progress->posted, rate),
				     &completion);
	else
		ret = our_await_completion(client, &completion);
	if (ret)
		return ret == EAGAIN ? 0 : ret;
	our_histogram_add(&progress->statistics.completions_per_poll,
			  1 + (uint64_t)our_completions_at_hand(client));
	ret = take(client, &completion);
	while (!ret && our_completions_at_hand(client)) {
		ret = our_await_completion(client, &completion);
		if (!ret)
			ret = take(client, &completion);
	}
	return ret;
}

static int move_messages(struct our_control *client)
{
	struct our_progress *progress = client->transfer->progress;
	uint64_t now_ns = our_now_ns(), deadline_ns = UINT64_MAX;
	int ret = 0;

	if (client->options->duration_s)
		deadline_ns = now_ns + client->options->duration_s * OUR_NS_PER_S;
	progress->started_ns = now_ns;
	our_limit_wait(client, now_ns);
	count_messages(client);
	while (!ret && progress->completed < progress->goal) {
		ret = post_chains(client);
		if (!ret)
			ret = take_completions(client);
		count_messages(client);
		now_ns = our_now_ns();
		/*
		 * Sends no more, but waits for those under way, because the agent is told their
		 * number.
		 */
		if (now_ns >= deadline_ns || our_stop_requested())
			progress->goal = progress->posted;
		our_statistics_progress(&client->statistics, now_ns);
	}
	return ret;
}

/* Each buffer by itself, because each has its own request. */
static void setup_requests(struct our_control *client)
{
	const struct our_remote_buffer *remote = &client->transfer->exchange.buffer;
	uint32_t i;

	for (i = 0; i < client->n_buffers; i++) {
		if (our_write_options.read)
			our_setup_read_wr(client, i, remote);
		else
			our_setup_write_wr(client, i, remote);
	}
	if (our_write_options.read && client->read_depth < our_write_options.depth &&
	    !client->options->quiet)
		our_report_sentence(
			"at most %u READs are under way: the server agreed to no more (give it "
			"--depth, too)",
			client->read_depth);
}

int our_client_operation(struct our_control *client)
{
	struct our_transfer *transfer = client->transfer;
	int ret;

	transfer->progress->goal = client->count;
	start_counting(client);
	ret = our_exchange_buffers(client);
	if (!ret) {
		setup_requests(client);
		ret = move_messages(client);
	}
	/* All of them brought the same to the same place. */
	if (!ret && our_write_options.read && client->options->verify)
		ret = our_verify_data(client, 0, 0);
	/*
	 * They have arrived when the agent's count is here: on iWARP a completion does not prove
	 * it.
	 */
	if (!ret)
		ret = our_exchange_counts(client, transfer->progress->completed);
	our_statistics_end(&client->statistics);
	return our_judge_end(client, ret, transfer->progress->completed);
}
