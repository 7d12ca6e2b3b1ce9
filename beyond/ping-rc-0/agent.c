/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a connection without a connection manager, from its first verb to its last:
 * ping-sr-0's, but for how the connection is made and how it ends. The listener (server.c) has
 * accepted its TCP connection and calls our_bare_agent. See client.c for the other side.
 */
#include <errno.h>
#include <inttypes.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

static int report_one_more(const struct our_control *agent)
{
	our_report_sentence("the client sent more than the %" PRIu64 " messages due",
			    our_run_of(agent)->count);
	return EPROTO;
}

/*
 * The last message must reach the client before the QP is destroyed, and a client that closed the
 * socket long ago does not report it. The send's completion does, or its failure, if the client has
 * the message and is gone.
 */
static int await_last_send(struct our_control *agent, struct our_echo *echo)
{
	uint64_t until_ns = our_end_of_wait(our_options_of(agent)->timeout_s);
	struct our_completion completion;
	struct ibv_wc wc;
	int polled, ret;

	while (echo->sending && our_now_ns() < until_ns) {
		if (our_completions_at_hand(agent)) {
			ret = our_await_completion(agent, &completion);
			if (ret)
				return ret;
			wc = (struct ibv_wc){ .wr_id = completion.wr_id };
			polled = 1;
		} else {
			polled = ibv_poll_cq(agent->cq, 1, &wc);
		}
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (polled && our_is_recv(wc.wr_id) && wc.status == IBV_WC_SUCCESS)
			return report_one_more(agent);
		if (polled && !our_is_recv(wc.wr_id))
			echo->sending = false;
		if (our_stop_requested(agent->stop))
			return EINTR;
	}
	return 0;
}

static int our_agent_operation(struct our_control *agent)
{
	struct our_echo echo = { .received = OUR_PING_NO_BUFFER };
	struct our_run *run = our_run_of(agent);
	struct our_completion completion;
	int ret = 0;

	our_begin_answers(run);
	our_statistics_want_progress(&run->statistics, run->options->quiet);
	while (!ret && run->message != run->count) {
		/* ibv_poll_cq: ping-sr-0/completions.c */
		ret = our_await_client_message(agent, &completion);
		if (!ret) /* ibv_post_recv, ibv_post_send: ping-sr-0/react.c */
			ret = our_ping_react(agent, &echo, &completion);
	}
	ret = our_end_run(run, ret);
	if (!ret)
		ret = await_last_send(agent, &echo);
	if (!ret)
		ret = our_await_client(agent);
	return ret ? ret : our_check_for_more(agent);
}

int our_bare_agent(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	int ret;

	ret = our_bare_take_request(agent); /* the client's line; the device: device_choice.c */
	if (ret)
		goto out_close;
	/* ibv_alloc_pd, ibv_create_cq, ibv_create_qp; ibv_modify_qp: INIT (queue_pair.c) */
	ret = our_setup_qp(agent, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		goto out_close;
	/* ibv_reg_mr */
	ret = our_setup_buffers(agent, OUR_PING_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	/* ibv_post_recv: before the client can send */
	ret = our_post_recv(agent, OUR_FIRST_BUFFER);
	if (ret)
		goto out_unsetup_buffers;
	/* ibv_modify_qp: RTR, then RTS (queue_pair.c); our line, and the client's "done" (exchange.c) */
	ret = our_bare_accept(agent);
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_bare_disconnect(agent); /* ibv_modify_qp: ERR; ibv_destroy_qp; shutdown(2) */
out_unsetup_buffers:
	our_unsetup_buffers(agent); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(agent); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_close:
	our_bare_close(agent); /* close(2): all that a refused client sees; ibv_close_device */
	return ret;
}
