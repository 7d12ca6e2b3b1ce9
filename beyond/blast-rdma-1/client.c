/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a stream of RDMA WRITEs, from its first verb to its last: it keeps WRITEs under
 * way, chain after chain, and at the end tells the agent how many there were. Compare
 * beyond/ping-rdma-1/client.c, and see ping-sr-0/client.c for who calls this.
 */
#include <errno.h>

#include "beyond/blast-rdma-1/blast_rdma.h"
#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

#define LONG_MESSAGE 4096 /* bytes */
#define CHAIN        16

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A completion costs little in comparison with a long message. soft-iWARP sends a WRITE of a page
 * or more faster if it is signaled; and the completion of a later WRITE does not say that the
 * buffer of an unsignaled one is free.
 */
static uint64_t longest_chain(const struct our_control *client)
{
	if (our_write_options.chain)
		return our_write_options.chain;
	return our_run_of(client)->data_size >= LONG_MESSAGE ? 1 : CHAIN;
}

/*
 * Returns how many messages the next chain may have: at most those that are left, the free work
 * requests, and with --rate the messages that are due. No credit is needed, because a WRITE takes
 * no receive.
 */
static uint64_t next_chain(const struct our_control *client, const struct our_write_stream *stream)
{
	uint64_t free = client->memory.n_buffers - (stream->posted - stream->completed);
	uint64_t n = lesser(lesser(stream->goal - stream->posted, free), longest_chain(client));
	uint64_t rate = our_options_of(client)->rate, now_ns = rate ? our_now_ns() : 0, due = 0;

	if (!rate)
		return n;
	while (due < n && our_due_ns(stream->started_ns, stream->posted + due, rate) <= now_ns)
		due++;
	return due;
}

static struct ibv_send_wr *write_of(struct our_control *client, uint64_t message)
{
	return &client->memory.buffers[message % client->memory.n_buffers].send_wr;
}

/*
 * Posts the WRITEs of the next `n` messages as one chain whose last is signaled, and counts them in
 * `posted`. Requests of one QP complete in order: when the last is done, all before it are. A
 * failure ends the connection, so it does not matter that the requests before *bad_wr are posted.
 */
static int post_chain(struct our_control *client, struct our_write_stream *stream, uint64_t n)
{
	uint64_t first = stream->posted, last = first + n - 1, message;
	int ret;

	for (message = first; message <= last; message++) {
		write_of(client, message)->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
		write_of(client, message)->next = message < last ? write_of(client, message + 1)
								 : NULL;
	}
	write_of(client, last)->send_flags |= IBV_SEND_SIGNALED;
	ret = our_post(client, write_of(client, first), NULL); /* ibv_post_send */
	if (ret)
		return ret;
	stream->posted += n;
	our_histogram_add(&our_run_of(client)->stream.wrs_per_post, n);
	return 0;
}

static int post_chains(struct our_control *client, struct our_write_stream *stream)
{
	bool fills = our_options_of(client)->verify && !our_write_options.read;
	uint64_t n, message;
	int ret = 0;

	while (!ret && (n = next_chain(client, stream))) {
		for (message = stream->posted; fills && message < stream->posted + n; message++)
			our_setup_user_data(client, (uint32_t)(message % client->memory.n_buffers),
					    message);
		ret = post_chain(client, stream, n);
	}
	return ret;
}

/* Counts the WRITEs of a chain: the last is done, and therefore all before it. */
static int take(struct our_control *client, struct our_write_stream *stream,
		const struct our_completion *completion)
{
	uint32_t oldest = (uint32_t)(stream->completed % client->memory.n_buffers);
	uint32_t index = our_buffer_index(completion->wr_id);

	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&stream->one_sided.exchange, completion);
	stream->completed +=
		(index + client->memory.n_buffers - oldest) % client->memory.n_buffers + 1;
	our_limit_wait(our_run_of(client), our_now_ns());
	return 0;
}

/* Waits for completions; with --rate only until the next message is due, if it has room. */
static int take_completions(struct our_control *client, struct our_write_stream *stream)
{
	uint64_t rate = our_options_of(client)->rate;
	struct our_completion completion;
	int ret;

	if (rate && stream->posted < stream->goal &&
	    stream->posted - stream->completed < client->memory.n_buffers)
		ret = our_await_time(client, our_due_ns(stream->started_ns, stream->posted, rate),
				     &completion);
	else
		ret = our_await_completion(client, &completion);
	if (ret)
		return ret == EAGAIN ? 0 : ret;
	our_histogram_add(&our_run_of(client)->stream.completions_per_poll,
			  1 + (uint64_t)our_completions_at_hand(client));
	ret = take(client, stream, &completion);
	while (!ret && our_completions_at_hand(client)) {
		ret = our_await_completion(client, &completion);
		if (!ret)
			ret = take(client, stream, &completion);
	}
	return ret;
}

