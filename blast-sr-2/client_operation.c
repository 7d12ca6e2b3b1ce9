/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: what the client does once it is connected: it keeps as many messages under way as
 * credits and free buffers allow, until each has been credited.
 */
#include <errno.h>

#include "blast-sr-2/blast.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-0/user_data.h"
#include "program/stop.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Gives the next `n` messages their patterns. */
static void fill_messages(struct our_control *client, uint64_t n)
{
	uint64_t message = client->transfer->posted, end = message + n;

	for (; message < end; message++)
		our_setup_user_data(client, (uint32_t)(message % client->n_data_buffers), message);
}

/* With --rate: how many messages are due by now. */
static uint64_t messages_due(const struct our_control *client)
{
	uint64_t elapsed_ns = our_now_ns() - client->transfer->started_ns;
	uint64_t rate = client->options->rate;

	return elapsed_ns / OUR_NS_PER_S * rate + elapsed_ns % OUR_NS_PER_S * rate / OUR_NS_PER_S +
	       1;
}

static uint64_t free_buffers(const struct our_control *client)
{
	return client->n_data_buffers - (client->transfer->posted - client->transfer->completed);
}

/* For how many messages there is room: receives at the agent (credits), and free buffers. */
static uint64_t room(const struct our_control *client)
{
	const struct our_transfer *transfer = client->transfer;
	uint64_t credits = client->n_data_buffers - (transfer->posted - transfer->credited);

	if (our_blast_options.no_credits)
		return free_buffers(client);
	return lesser(credits, free_buffers(client));
}

/*
 * With --rate: how long to wait for a completion: until the next message is due. If there is no
 * room for it, or no next message, only a completion can change that.
 */
static uint64_t next_due_ns(const struct our_control *client)
{
	const struct our_transfer *transfer = client->transfer;

	if (transfer->posted == transfer->goal || !room(client))
		return UINT64_MAX;
	return our_due_ns(transfer->started_ns, transfer->posted, client->options->rate);
}

/* Posts as much as possible: messages that are left and due, and that there is room for. */
static int post_messages(struct our_control *client)
{
	struct our_transfer *transfer = client->transfer;
	uint64_t left = transfer->goal - transfer->posted, n;

	if (client->options->rate)
		left = lesser(left, messages_due(client) - transfer->posted);
	n = lesser(left, room(client));
	if (!n) {
		transfer->stream.credit_stalls += left && free_buffers(client);
		return 0;
	}
	if (client->options->verify)
		fill_messages(client, n);
	return our_post_send_chain(client, n);
}

/* The completion of a signaled send, of buffer `index`, covers all sends before it. */
static void complete_sends(struct our_control *client, uint32_t index)
{
	uint32_t buffers = client->n_data_buffers;
	uint32_t oldest = (uint32_t)(client->transfer->completed % buffers);

	client->transfer->completed += (index + buffers - oldest) % buffers + 1;
}

static int take(struct our_control *client, const struct our_completion *completion)
{
	if (our_is_recv(completion->wr_id))
		return our_take_credits(client, completion);
	complete_sends(client, our_buffer_index(completion->wr_id));
	return 0;
}

/*
 * With --rate: whether the server has sent something, or need not. Until a batch is full it may
 * send nothing although messages arrive. If messages are so far apart that it returns the credits
 * of each (OUR_IDLE_NS), only credits count: the next message being due does not, and neither does
 * a completed send, which its device acknowledges. If it owes no credits, it has nothing to send.
 */
static bool is_heard(struct our_control *client)
{
	struct our_transfer *transfer = client->transfer;
	bool has_spoken = transfer->credited != transfer->heard;

	transfer->heard = transfer->credited;
	return OUR_NS_PER_S / client->options->rate <= OUR_IDLE_NS || has_spoken ||
	       transfer->credited == transfer->posted;
}

static int stream(struct our_control *client, uint64_t deadline_ns)
{
	struct our_transfer *transfer = client->transfer;
	uint64_t now_ns, until_ns = UINT64_MAX;
	bool heard = true;
	int ret;

	while (transfer->credited < transfer->goal) {
		ret = post_messages(client);
		if (ret)
			return ret;
		if (client->options->rate)
			until_ns = next_due_ns(client);
		ret = our_drain(client, until_ns, take);
		if (ret == ECONNRESET && transfer->credited == transfer->goal)
			return 0; /* the server knew that this was all, and was first */
		if (ret && ret != EAGAIN)
			return ret;
		if (our_stop_requested())
			return EINTR;
		our_count_messages(client, transfer->credited);
		now_ns = our_now_ns();
		if (client->options->rate)
			heard = is_heard(client);
		if (heard)
			our_limit_wait(client, now_ns);
		if (now_ns >= deadline_ns) /* sends no more, but waits for those under way */
			transfer->goal = transfer->posted;
		our_statistics_progress(&client->statistics, now_ns);
	}
	return 0;
}

int our_client_operation(struct our_control *client)
{
	struct our_statistics *statistics = &client->statistics;
	uint64_t now_ns = our_now_ns(), deadline_ns = UINT64_MAX;
	int ret;

	if (client->options->duration_s)
		deadline_ns = now_ns + client->options->duration_s * OUR_NS_PER_S;
	our_limit_wait(client, now_ns);
	our_start_counting(client);
	client->transfer->started_ns = now_ns;
	ret = stream(client, deadline_ns);
	/* Also those that came just before an error. */
	our_count_messages(client, client->transfer->credited);
	our_statistics_end(statistics);
	return our_judge_end(client, ret, client->transfer->credited);
}
