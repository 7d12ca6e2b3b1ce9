/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a stream, from its first verb to its last: it keeps as many messages under way as
 * credits and free buffers allow, until each has been credited. The program
 * (program/serve/client_main.c) has read the options and calls our_blast_client, by way of
 * program/serve/client.c. See agent.c for the other side, and blast.h for the counters.
 */
#include <errno.h>

#include "blast-sr-2/blast.h"
#include "common/clock.h"
#include "common/waiting.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/serve/serve.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Gives the next `n` messages their patterns. */
static void fill_messages(struct our_control *client, const struct our_blast *blast, uint64_t n)
{
	uint32_t buffers = our_run_of(client)->n_data_buffers;
	uint64_t message = blast->posted, end = message + n;

	for (; message < end; message++)
		our_setup_user_data(client, (uint32_t)(message % buffers), message);
}

static uint64_t free_buffers(const struct our_control *client, const struct our_blast *blast)
{
	return our_run_of(client)->n_data_buffers - (blast->posted - blast->completed);
}

/* Returns for how many messages there are receives at the agent (credits), and free buffers. */
static uint64_t room(const struct our_control *client, const struct our_blast *blast)
{
	const struct our_run *run = our_run_of(client);
	uint64_t credits = run->n_data_buffers - (blast->posted - blast->credited);

	if (our_blast_options.no_credits)
		return free_buffers(client, blast);
	return lesser(credits, free_buffers(client, blast));
}

/*
 * With --rate, a wait for a completion ends when the next message is due. If there is no next
 * message, or no room for it, only a completion can change that.
 */
static uint64_t next_due_ns(const struct our_control *client, const struct our_blast *blast)
{
	if (blast->posted == blast->goal || !room(client, blast))
		return UINT64_MAX;
	return our_due_ns(blast->started_ns, blast->posted, our_options_of(client)->rate);
}

/* Posts as much as possible: messages that are left and due, and that there is room for. */
static int post_messages(struct our_control *client, struct our_blast *blast)
{
	uint64_t left = blast->goal - blast->posted, rate = our_options_of(client)->rate, n;

	if (rate)
		left = lesser(left, our_messages_due(our_now_ns() - blast->started_ns, rate) -
					    blast->posted);
	n = lesser(left, room(client, blast));
	if (!n) {
		our_run_of(client)->stream.credit_stalls += left && free_buffers(client, blast);
		return 0;
	}
	if (our_options_of(client)->verify)
		fill_messages(client, blast, n);
	return our_post_send_chain(client, blast, n);
}

static int take(struct our_control *client, struct our_blast *blast,
		const struct our_completion *completion)
{
	uint32_t buffers = our_run_of(client)->n_data_buffers;
	uint32_t oldest = (uint32_t)(blast->completed % buffers);
	uint32_t index = our_buffer_index(completion->wr_id);

	if (our_is_recv(completion->wr_id))
		return our_take_credits(client, blast, completion);
	/* The completion of a signaled send covers all sends before it. */
	blast->completed += (index + buffers - oldest) % buffers + 1;
	return 0;
}

/*
 * Returns true if, with --rate, the time that the server may be silent begins anew. It may be
 * silent while a batch is not full, and while it owes no credits. If messages are more than
 * OUR_IDLE_NS apart, it credits each of them, and then only a credit shows that it is alive: a
 * completed send shows only that the server's device is.
 */
static bool is_heard(const struct our_control *client, struct our_blast *blast)
{
	bool has_spoken = blast->credited != blast->heard;

	blast->heard = blast->credited;
	return OUR_NS_PER_S / our_options_of(client)->rate <= OUR_IDLE_NS || has_spoken ||
	       blast->credited == blast->posted;
}

static int stream(struct our_control *client, struct our_blast *blast, uint64_t deadline_ns)
{
	struct our_run *run = our_run_of(client);
	uint64_t now_ns, until_ns = UINT64_MAX;
	bool heard = true;
	int ret;

	while (blast->credited < blast->goal) {
		ret = post_messages(client, blast); /* ibv_post_send: chains.c */
		if (ret)
			return ret;
		if (run->options->rate)
			until_ns = next_due_ns(client, blast);
		/* ibv_poll_cq, and for each receive of credits ibv_post_recv: credits.c */
		ret = our_drain(client, blast, until_ns, take);
		if (ret == ECONNRESET && blast->credited == blast->goal)
			return 0; /* the server knew that this was all, and left first */
		if (ret && ret != EAGAIN)
			return ret;
		if (our_stop_requested(client->stop))
			return EINTR;
		our_count_messages(run, blast->credited);
		now_ns = our_now_ns();
		if (run->options->rate)
			heard = is_heard(client, blast);
		if (heard)
			our_limit_wait(run, now_ns);
		if (now_ns >= deadline_ns) /* stops sending, but waits for messages under way */
			blast->goal = blast->posted;
		our_statistics_progress(&run->statistics, now_ns);
	}
	return 0;
}

static int our_client_operation(struct our_control *client, struct our_blast *blast)
{
	struct our_run *run = our_run_of(client);
	uint64_t now_ns = our_now_ns(), deadline_ns = UINT64_MAX;
	int ret;

	if (run->options->duration_s)
		deadline_ns = now_ns + run->options->duration_s * OUR_NS_PER_S;
	our_begin_stream(run, 4 * (uint64_t)run->n_data_buffers);
	our_count_messages(run, 0);
	our_limit_wait(run, now_ns);
	blast->started_ns = now_ns;
	ret = stream(client, blast, deadline_ns);
	/* Count also the messages that were credited just before an error. */
	our_count_messages(run, blast->credited);
	our_statistics_end(&run->statistics);
	return our_judge_end(run, ret, blast->credited);
}

int our_blast_client(struct our_control *client, struct sockaddr *server)
{
	struct our_run *run = our_run_of(client);
	uint32_t buffers = (uint32_t)our_blast_options.buffers;
	struct our_blast blast;
	int ret;

	run->n_data_buffers = buffers;
	client->inline_wanted = (uint32_t)our_blast_options.inline_size;
	ret = our_create_id(client); /* rdma_create_id */
	if (ret)
		return ret;
	ret = our_client_bind(client, server); /* rdma_resolve_addr, rdma_resolve_route */
	if (ret)
		goto out_destroy_id;
	ret = our_check_data_size(client); /* ibv_query_port */
	if (ret)
		goto out_destroy_id;
	ret = our_begin_blast(client, true, &blast); /* ibv_query_device: limits.c */
	if (ret)
		goto out_destroy_id;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp: the receives are for credits */
	ret = our_setup_qp(client, buffers, buffers);
	if (ret)
		goto out_destroy_id;
	/* ibv_reg_mr */
	ret = our_setup_buffers(client, buffers, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	ret = our_setup_pieces(client, &blast); /* the SGEs of all buffers: chains.c */
	if (ret)
		goto out_unsetup_buffers;
	ret = our_setup_credits(client, &blast, buffers); /* ibv_reg_mr: credits.c */
	if (ret)
		goto out_unsetup_pieces;
	ret = our_post_credit_recvs(client, &blast); /* ibv_post_recv */
	if (ret)
		goto out_disconnect;        /* receives may be posted */
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &blast);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client);              /* rdma_disconnect, rdma_destroy_qp */
	our_unsetup_credits(client, &blast); /* ibv_dereg_mr */
out_unsetup_pieces:
	our_unsetup_pieces(&blast);
out_unsetup_buffers:
	our_unsetup_buffers(client); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(client); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