static int move_messages(struct our_control *client, struct our_write_stream *stream)
{
	struct our_run *run = our_run_of(client);
	uint64_t now_ns = our_now_ns(), deadline_ns = UINT64_MAX;
	int ret = 0;

	if (run->options->duration_s)
		deadline_ns = now_ns + run->options->duration_s * OUR_NS_PER_S;
	stream->started_ns = now_ns;
	our_limit_wait(run, now_ns);
	our_count_messages(run, stream->completed);
	while (!ret && stream->completed < stream->goal) {
		ret = post_chains(client, stream);
		if (!ret)
			ret = take_completions(client, stream);
		our_count_messages(run, stream->completed);
		now_ns = our_now_ns();
		/* Waits for the messages under way, because it tells the agent their number. */
		if (now_ns >= deadline_ns || our_stop_requested(client->stop))
			stream->goal = stream->posted;
		our_statistics_progress(&run->statistics, now_ns);
	}
	return ret;
}

/* Sets up each buffer's request. */
static void setup_requests(struct our_control *client, const struct our_remote_buffer *remote)
{
	uint32_t i;

	for (i = 0; i < client->memory.n_buffers; i++) {
		if (our_write_options.read)
			our_setup_read_wr(client, i, remote);
		else
			our_setup_write_wr(client, i, remote);
	}
	if (our_write_options.read && client->read_depth < our_write_options.depth &&
	    !our_options_of(client)->quiet)
		our_report_sentence(
			"at most %u READs are under way: the server agreed to no more (give it "
			"--depth, too)",
			client->read_depth);
}

static int our_client_operation(struct our_control *client, struct our_write_stream *stream)
{
	struct our_run *run = our_run_of(client);
	struct our_one_sided *one_sided = &stream->one_sided;
	int ret;

	stream->goal = run->count;
	our_begin_stream(run, 4 * (uint64_t)client->memory.n_buffers);
	ret = our_start_exchange(client, one_sided); /* learns where the agent's buffer is */
	if (!ret && our_write_options.read)
		ret = our_learn_read_depth(client); /* ibv_query_qp */
	if (!ret) {
		setup_requests(client, &one_sided->exchange.buffer);
		ret = move_messages(client, stream);
	}
	/* All READs brought the same data to the same place. */
	if (!ret && our_write_options.read && run->options->verify)
		ret = our_verify_data(client, 0, 0);
	/* All WRITEs have arrived when the agent's count is here. On iWARP completions prove nothing. */
	if (!ret)
		ret = our_end_exchange(client, one_sided, stream->completed);
	our_statistics_end(&run->statistics);
	return our_judge_end(run, ret, stream->completed);
}

/*
 * Without -v all messages are the same, and WRITEs read them from one place, which nothing changes.
 * The key that the server gets for it gives no rights. READs bring the same data each time, to one
 * place.
 */
static int setup_stream(struct our_control *client, struct our_one_sided *one_sided)
{
	uint32_t n = (uint32_t)our_write_options.buffers, i;
	bool read = our_write_options.read;
	int ret;

	ret = our_setup_one_sided(client, one_sided, n, 0, read ? our_access_for_reads(client) : 0);
	if (ret)
		return ret;
	if (read)
		client->memory.buffers[0].send_sge.lkey = one_sided->open->lkey;
	for (i = 1; (read || !our_options_of(client)->verify) && i < n; i++)
		client->memory.buffers[i].send_sge = client->memory.buffers[0].send_sge;
	return 0;
}

int our_stream_writes_client(struct our_control *client, struct sockaddr *server)
{
	struct our_write_stream stream = { 0 };
	int ret;

	ret = our_create_id(client); /* rdma_create_id */
	if (ret)
		return ret;
	ret = our_client_bind(client, server); /* rdma_resolve_addr, rdma_resolve_route */
	if (ret)
		goto out_destroy_id;
	ret = our_check_data_size(client); /* ibv_query_port */
	if (ret)
		goto out_destroy_id;
	ret = our_check_stream(client); /* ibv_query_device */
	if (ret)
		goto out_destroy_id;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = setup_stream(client, &stream.one_sided);
	if (ret)
		goto out_destroy_id;
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &stream);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(client, &stream.one_sided);
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
